/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Many threads that sleep at the same time. sleepers [THREADS [TIMES [MS]]] */
#include "truth.h"

#include <pthread.h>

static long times, ms;
/* A sample must be taken without a context switch: a thousand threads must not take theirs at once
 */
static pthread_mutex_t sampling = PTHREAD_MUTEX_INITIALIZER;

static void* sleep_often(void* unused) {
    struct truth truth;

    pthread_mutex_lock(&sampling);
    truth_begin(&truth, "sleeper");
    pthread_mutex_unlock(&sampling);
    for (long i = 0; i < times; i++)
        truth_sleep_us(ms * 1000);
    pthread_mutex_lock(&sampling); /* a sleep as any other, if it is one */
    truth_end(&truth, TRUTH_UNKNOWN);
    pthread_mutex_unlock(&sampling);
    return unused;
}

/* Each thread holds three files open. */
static void allow_files(long count) {
    struct rlimit limit;

    truth_need(getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
    if (limit.rlim_cur < (rlim_t)count) limit.rlim_cur = (rlim_t)count;
    if (limit.rlim_max < limit.rlim_cur) limit.rlim_max = limit.rlim_cur;
    truth_need(setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
}

int main(int argc, char** argv) {
    long count = truth_arg(argc, argv, 1, 64);
    pthread_t* threads = calloc((size_t)count, sizeof(*threads));
    pthread_attr_t small;

    times = truth_arg(argc, argv, 2, 10);
    ms = truth_arg(argc, argv, 3, 20);
    truth_will("sleep %ld times for %ld ms in each of %ld threads", times, ms, count);
    allow_files(count * 3 + 64);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 17);
    for (long i = 0; i < count; i++)
        truth_need0(pthread_create(&threads[i], &small, sleep_often, NULL), "pthread_create");
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    free(threads);
}
