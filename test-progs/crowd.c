/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many tasks that exist: THREADS threads of one process, each asleep for good
 * (in a read of a pipe that nobody writes to), or, with MS, napping that long
 * over and over. Says "ready" when all of them sleep, and stays.
 * tests/bench runs it: what does a crowd cost those who have nothing to do with
 * it, and those who look at it?
 *
 * crowd THREADS [MS]
 */
#include "truth.h"

#include <pthread.h>
#include <sys/mman.h>

enum {
    STACK_BYTES =
        16384, /* PTHREAD_STACK_MIN; one mapping for all, as there are not enough mappings */
    BURST = 256,
};

static int nothing[2];
static long nap_ms, asleep;

__attribute__((noinline)) static void sleep_for_good(void) {
    char byte;

    truth_need(read(nothing[0], &byte, 1), "read");
}

static void* member(void* unused) {
    __atomic_add_fetch(&asleep, 1, __ATOMIC_RELAXED);
    while (nap_ms)
        truth_sleep_us(nap_ms * 1000);
    sleep_for_good();
    return unused;
}

int main(int argc, char** argv) {
    long count = truth_arg(argc, argv, 1, 1000);
    pthread_attr_t small;
    pthread_t thread;
    char* stacks;

    nap_ms = argc > 2 ? truth_arg(argc, argv, 2, 1) : 0;
    truth_need(pipe(nothing), "pipe");
    stacks = mmap(NULL, (size_t)count * STACK_BYTES, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED) truth_die("mmap");
    pthread_attr_init(&small);
    for (long i = 0; i < count; i++) {
        truth_need0(pthread_attr_setstack(&small, stacks + i * STACK_BYTES, STACK_BYTES),
                    "pthread_attr_setstack");
        truth_need0(pthread_create(&thread, &small, member, NULL), "pthread_create");
        /* Whoever watches births gets a moment to make room for more */
        if (i % BURST == BURST - 1) truth_sleep_us(1000);
    }
    while (__atomic_load_n(&asleep, __ATOMIC_RELAXED) < count)
        truth_sleep_us(1000);
    truth_sleep_us(100000);
    puts("ready");
    fflush(stdout);
    sleep_for_good();
}
