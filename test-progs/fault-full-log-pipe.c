/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A service with one fault: its log goes through a pipe to a process that does
 * not keep up, and what writes the log waits for it. Runs until it is killed.
 * fault-full-log-pipe
 *
 * Four workers log a line for each request, under no lock, as write(2) of a line
 * is one piece anyway. The collector, a process of its own, takes 200 bytes and
 * naps for 2 ms. When the pipe is full, the log's pace is the service's.
 * docs/walkthroughs.md finds it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 4, LINE = 200 };

static int log_pipe[2];

static void log_line(const char *text)
{
    char line[LINE];

    memset(line, '.', sizeof(line));
    memcpy(line, text, strlen(text));
    line[LINE - 1] = '\n';
    if (write(log_pipe[1], line, sizeof(line)) != LINE) /* FAULT */
        _exit(1);
}

static void *serve_requests(void *argument)
{
    const char *name = argument;
    char text[64];

    pthread_setname_np(pthread_self(), "serve");
    for (unsigned request = 0;; request++) {
        snprintf(text, sizeof(text), "%s: request %u done ", name, request);
        log_line(text);
    }
    return NULL;
}

static int collect(void)
{
    const struct timespec nap = {.tv_nsec = 2000000};
    char line[LINE];

    prctl(PR_SET_NAME, "collector");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(log_pipe[1]);
    while (read(log_pipe[0], line, sizeof(line)) > 0)
        nanosleep(&nap, NULL);
    return 0;
}

int main(void)
{
    static char *names[WORKERS] = {"get", "put", "list", "drop"};
    pthread_t worker;

    if (pipe2(log_pipe, O_CLOEXEC) != 0)
        return 1;
    fcntl(log_pipe[1], F_SETPIPE_SZ, 4096);
    if (fork() == 0)
        return collect();
    close(log_pipe[0]);
    for (int i = 1; i < WORKERS; i++)
        if (pthread_create(&worker, NULL, serve_requests, names[i]) != 0)
            return 1;
    serve_requests(names[0]);
    return 0;
}
