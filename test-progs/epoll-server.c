/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A server waits in epoll_wait for requests of its clients and answers each. epoll-server
 * [REQUESTS] */
#include "truth.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum { CLIENTS = 4 };

static int ends[CLIENTS][2];
static long requests;

static void* ask(void* index) {
    int fd = ends[(intptr_t)index][1];
    struct truth truth;
    char byte = 0;

    truth_begin(&truth, "client");
    for (long i = 0; i < requests; i++) {
        truth_need(send(fd, &byte, 1, 0), "send");
        truth_need(recv(fd, &byte, 1, 0), "recv");
        truth_sleep_us(100);
    }
    truth_end(&truth, TRUTH_UNKNOWN);
    shutdown(fd, SHUT_WR);
    return NULL;
}

static void serve(int epoll) {
    struct epoll_event events[CLIENTS];
    int open_clients = CLIENTS;
    char byte;

    while (open_clients) {
        int ready = (int)truth_need(epoll_wait(epoll, events, CLIENTS, -1), "epoll_wait");

        for (int i = 0; i < ready; i++) {
            if (recv(events[i].data.fd, &byte, 1, 0) == 1) {
                truth_need(send(events[i].data.fd, &byte, 1, 0), "send");
            } else {
                truth_need(epoll_ctl(epoll, EPOLL_CTL_DEL, events[i].data.fd, NULL), "epoll_ctl");
                open_clients--;
            }
        }
    }
}

int main(int argc, char** argv) {
    int epoll = (int)truth_need(epoll_create1(0), "epoll_create1");
    pthread_t clients[CLIENTS];
    struct truth truth;

    requests = truth_arg(argc, argv, 1, 100);
    truth_will("answer %ld requests of each of %d clients from epoll_wait", requests, CLIENTS);
    for (intptr_t i = 0; i < CLIENTS; i++) {
        struct epoll_event event = {.events = EPOLLIN};

        truth_need(socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]), "socketpair");
        event.data.fd = ends[i][0];
        truth_need(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[i][0], &event), "epoll_ctl");
        truth_need0(pthread_create(&clients[i], NULL, ask, (void*)i), "pthread_create");
    }
    truth_begin(&truth, "server");
    serve(epoll);
    truth_end(&truth, TRUTH_UNKNOWN);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
}
