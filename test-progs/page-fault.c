/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Touches pages of a mapped file that are not in memory: each touch waits for the disk. page-fault
 * FILE [TIMES] */
#include "truth.h"

#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 512 };

/* The file, mapped, and none of it in memory. */
static volatile char* map_cold_file(const char* path) {
    int fd = (int)truth_need(open(path, O_CREAT | O_TRUNC | O_RDWR, 0600), path);
    static char page[PAGE];
    volatile char* map;

    for (int i = 0; i < PAGES; i++)
        truth_need(write(fd, page, PAGE), "write");
    truth_need(fsync(fd), "fsync");
    truth_need0(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), "posix_fadvise");
    map = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) truth_die("mmap");
    truth_need(madvise((void*)map, PAGES * PAGE, MADV_RANDOM), "madvise");
    return map;
}

int main(int argc, char** argv) {
    const char* path = argc > 1 ? argv[1] : "page-fault.data";
    long times = truth_arg(argc, argv, 2, 50);
    struct rusage before, after;
    volatile char* map;
    struct truth truth;

    truth_will("touch %ld cold pages of %s", times, path);
    map = map_cold_file(path);
    getrusage(RUSAGE_THREAD, &before);
    truth_begin(&truth, "main");
    for (long i = 0; i < times; i++)
        (void)map[i * 37 % PAGES * PAGE];
    truth_end(&truth, TRUTH_UNKNOWN);
    getrusage(RUSAGE_THREAD, &after);
    unlink(path);
    if (after.ru_majflt - before.ru_majflt < times) {
        errno = EIO;
        truth_die("only %ld major faults", after.ru_majflt - before.ru_majflt);
    }
}
