/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a snapshot costs: takes one every two seconds, TIMES times, by a descriptor that stays open
 * and into a buffer that is there, and prints for each the nanoseconds from
 * first to last byte (instructions, under -icount), and its bytes. With the
 * place of the module's text the reads stand between marks for
 * tests/bench/irqs_off.c, with the number of the reading as id. tests/bench/snapshot runs it.
 *
 * snapshot-cost text|records|all TIMES [TEXT_ADDRESS TEXT_BYTES [PID]]
 */
#include "../tests/bench/marks.h"
#include "truth.h"

#include <sys/mman.h>

enum { ROOM = 64 << 20, PAUSE_US = 2000000 };

/* As the live screen asks for them: the first 1,000, each with its worst trace; or pid's with all of theirs. */
static void ask_for_records(int fd, uint32_t pid) {
    struct lt_query query = {
        .size = sizeof(query),
        .view = LT_VIEW_RECORDS,
        .sort = LT_SORT_BLOCKED,
        .limit = LT_TEXT_TASKS,
        .traces = pid ? LT_TRACES_ALL : LT_TRACES_WORST,
        .uid = LT_UID_ANY,
        .n_pids = pid ? 1 : 0,
        .pids = (uintptr_t)&pid,
    };

    truth_need(ioctl(fd, LT_IOC_QUERY, &query), "LT_IOC_QUERY");
}

static ssize_t read_all(int fd, char* buffer) {
    ssize_t bytes = 0, more;

    do {
        more = truth_need(pread(fd, buffer + bytes, ROOM - (size_t)bytes, bytes), "pread");
        bytes += more;
    } while (more > 0);
    return bytes;
}

int main(int argc, char** argv) {
    unsigned long text = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;
    unsigned long length = argc > 4 ? strtoul(argv[4], NULL, 0) : 0;
    long times = truth_arg(argc, argv, 2, 3);
    int fd = (int)truth_need(open(LT_PROC_PATH, O_RDONLY | O_CLOEXEC), LT_PROC_PATH);
    char* buffer = mmap(NULL, ROOM, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (buffer == MAP_FAILED) truth_die("mmap");
    if (argc > 1 && strcmp(argv[1], "text") != 0)
        ask_for_records(fd, argc > 5 ? (uint32_t)truth_arg(argc, argv, 5, 0) : 0);
    read_all(fd, buffer); /* its pages, and the names of functions, are there afterwards */
    for (long i = 0; i < times; i++) {
        uint64_t start;
        ssize_t bytes;

        truth_sleep_us(PAUSE_US);
        start = truth_clock(CLOCK_MONOTONIC);
        MARK_BEGIN(i, text, length);
        bytes = read_all(fd, buffer);
        MARK_END();
        printf("%s %llu %zd\n", argc > 1 ? argv[1] : "text",
               (unsigned long long)(truth_clock(CLOCK_MONOTONIC) - start), bytes);
    }
}
