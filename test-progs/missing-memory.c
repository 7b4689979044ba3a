/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread asleep whose stack has a hole: between the frame it sleeps in and
 * that frame's caller lies memory that is not there, and whoever touches it
 * waits for silent-fs, which does not answer any more. Another thread naps, so
 * that there is something to learn of this program.
 * missing-memory FILE-OF-SILENT-FS FILE-THAT-SILENCES-IT [SECONDS]
 */
#include "truth.h"

#include <alloca.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum { PAGE = 4096, STACK_BYTES = 64 * PAGE, FRAME_BYTES = 4 * PAGE };

static int never;
static _Atomic uintptr_t inner_frame, outer_frame;

static void sleep_in_hole(void) {
    volatile char* room = alloca(FRAME_BYTES);

    room[0] = 0;
    atomic_store(&inner_frame, (uintptr_t)room);
    for (;;)
        syscall(SYS_futex, &never, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void call_from_hole(void) {
    volatile char* room = alloca(FRAME_BYTES);

    room[0] = 0;
    sleep_in_hole();
}

static void* sleep_beyond_hole(void* unused) {
    volatile char* room = alloca(FRAME_BYTES);

    room[0] = 0;
    atomic_store(&outer_frame, (uintptr_t)room);
    call_from_hole();
    return unused;
}

static void* nap(void* unused) {
    for (;;)
        truth_sleep_us(20000);
    return unused;
}

/* The pages from the one behind start up to the one that end is in are gone, here and from the page cache. */
static void make_hole(int fd, uintptr_t start, uintptr_t end) {
    start = (start + PAGE) / PAGE * PAGE;
    truth_need(madvise((void*)start, end / PAGE * PAGE - start, MADV_DONTNEED), "MADV_DONTNEED");
    truth_need0(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), "POSIX_FADV_DONTNEED");
}

int main(int argc, char** argv) {
    long seconds = truth_arg(argc, argv, 3, 5);
    pthread_t sleeper, napper;
    pthread_attr_t attributes;
    char* stack;
    int fd;

    truth_will("be asleep beyond a hole in a stack for %ld s", seconds);
    fd = (int)truth_need(open(argc > 1 ? argv[1] : "", O_RDONLY | O_CLOEXEC), "open");
    stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (stack == MAP_FAILED) truth_die("mmap");
    truth_need0(pthread_attr_init(&attributes), "pthread_attr_init");
    truth_need0(pthread_attr_setstack(&attributes, stack, STACK_BYTES), "pthread_attr_setstack");
    truth_need0(pthread_create(&sleeper, &attributes, sleep_beyond_hole, NULL), "pthread_create");
    truth_sleep_us(200000); /* asleep */
    make_hole(fd, atomic_load(&inner_frame) + FRAME_BYTES / 2, atomic_load(&outer_frame));
    truth_need(open(argc > 2 ? argv[2] : "", O_WRONLY | O_CREAT | O_CLOEXEC, 0600), "create");
    truth_need0(pthread_create(&napper, NULL, nap, NULL), "pthread_create");
    printf("asleep prog=missing-memory pid=%d\n", getpid());
    fflush(stdout);
    truth_sleep_us(seconds * 1000000);
    _exit(0);
}
