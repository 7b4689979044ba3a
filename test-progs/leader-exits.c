/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Its first thread ends; another one sleeps, says its number, and execs sleep(1): as the process,
 * whose number it gets, while its own is nobody's from then on. leader-exits
 */
#include "truth.h"

#include <pthread.h>

static void* go_on(void* unused) {
    for (int i = 0; i < 20; i++)
        truth_sleep_us(20000); /* the first one has ended meanwhile */
    printf("%d\n", (int)gettid());
    fflush(stdout);
    execlp("sleep", "sleep", "1000", (char*)NULL);
    truth_die("sleep");
    return unused;
}

int main(void) {
    pthread_t thread;

    truth_need0(pthread_create(&thread, NULL, go_on, NULL), "pthread_create");
    pthread_exit(NULL);
}
