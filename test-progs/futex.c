/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two threads hand a turn to each other through FUTEX_WAIT and FUTEX_WAKE. futex [TIMES] */
#include "truth.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int turn;
static long times;

static void wait_for_turn(int mine) {
    int now;

    while ((now = atomic_load(&turn)) != mine)
        syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
}

static void play(int mine, const char* role) {
    struct truth truth;

    truth_begin(&truth, role);
    for (long i = 0; i < times; i++) {
        wait_for_turn(mine);
        atomic_store(&turn, !mine);
        syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
    truth_end(&truth, TRUTH_UNKNOWN);
}

static void* second(void* unused) {
    play(1, "second");
    return unused;
}

int main(int argc, char** argv) {
    pthread_t thread;

    times = truth_arg(argc, argv, 1, 300);
    truth_will("hand a futex over %ld times between two threads", times);
    truth_need0(pthread_create(&thread, NULL, second, NULL), "pthread_create");
    play(0, "first");
    pthread_join(thread, NULL);
}
