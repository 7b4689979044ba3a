/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sleeps in nanosleep, the plainest sleep there is. nanosleep [TIMES [US]] */
#include "truth.h"

int main(int argc, char** argv) {
    long times = truth_arg(argc, argv, 1, 100);
    long us = truth_arg(argc, argv, 2, 1000);
    struct truth truth;

    truth_will("sleep %ld times for %ld us in nanosleep", times, us);
    truth_begin(&truth, "main");
    for (long i = 0; i < times; i++)
        truth_sleep_us(us);
    truth_end(&truth, TRUTH_UNKNOWN); /* a short one can be over before it sleeps */
}
