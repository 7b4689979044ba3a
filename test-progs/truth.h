/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a test program says about itself: the only header of test-progs.
 *
 * A thread opens a window with truth_begin(), blocks in the way its file is
 * named for, and closes the window with truth_end(), which prints one line:
 *
 *	truth prog=nanosleep role=main pid=7 tid=7 sleeps=100 blocked_ns=...
 *
 * sleeps is ru_nvcsw, blocked_ns is CLOCK_MONOTONIC less the thread's own CPU
 * time and its run-queue delay (/proc/thread-self/schedstat), all as
 * differences over the window. sum_* are the kernel's own times (only with
 * kernel.sched_schedstats=1), l_* what /proc/lattop says of the same window,
 * l_total_* of the whole life of the thread. tests/vm/oracle compares them.
 *
 * Reading the counters must not count: every sample is taken again until the
 * thread was switched out neither by its own will nor otherwise between the
 * first counter and the last, so that all of them speak of the same moment.
 * Opening the files may sleep, so truth_begin() opens them before it samples;
 * printing may sleep, so truth_end() samples before it prints.
 */
#ifndef TEST_PROGS_TRUTH_H
#define TEST_PROGS_TRUTH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lattop.h" /* module/uapi */

enum {
    TRUTH_TRIES = 10000,
    TRUTH_BUFFER_BYTES = 1 << 20,   /* a process of 8,000 threads, without traces */
    TRUTH_PROCESS_BYTES = 16 << 20, /* of 100,000 */
    TRUTH_UNKNOWN = -1,             /* a number of sleeps that the program cannot foretell */
};

struct truth_point {
    uint64_t mono_ns, cpu_ns, runq_ns, runs;
    uint64_t nvcsw, nivcsw;
    bool has_sums;
    uint64_t sum_sleep_ns, sum_block_ns;
    bool has_lattop;
    uint64_t l_sleeps, l_blocked_ns, l_runq_ns, l_runs;
};

struct truth {
    const char* role;
    int tid;
    int schedstat_fd, sched_fd, lattop_fd;
    char* buffer;
    size_t buffer_bytes;
    struct truth_point begin;
};

/* Ends the program: a test program that cannot do what it promises has no truth. */
__attribute__((format(printf, 1, 2), noreturn)) static inline void truth_die(const char* format,
                                                                             ...) {
    int error = errno;
    va_list args;

    fprintf(stderr, "%s: ", program_invocation_short_name);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, ": %s\n", strerror(error));
    exit(1);
}

/* result of a system call, which must not be negative */
static inline long truth_need(long result, const char* what) {
    if (result < 0) truth_die("%s", what);
    return result;
}

/* result of a pthread call, which must be 0 */
static inline void truth_need0(int error, const char* what) {
    if (error) {
        errno = error;
        truth_die("%s", what);
    }
}

__attribute__((format(printf, 1, 2))) static inline void truth_will(const char* format, ...) {
    va_list args;

    printf("will prog=%s ", program_invocation_short_name);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
}

/* argv[index] as a number of at least 1, or the default */
static inline long truth_arg_from(long least, int argc, char** argv, int index, long otherwise) {
    char* end;
    long value;

    if (argc <= index) return otherwise;
    value = strtol(argv[index], &end, 10);
    if (*end || value < least) {
        errno = EINVAL;
        truth_die("'%s'", argv[index]);
    }
    return value;
}

static inline long truth_arg(int argc, char** argv, int index, long otherwise) {
    return truth_arg_from(1, argc, argv, index, otherwise);
}

