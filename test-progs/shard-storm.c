/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes of which the module keeps all in one shard, under one lock: pairs that
 * send a byte to and fro, on all CPUs. Their pids are asked for, as those that the
 * module's lt_shard_of() puts together with BITS, its LT_SHARD_BITS.
 * Some need a larger kernel.pid_max than 32,768. shard-storm BITS [PAIRS [TIMES]]
 */
#include "truth.h"

#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { FIRST_PID = 2000, LAST_PID = 65000, MAX_PAIRS = 24 };

/* The kernel's hash_32() */
static uint32_t shard_of(uint32_t pid, long bits) {
    return (uint32_t)(pid * 0x61C88647U) >> (32 - bits);
}

/* A child with the next pid of that shard that is free. */
static pid_t fork_in_shard(uint32_t shard, long bits) {
    static int32_t next = FIRST_PID;

    for (; next < LAST_PID; next++) {
        pid_t wanted = next;
        struct clone_args how = {
            .exit_signal = SIGCHLD, .set_tid = (uintptr_t)&wanted, .set_tid_size = 1};
        long child;

        if (shard_of((uint32_t)next, bits) != shard) continue;
        child = syscall(SYS_clone3, &how, sizeof(how));
        if (child < 0 && errno == EEXIST) continue;
        next++;
        return (pid_t)truth_need(child, "clone3");
    }
    errno = ESRCH;
    truth_die("no more pids of the shard");
}

static void play(int in, int out, bool begins, long times) {
    struct truth truth;
    char byte = 0;

    prctl(PR_SET_PDEATHSIG, SIGKILL); /* where another one fails, the parent ends */
    truth_begin(&truth, begins ? "first" : "second");
    for (long i = 0; i < times; i++) {
        if (begins) truth_need(write(out, &byte, 1), "write");
        truth_need(read(in, &byte, 1), "read");
        if (!begins) truth_need(write(out, &byte, 1), "write");
    }
    truth_end(&truth, TRUTH_UNKNOWN);
    exit(0);
}

int main(int argc, char** argv) {
    long bits = truth_arg(argc, argv, 1, 0);
    long pairs = truth_arg(argc, argv, 2, 16);
    long times = truth_arg(argc, argv, 3, 500);
    uint32_t shard = shard_of(FIRST_PID, bits);
    int status;

    if (bits < 1 || bits > 16 || pairs > MAX_PAIRS) {
        fprintf(stderr, "usage: shard-storm BITS [PAIRS [TIMES]]    16 bits and %d pairs at most\n",
                MAX_PAIRS);
        return 2;
    }
    truth_will("%ld pairs send a byte to and fro %ld times, all in one shard", pairs, times);
    for (long pair = 0; pair < pairs; pair++) {
        int there[2], back[2];

        truth_need(pipe(there), "pipe");
        truth_need(pipe(back), "pipe");
        if (!fork_in_shard(shard, bits)) play(there[0], back[1], false, times);
        if (!fork_in_shard(shard, bits)) play(back[0], there[1], true, times);
    }
    for (long left = 2 * pairs; left > 0; left--) {
        truth_need(wait(&status), "wait");
        if (status) {
            fprintf(stderr, "shard-storm: a child ended with status %#x\n", (unsigned)status);
            return 1;
        }
    }
    return 0;
}
