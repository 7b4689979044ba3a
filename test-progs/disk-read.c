/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a file from the disk itself, past the page cache (O_DIRECT). disk-read FILE [TIMES] */
#include "truth.h"

enum { BLOCK = 1 << 20, BLOCKS = 16, ALIGNMENT = 4096 };

static void write_file(const char* path) {
    int fd = (int)truth_need(open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600), path);
    static char block[BLOCK];

    for (int i = 0; i < BLOCKS; i++)
        truth_need(write(fd, block, BLOCK), "write");
    truth_need(fsync(fd), "fsync");
    close(fd);
}

int main(int argc, char** argv) {
    const char* path = argc > 1 ? argv[1] : "disk-read.data";
    long times = truth_arg(argc, argv, 2, 30);
    struct truth truth;
    void* block = NULL;
    int fd;

    truth_will("read 1 MB %ld times from %s with O_DIRECT", times, path);
    write_file(path);
    fd = (int)truth_need(open(path, O_RDONLY | O_DIRECT), "open with O_DIRECT");
    truth_need0(posix_memalign(&block, ALIGNMENT, BLOCK), "posix_memalign");
    truth_begin(&truth, "main");
    for (long i = 0; i < times; i++)
        truth_need(pread(fd, block, BLOCK, i * 7 % BLOCKS * BLOCK), "pread");
    truth_end(&truth, TRUTH_UNKNOWN);
    unlink(path);
}
