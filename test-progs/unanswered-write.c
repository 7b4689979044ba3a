/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that writes to a page of a file of silent-fs while that page is on its
 * way there, which it never arrives at: it waits in its page fault, on kernels
 * with locks of mappings with that one to read, and the memory of the whole is
 * free to be locked. Another thread naps, so that there is something to learn of
 * this program. With mprotect a third thread wants to change that mapping's
 * protection, which is to lock the memory of the whole until the writer is through.
 * unanswered-write FILE-OF-SILENT-FS FILE-THAT-SILENCES-IT [SECONDS [mprotect]]
 */
#include "truth.h"

#include <pthread.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

static volatile char* page;
static volatile bool all_is_said;

static void* send_page(void* unused) {
    msync((void*)page, PAGE, MS_SYNC);
    return unused;
}

static void* write_to_page(void* unused) {
    page[1] = 1;
    return unused;
}

static void* protect_page(void* unused) {
    while (!all_is_said)
        truth_sleep_us(1000);
    mprotect((void*)page, PAGE, PROT_READ);
    return unused;
}

static void* nap(void* unused) {
    for (;;)
        truth_sleep_us(20000);
    return unused;
}

int main(int argc, char** argv) {
    long seconds = truth_arg(argc, argv, 3, 5);
    pthread_t sender, writer, protector, napper;
    bool protect = argc > 4 && !strcmp(argv[4], "mprotect");
    int fd;

    truth_will("wait for a file system that does not answer in a page fault for %ld s", seconds);
    fd = (int)truth_need(open(argc > 1 ? argv[1] : "", O_RDWR | O_CLOEXEC), "open");
    page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) truth_die("mmap");
    page[0] = 1;
    /* Where a fault keeps the whole locked nothing can be mapped behind it */
    truth_need0(pthread_create(&napper, NULL, nap, NULL), "pthread_create");
    if (protect) truth_need0(pthread_create(&protector, NULL, protect_page, NULL), "pthread_create");
    truth_need(open(argc > 2 ? argv[2] : "", O_WRONLY | O_CREAT | O_CLOEXEC, 0600), "create");
    truth_need0(pthread_create(&sender, NULL, send_page, NULL), "pthread_create");
    truth_sleep_us(200000); /* sent */
    truth_need0(pthread_create(&writer, NULL, write_to_page, NULL), "pthread_create");
    truth_sleep_us(200000); /* in its fault */
    printf("asleep prog=unanswered-write pid=%d\n", getpid());
    fflush(stdout);
    all_is_said = true;
    truth_sleep_us(seconds * 1000000);
    return 0;
}
