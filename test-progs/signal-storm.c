/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sleeper under a rain of signals: some come while it sleeps, some before it
 * does, when the kernel turns the sleep down. signal-storm [SIGNALS]
 */
#include "truth.h"

#include <pthread.h>
#include <stdatomic.h>

static _Atomic int begun, done;

static void ignore(int signal) {
    (void)signal;
}

static void* sleep_through(void* unused) {
    struct timespec ms = {0, 1000000};
    struct truth truth;

    truth_begin(&truth, "signalled");
    atomic_store(&begun, 1);
    while (!atomic_load(&done))
        nanosleep(&ms, NULL);
    truth_end(&truth, TRUTH_UNKNOWN);
    return unused;
}

int main(int argc, char** argv) {
    long signals = truth_arg(argc, argv, 1, 2000);
    struct sigaction action = {.sa_handler = ignore};
    pthread_t thread;

    truth_will("send %ld signals to a thread that sleeps 1 ms at a time", signals);
    truth_need(sigaction(SIGUSR1, &action, NULL), "sigaction");
    truth_need0(pthread_create(&thread, NULL, sleep_through, NULL), "pthread_create");
    while (!atomic_load(&begun))
        truth_sleep_us(1000);
    for (long i = 0; i < signals; i++) {
        truth_need0(pthread_kill(thread, SIGUSR1), "pthread_kill");
        if (i % 16 == 0) truth_sleep_us(300);
    }
    atomic_store(&done, 1);
    pthread_join(thread, NULL);
}
