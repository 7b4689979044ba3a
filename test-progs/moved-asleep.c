/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that go to sleep on a busy CPU and are moved to another one at that moment, as
 * load balancing does: from Linux 6.12 on they may still be on their runqueue (delayed
 * dequeue), and what the kernel notes as the time of their queueing is then in the midst of
 * their sleep. moved-asleep [THREADS]
 *
 * Says "asleep" when all sleep on CPU 1, and at the end of a line of its input wakes them
 * from CPU 0. Then for each thread: tid, how long it slept and, by the kernel, waited for a CPU.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "truth.h"

enum { BUSY_NS = 5000000, MOST_THREADS = 64 };

struct sleeper {
    pthread_t thread;
    int pipe[2];
    int tid, stat_fd;
    _Atomic bool sleeps; /* soon */
    uint64_t slept_ns, runq_ns;
};

static struct sleeper sleepers[MOST_THREADS];
static pthread_barrier_t begin; /* all of them, who is busy and who moves them */
static _Atomic bool all_moved;

static void spin_for(uint64_t ns) {
    const uint64_t until = truth_clock(CLOCK_MONOTONIC) + ns;

    while (truth_clock(CLOCK_MONOTONIC) < until) {
    }
}

static uint64_t run_queue_delay(void) {
    FILE* file = fopen("/proc/thread-self/schedstat", "re");
    uint64_t ns = 0;

    if (!file || fscanf(file, "%*u %" SCNu64, &ns) != 1) truth_die("schedstat");
    fclose(file);
    return ns;
}

static void* sleep_moved(void* argument) {
    struct sleeper* self = argument;
    uint64_t before, from;
    char byte;

    truth_pin(0);
    self->tid = (int)syscall(SYS_gettid);
    self->stat_fd = (int)truth_need(open("/proc/thread-self/stat", O_RDONLY | O_CLOEXEC), "stat");
    before = run_queue_delay();
    pthread_barrier_wait(&begin);
    spin_for(BUSY_NS);
    from = truth_clock(CLOCK_MONOTONIC);
    self->sleeps = true;
    truth_need(read(self->pipe[0], &byte, 1), "read");
    self->slept_ns = truth_clock(CLOCK_MONOTONIC) - from;
    self->runq_ns = run_queue_delay() - before;
    return NULL;
}

static void* be_busy(void* argument) {
    truth_pin(0);
    pthread_barrier_wait(&begin);
    while (!all_moved) {
    }
    return argument;
}

static bool is_asleep(const struct sleeper* sleeper) {
    char text[512];
    const ssize_t bytes =
        truth_need(pread(sleeper->stat_fd, text, sizeof(text) - 1, 0), "/proc/PID/task/TID/stat");
    const char* state;

    text[bytes] = 0;
    state = strrchr(text, ')');
    return state && state[1] == ' ' && state[2] == 'S';
}

static void move(int tid, int cpu) {
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    truth_need(sched_setaffinity(tid, sizeof(set), &set), "sched_setaffinity");
}

int main(int argc, char** argv) {
    const long count = truth_arg(argc, argv, 1, 8);
    pthread_t busy;

    if (count > MOST_THREADS) {
        errno = EINVAL;
        truth_die("%ld threads", count);
    }
    truth_pin(1);
    truth_need0(pthread_barrier_init(&begin, NULL, (unsigned)count + 2), "pthread_barrier_init");
    for (long i = 0; i < count; i++) {
        truth_need(pipe(sleepers[i].pipe), "pipe");
        truth_need0(pthread_create(&sleepers[i].thread, NULL, sleep_moved, &sleepers[i]),
                    "pthread_create");
    }
    truth_need0(pthread_create(&busy, NULL, be_busy, NULL), "pthread_create");
    pthread_barrier_wait(&begin);
    for (long moved = 0; moved < count;) {
        for (long i = 0; i < count; i++) {
            if (!sleepers[i].sleeps || !is_asleep(&sleepers[i])) continue;
            move(sleepers[i].tid, 1);
            sleepers[i].sleeps = false;
            moved++;
        }
    }
    all_moved = true;
    truth_need0(pthread_join(busy, NULL), "pthread_join");
    truth_sleep_us(100000);
    puts("asleep");
    fflush(stdout);
    while (getchar() != '\n' && !feof(stdin)) {
    }
    truth_pin(0);
    for (long i = 0; i < count; i++)
        truth_need(write(sleepers[i].pipe[1], "", 1), "write");
    for (long i = 0; i < count; i++) {
        truth_need0(pthread_join(sleepers[i].thread, NULL), "pthread_join");
        printf("tid=%d slept_ns=%" PRIu64 " runq_ns=%" PRIu64 "\n", sleepers[i].tid,
               sleepers[i].slept_ns, sleepers[i].runq_ns);
    }
    fflush(stdout);
    getchar(); /* the threads have ended; the process stays until its input does */
    return 0;
}
