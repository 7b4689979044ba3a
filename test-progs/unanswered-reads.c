/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Children that ask a file of silent-fs for bytes (io_submit), do not get them,
 * and end: whoever lets go of such a child's memory last waits there until the
 * file system answers. A thread of each changes its mappings all the time, so
 * who wants to look at these has to try again and again, and holds that memory
 * meanwhile. Says how many children came to their end: somebody else was last. Three are
 * enough.
 * unanswered-reads FILE-OF-SILENT-FS FILE-THAT-SILENCES-IT [CHILDREN] [MS]
 */
#include "truth.h"

#include <linux/aio_abi.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { READ_BYTES = 4096, CHANGED_BYTES = 32 << 20, AT_A_TIME = 2, ENOUGH = 3 };

static _Alignas(READ_BYTES) char bytes[READ_BYTES];

static pthread_barrier_t changes;

static void* change_mappings(void* unused) {
    void* area =
        mmap(NULL, CHANGED_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (area == MAP_FAILED) truth_die("mmap");
    pthread_barrier_wait(&changes);
    for (;;) {
        truth_need(mprotect(area, CHANGED_BYTES, PROT_NONE), "mprotect");
        truth_need(mprotect(area, CHANGED_BYTES, PROT_READ), "mprotect");
    }
    return unused;
}

static void ask_and_end(int fd, long ms) {
    struct iocb read = {.aio_lio_opcode = IOCB_CMD_PREAD,
                        .aio_fildes = (uint32_t)fd,
                        .aio_buf = (uintptr_t)bytes,
                        .aio_nbytes = READ_BYTES};
    struct iocb* reads[] = {&read};
    aio_context_t context = 0;
    pthread_t changer;

    truth_need(syscall(SYS_io_setup, 1, &context), "io_setup");
    truth_need(syscall(SYS_io_submit, context, 1, reads), "io_submit");
    truth_need0(pthread_barrier_init(&changes, NULL, 2), "pthread_barrier_init");
    truth_need0(pthread_create(&changer, NULL, change_mappings, NULL), "pthread_create");
    pthread_barrier_wait(&changes);
    truth_sleep_us(ms * 1000);
    _exit(0);
}

static long count_ended(void) {
    long ended = 0;

    while (waitpid(-1, NULL, WNOHANG) > 0)
        ended++;
    return ended;
}

int main(int argc, char** argv) {
    long children = truth_arg(argc, argv, 3, 20), ms = truth_arg(argc, argv, 4, 100), born = 0,
         ended = 0;
    int fd;

    truth_will("end up to %ld children with reads that nobody answers", children);
    fd = (int)truth_need(open(argc > 1 ? argv[1] : "", O_RDONLY | O_DIRECT | O_CLOEXEC), "open");
    truth_need(open(argc > 2 ? argv[2] : "", O_WRONLY | O_CREAT | O_CLOEXEC, 0600), "create");
    /* thousands of pages are changed, not a few large ones */
    truth_need(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), "PR_SET_THP_DISABLE");
    for (; born < children && ended < ENOUGH; born++) {
        if (truth_need(fork(), "fork") == 0) ask_and_end(fd, ms);
        truth_sleep_us(ms * 1000 / AT_A_TIME);
        ended += count_ended();
    }
    truth_sleep_us(ms * 10000);
    ended += count_ended();
    printf("ended prog=unanswered-reads children=%ld of=%ld\n", ended, born);
    return 0;
}
