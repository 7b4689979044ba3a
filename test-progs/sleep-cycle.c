/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one sleep and its wake-up cost: two processes hand a turn to and fro, on
 * one CPU, DEPTH calls below main. For each line on standard input it does so
 * CYCLES times and prints the nanoseconds a sleep; under -icount those are
 * instructions. There are two sleeps in a cycle: the processes are SCHED_BATCH,
 * which preempt nobody when they are woken, so each turn ends in a sleep.
 * tests/bench runs it; built with frame pointers and without. The cycles stand
 * between marks for tests/bench/irqs_off.c, whose id is the number of sleeps.
 *
 * By nanosleep it is one process that sleeps, once in a cycle, woken by the timer's
 * interrupt; so that the CPU is never idle, which takes time but no instructions,
 * the other one counts meanwhile, and what it counted is taken off.
 *
 * With STACKS the sleeps are PLACES calls further down, at as many different
 * call stacks, in turn: at each of PLACES levels one bit of the turn's number
 * says from which of two places the next level is called. A number on the line
 * is how many of the stacks take turns; without one all do.
 *
 * sleep-cycle pipe|futex|epoll|nanosleep DEPTH CYCLES [STACKS]
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "../tests/bench/marks.h"
#include "truth.h"

enum side { PARENT, CHILD };

enum { PLACES = 10, MAX_STACKS = 1 << PLACES };

static int pipes[2][2]; /* read, write; by who reads */
static int epolls[2];   /* of the reading ends */

/* Of both processes. */
static struct shared {
    uint32_t turns[2]; /* futexes, by who waits */
    long cycle, of;    /* which cycle it is, and how many stacks take turns */
    uint64_t counted;  /* by the other process, while this one sleeps */
} * shared;

static long cycles;
static long stacks = 1;

static void pipe_wait(enum side me) {
    char byte;

    truth_need(read(pipes[me][0], &byte, 1), "read");
}

static void pipe_wake(enum side other) {
    char byte = 0;

    truth_need(write(pipes[other][1], &byte, 1), "write");
}

static void epoll_then_read(enum side me) {
    struct epoll_event event;

    truth_need(epoll_wait(epolls[me], &event, 1, -1), "epoll_wait");
    pipe_wait(me);
}

static void futex_wait(enum side me) {
    while (__atomic_load_n(&shared->turns[me], __ATOMIC_ACQUIRE) == 0)
        if (syscall(SYS_futex, &shared->turns[me], FUTEX_WAIT, 0, NULL, NULL, 0) < 0 &&
            errno != EAGAIN)
            truth_die("FUTEX_WAIT");
    __atomic_store_n(&shared->turns[me], 0, __ATOMIC_RELEASE);
}

static void futex_wake(enum side other) {
    __atomic_store_n(&shared->turns[other], 1, __ATOMIC_RELEASE);
    truth_need(syscall(SYS_futex, &shared->turns[other], FUTEX_WAKE, 1, NULL, NULL, 0),
               "FUTEX_WAKE");
}

/* Longer than the kernel takes to get from the timer's start to the switch. */
static void sleep_briefly(enum side me) {
    const struct timespec brief = {.tv_nsec = 20000};

    (void)me;
    truth_need(nanosleep(&brief, NULL), "nanosleep");
}

static void wake_nobody(enum side other) {
    (void)other;
}

static const struct way {
    const char* name;
    void (*wait)(enum side me);
    void (*wake)(enum side other);
    int sleeps; /* in a cycle, of both */
} ways[] = {
    {"pipe", pipe_wait, pipe_wake, 2},
    {"futex", futex_wait, futex_wake, 2},
    {"epoll", epoll_then_read, pipe_wake, 2},
    {"nanosleep", sleep_briefly, wake_nobody, 1},
};

