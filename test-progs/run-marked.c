/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run-marked COMMAND [ARGUMENT...]: runs it between marks for
 * tests/bench/instructions.c, which counts what the whole machine runs until it
 * ends; ends as it does. tests/bench/work runs it.
 */
#include "../tests/bench/marks.h"
#include "truth.h"

#include <sys/wait.h>

int main(int argc, char** argv) {
    int status;
    pid_t child;

    if (argc < 2) {
        fprintf(stderr, "usage: run-marked COMMAND [ARGUMENT...]\n");
        return 2;
    }
    MARK_BEGIN(0, 0, 0);
    child = (pid_t)truth_need(fork(), "fork");
    if (!child) {
        execvp(argv[1], argv + 1);
        truth_die("%s", argv[1]);
    }
    truth_need(waitpid(child, &status, 0), "waitpid");
    MARK_END();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
