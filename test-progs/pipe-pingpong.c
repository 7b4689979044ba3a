/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two processes send a byte to and fro through two pipes. On one CPU every read
 * blocks, and since 6.12 the blocked task may stay on the run queue (delayed
 * dequeue). pipe-pingpong [TIMES [pinned]]
 */
#include "truth.h"

#include <sys/wait.h>

static void play(int in, int out, long times, const char* role) {
    struct truth truth;
    char byte = 0;

    truth_begin(&truth, role);
    for (long i = 0; i < times; i++) {
        truth_need(write(out, &byte, 1), "write");
        truth_need(read(in, &byte, 1), "read");
    }
    truth_end(&truth, TRUTH_UNKNOWN);
}

int main(int argc, char** argv) {
    long times = truth_arg(argc, argv, 1, 500);
    bool pinned = argc > 2 && !strcmp(argv[2], "pinned");
    int there[2], back[2];
    pid_t child;

    truth_will("send a byte to and fro %ld times %s", times, pinned ? "on CPU 0" : "on any CPU");
    truth_need(pipe(there), "pipe");
    truth_need(pipe(back), "pipe");
    if (pinned) truth_pin(0);
    child = (pid_t)truth_need(fork(), "fork");
    if (!child) {
        play(there[0], back[1], times, pinned ? "pinned-child" : "child");
        return 0;
    }
    play(back[0], there[1], times, pinned ? "pinned-parent" : "parent");
    waitpid(child, NULL, 0);
}
