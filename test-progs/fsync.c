/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Appends to a file and waits in fsync until the disk has it. fsync FILE [TIMES] */
#include "truth.h"

int main(int argc, char** argv) {
    const char* path = argc > 1 ? argv[1] : "fsync.data";
    long times = truth_arg(argc, argv, 2, 20);
    int fd = (int)truth_need(open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600), path);
    static char page[4096];
    struct truth truth;

    truth_will("append a page to %s and fsync it, %ld times", path, times);
    truth_begin(&truth, "main");
    for (long i = 0; i < times; i++) {
        truth_need(write(fd, page, sizeof(page)), "write");
        truth_need(fsync(fd), "fsync");
    }
    truth_end(&truth, TRUTH_UNKNOWN);
    unlink(path);
}