/* Waits at the stack that these bits stand for. The asm keeps the two calls apart. */
__attribute__((noinline)) static void wait_at(const struct way* way, enum side me, long bits,
                                              int level) {
    if (level == PLACES) {
        way->wait(me);
    } else if (bits & 1) {
        wait_at(way, me, bits >> 1, level + 1);
        __asm__ volatile("# one" ::: "memory");
    } else {
        wait_at(way, me, bits >> 1, level + 1);
        __asm__ volatile("# zero" ::: "memory");
    }
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

static inline void wait_in_turn(const struct way* way, enum side me) {
    if (stacks == 1)
        way->wait(me);
    else
        wait_at(way, me, shared->cycle % shared->of, 0);
}

/* Two instructions a count, and none else. */
enum { COUNT_INSTRUCTIONS = 2 };

static void count(void) {
    __asm__ volatile("1: incq %0\n\tjmp 1b" : "+m"(shared->counted)); /* for ever */
}

__attribute__((noinline)) static void answer(const struct way* way) {
    if (way->sleeps == 1) count();
    for (;;) {
        wait_in_turn(way, CHILD);
        way->wake(PARENT);
    }
}

__attribute__((noinline)) static void measure(const struct way* way) {
    struct rusage before, after;
    char line[16];

    while (fgets(line, sizeof(line), stdin)) {
        long of = atol(line);
        uint64_t start, counted, took;

        shared->of = of > 0 && of < stacks ? of : stacks;
        start = truth_clock(CLOCK_MONOTONIC);
        getrusage(RUSAGE_SELF, &before);
        counted = __atomic_load_n(&shared->counted, __ATOMIC_RELAXED);
        MARK_BEGIN(way->sleeps * cycles, 0, 0);
        for (long i = 0; i < cycles; i++) {
            shared->cycle = i;
            way->wake(CHILD);
            wait_in_turn(way, PARENT);
        }
        MARK_END();
        took = truth_clock(CLOCK_MONOTONIC) - start;
        counted = __atomic_load_n(&shared->counted, __ATOMIC_RELAXED) - counted;
        took -= COUNT_INSTRUCTIONS * counted;
        printf("%.1f\n", (double)took / way->sleeps / (double)cycles);
        getrusage(RUSAGE_SELF, &after);
        if (after.ru_nvcsw - before.ru_nvcsw < cycles - cycles / 50) {
            fprintf(stderr, "sleep-cycle: %ld sleeps in %ld cycles\n",
                    after.ru_nvcsw - before.ru_nvcsw, cycles);
            exit(1);
        }
        fflush(stdout);
    }
}

/* A frame each, down to the work. */
__attribute__((noinline)) static void descend(long depth, const struct way* way,
                                              void (*work)(const struct way*)) {
    if (depth > 0)
        descend(depth - 1, way, work);
    else
        work(way);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

static const struct way* find_way(const char* name) {
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        if (!strcmp(ways[i].name, name)) return &ways[i];
    fprintf(stderr, "sleep-cycle: '%s' is none of pipe, futex, epoll, nanosleep\n", name);
    exit(2);
}

int main(int argc, char** argv) {
    struct epoll_event readable = {.events = EPOLLIN};
    struct sched_param no_priority = {0};
    const struct way* way;
    long depth;
    pid_t child;

    if (argc < 4 || argc > 5 || (depth = atol(argv[2])) < 0 || (cycles = atol(argv[3])) < 1 ||
        (argc == 5 && ((stacks = atol(argv[4])) < 1 || stacks > MAX_STACKS))) {
        fprintf(stderr, "usage: sleep-cycle pipe|futex|epoll|nanosleep DEPTH CYCLES [STACKS]\n");
        return 2;
    }
    way = find_way(argv[1]);
    truth_pin(0);
    truth_need(sched_setscheduler(0, SCHED_BATCH, &no_priority), "sched_setscheduler");
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) truth_die("mmap");
    shared->of = stacks;
    for (int i = 0; i < 2; i++) {
        truth_need(pipe(pipes[i]), "pipe");
        epolls[i] = (int)truth_need(epoll_create1(0), "epoll_create1");
        truth_need(epoll_ctl(epolls[i], EPOLL_CTL_ADD, pipes[i][0], &readable), "epoll_ctl");
    }
    prctl(PR_SET_TIMERSLACK, 1);
    child = (pid_t)truth_need(fork(), "fork");
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (way->sleeps == 1)
            truth_need(sched_setscheduler(0, SCHED_IDLE, &no_priority), "sched_setscheduler");
        descend(depth, way, answer);
    }
    descend(depth, way, measure);
    kill(child, SIGKILL);
    return 0;
}
