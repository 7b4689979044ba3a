/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A spinner whose nice value and policy change all the time: dequeued and enqueued, never asleep.
 * renice-storm [TIMES] */
#include "truth.h"

#include <pthread.h>
#include <stdatomic.h>

static _Atomic int spinner, done;

static void* spin(void* unused) {
    struct truth truth;

    truth_begin(&truth, "reniced");
    atomic_store(&spinner, truth.tid);
    while (!atomic_load(&done))
        ;
    truth_end(&truth, 0);
    return unused;
}

int main(int argc, char** argv) {
    long times = truth_arg(argc, argv, 1, 500);
    struct sched_param param = {0};
    pthread_t thread;
    int tid;

    truth_will("change nice value and policy of a spinning thread %ld times", times);
    truth_need0(pthread_create(&thread, NULL, spin, NULL), "pthread_create");
    while (!(tid = atomic_load(&spinner)))
        truth_sleep_us(1000);
    for (long i = 0; i < times; i++) {
        truth_need(setpriority(PRIO_PROCESS, (id_t)tid, (int)(i % 20)), "setpriority");
        truth_need(sched_setscheduler(tid, i % 2 ? SCHED_OTHER : SCHED_BATCH, &param),
                   "sched_setscheduler");
    }
    atomic_store(&done, 1);
    pthread_join(thread, NULL);
}
