/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits for children, each of which sleeps a little. wait-child [CHILDREN [MS]] */
#include "truth.h"

#include <sys/wait.h>

int main(int argc, char** argv) {
    long children = truth_arg(argc, argv, 1, 30);
    long ms = truth_arg(argc, argv, 2, 5);
    struct truth truth;

    truth_will("wait for %ld children, each asleep for %ld ms", children, ms);
    truth_begin(&truth, "parent");
    for (long i = 0; i < children; i++) {
        pid_t child = (pid_t)truth_need(fork(), "fork");

        if (!child) {
            truth_sleep_us(ms * 1000);
            _exit(0);
        }
        truth_need(waitpid(child, NULL, 0), "waitpid");
    }
    truth_end(&truth, TRUTH_UNKNOWN);
}
