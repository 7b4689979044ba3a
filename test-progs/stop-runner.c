/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A running process is stopped and continued: each stop is one sleep. stop-runner [STOPS] */
#include "truth.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

static void spin_until(_Atomic int* done, _Atomic int* ready, long stops) {
    struct truth truth;

    truth_begin(&truth, "stopped-runner");
    atomic_store(ready, 1);
    while (!atomic_load(done))
        ;
    truth_end(&truth, stops);
}

/* How often it has slept, as the kernel counts */
static long switches(pid_t pid) {
    char path[64], line[128];
    long count = -1;
    FILE* status;

    snprintf(path, sizeof(path), "/proc/%d/status", pid);
    status = fopen(path, "re");
    if (!status) truth_die("%s", path);
    while (fgets(line, sizeof(line), status))
        if (sscanf(line, "voluntary_ctxt_switches: %ld", &count) == 1) break;
    fclose(status);
    return count;
}

int main(int argc, char** argv) {
    long stops = truth_arg(argc, argv, 1, 20);
    _Atomic int* flags =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child;
    int status;

    if (flags == MAP_FAILED) truth_die("mmap");
    truth_will("stop and continue a spinning child %ld times", stops);
    child = (pid_t)truth_need(fork(), "fork");
    if (!child) {
        spin_until(&flags[0], &flags[1], stops);
        return 0;
    }
    while (!atomic_load(&flags[1]))
        truth_sleep_us(1000);
    for (long i = 0; i < stops; i++) {
        long before = switches(child);

        truth_need(kill(child, SIGSTOP), "SIGSTOP");
        truth_need(waitpid(child, &status, WUNTRACED), "waitpid");
        /* It says that it is stopped before it stops */
        do
            truth_sleep_us(2000);
        while (switches(child) == before);
        truth_need(kill(child, SIGCONT), "SIGCONT");
        truth_need(waitpid(child, &status, WCONTINUED), "waitpid");
    }
    atomic_store(&flags[0], 1);
    waitpid(child, NULL, 0);
}
