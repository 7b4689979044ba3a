/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sleeps, then becomes another user's program, or ends. Built twice: as
 * public-sleeper, and as secret-sleeper, whose text lies where nobody else's
 * does (text_begin in tests/vm/oracle/race_reader.cpp), so that one frame of it in
 * a trace says whose it was. Before each sleep it wakes who reads from the other
 * end of WAKE_FD, where that is a pipe. marked-sleeper SLEEPS [WHO|- [PROGRAM ARGUMENT...]]
 *
 * WHO is UID: that user, and hidden, as all are who change. UID,capable: not hidden,
 * but with privileges, until the next program. UID,FIRST: as user FIRST, not hidden.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { WAKE_FD = 100 }; /* wake_fd of tests/vm/oracle/poke_race.cpp */

static void need(int done, const char* what) {
    if (done) return;
    perror(what);
    exit(3);
}

/* A frame of its own on every stack. */
static __attribute__((noinline)) void sleep_marked(long sleeps) {
    const struct timespec nap = {0, 50000};

    while (sleeps--) {
        if (write(WAKE_FD, "", 1) != 1) {
            /* nobody is to be woken, or he has not read yet */
        }
        nanosleep(&nap, NULL);
    }
}

static void change(unsigned group, unsigned user, unsigned saved) {
    need(setresgid(group, group, group) == 0 && setresuid(user, user, saved) == 0, "another user");
}

static void sleep_as(const char* who) {
    char* how;
    unsigned id = (unsigned)strtoul(who, &how, 10);

    if (!*how) {
        change(id, id, id);
        sleep_marked(2);
        return;
    }
    how++;
    if (!strcmp(how, "capable")) {
        need(prctl(PR_SET_KEEPCAPS, 1) == 0, "PR_SET_KEEPCAPS");
        change(id, id, id);
    } else {
        change(id, (unsigned)strtoul(how, NULL, 10), id);
    }
    need(prctl(PR_SET_DUMPABLE, 1) == 0, "PR_SET_DUMPABLE");
    sleep_marked(2);
    need(setresuid(id, id, id) == 0, "the user at last");
}

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    sleep_marked(atol(argv[1]));
    if (argc > 2 && strcmp(argv[2], "-")) sleep_as(argv[2]);
    if (argc > 3) {
        execv(argv[3], argv + 3);
        need(0, argv[3]);
    }
    return 0;
}
