/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * THREADS threads that read all tasks they may see, with all traces, again and again, each by a descriptor
 * of its own. Says how often, and how long the longest read took, refused for the quota of snapshots or not.
 * tests/vm/cases/view-many-readers runs it. many-readers THREADS SECONDS
 */
#include "truth.h"

#include <pthread.h>
#include <stdatomic.h>

static uint64_t end_ns;
static atomic_ulong reads;
static _Atomic uint64_t longest_ns;

static void* read_often(void* unused) {
    struct lt_query query = {
        .size = sizeof(query),
        .view = LT_VIEW_RECORDS,
        .limit = LT_MAX_LIMIT,
        .traces = LT_TRACES_ALL,
        .uid = LT_UID_ANY,
    };
    int fd = (int)truth_need(truth_open_query(&query), LT_PROC_PATH);
    uint64_t now = truth_clock(CLOCK_MONOTONIC), before, longest;
    char byte;

    while (now < end_ns) {
        before = now;
        if (pread(fd, &byte, 1, 0) < 0 && errno != EDQUOT) truth_die("pread");
        now = truth_clock(CLOCK_MONOTONIC);
        longest = longest_ns;
        while (now - before > longest && !atomic_compare_exchange_weak(&longest_ns, &longest, now - before))
            continue;
        reads++;
    }
    return unused;
}

int main(int argc, char** argv) {
    long count = truth_arg(argc, argv, 1, 1), seconds = truth_arg(argc, argv, 2, 1);
    pthread_t* threads = calloc((size_t)count, sizeof(*threads));

    if (!threads) truth_die("calloc");
    end_ns = truth_clock(CLOCK_MONOTONIC) + (uint64_t)seconds * 1000000000;
    for (long i = 0; i < count; i++)
        truth_need0(pthread_create(&threads[i], NULL, read_often, NULL), "pthread_create");
    for (long i = 0; i < count; i++)
        truth_need0(pthread_join(threads[i], NULL), "pthread_join");
    printf("readers threads=%ld reads=%lu longest_ms=%llu\n", count, (unsigned long)reads,
           (unsigned long long)longest_ns / 1000000);
    free(threads);
    return 0;
}
