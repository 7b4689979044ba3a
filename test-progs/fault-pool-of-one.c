/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A service with one fault: its pool of database connections was left at the
 * default size, which is one. Runs until it is killed. fault-pool-of-one
 *
 * Eight workers answer requests, each with a query that takes the database, a
 * process of its own, 3 ms. It would answer all at once; seven of eight wait for
 * the one connection. docs/walkthroughs.md finds it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 8, POOL_SIZE = 1 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t returned;
    int idle[POOL_SIZE]; /* sockets */
    int n_idle;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .returned = PTHREAD_COND_INITIALIZER};

static int take_connection(void)
{
    int connection;

    pthread_mutex_lock(&pool.lock);
    while (pool.n_idle == 0)
        pthread_cond_wait(&pool.returned, &pool.lock); /* FAULT */
    connection = pool.idle[--pool.n_idle];
    pthread_mutex_unlock(&pool.lock);
    return connection;
}

static void return_connection(int connection)
{
    pthread_mutex_lock(&pool.lock);
    pool.idle[pool.n_idle++] = connection;
    pthread_cond_signal(&pool.returned);
    pthread_mutex_unlock(&pool.lock);
}

static char query(int connection)
{
    char answer = 'q';

    if (send(connection, &answer, 1, 0) != 1 || recv(connection, &answer, 1, 0) != 1)
        perror("fault-pool-of-one");
    return answer;
}

static void *answer_requests(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "requests");
    for (;;) {
        int connection = take_connection();

        query(connection);
        return_connection(connection);
    }
    return NULL;
}

/* At the other end of one connection */
static int database(int connection)
{
    const struct timespec work = {.tv_nsec = 3000000};
    char text;

    prctl(PR_SET_NAME, "database");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (recv(connection, &text, 1, 0) == 1) {
        nanosleep(&work, NULL);
        if (send(connection, &text, 1, 0) != 1)
            break;
    }
    return 0;
}

int main(void)
{
    pthread_t worker;
    int ends[2];

    for (int i = 0; i < POOL_SIZE; i++) {
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
            return 1;
        if (fork() == 0)
            return database(ends[1]);
        close(ends[1]);
        pool.idle[pool.n_idle++] = ends[0];
    }
    for (int i = 1; i < WORKERS; i++)
        if (pthread_create(&worker, NULL, answer_requests, NULL) != 0)
            return 1;
    answer_requests(NULL);
    return 0;
}
