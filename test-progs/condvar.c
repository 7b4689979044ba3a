/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A producer and two consumers around a queue of one with condition variables. condvar [ITEMS] */
#include "truth.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_cond_t emptied = PTHREAD_COND_INITIALIZER;
static bool full, closed;

static bool take(void) {
    bool taken;

    pthread_mutex_lock(&lock);
    while (!full && !closed)
        pthread_cond_wait(&filled, &lock);
    taken = full;
    full = false;
    pthread_cond_signal(&emptied);
    pthread_mutex_unlock(&lock);
    return taken;
}

static void put(void) {
    pthread_mutex_lock(&lock);
    while (full)
        pthread_cond_wait(&emptied, &lock);
    full = true;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
}

static void* consume(void* unused) {
    struct truth truth;

    truth_begin(&truth, "consumer");
    while (take())
        ;
    truth_end(&truth, TRUTH_UNKNOWN);
    return unused;
}

int main(int argc, char** argv) {
    long items = truth_arg(argc, argv, 1, 300);
    pthread_t consumers[2];
    struct truth truth;

    truth_will("pass %ld items from one producer to two consumers through a queue of one", items);
    for (int i = 0; i < 2; i++)
        truth_need0(pthread_create(&consumers[i], NULL, consume, NULL), "pthread_create");
    truth_begin(&truth, "producer");
    for (long i = 0; i < items; i++)
        put();
    truth_end(&truth, TRUTH_UNKNOWN);
    pthread_mutex_lock(&lock);
    closed = true;
    pthread_cond_broadcast(&filled);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 2; i++)
        pthread_join(consumers[i], NULL);
}
