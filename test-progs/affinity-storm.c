/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A spinner that is moved from CPU to CPU all the time: dequeued and enqueued, never asleep.
 * affinity-storm [TIMES] */
#include "truth.h"

#include <pthread.h>
#include <stdatomic.h>

static _Atomic int spinner, done;

static void* spin(void* unused) {
    struct truth truth;

    truth_begin(&truth, "moved");
    atomic_store(&spinner, truth.tid);
    while (!atomic_load(&done))
        ;
    truth_end(&truth, 0);
    return unused;
}

int main(int argc, char** argv) {
    long times = truth_arg(argc, argv, 1, 300);
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    struct truth truth;
    pthread_t thread;
    int tid;

    truth_will("move a spinning thread %ld times over %ld CPUs", times, cpus);
    truth_need0(pthread_create(&thread, NULL, spin, NULL), "pthread_create");
    while (!(tid = atomic_load(&spinner)))
        truth_sleep_us(1000);
    truth_begin(&truth, "mover");
    for (long i = 0; i < times; i++) {
        cpu_set_t set;

        CPU_ZERO(&set);
        CPU_SET((size_t)(i % cpus), &set);
        truth_need(sched_setaffinity(tid, sizeof(set), &set), "sched_setaffinity");
    }
    truth_end(&truth, TRUTH_UNKNOWN);
    atomic_store(&done, 1);
    pthread_join(thread, NULL);
}
