/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who is woken, and who wakes, as often as one user can have it. THREADS threads read a
 * fifo each, FOLDER/0 and so on, a byte at a time, at each of STACKS stacks in turn; or PROCESSES
 * processes, one after another, write a byte to each fifo of each folder, TIMES times.
 *
 * waker-flood sleep THREADS STACKS FOLDER
 * waker-flood wake PROCESSES TIMES THREADS FOLDER...
 */
#include "truth.h"

#include <pthread.h>
#include <sys/wait.h>

static long stacks;

static int fifo(const char* folder, long number, int how) {
    char path[4096];

    snprintf(path, sizeof(path), "%s/%ld", folder, number);
    return (int)truth_need(open(path, how | O_CLOEXEC), path);
}

/* depth says at which stack. */
static void read_at(int fd, long depth) {
    char byte;

    if (depth)
        read_at(fd, depth - 1);
    else
        truth_need(read(fd, &byte, 1), "read");
    __asm__ volatile("# not the last call" ::: "memory");
}

static void* be_woken(void* fd) {
    for (long i = 0;; i = (i + 1) % stacks)
        read_at((int)(long)fd, i);
    return fd;
}

/* A pause behind each round: who does not sleep yet is not woken. */
static void wake(long times, const int* fds, long count) {
    for (long i = 0; i < times; i++) {
        for (long n = 0; n < count; n++)
            if (write(fds[n], "x", 1) < 0 && errno != EAGAIN) truth_die("write");
        truth_sleep_us(2000);
    }
}

static void wake_from_processes(int argc, char** argv) {
    long processes = truth_arg(argc, argv, 2, 1), times = truth_arg(argc, argv, 3, 1);
    long threads = truth_arg(argc, argv, 4, 1), count = 0;
    int* fds = calloc((size_t)(threads * argc), sizeof(*fds));

    for (int folder = 5; folder < argc; folder++)
        for (long n = 0; n < threads; n++)
            fds[count++] = fifo(argv[folder], n, O_WRONLY | O_NONBLOCK);
    truth_will("wake %ld threads %ld times from each of %ld processes", count, times, processes);
    for (long i = 0; i < processes; i++) {
        pid_t child = (pid_t)truth_need(fork(), "fork");

        if (!child) {
            wake(times, fds, count);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    free(fds);
}

static void sleep_in_threads(int argc, char** argv) {
    long threads = truth_arg(argc, argv, 2, 1);
    pthread_t thread;

    if (argc < 5) truth_die("FOLDER");
    stacks = truth_arg(argc, argv, 3, 1);
    truth_will("be woken at %ld stacks in each of %ld threads", stacks, threads);
    for (long n = 0; n < threads; n++)
        truth_need0(pthread_create(&thread, NULL, be_woken, (void*)(long)fifo(argv[4], n, O_RDWR)),
                    "pthread_create");
    pthread_exit(NULL);
}

int main(int argc, char** argv) {
    if (argc > 1 && !strcmp(argv[1], "sleep"))
        sleep_in_threads(argc, argv);
    else
        wake_from_processes(argc, argv);
}
