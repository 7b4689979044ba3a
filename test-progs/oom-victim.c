/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process with THREADS threads, in CGROUP (a folder of cgroup version 2), that nap
 * and take memory until the kernel kills it for that; each holds a page more after each
 * nap. Its parent, outside, says how often it has slept: the kernel's count comes with
 * the last word on a child. tests/vm/cases/fault-oom-kill runs it.
 *
 * oom-victim CGROUP [THREADS]
 */
#include "truth.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { PIECE = 4096 };

static void* take_more(void* unused) {
    for (;;) {
        truth_sleep_us(20000);
        char* piece = mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (piece == MAP_FAILED) truth_die("mmap");
        memset(piece, 1, PIECE);
    }
    return unused;
}

static void enter(const char* cgroup) {
    char path[4096];
    int fd;

    snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
    fd = (int)truth_need(open(path, O_WRONLY | O_CLOEXEC), path);
    truth_need(write(fd, "0", 1), path);
    close(fd);
}

static void be_killed(const char* cgroup, long threads, struct truth_lives* lives) {
    pthread_attr_t small;
    pthread_t thread;

    enter(cgroup);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    for (long i = 1; i < threads; i++) {
        truth_born(lives);
        truth_need0(pthread_create(&thread, &small, take_more, NULL), "pthread_create");
    }
    take_more(NULL);
}

/* What the child slept, now that it is dead. */
static void print_killed(int child, const struct rusage* usage, struct truth_lives* lives) {
    char* buffer = malloc(TRUTH_PROCESS_BYTES);
    struct truth_records sums;
    int fd = truth_open_lattop((uint32_t)child);

    if (fd < 0) truth_die(LT_PROC_PATH);
    lives->cpu_ns = (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000000ULL +
                    (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1000ULL;
    truth_read_records(fd, buffer, &sums);
    /* In each thread SIGKILL may turn back a sleep that was about to begin; the kernel counts it */
    truth_print_process("killed", child, usage->ru_nvcsw, (long)lives->count + 1, &sums, lives);
    close(fd);
    free(buffer);
}

int main(int argc, char** argv) {
    long threads = truth_arg(argc, argv, 2, 64);
    /* The child fills it in */
    struct truth_lives* lives =
        mmap(NULL, sizeof(*lives), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct rusage usage;
    int status, child;

    if (argc < 2 || lives == MAP_FAILED) truth_die("oom-victim CGROUP [THREADS]");
    truth_will("be killed for what %ld threads take in %s", threads, argv[1]);
    truth_born(lives);
    child = (int)truth_need(fork(), "fork");
    if (child == 0) be_killed(argv[1], threads, lives);
    truth_need(wait4(child, &status, 0, &usage), "wait4");
    lives->end_ns = truth_clock(CLOCK_MONOTONIC);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
        errno = ECHILD;
        truth_die("it was not killed: status %#x", (unsigned)status);
    }
    truth_sleep_us(50000); /* it is still on its way out of the scheduler */
    print_killed(child, &usage, lives);
}
