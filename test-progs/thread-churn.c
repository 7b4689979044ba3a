/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads come, sleep once and go; what they slept stays with their process. With
 * AT_A_TIME so many are alive at once: none goes before all of them have come,
 * and it says what they have slept together while the first so many are there.
 *
 * thread-churn [THREADS [AT_A_TIME]]
 */
#include "truth.h"

#include <pthread.h>

enum { AT_A_TIME = 8, STACK_BYTES = 65536 };

static bool together;
static pthread_barrier_t all_there, may_go;

static void* live_shortly(void* unused) {
    truth_sleep_us(500);
    if (together) {
        pthread_barrier_wait(&all_there);
        pthread_barrier_wait(&may_go);
    }
    return unused;
}

int main(int argc, char** argv) {
    long threads = truth_arg(argc, argv, 1, 400);
    long at_a_time = truth_arg(argc, argv, 2, AT_A_TIME);
    pthread_t* running = calloc((size_t)at_a_time, sizeof(*running));
    pthread_attr_t small;
    struct truth_lives alive = {0};
    struct truth truth;

    truth_born(&alive);
    together = argc > 2;
    /* Without guard pages neighbouring stacks are one mapping: there are not enough for 30,000 */
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK_BYTES);
    pthread_attr_setguardsize(&small, 0);
    truth_will("run %ld threads, %ld at a time, each of which sleeps once", threads, at_a_time);
    truth_begin(&truth, "main");
    for (long i = 0; i < threads; i += at_a_time) {
        pthread_barrier_init(&all_there, NULL, (unsigned)at_a_time + 1);
        pthread_barrier_init(&may_go, NULL, (unsigned)at_a_time + 1);
        for (long j = 0; j < at_a_time; j++) {
            truth_born(&alive);
            truth_need0(pthread_create(&running[j], &small, live_shortly, NULL), "pthread_create");
        }
        if (together) {
            pthread_barrier_wait(&all_there);
            if (i == 0) truth_process("all-alive", 0, &alive);
            pthread_barrier_wait(&may_go);
        }
        for (long j = 0; j < at_a_time; j++)
            pthread_join(running[j], NULL);
        pthread_barrier_destroy(&all_there);
        pthread_barrier_destroy(&may_go);
    }
    truth_end(&truth, TRUTH_UNKNOWN);
    truth_process("all-threads", 0, NULL);
    free(running);
}
