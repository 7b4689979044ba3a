/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes of lattop's tables what one user can get: THREADS threads that each nap
 * at STACKS different stacks, over and over, of which the last is the same for all, and
 * is taken by the first before there are the others: behind the traces the pairs run out, too;
 * all the time others that are born, nap and die (with "churn"); and code that is
 * mapped at MAPPINGS places, with naps in NAPPED of them, spread over all, over and over, so that
 * a resolver has as many rows to teach. With "fork" a bomb of processes in place of all that: each
 * forks before each of its naps, as long as its user may have THREADS of them, and ends when it has
 * napped at its STACKS, of which the first is the same for all. Says when it has mapped all, and
 * how many processes were born. tests/vm/cases/table-quota* run it.
 *
 * flood THREADS STACKS MAPPINGS SECONDS [still|churn|fork [NAP_US [NAPPED]]]
 */
#include "truth.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>

/* SHARED: a path beyond those of 100,000 threads with 10 stacks */
enum { DEPTH = 20, SHARED = 0xfffff };

static long stacks, mappings, napped, nap_us;
static uint64_t end_ns;
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

static void* nap_in_code(void* unused) {
    static const struct timespec length = {0, 300000};
    uintptr_t in_page = (uintptr_t)movable_nap % 4096, page = (uintptr_t)movable_nap - in_page;
    int self = (int)truth_need(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), "/proc/self/exe");
    off_t offset = file_offset_of(page);
    void (**functions)(const struct timespec*) = calloc((size_t)napped, sizeof(*functions));
    long known = 0, each = mappings / napped;

    for (long i = 0; i < mappings && !enough; i++) {
        char* copy = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, self, offset);

        if (copy == MAP_FAILED) truth_die("mmap");
        if (i % each || known == napped) continue;
        *(void**)&functions[known] = copy + in_page;
        for (int times = 0; times < 3; times++)
            functions[known](&length);
        known++;
    }
    printf("mapped %ld times\n", mappings);
    fflush(stdout);
    for (long i = 0; !enough; i++) {
        functions[i % known](&length);
        truth_sleep_us(nap_us / 100);
    }
    return unused;
}

/* One of the bomb: itself, then each of its children. */
static void fork_and_nap(atomic_long* born) {
    long number = 0;

    for (long i = 0; i < stacks && truth_clock(CLOCK_MONOTONIC) < end_ns; i++) {
        if (fork() == 0) {
            number = atomic_fetch_add(born, 1) + 1;
            i = 0;
        }
        nap_at(i ? (unsigned)(number * stacks + i) % SHARED : SHARED, DEPTH);
    }
}

static int bomb(long alive) {
    struct rlimit limit = {(rlim_t)alive, (rlim_t)alive};
    atomic_long* born = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t first = getpid();

    if (born == MAP_FAILED) truth_die("mmap");
    truth_need(setrlimit(RLIMIT_NPROC, &limit), "RLIMIT_NPROC");
    /* Whoever ends is reaped at once: its parent has nothing to do with it, and then this one is */
    truth_need(prctl(PR_SET_CHILD_SUBREAPER, 1), "PR_SET_CHILD_SUBREAPER");
    signal(SIGCHLD, SIG_IGN);
    while (truth_clock(CLOCK_MONOTONIC) < end_ns) {
        fork_and_nap(born);
        if (getpid() != first) _exit(0);
        printf("born %ld\n", atomic_load(born));
        fflush(stdout);
    }
    return 0;
}

int main(int argc, char** argv) {
    long count = truth_arg(argc, argv, 1, 1000), seconds = truth_arg(argc, argv, 4, 10), born = 0;
    pthread_t* threads = calloc((size_t)count, sizeof(*threads));
    pthread_attr_t small;
    const char* others = argc > 5 ? argv[5] : "churn";
    pthread_t mapper, other;

    end_ns = truth_clock(CLOCK_MONOTONIC) + (uint64_t)seconds * 1000000000ULL;
    stacks = truth_arg(argc, argv, 2, 16);
    mappings = truth_arg(argc, argv, 3, 1000);
    nap_us = truth_arg(argc, argv, 6, 250000);
    napped = truth_arg(argc, argv, 7, mappings);
    if (!strcmp(others, "fork")) {
        truth_will("fork up to %ld processes that nap at %ld stacks each", count, stacks);
        return bomb(count);
    }
    truth_will("nap at %ld stacks in each of %ld threads, and in code mapped %ld times", stacks,
               count, mappings);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    truth_need0(pthread_create(&mapper, &small, nap_in_code, NULL), "pthread_create");
    for (long i = 0; i < count; i++)
        truth_need0(pthread_create(&threads[i], &small, nap_everywhere, (void*)i),
                    "pthread_create");
    while (truth_clock(CLOCK_MONOTONIC) < end_ns) {
        if (!strcmp(others, "still")) {
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
