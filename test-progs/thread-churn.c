/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads come, sleep once and go; what they slept stays with their process. thread-churn [THREADS]
 */
#include "truth.h"

#include <pthread.h>

enum { AT_A_TIME = 8 };

static void* live_shortly(void* unused) {
    truth_sleep_us(500);
    return unused;
}

int main(int argc, char** argv) {
    long threads = truth_arg(argc, argv, 1, 400);
    pthread_t running[AT_A_TIME];
    struct truth truth;

    truth_will("run %ld threads, %d at a time, each of which sleeps once", threads, AT_A_TIME);
    truth_begin(&truth, "main");
    for (long i = 0; i < threads; i += AT_A_TIME) {
        for (int j = 0; j < AT_A_TIME; j++)
            truth_need0(pthread_create(&running[j], NULL, live_shortly, NULL), "pthread_create");
        for (int j = 0; j < AT_A_TIME; j++)
            pthread_join(running[j], NULL);
    }
    truth_end(&truth, TRUTH_UNKNOWN);
    truth_process("all-threads", 0);
}
