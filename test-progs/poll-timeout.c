/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits in poll for what never comes, until the timeout. poll-timeout [TIMES [MS]] */
#include "truth.h"

#include <poll.h>

int main(int argc, char** argv) {
    long times = truth_arg(argc, argv, 1, 50);
    long ms = truth_arg(argc, argv, 2, 5);
    struct truth truth;
    int ends[2];

    truth_will("poll an empty pipe %ld times with a timeout of %ld ms", times, ms);
    truth_need(pipe(ends), "pipe");
    truth_begin(&truth, "main");
    for (long i = 0; i < times; i++) {
        struct pollfd entry = {.fd = ends[0], .events = POLLIN};

        truth_need(poll(&entry, 1, (int)ms), "poll");
    }
    truth_end(&truth, times);
}
