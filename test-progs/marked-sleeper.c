/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sleeps, then becomes another user's program, or ends. Built twice: as
 * public-sleeper, and as secret-sleeper, whose text lies where nobody else's
 * does (TEXT_BEGIN in tests/vm/oracle/poke_race.cpp), so that one frame of it in
 * a trace says whose it was. marked-sleeper SLEEPS [UID|- [PROGRAM ARGUMENT...]]
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static void need(int done, const char* what) {
    if (done) return;
    perror(what);
    exit(3);
}

/* A frame of its own on every stack. */
static __attribute__((noinline)) void sleep_marked(long sleeps) {
    const struct timespec nap = {0, 50000};

    while (sleeps--)
        nanosleep(&nap, NULL);
}

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    sleep_marked(atol(argv[1]));
    if (argc > 2 && strcmp(argv[2], "-")) {
        unsigned id = (unsigned)strtoul(argv[2], NULL, 10);

        need(setresgid(id, id, id) == 0 && setresuid(id, id, id) == 0, "another user");
        sleep_marked(2);
    }
    if (argc > 3) {
        execv(argv[3], argv + 3);
        need(0, argv[3]);
    }
    return 0;
}
