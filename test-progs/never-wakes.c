/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that goes to sleep and never wakes: it must be seen while it sleeps.
 * Prints its tid and leaves it asleep. never-wakes [SECONDS]
 */
#include "truth.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>

static int never;
static _Atomic int sleeper;

static void* sleep_forever(void* unused) {
    atomic_store(&sleeper, (int)syscall(SYS_gettid));
    for (;;)
        syscall(SYS_futex, &never, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    return unused;
}

int main(int argc, char** argv) {
    long seconds = truth_arg(argc, argv, 1, 5);
    pthread_t thread;
    int tid;

    truth_will("leave a thread asleep in a futex for %ld s", seconds);
    truth_need0(pthread_create(&thread, NULL, sleep_forever, NULL), "pthread_create");
    while (!(tid = atomic_load(&sleeper)))
        truth_sleep_us(1000);
    printf("asleep prog=never-wakes pid=%d tid=%d since_ns=%llu\n", getpid(), tid,
           (unsigned long long)truth_clock(CLOCK_MONOTONIC));
    fflush(stdout);
    truth_sleep_us(seconds * 1000000);
    _exit(0);
}
