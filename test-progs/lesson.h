/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whom a lesson (LT_IOC_TEACH) is for, as the module has it, and one that is given. Included by the
 * programs that teach: exit-taught, rows-alike, row-storm, fail-nth, locked-lessons.
 */
#ifndef LATTOP_LESSON_H
#define LATTOP_LESSON_H

#include "truth.h"

#include <sys/mman.h>

/* A lesson is for this task, once it has slept and so has a record. buffer: for a snapshot. */
static inline void truth_lesson_for(uint32_t pid, struct lt_teach* lesson, char* buffer,
                                    size_t size) {
    int fd = truth_open_lattop(pid);

    truth_need(fd, LT_PROC_PATH);
    for (int tries = 0; tries < TRUTH_TRIES; tries++) {
        const struct lt_header* header = truth_snapshot(fd, buffer, size);

        for (uint32_t i = 0; i < header->section[LT_SEC_TASKS].count; i++) {
            const struct lt_task_rec* task = truth_task(header, i);

            if (task->pid != pid) continue;
            lesson->size = sizeof(*lesson);
            lesson->pid = pid;
            lesson->start_ns = task->start_ns;
            lesson->exec_id = task->exec_id;
            close(fd);
            return;
        }
        truth_sleep_us(1000);
    }
    truth_die("no record");
}

/* The same for this one. */
static inline void truth_lesson(struct lt_teach* lesson, char* buffer, size_t size) {
    truth_lesson_for((uint32_t)getpid(), lesson, buffer, size);
}

/* Until it is taken; dies where it is refused. fd: of /proc/lattop */
static inline void truth_teach(int fd, struct lt_teach* lesson) {
    while (ioctl(fd, LT_IOC_TEACH, lesson))
        if (errno != EAGAIN) truth_die("LT_IOC_TEACH");
}

/* A lesson of one row, which stays where it is. */
struct truth_one_row {
    struct lt_row row;
    struct lt_row_range range;
    struct lt_teach lesson;
};

/* For a page of code of pid's. buffer: as above */
static inline void truth_one_row_for(uint32_t pid, uint64_t code, struct truth_one_row* one, char* buffer, size_t size) {
    one->range = (struct lt_row_range){code, code + 4096};
    one->row = (struct lt_row){.pc = code, .kind = LT_ROW_SP, .cfa_offset = 8};
    one->lesson = (struct lt_teach){
        .rows = (uintptr_t)&one->row, .n_rows = 1, .ranges = (uintptr_t)&one->range, .n_ranges = 1};
    truth_lesson_for(pid, &one->lesson, buffer, size);
}

/* For one of this process's own. */
static inline void truth_one_row(struct truth_one_row* one, char* buffer, size_t size) {
    char* code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (code == MAP_FAILED) truth_die("mmap");
    truth_one_row_for((uint32_t)getpid(), (uintptr_t)code, one, buffer, size);
}

#endif
