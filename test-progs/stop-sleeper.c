/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process asleep in read is stopped and continued: it wakes to stop, and
 * sleeps again when it goes on, so each stop is two sleeps. stop-sleeper [STOPS]
 */
#include "truth.h"

#include <sys/wait.h>

static void sleep_in_read(int in, int out, long stops) {
    struct truth truth;
    char byte = 0;

    truth_begin(&truth, "stopped-sleeper");
    truth_need(write(out, &byte, 1), "write");
    truth_need(read(in, &byte, 1), "read");
    truth_end(&truth, 1 + 2 * stops);
}

/* Waits until the kernel says that process child is in the state: S asleep, T stopped. */
static void wait_for_state(pid_t child, char wanted) {
    char path[64], text[512], *at;

    snprintf(path, sizeof(path), "/proc/%d/stat", child);
    for (;;) {
        int fd = (int)truth_need(open(path, O_RDONLY), path);
        ssize_t bytes = truth_need(read(fd, text, sizeof(text) - 1), path);

        close(fd);
        text[bytes] = 0;
        at = strrchr(text, ')');
        if (at && at[2] == wanted) return;
        truth_sleep_us(500);
    }
}

int main(int argc, char** argv) {
    long stops = truth_arg(argc, argv, 1, 20);
    int there[2], back[2];
    pid_t child;
    char byte;

    truth_will("stop and continue a child asleep in read %ld times", stops);
    truth_need(pipe(there), "pipe");
    truth_need(pipe(back), "pipe");
    child = (pid_t)truth_need(fork(), "fork");
    if (!child) {
        sleep_in_read(there[0], back[1], stops);
        return 0;
    }
    truth_need(read(back[0], &byte, 1), "read");
    for (long i = 0; i < stops; i++) {
        wait_for_state(child, 'S');
        truth_need(kill(child, SIGSTOP), "SIGSTOP");
        wait_for_state(child, 'T');
        truth_sleep_us(1000);
        truth_need(kill(child, SIGCONT), "SIGCONT");
    }
    wait_for_state(child, 'S');
    truth_need(write(there[1], &byte, 1), "write");
    waitpid(child, NULL, 0);
}
