/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes of lattop's tables what one user can get: THREADS threads that each nap
 * at STACKS different stacks, over and over, of which the last is the same for all, and
 * is taken by the first before there are the others: behind the traces the pairs run out, too;
 * all the time others that are born, nap and die (not with "still"); and code that is
 * mapped at MAPPINGS places, with a nap in each, so that a resolver has as many rows
 * to teach. tests/vm/cases/table-quota runs it.
 *
 * flood THREADS STACKS MAPPINGS SECONDS [still|churn [NAP_US]]
 */
#include "truth.h"

#include <pthread.h>
#include <sys/mman.h>

/* SHARED: a path beyond those of 6,500 threads with 10 stacks */
enum { DEPTH = 16, SHARED = 0xffff };

static long stacks, mappings, nap_us;
static volatile bool enough;

static void nap(void) {
    truth_sleep_us(nap_us);
}

/* The bits of path say from where each frame calls the next. */
static void nap_at(unsigned path, int depth) {
    if (depth == 0) {
        nap();
    } else if (path & 1) {
        nap_at(path >> 1, depth - 1);
        __asm__ volatile("# one" ::: "memory");
    } else {
        nap_at(path >> 1, depth - 1);
        __asm__ volatile("# none" ::: "memory");
    }
}

static void* nap_everywhere(void* number) {
    unsigned first = (unsigned)((long)number * stacks);
    long from = number ? 0 : stacks - 1;

    for (; !enough; from = 0)
        for (long i = from; i < stacks && !enough; i++)
            nap_at(i < stacks - 1 ? first + (unsigned)i : SHARED, DEPTH);
    return number;
}

/* Shorter than the others: there are to be many. */
static void* nap_once(void* number) {
    truth_sleep_us(1000);
    return number;
}

/* Needs nothing but its own bytes, wherever these are. */
__attribute__((aligned(64))) static void movable_nap(const struct timespec* length) {
    long call = SYS_nanosleep;

    __asm__ volatile("syscall" : "+a"(call) : "D"(length), "S"(NULL) : "rcx", "r11", "memory");
}

/* The page that movable_nap is in, as the file has it. */
static off_t file_offset_of(uintptr_t page) {
    unsigned long start, end, offset;
    char line[512];
    FILE* maps = fopen("/proc/self/maps", "r");

    while (maps && fgets(line, sizeof(line), maps))
        if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 && page >= start &&
            page < end) {
            fclose(maps);
            return (off_t)(offset + page - start);
        }
    truth_die("no mapping of its own");
}

static void* map_code(void* unused) {
    static const struct timespec length = {0, 300000};
    uintptr_t in_page = (uintptr_t)movable_nap % 4096, page = (uintptr_t)movable_nap - in_page;
    int self = (int)truth_need(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), "/proc/self/exe");
    off_t offset = file_offset_of(page);

    for (long i = 0; i < mappings && !enough; i++) {
        char* copy = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, self, offset);
        void (*function)(const struct timespec*);

        if (copy == MAP_FAILED) truth_die("mmap");
        *(void**)&function = copy + in_page;
        for (int times = 0; times < 3; times++)
            function(&length);
    }
    while (!enough)
        nap();
    return unused;
}

int main(int argc, char** argv) {
    long count = truth_arg(argc, argv, 1, 1000), seconds = truth_arg(argc, argv, 4, 10), born = 0;
    uint64_t end = truth_clock(CLOCK_MONOTONIC) + (uint64_t)seconds * 1000000000ULL;
    pthread_t* threads = calloc((size_t)count, sizeof(*threads));
    pthread_attr_t small;
    bool still = argc > 5 && !strcmp(argv[5], "still");
    pthread_t mapper, other;

    stacks = truth_arg(argc, argv, 2, 16);
    mappings = truth_arg(argc, argv, 3, 1000);
    nap_us = truth_arg(argc, argv, 6, 250000);
    truth_will("nap at %ld stacks in each of %ld threads, and in code mapped %ld times", stacks,
               count, mappings);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    truth_need0(pthread_create(&mapper, &small, map_code, NULL), "pthread_create");
    for (long i = 0; i < count; i++)
        truth_need0(pthread_create(&threads[i], &small, nap_everywhere, (void*)i),
                    "pthread_create");
    while (truth_clock(CLOCK_MONOTONIC) < end) {
        if (still) {
            nap();
            continue;
        }
        truth_need0(pthread_create(&other, &small, nap_once, (void*)born++), "pthread_create");
        pthread_join(other, NULL);
    }
    enough = true;
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    pthread_join(mapper, NULL);
    free(threads);
}
