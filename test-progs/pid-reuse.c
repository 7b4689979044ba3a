/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that get the pid of the one that ended just before (clone3 with
 * set_tid; needs root): each is a task of its own, so lattop's total of each must
 * be what it slept itself. pid-reuse [PROCESSES]
 */
#include "truth.h"

#include <linux/sched.h>
#include <sys/wait.h>

static pid_t fork_as(pid_t pid) {
    struct clone_args args = {
        .exit_signal = SIGCHLD,
        .set_tid = pid ? (uintptr_t)&pid : 0,
        .set_tid_size = pid ? 1 : 0,
    };

    return (pid_t)truth_need(syscall(SYS_clone3, &args, sizeof(args)), "clone3 with set_tid");
}

int main(int argc, char** argv) {
    long processes = truth_arg(argc, argv, 1, 10);
    pid_t pid = 0;

    truth_will("run %ld processes one after the other under one pid; the n-th sleeps n times",
               processes);
    for (long i = 1; i <= processes; i++) {
        pid_t child = fork_as(pid);

        if (!child) {
            struct truth truth;

            truth_begin(&truth, "reborn");
            for (long j = 0; j < i; j++)
                truth_sleep_us(2000);
            truth_end(&truth, TRUTH_UNKNOWN);
            _exit(0);
        }
        pid = child;
        truth_need(waitpid(child, NULL, 0), "waitpid");
    }
}
