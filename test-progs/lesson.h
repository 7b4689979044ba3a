/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whom a lesson (LT_IOC_TEACH) is for, as the module has it, and one that is given. Included by the
 * programs that teach: exit-taught, rows-alike, row-storm, fail-nth.
 */
#ifndef LATTOP_LESSON_H
#define LATTOP_LESSON_H

#include "truth.h"

/* A lesson is for this process, once it has slept and so has a record. buffer: for a snapshot. */
static inline void truth_lesson_for(uint32_t pid, struct lt_teach* lesson, char* buffer,
                                    size_t size) {
    int fd = truth_open_lattop(pid), tries = 0;
    const struct lt_header* header;

    truth_need(fd, LT_PROC_PATH);
    do {
        truth_sleep_us(1000);
        header = truth_snapshot(fd, buffer, size);
    } while (header->section[LT_SEC_TASKS].count != 1 && ++tries < TRUTH_TRIES);
    if (tries == TRUTH_TRIES) truth_die("no record");
    lesson->size = sizeof(*lesson);
    lesson->pid = pid;
    lesson->start_ns = truth_task(header, 0)->start_ns;
    lesson->exec_id = truth_task(header, 0)->exec_id;
    close(fd);
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

#endif
