/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small slow service, worth looking at with lattop. Runs until it is killed.
 * demo-service [-t SECONDS] [-d DIRECTORY]
 *
 *	client --socket--> accept_loop --queue--> worker --pipe--> logger
 *	                   (epoll)      (condvar)   |
 *	                                            +-- connection pool of one
 *	                                            +-- journal: a mutex held across fsync
 *
 * What is wrong with it, in the order of what it costs: every worker waits for
 * the journal's mutex while one of them waits for the disk; all share one
 * connection to a database that takes 2 ms; the log goes through a
 * pipe of one page to a reader that naps. Compiled with frame pointers, so that
 * its stacks read well.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 6, CLIENTS = 8, QUEUE = 16, LOG_LINE = 200 };

struct request {
    int client;
    char text[64];
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t not_empty, not_full;
    struct request slots[QUEUE];
    unsigned head, tail;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .not_empty = PTHREAD_COND_INITIALIZER,
           .not_full = PTHREAD_COND_INITIALIZER};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t returned;
    bool taken;
    int socket; /* the service's end of the one connection */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .returned = PTHREAD_COND_INITIALIZER};

static struct {
    pthread_mutex_t lock;
    int fd;
    bool too_fast; /* nap where fsync costs next to nothing: the demo is to be slow */
} journal = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct {
    struct sockaddr name; /* long enough for the one the kernel chooses */
    socklen_t bytes;
} address = {.name.sa_family = AF_UNIX, .bytes = sizeof(address.name)};

static int log_pipe[2];
static atomic_ulong served;

static void fail(const char* what) {
    fprintf(stderr, "demo-service: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void nap_us(long us) {
    struct timespec time = {us / 1000000, us % 1000000 * 1000};

    nanosleep(&time, NULL);
}

static void start(void* (*body)(void*), void* argument, const char* name) {
    pthread_t thread;

    errno = pthread_create(&thread, NULL, body, argument);
    if (errno) fail(name);
    pthread_setname_np(thread, name);
    pthread_detach(thread);
}

/* The queue between the accept loop and the workers. */

static void enqueue_request(const struct request* request) {
    pthread_mutex_lock(&queue.lock);
    while (queue.head - queue.tail == QUEUE)
        pthread_cond_wait(&queue.not_full, &queue.lock);
    queue.slots[queue.head++ % QUEUE] = *request;
    pthread_cond_signal(&queue.not_empty);
    pthread_mutex_unlock(&queue.lock);
}

static struct request dequeue_request(void) {
    struct request request;

    pthread_mutex_lock(&queue.lock);
    while (queue.head == queue.tail)
        pthread_cond_wait(&queue.not_empty, &queue.lock);
    request = queue.slots[queue.tail++ % QUEUE];
    pthread_cond_signal(&queue.not_full);
    pthread_mutex_unlock(&queue.lock);
    return request;
}

/* What a worker does with a request. */

static void checkout_connection(void) {
    pthread_mutex_lock(&pool.lock);
    while (pool.taken)
        pthread_cond_wait(&pool.returned, &pool.lock);
    pool.taken = true;
    pthread_mutex_unlock(&pool.lock);
}

static void return_connection(void) {
    pthread_mutex_lock(&pool.lock);
    pool.taken = false;
    pthread_cond_signal(&pool.returned);
    pthread_mutex_unlock(&pool.lock);
}

static void await_database_reply(char* row, size_t bytes) {
    if (recv(pool.socket, row, bytes, 0) < 0) fail("recv");
}

static void query_database(const struct request* request, char* row, size_t bytes) {
    checkout_connection();
    if (send(pool.socket, request->text, sizeof(request->text), 0) < 0) fail("send");
    await_database_reply(row, bytes);
    return_connection();
}

static void flush_to_disk(void) {
    if (fsync(journal.fd) < 0) fail("fsync");
    if (journal.too_fast) nap_us(4000);
}

static void append_to_journal(const char* row, size_t bytes) {
    pthread_mutex_lock(&journal.lock);
    if (pwrite(journal.fd, row, bytes, 0) < 0) fail("journal");
    flush_to_disk();
    pthread_mutex_unlock(&journal.lock);
}

static void write_log_line(const struct request* request) {
    char line[LOG_LINE];

    memset(line, '.', sizeof(line));
    snprintf(line, sizeof(line), "served %s", request->text);
    if (write(log_pipe[1], line, sizeof(line)) < 0) fail("log");
}

static void handle_request(const struct request* request) {
    char row[64] = "";

    query_database(request, row, sizeof(row));
    append_to_journal(row, sizeof(row));
    write_log_line(request);
    send(request->client, row, sizeof(row), MSG_NOSIGNAL);
    atomic_fetch_add(&served, 1);
}

static void* worker(void* unused) {
    for (;;) {
        struct request request = dequeue_request();

        handle_request(&request);
    }
    return unused;
}

/* Who the workers wait for. */

static void* database(void* socket) {
    char row[64];

    while (recv((int)(intptr_t)socket, row, sizeof(row), 0) > 0) {
        nap_us(2000);
        send((int)(intptr_t)socket, row, sizeof(row), 0);
    }
    return NULL;
}

static void* slow_logger(void* unused) {
    char lines[4 * LOG_LINE];

    while (read(log_pipe[0], lines, sizeof(lines)) > 0)
        nap_us(12000);
    return unused;
}

static void* accept_loop(void* listener) {
    int epoll = epoll_create1(0), listening = (int)(intptr_t)listener;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listening};

    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listening, &event) < 0) fail("epoll");
    while (epoll_wait(epoll, &event, 1, -1) == 1) {
        struct request request = {.client = event.data.fd};

        if (event.data.fd == listening) {
            event.data.fd = accept(listening, NULL, NULL);
            if (event.data.fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event) < 0)
                fail("accept");
        } else if (recv(event.data.fd, request.text, sizeof(request.text), 0) > 0) {
            enqueue_request(&request);
        }
    }
    fail("epoll_wait");
    return NULL;
}

