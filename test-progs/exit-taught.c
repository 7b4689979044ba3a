/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PROCESSES processes that end at once, ROUNDS times, each taught a row of its own before or, for
 * comparison, none. Says how long it was from the word to end until all had been waited for, in ns.
 * tests/vm/cases/stack-rows-and-exit runs it.
 *
 * exit-taught taught|untaught [PROCESSES [ROUNDS]]
 */
#include "lesson.h"

#include <sys/wait.h>

static char buffer[TRUTH_BUFFER_BYTES];

static void teach_one_row(void) {
    int fd = open(LT_PROC_PATH, O_RDONLY | O_CLOEXEC);
    struct truth_one_row one;

    truth_need(fd, LT_PROC_PATH);
    truth_one_row(&one, buffer, sizeof(buffer));
    truth_teach(fd, &one.lesson);
    close(fd);
}

int main(int argc, char** argv) {
    bool taught = argc > 1 && !strcmp(argv[1], "taught");
    long processes = truth_arg(argc, argv, 2, 100), rounds = truth_arg(argc, argv, 3, 1);
    uint64_t took = 0;

    if (!taught && (argc < 2 || strcmp(argv[1], "untaught"))) truth_die("taught or untaught?");
    while (rounds--) {
        int ready[2], word[2];
        uint64_t before;
        char one;

        truth_need(pipe(ready), "pipe");
        truth_need(pipe(word), "pipe");
        for (long i = 0; i < processes; i++)
            if (truth_need(fork(), "fork") == 0) {
                close(word[1]);
                truth_sleep_us(1000);
                if (taught) teach_one_row();
                truth_need(write(ready[1], "", 1), "write");
                truth_need(read(word[0], &one, 1), "read");
                _exit(0);
            }
        for (long i = 0; i < processes; i++)
            truth_need(read(ready[0], &one, 1), "read");
        before = truth_clock(CLOCK_MONOTONIC);
        close(word[1]);
        while (waitpid(-1, NULL, 0) > 0)
            continue;
        took += truth_clock(CLOCK_MONOTONIC) - before;
        close(word[0]);
        close(ready[0]);
        close(ready[1]);
    }
    printf("%s ns=%llu\n", argv[1], (unsigned long long)took);
    return 0;
}
