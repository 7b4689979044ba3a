/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs and never blocks; where there are more spinners than CPUs, it waits for one, which is no
 * sleep. spinner [MS [THREADS]] */
#include "truth.h"

#include <pthread.h>

static long ms;

static void* spin(void* unused) {
    struct truth truth;
    uint64_t end;

    truth_begin(&truth, "spinner");
    end = truth_clock(CLOCK_MONOTONIC) + (uint64_t)ms * 1000000;
    while (truth_clock(CLOCK_MONOTONIC) < end)
        ;
    truth_end(&truth, 0);
    return unused;
}

int main(int argc, char** argv) {
    long count = truth_arg(argc, argv, 2, 3);
    pthread_t threads[16];

    ms = truth_arg(argc, argv, 1, 300);
    if (count > 16) count = 16;
    truth_will("spin for %ld ms in each of %ld threads", ms, count);
    for (long i = 0; i < count; i++)
        truth_need0(pthread_create(&threads[i], NULL, spin, NULL), "pthread_create");
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}
