/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that replaces its program again and again, by turns from its first
 * thread and from another one, which then takes over the pid of the first: the
 * same process, and no sleep of any of its threads may be lost. exec-chain [EXECS]
 */
#include "truth.h"

#include <pthread.h>

static char** arguments;

static void replace_program(void) {
    execv("/proc/self/exe", arguments);
    truth_die("execv");
}

static void* replace_from_thread(void* unused) {
    truth_sleep_us(1000);
    replace_program();
    return unused;
}

int main(int argc, char** argv) {
    long left = truth_arg(argc, argv, 1, 20);
    static char next[24], all[24];
    struct truth truth;
    pthread_t thread;
    long execs = argc < 3 ? left : truth_arg(argc, argv, 2, 1);

    if (argc < 3) truth_will("replace its program %ld times and sleep before each", left);
    truth_begin(&truth, left % 2 ? "after-leader-exec" : "after-thread-exec");
    for (int i = 0; i < 5; i++)
        truth_sleep_us(500);
    truth_end(&truth, TRUTH_UNKNOWN);
    if (left == 1) {
        truth_process("whole-chain", execs / 2, NULL); /* each a first thread that died */
        return 0;
    }
    snprintf(next, sizeof(next), "%ld", left - 1);
    snprintf(all, sizeof(all), "%ld", execs);
    arguments = (char*[]){argv[0], next, all, NULL};
    if (left % 2 == 0) replace_program();
    truth_need0(pthread_create(&thread, NULL, replace_from_thread, NULL), "pthread_create");
    for (;;)
        pause();
}
