/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A resolver that teaches PID, whose memory map stays locked, without a pause, and beside it
 * one that teaches ROUNDS programs, each for the first time. Says how often the first was
 * refused, how often the other was, and as long the longest lesson of each took.
 * tests/vm/cases/stack-rows-and-locked-map runs it. locked-lessons PID [ROUNDS]
 */
#include "lesson.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

struct lessons {
    const char* whose;
    unsigned long given, refused;
    uint64_t longest_ns;
};

static struct lessons of_locked = {.whose = "locked"};
static struct lessons* of_others;  /* which they share */
static struct truth_one_row locked_one;
static int lattop;
static atomic_bool ends;
static char buffer[TRUTH_BUFFER_BYTES];

static int teach(struct lessons* l, struct lt_teach* lesson) {
    uint64_t before = truth_clock(CLOCK_MONOTONIC), took;
    int status = ioctl(lattop, LT_IOC_TEACH, lesson) ? errno : 0;

    took = truth_clock(CLOCK_MONOTONIC) - before;
    l->given++;
    l->refused += status == EAGAIN;
    if (took > l->longest_ns) l->longest_ns = took;
    return status;
}

static void* teach_locked(void* unused) {
    while (!ends)
        if (teach(&of_locked, &locked_one.lesson) != EAGAIN) truth_die("its map is not locked");
    return unused;
}

static void teach_another(void) {
    struct truth_one_row one;
    int status;

    truth_sleep_us(1000);
    truth_one_row(&one, buffer, sizeof(buffer));
    status = teach(of_others, &one.lesson);
    _exit(status && status != EAGAIN);
}

static void say(const struct lessons* l) {
    printf("lessons whose=%s given=%lu refused=%lu longest_ms=%llu\n", l->whose, l->given, l->refused,
           (unsigned long long)l->longest_ns / 1000000);
}

int main(int argc, char** argv) {
    long locked = truth_arg(argc, argv, 1, 0), rounds = truth_arg(argc, argv, 2, 10);
    pthread_t teacher;
    int status;

    lattop = (int)truth_need(open(LT_PROC_PATH, O_RDONLY | O_CLOEXEC), LT_PROC_PATH);
    of_others = mmap(NULL, sizeof(*of_others), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (of_others == MAP_FAILED) truth_die("mmap");
    of_others->whose = "others";
    /* Whether there is code is not asked before the map is locked */
    truth_one_row_for((uint32_t)locked, 4096, &locked_one, buffer, sizeof(buffer));
    truth_need0(pthread_create(&teacher, NULL, teach_locked, NULL), "pthread_create");
    while (rounds--) {
        if (truth_need(fork(), "fork") == 0) teach_another();
        truth_need(wait(&status), "wait");
        if (status) truth_die("a lesson beside");
    }
    ends = true;
    truth_need0(pthread_join(teacher, NULL), "pthread_join");
    say(&of_locked);
    say(of_others);
    return 0;
}
