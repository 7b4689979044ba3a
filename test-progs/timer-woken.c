/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sleeps at one place, woken by another thread of its own; with the first byte that
 * comes on FIFO by the interrupts of two timers, from two functions of the kernel's.
 *
 * timer-woken FIFO
 */
#include "truth.h"

#include <pthread.h>
#include <sys/time.h>

static pthread_t sleeper;

static void start_timers(void) {
    struct itimerval alarms = {{0, 30000}, {0, 30000}};
    struct itimerspec times = {{0, 20000000}, {0, 20000000}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    timer_t timer;

    truth_need(timer_create(CLOCK_MONOTONIC, &event, &timer), "timer_create");
    truth_need(timer_settime(timer, 0, &times, NULL), "timer_settime");
    truth_need(setitimer(ITIMER_REAL, &alarms, NULL), "setitimer");
}

static void* wake(void* path) {
    int fd = (int)truth_need(open(path, O_RDWR | O_CLOEXEC), path);
    bool started = false;
    char byte;

    for (int i = 0; i < 50; i++) {
        pthread_kill(sleeper, SIGUSR1);
        truth_sleep_us(10000);
    }
    truth_will("be woken by timers");
    for (;; started = true) {
        truth_need(read(fd, &byte, 1), "read");
        if (!started) start_timers();
    }
    return path;
}

int main(int argc, char** argv) {
    pthread_t waker;
    sigset_t set;
    int number;

    if (argc < 2) truth_die("FIFO");
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    sleeper = pthread_self();
    truth_need0(pthread_create(&waker, NULL, wake, argv[1]), "pthread_create");
    for (;;)
        sigwait(&set, &number);
}
