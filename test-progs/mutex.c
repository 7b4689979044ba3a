/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads contend on one mutex whose holder sleeps. mutex [THREADS [TIMES]] */
#include "truth.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long times;

static void* contend(void* unused) {
    struct truth truth;

    truth_begin(&truth, "contender");
    for (long i = 0; i < times; i++) {
        pthread_mutex_lock(&lock);
        truth_sleep_us(200);
        pthread_mutex_unlock(&lock);
    }
    truth_end(&truth, TRUTH_UNKNOWN);
    return unused;
}

int main(int argc, char** argv) {
    long count = truth_arg(argc, argv, 1, 4);
    pthread_t threads[64];

    times = truth_arg(argc, argv, 2, 50);
    if (count > 64) count = 64;
    truth_will("lock one mutex %ld times in each of %ld threads and sleep 200 us holding it", times,
               count);
    for (long i = 0; i < count; i++)
        truth_need0(pthread_create(&threads[i], NULL, contend, NULL), "pthread_create");
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}
