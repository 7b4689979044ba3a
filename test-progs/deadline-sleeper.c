/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sleeps as a SCHED_DEADLINE task. Giving up the rest of its budget
 * (sched_yield) and being out of budget take it off the run queue too, but are no
 * sleeps. deadline-sleeper [TIMES]
 */
#include "truth.h"

struct deadline_attr {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

int main(int argc, char** argv) {
    long times = truth_arg(argc, argv, 1, 50);
    struct deadline_attr attr = {
        .size = sizeof(attr),
        .policy = SCHED_DEADLINE,
        /* on a debug kernel a sample takes milliseconds, and must not run out of budget each time */
        .runtime = 20000000,
        .deadline = 100000000,
        .period = 100000000,
    };
    struct truth truth;

    truth_will("sleep %ld times under SCHED_DEADLINE, then yield 5 times", times);
    truth_need(syscall(SYS_sched_setattr, 0, &attr, 0), "sched_setattr");
    truth_begin(&truth, "deadline");
    for (long i = 0; i < times; i++)
        truth_sleep_us(1000);
    truth_end(&truth, TRUTH_UNKNOWN);
    truth_begin(&truth, "deadline-yield");
    for (int i = 0; i < 5; i++)
        sched_yield();
    truth_end(&truth, 0);
}
