/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A service with one fault: orders are appended to a journal, and the journal's
 * lock is held while the disk writes. Runs until it is killed.
 * fault-lock-across-fsync FILE
 *
 * Six workers take orders. Each order is worth some computing and a line in the
 * journal; the line costs microseconds, the fsync behind it milliseconds, and
 * five of six wait for the lock meanwhile. docs/walkthroughs.md finds it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORKERS = 6 };

static pthread_mutex_t journal_lock = PTHREAD_MUTEX_INITIALIZER;
static int journal;

static void journal_order(const char *order)
{
    pthread_mutex_lock(&journal_lock); /* WAITS */
    if (write(journal, order, strlen(order)) < 0 || fsync(journal) != 0) { /* FAULT */
        perror("fault-lock-across-fsync");
        exit(1);
    }
    pthread_mutex_unlock(&journal_lock);
}

static unsigned price_order(unsigned seed)
{
    for (int i = 0; i < 10000; i++)
        seed = seed * 1664525u + 1013904223u;
    return seed;
}

static void *take_orders(void *argument)
{
    unsigned price = *(unsigned *)argument;
    char order[64];

    pthread_setname_np(pthread_self(), "orders");
    for (;;) {
        price = price_order(price);
        snprintf(order, sizeof(order), "order at %u\n", price);
        journal_order(order);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static unsigned seeds[WORKERS];
    pthread_t worker;

    if (argc != 2) {
        fprintf(stderr, "usage: fault-lock-across-fsync FILE\n");
        return 2;
    }
    journal = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (journal < 0) {
        perror(argv[1]);
        return 1;
    }
    for (unsigned i = 1; i < WORKERS; i++) {
        seeds[i] = i;
        if (pthread_create(&worker, NULL, take_orders, &seeds[i]) != 0)
            return 1;
    }
    take_orders(&seeds[0]);
    return 0;
}
