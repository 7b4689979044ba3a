/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sleeps at one place, on stacks that differ in little: by the innermost or the
 * outermost return address alone, or only by how large a frame is (alloca). A
 * trace that was remembered for one must never stand for another. Built without
 * frame pointers, so that alloca's function is one that goes by its bp.
 *
 * remembered-stacks ROUNDS, for each line on standard input, prints lines
 * "FUNCTION FUNCTION SLEEPS": so many sleeps were in both.
 */
#define _GNU_SOURCE
#include <alloca.h>

#include "truth.h"

#define NO_INLINE __attribute__((noinline, noclone))

/* no tail call */
#define RETURN __asm__ volatile("" ::: "memory")

NO_INLINE static void nap_here(void) {
    truth_sleep_us(200);
    RETURN;
}

NO_INLINE static void nap_there(void) {
    truth_sleep_us(200);
    RETURN;
}

NO_INLINE static void with_room(size_t bytes, void (*nap)(void)) {
    char* room = alloca(bytes);

    __asm__ volatile("" : : "r"(room) : "memory");
    nap();
    RETURN;
}

NO_INLINE static void site_one(size_t bytes, void (*nap)(void)) {
    with_room(bytes, nap);
    RETURN;
}

NO_INLINE static void site_two(size_t bytes, void (*nap)(void)) {
    with_room(bytes, nap);
    RETURN;
}

static const struct stack {
    const char* names;
    void (*site)(size_t bytes, void (*nap)(void));
    void (*nap)(void);
} stacks[] = {
    {"site_one nap_here", site_one, nap_here},
    {"site_two nap_here", site_two, nap_here},
    {"site_one nap_there", site_one, nap_there},
};

enum { STACKS = sizeof(stacks) / sizeof(stacks[0]) };

static long switches(void) {
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

int main(int argc, char** argv) {
    static const size_t rooms[] = {64, 64, 64, 4096, 160, 64, 4096};
    long rounds = truth_arg(argc, argv, 1, 200);
    char line[16];

    while (fgets(line, sizeof(line), stdin)) {
        long sleeps[STACKS] = {0};

        for (long i = 0; i < rounds * STACKS; i++) {
            const struct stack* stack = &stacks[i % STACKS];
            long before = switches();

            stack->site(rooms[(size_t)i % (sizeof(rooms) / sizeof(rooms[0]))], stack->nap);
            sleeps[i % STACKS] += switches() - before;
        }
        for (int i = 0; i < STACKS; i++) printf("%s %ld\n", stacks[i].names, sleeps[i]);
        fflush(stdout);
    }
    return 0;
}
