/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sleeps as a real-time task (SCHED_FIFO): another class of the scheduler, other hooks.
 * fifo-sleeper [TIMES [US]] */
#include "truth.h"

int main(int argc, char** argv) {
    long times = truth_arg(argc, argv, 1, 100);
    long us = truth_arg(argc, argv, 2, 1000);
    struct sched_param param = {.sched_priority = 50};
    struct truth truth;

    truth_will("sleep %ld times for %ld us under SCHED_FIFO", times, us);
    truth_need(sched_setscheduler(0, SCHED_FIFO, &param), "sched_setscheduler");
    truth_begin(&truth, "fifo");
    for (long i = 0; i < times; i++)
        truth_sleep_us(us);
    truth_end(&truth, TRUTH_UNKNOWN);
}
