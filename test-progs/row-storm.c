/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Teaches itself rows for code of which some goes meanwhile: each lesson is full, most of
 * its rows in a mapping that stays, one in a page that another thread unmaps and maps
 * again, so that the table is dropped now and then, by lessons and not by the clock, also while it grows. In the end (at once
 * with 0 seconds) the table is dropped and taught ROWS rows, and it says so and waits; SIGUSR1
 * makes it ask for a lesson more, and say whether that was taken.
 * tests/vm/cases/stack-rows-unmapped and table-rows-in-vain run it. row-storm [SECONDS [ROWS]]
 */
#include "lesson.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

/* UNMAPPED_EACH: lessons from one unmapping to the next, at most; the table grows at 8,192 rows, the third one */
enum { PAGE = 4096, AT_ONCE = LT_MAX_TEACH_ROWS, UNMAPPED_EACH = 8 };

static char *stays, *goes;
static size_t stays_bytes;
static atomic_bool ends;
static _Atomic uint64_t lessons, lesson_us; /* so many were given, as long the last one took */
static struct lt_row rows[AT_ONCE];
static struct lt_row_range ranges[2];
static struct lt_teach lesson = {.rows = (uintptr_t)rows, .ranges = (uintptr_t)ranges};
static char buffer[TRUTH_BUFFER_BYTES];

static char* map(char* at, size_t bytes) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0);
    char* got = mmap(at, bytes, PROT_READ | PROT_EXEC, flags, -1, 0);

    if (got == MAP_FAILED) truth_die("mmap");
    return got;
}

/* A lesson about rows first, first + 1, ... of the mapping that stays, and about the page that goes if `both`. */
static long teach(int fd, uint64_t first, uint32_t n, bool both) {
    for (uint32_t i = 0; i < n; i++)
        rows[i] = (struct lt_row){.pc = (uintptr_t)stays + 4 * (first + i), .kind = LT_ROW_SP, .cfa_offset = 8};
    if (both) rows[0].pc = (uintptr_t)goes + 1;
    ranges[0] = (struct lt_row_range){(uintptr_t)stays, (uintptr_t)stays + stays_bytes};
    ranges[1] = (struct lt_row_range){(uintptr_t)goes, (uintptr_t)goes + PAGE};
    lesson.n_rows = n;
    lesson.n_ranges = both ? 2 : 1;
    return ioctl(fd, LT_IOC_TEACH, &lesson);
}

static void* unmap_often(void* unused) {
    unsigned seed = 1;

    while (!ends) {
        for (uint64_t next = lessons + (uint64_t)rand_r(&seed) % UNMAPPED_EACH; !ends && lessons < next;)
            truth_sleep_us(200);
        truth_sleep_us((uint64_t)rand_r(&seed) % (lesson_us + 1));
        truth_need(munmap(goes, PAGE), "munmap");
        map(goes, PAGE);
    }
    return unused;
}

int main(int argc, char** argv) {
    uint64_t seconds = (uint64_t)truth_arg_from(0, argc, argv, 1, 5), all = (uint64_t)truth_arg(argc, argv, 2, 200000);
    uint64_t until, taught = 0, at = 0, too_late = 0;
    int fd = open(LT_PROC_PATH, O_RDONLY | O_CLOEXEC);
    pthread_t unmapper;
    sigset_t one_more;
    int number;

    sigemptyset(&one_more);
    sigaddset(&one_more, SIGUSR1);
    truth_need0(pthread_sigmask(SIG_BLOCK, &one_more, NULL), "pthread_sigmask");
    truth_need(fd, LT_PROC_PATH);
    truth_lesson(&lesson, buffer, sizeof(buffer));
    stays_bytes = 4 * (all + AT_ONCE);
    stays = map(NULL, stays_bytes);
    goes = map(NULL, 3 * PAGE) + PAGE; /* with neighbours that it does not merge with others */

    truth_need0(pthread_create(&unmapper, NULL, unmap_often, NULL), "pthread_create");
    until = truth_clock(CLOCK_MONOTONIC) + seconds * 1000000000;
    for (uint64_t now = truth_clock(CLOCK_MONOTONIC), begun; now < until;) {
        begun = now;
        if (teach(fd, at, AT_ONCE, true) == 0)
            taught++;
        else if (errno == ESTALE || errno == EAGAIN)
            too_late++;
        else
            truth_die("LT_IOC_TEACH");
        at = (at + AT_ONCE) % all;
        now = truth_clock(CLOCK_MONOTONIC);
        lesson_us = (now - begun) / 1000;
        lessons++;
    }
    ends = true;
    truth_need0(pthread_join(unmapper, NULL), "pthread_join");
    /* There is a row in it, so that all go with it; and then as many as asked for */
    while (teach(fd, 0, 1, true))
        if (errno != EAGAIN) truth_die("LT_IOC_TEACH");
    truth_need(munmap(goes, PAGE), "munmap");
    for (at = 0; at < all;) {
        uint32_t n = all - at < AT_ONCE ? (uint32_t)(all - at) : AT_ONCE;

        if (teach(fd, at, n, false) == 0)
            at += n;
        else if (errno != EAGAIN)
            truth_die("LT_IOC_TEACH");
    }
    printf("lessons %llu taken, %llu too late\nrows %llu\n", (unsigned long long)taught,
           (unsigned long long)too_late, (unsigned long long)all);
    fflush(stdout);
    while (sigwait(&one_more, &number) == 0) {
        do
            errno = 0;
        while (teach(fd, all, AT_ONCE, false) && errno == EAGAIN);
        printf("one more: %s\n", errno ? strerror(errno) : "taken");
        fflush(stdout);
    }
}
