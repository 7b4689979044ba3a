/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that each nap at the same stacks: FEW of them, then, when a line comes
 * in, MORE besides. Says "ready" behind each, and stays until stdin ends.
 * same-stacks THREADS FEW MORE
 */
#include "truth.h"

#include <pthread.h>

static pthread_barrier_t barrier;
static long few, more;

/* Each depth is a stack of its own. */
static void nap_at(long depth) {
    volatile long left = depth; /* no call is the last thing that it does */

    if (left > 0)
        nap_at(left - 1);
    else
        truth_sleep_us(10000);
    left = 0;
}

static void* nap_there(void* unused) {
    for (long depth = 0; depth < few; depth++)
        nap_at(depth);
    pthread_barrier_wait(&barrier); /* ready, */
    pthread_barrier_wait(&barrier); /* and told to go on */
    for (long depth = few; depth < few + more; depth++)
        nap_at(depth);
    pthread_barrier_wait(&barrier);
    for (;;)
        pause();
    return unused;
}

static void say_ready(void) {
    puts("ready");
    fflush(stdout);
}

int main(int argc, char** argv) {
    long count = truth_arg(argc, argv, 1, 100);
    pthread_attr_t small;
    pthread_t thread;
    char line[16];

    few = truth_arg(argc, argv, 2, 60);
    more = truth_arg(argc, argv, 3, 8);
    truth_will("nap at %ld stacks in each of %ld threads, then at %ld more", few, count, more);
    truth_need0(pthread_barrier_init(&barrier, NULL, (unsigned)count + 1), "pthread_barrier_init");
    truth_need0(pthread_attr_init(&small), "pthread_attr_init");
    truth_need0(pthread_attr_setstacksize(&small, 1 << 16), "pthread_attr_setstacksize");
    for (long i = 0; i < count; i++)
        truth_need0(pthread_create(&thread, &small, nap_there, NULL), "pthread_create");
    pthread_barrier_wait(&barrier);
    say_ready();
    if (fgets(line, sizeof(line), stdin)) {
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        say_ready();
    }
    while (fgets(line, sizeof(line), stdin))
        ;
    return 0;
}