static void* client(void* unused) {
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    char text[64];

    if (fd < 0 || connect(fd, &address.name, address.bytes) < 0) fail("connect");
    for (unsigned number = 0;; number++) {
        snprintf(text, sizeof(text), "request %u", number);
        if (send(fd, text, sizeof(text), 0) < 0 || recv(fd, text, sizeof(text), 0) <= 0)
            fail("request");
        nap_us(1000);
    }
    return unused;
}

static void open_journal(const char* directory) {
    struct timespec before, after;
    char path[4096];

    snprintf(path, sizeof(path), "%s/demo-service.XXXXXX", directory);
    journal.fd = mkstemp(path);
    if (journal.fd < 0 || unlink(path) < 0 || write(journal.fd, path, sizeof(path)) < 0) fail(path);
    clock_gettime(CLOCK_MONOTONIC, &before);
    fsync(journal.fd);
    clock_gettime(CLOCK_MONOTONIC, &after);
    journal.too_fast =
        (after.tv_sec - before.tv_sec) * 1000000000L + after.tv_nsec - before.tv_nsec < 2000000;
}

static void start_service(void) {
    int listener = socket(AF_UNIX, SOCK_STREAM, 0), ends[2];

    if (listener < 0 || bind(listener, &address.name, sizeof(sa_family_t)) < 0 ||
        listen(listener, CLIENTS) < 0 || getsockname(listener, &address.name, &address.bytes) < 0)
        fail("listen");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) < 0 || pipe(log_pipe) < 0) fail("pipe");
    fcntl(log_pipe[1], F_SETPIPE_SZ, 4096);
    pool.socket = ends[0];
    start(database, (void*)(intptr_t)ends[1], "database");
    start(slow_logger, NULL, "logger");
    start(accept_loop, (void*)(intptr_t)listener, "accept");
    for (int i = 0; i < WORKERS; i++)
        start(worker, NULL, "worker");
    for (int i = 0; i < CLIENTS; i++)
        start(client, NULL, "client");
}

int main(int argc, char** argv) {
    const char* directory = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    long seconds = 0;
    int option;

    while ((option = getopt(argc, argv, "t:d:")) != -1) {
        if (option == 't')
            seconds = atol(optarg);
        else if (option == 'd')
            directory = optarg;
        else
            return 2;
    }
    open_journal(directory);
    printf("will prog=demo-service pid=%d serve requests %s\n", getpid(),
           seconds ? "for a while" : "until it is killed");
    fflush(stdout);
    start_service();
    for (long second = 0; !seconds || second < seconds; second++)
        nap_us(1000000);
    printf("served prog=demo-service requests=%lu\n", atomic_load(&served));
    fflush(stdout);
    _exit(0);
}
