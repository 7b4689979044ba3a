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
 * /proc/PID/ns/user: root of that user namespace, and hidden. UID,/proc/PID/ns/user:
 * as user UID, not hidden, before that. +/proc/PID/ns/user: root of that one, not
 * hidden, and at work for a while before it sleeps as that. UID:REAL: as user UID
 * whose real id is REAL's, not hidden, also for the next program. =UID: sleeps as it
 * is, not hidden, and as user UID.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
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

static void set_dumpable(int dumpable) {
    need(prctl(PR_SET_DUMPABLE, dumpable) == 0, "PR_SET_DUMPABLE");
}

static int open_namespace(const char* path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    need(fd >= 0, path);
    return fd;
}

static void join_namespace(int fd) {
    need(setns(fd, CLONE_NEWUSER) == 0, "another user namespace");
    change(0, 0, 0);
}

/* It does not sleep between its change and what follows, an exec. */
static void sleep_and_join(unsigned id, int fd) {
    change(id, id, id);
    set_dumpable(1);
    sleep_marked(2);
    set_dumpable(0); /* or root of the namespace may see this program, too */
    join_namespace(fd);
}

static void work(void) {
    const clock_t until = clock() + CLOCKS_PER_SEC / 100;

    while (clock() < until) {
    }
}

static void sleep_as(const char* who) {
    char* how;
    unsigned id = (unsigned)strtoul(who, &how, 10);

    if (*who == '/') {
        join_namespace(open_namespace(who));
        sleep_marked(2);
        return;
    }
    if (*who == '+') {
        join_namespace(open_namespace(who + 1));
        set_dumpable(1);
        work();
        sleep_marked(4);
        return;
    }

    if (*who == '=') {
        id = (unsigned)strtoul(who + 1, NULL, 10);
        set_dumpable(1);
        sleep_marked(2);
        need(setresuid(id, id, id) == 0, "one user in every way");
        sleep_marked(4);
        return;
    }
    if (*how == ':') {
        need(setresgid(id, id, id) == 0 && setresuid((unsigned)strtoul(how + 1, NULL, 10), id, id) == 0, "two users");
        set_dumpable(1);
        sleep_marked(2);
        return;
    }
    if (!*how) {
        change(id, id, id);
        sleep_marked(2);
        return;
    }
    how++;
    if (*how == '/') {
        sleep_and_join(id, open_namespace(how));
        return;
    }
    if (!strcmp(how, "capable")) {
        need(prctl(PR_SET_KEEPCAPS, 1) == 0, "PR_SET_KEEPCAPS");
        change(id, id, id);
    } else {
        change(id, (unsigned)strtoul(how, NULL, 10), id);
    }
    set_dumpable(1);
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