static inline uint64_t truth_clock(clockid_t clock) {
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static inline void truth_sleep_us(long us) {
    struct timespec left = {us / 1000000, us % 1000000 * 1000};

    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        ;
}

static inline void truth_pin(int cpu) {
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    truth_need(sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity");
}

/* "name : 12.345678" (milliseconds) in the text of /proc/PID/sched, in ns */
static inline bool truth_sched_field(const char* text, const char* name, uint64_t* ns) {
    const char* at = strstr(text, name);
    unsigned long long ms, fraction;

    if (!at || !(at = strchr(at, ':')) || sscanf(at, ": %llu.%6llu", &ms, &fraction) != 2)
        return false;
    *ns = ms * 1000000 + fraction;
    return true;
}

/* -1: there is no lattop */
static inline int truth_open_query(const struct lt_query* query) {
    int fd = open(LT_PROC_PATH, O_RDONLY | O_CLOEXEC);

    if (fd >= 0)
        truth_need(ioctl(fd, LT_IOC_QUERY, query), "LT_IOC_QUERY");
    else if (errno != ENOENT)
        truth_die(LT_PROC_PATH);
    return fd;
}

static inline int truth_open_lattop(uint32_t tid) {
    struct lt_query query = {
        .size = sizeof(query),
        .view = LT_VIEW_RECORDS,
        .sort = LT_SORT_PID,
        .limit = LT_MAX_LIMIT,
        .traces = LT_TRACES_NONE,
        .uid = LT_UID_ANY,
        .n_pids = 1,
        .pids = (uintptr_t)&tid,
    };

    return truth_open_query(&query);
}

/* Fills buffer with a fresh snapshot; ends the program if there is none or it does not fit. */
static inline const struct lt_header* truth_snapshot(int fd, char* buffer, size_t size) {
    const struct lt_header* header = (const void*)buffer;
    ssize_t bytes = pread(fd, buffer, size, 0);

    if (bytes < (ssize_t)sizeof(*header) || header->magic != LT_MAGIC)
        truth_die("pread " LT_PROC_PATH " gave %zd", bytes);
    if (header->total_bytes > (uint64_t)bytes)
        truth_die("a snapshot of %llu bytes", (unsigned long long)header->total_bytes);
    return header;
}

static inline const struct lt_task_rec* truth_task(const struct lt_header* header, uint32_t index) {
    const struct lt_section* tasks = &header->section[LT_SEC_TASKS];

    return (const void*)((const char*)header + tasks->offset +
                         (uint64_t)index * tasks->record_bytes);
}

/* A thread that has not slept yet may have no record: all its figures are 0. */
static inline void truth_read_lattop(struct truth* t, struct truth_point* point) {
    const struct lt_header* header = truth_snapshot(t->lattop_fd, t->buffer, t->buffer_bytes);

    point->has_lattop = true;
    point->l_sleeps = point->l_blocked_ns = point->l_runq_ns = point->l_runs = 0;
    for (uint32_t i = 0; i < header->section[LT_SEC_TASKS].count; i++) {
        const struct lt_task_rec* task = truth_task(header, i);

        if (task->pid != (uint32_t)t->tid || task->kind != LT_KIND_TASK ||
            task->flags & LT_T_EXITED)
            continue;
        point->l_sleeps = task->sleeps;
        point->l_blocked_ns = task->blocked_ns;
        point->l_runq_ns = task->runq_ns;
        point->l_runs = task->runs;
    }
}

static inline void truth_read_kernel(struct truth* t, struct truth_point* point) {
    unsigned long long delay, runs;
    char text[8192];
    ssize_t bytes;

    if (t->sched_fd >= 0 && (bytes = pread(t->sched_fd, text, sizeof(text) - 1, 0)) > 0) {
        text[bytes] = 0;
        point->has_sums = truth_sched_field(text, "sum_sleep_runtime", &point->sum_sleep_ns);
        if (!truth_sched_field(text, "sum_block_runtime", &point->sum_block_ns))
            point->sum_block_ns = 0; /* before 5.16 */
    }
    bytes = truth_need(pread(t->schedstat_fd, text, sizeof(text) - 1, 0), "schedstat");
    text[bytes] = 0;
    if (sscanf(text, "%*u %llu %llu", &delay, &runs) != 2) truth_die("schedstat '%s'", text);
    point->runq_ns = delay;
    point->runs = runs;
    point->cpu_ns = truth_clock(CLOCK_THREAD_CPUTIME_ID);
    point->mono_ns = truth_clock(CLOCK_MONOTONIC);
}

/*
 * Where one sample takes longer than from one tick to the next (a debug kernel), some
 * kernel thread wakes in each: past a few tries, or a second of them (a fork bomb), while
 * it lasts, none can preempt.
 */
static inline bool truth_hold_cpu(void) {
    struct sched_param first = {.sched_priority = 1};

    return sched_getscheduler(0) == SCHED_OTHER && sched_setscheduler(0, SCHED_FIFO, &first) == 0;
}

static inline void truth_let_go(void) {
    struct sched_param none = {.sched_priority = 0};

    truth_need(sched_setscheduler(0, SCHED_OTHER, &none), "SCHED_OTHER");
}

/* How often it slept in tries that do not count: reading may wait for another reader. */
static inline long truth_sample(struct truth* t, struct truth_point* point) {
    struct rusage first, before, after;
    uint64_t began_ns = truth_clock(CLOCK_MONOTONIC);

    getrusage(RUSAGE_THREAD, &first);
    for (int tries = 0; tries < TRUTH_TRIES; tries++) {
        bool many = tries >= 50 || truth_clock(CLOCK_MONOTONIC) - began_ns > 1000000000;
        bool held = many && truth_hold_cpu();

        getrusage(RUSAGE_THREAD, &before);
        if (t->lattop_fd >= 0) truth_read_lattop(t, point);
        truth_read_kernel(t, point);
        getrusage(RUSAGE_THREAD, &after);
        if (held) truth_let_go();
        if (before.ru_nvcsw == after.ru_nvcsw && before.ru_nivcsw == after.ru_nivcsw) {
            point->nvcsw = (uint64_t)after.ru_nvcsw;
            point->nivcsw = (uint64_t)after.ru_nivcsw;
            return after.ru_nvcsw - first.ru_nvcsw;
        }
        /* Threads that sample together wait for each other's snapshots: out of step */
        if (tries % 64 == 63) truth_sleep_us(1000 + t->tid % 16 * 250);
    }
    errno = EAGAIN;
    truth_die("no sample without a context switch in %d tries", TRUTH_TRIES);
}

static inline void truth_begin(struct truth* t, const char* role) {
    memset(t, 0, sizeof(*t));
    t->role = role;
    t->tid = (int)syscall(SYS_gettid);
    /* What is asked of the leader is answered for all threads, dead ones that are not merged yet as
     * well */
    t->buffer_bytes = t->tid == getpid() ? TRUTH_PROCESS_BYTES : TRUTH_BUFFER_BYTES;
    t->buffer = malloc(t->buffer_bytes);
    if (!t->buffer) truth_die("malloc");
    t->schedstat_fd =
        (int)truth_need(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC), "schedstat");
    t->sched_fd = open("/proc/thread-self/sched", O_RDONLY | O_CLOEXEC);
    t->lattop_fd = truth_open_lattop((uint32_t)t->tid);
    truth_sample(t, &t->begin);
}

static inline void truth_print(const struct truth* t, const struct truth_point* end,
                               long expected) {
    const struct truth_point* begin = &t->begin;
    uint64_t wall_ns = end->mono_ns - begin->mono_ns;
    uint64_t cpu_ns = end->cpu_ns - begin->cpu_ns;
    uint64_t runq_ns = end->runq_ns - begin->runq_ns;
    int64_t blocked_ns = (int64_t)(wall_ns - cpu_ns - runq_ns);
    char line[1024], *at = line;

#define TRUTH_ADD(...) (at += snprintf(at, (size_t)(line + sizeof(line) - at), __VA_ARGS__))
#define TRUTH_DELTA(field) \
    TRUTH_ADD(" " #field "=%llu", (unsigned long long)(end->field - begin->field))
#define TRUTH_TOTAL(name, value) TRUTH_ADD(" " name "=%llu", (unsigned long long)(value))
    TRUTH_ADD("truth prog=%s role=%s pid=%d tid=%d policy=%d", program_invocation_short_name,
              t->role, getpid(), t->tid, sched_getscheduler(0));
    TRUTH_TOTAL("sleeps", end->nvcsw - begin->nvcsw);
    if (expected != TRUTH_UNKNOWN) TRUTH_ADD(" expect_sleeps=%ld", expected);
    TRUTH_ADD(" blocked_ns=%lld", (long long)blocked_ns);
    TRUTH_DELTA(runq_ns);
    TRUTH_DELTA(runs);
    TRUTH_TOTAL("wall_ns", wall_ns);
    TRUTH_DELTA(cpu_ns);
    TRUTH_DELTA(nivcsw);
    TRUTH_TOTAL("total_sleeps", end->nvcsw);
    TRUTH_TOTAL("total_nivcsw", end->nivcsw);
    TRUTH_TOTAL("total_runq_ns", end->runq_ns);
    if (end->has_sums) {
        TRUTH_DELTA(sum_sleep_ns);
        TRUTH_DELTA(sum_block_ns);
    }
    if (end->has_lattop) {
        TRUTH_DELTA(l_sleeps);
        TRUTH_DELTA(l_blocked_ns);
        TRUTH_DELTA(l_runq_ns);
        TRUTH_DELTA(l_runs);
        TRUTH_TOTAL("l_total_sleeps", end->l_sleeps);
        TRUTH_TOTAL("l_total_runq_ns", end->l_runq_ns);
    }
    TRUTH_ADD("\n");
    fputs(line, stdout);
    fflush(stdout);
#undef TRUTH_ADD
#undef TRUTH_DELTA
#undef TRUTH_TOTAL
}

/* Closes the window; expected is a number of sleeps known by design, or TRUTH_UNKNOWN. */
static inline void truth_end(struct truth* t, long expected) {
    struct truth_point end = {0};
    long sleeps = truth_sample(t, &end);

    if (expected != TRUTH_UNKNOWN) expected += sleeps;
    truth_print(t, &end, expected);
    free(t->buffer);
    close(t->schedstat_fd);
    if (t->sched_fd >= 0) close(t->sched_fd);
    if (t->lattop_fd >= 0) close(t->lattop_fd);
}

/* All threads that a process ever had, up to end_ns: the sums of when they were born and of their
 * CPU time. */
struct truth_lives {
    uint64_t count, born_ns, end_ns, cpu_ns;
};

static inline void truth_born(struct truth_lives* lives) {
    lives->count++;
    lives->born_ns += truth_clock(CLOCK_MONOTONIC);
}

/* Sums over all of lattop's records of a process, the exited ones included. */
struct truth_records {
    unsigned count;
    uint64_t time_ns, sleeps, blocked_ns, runq_ns;
};

static inline void truth_read_records(int fd, char* buffer, struct truth_records* sums) {
    const struct lt_header* header = truth_snapshot(fd, buffer, TRUTH_PROCESS_BYTES);

    memset(sums, 0, sizeof(*sums));
    sums->count = header->section[LT_SEC_TASKS].count;
    sums->time_ns = header->time_ns;
    for (uint32_t i = 0; i < sums->count; i++) {
        const struct lt_task_rec* task = truth_task(header, i);

        sums->sleeps += task->sleeps;
        sums->blocked_ns += task->blocked_ns;
        sums->runq_ns += task->runq_ns;
    }
}

/* sums, lives: or NULL */
static inline void truth_print_process(const char* role, int pid, long sleeps, long deaths,
                                       const struct truth_records* sums,
                                       const struct truth_lives* lives) {
    printf("process prog=%s role=%s pid=%d sleeps=%ld deaths=%ld", program_invocation_short_name,
           role, pid, sleeps, deaths);
    if (lives)
        printf(" threads=%llu wall_ns=%llu cpu_ns=%llu", (unsigned long long)lives->count,
               (unsigned long long)(lives->count * lives->end_ns - lives->born_ns),
               (unsigned long long)lives->cpu_ns);
    if (sums)
        printf(" l_sleeps=%llu l_records=%u l_blocked_ns=%llu l_runq_ns=%llu",
               (unsigned long long)sums->sleeps, sums->count, (unsigned long long)sums->blocked_ns,
               (unsigned long long)sums->runq_ns);
    putchar('\n');
    fflush(stdout);
}

/*
 * Prints how often all threads that the process has and ever had slept: by the
 * kernel's count (RUSAGE_SELF) and by all of lattop's records of it, the
 * exited ones included. To be called when the other threads are gone or asleep.
 * The kernel counts the last switch of a dead thread, which is no sleep, when it
 * is done before the thread is reaped: deaths is how often that may have been.
 * alive (or NULL): all threads there ever were; then also for how long.
 */
static inline void truth_process(const char* role, long deaths, struct truth_lives* alive) {
    int fd = truth_open_lattop((uint32_t)getpid());
    struct truth_records sums = {0};
    struct rusage before, after;
    char* buffer = malloc(TRUTH_PROCESS_BYTES);

    truth_sleep_us(50000); /* a joined thread may still be on its way out */
    do {
        getrusage(RUSAGE_SELF, &before);
        if (fd >= 0) truth_read_records(fd, buffer, &sums);
        getrusage(RUSAGE_SELF, &after);
    } while (before.ru_nvcsw != after.ru_nvcsw);
    if (alive) {
        alive->end_ns = fd >= 0 ? sums.time_ns : truth_clock(CLOCK_MONOTONIC);
        alive->cpu_ns = truth_clock(CLOCK_PROCESS_CPUTIME_ID);
    }
    truth_print_process(role, getpid(), after.ru_nvcsw, deaths, fd >= 0 ? &sums : NULL, alive);
    if (fd >= 0) close(fd);
    free(buffer);
}

#endif
