/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads asleep on a stack of whose frames each lies, by the frame pointers
 * that they forge, in a file with the longest of names, of bytes that nobody can
 * print: who writes what each frame is mapped from, as it is, writes 16 KiB a frame.
 * long-paths FOLDER [THREADS] [SECONDS]: the file is made in folders below FOLDER.
 */
#include "truth.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { PAGE = 4096, PATH_BYTES = 4080, NAME_BYTES = 255, FRAMES = 130, STACK_BYTES = 65536 };

static uint64_t in_file;

/* Goes down there; the path of what it opens has PATH_BYTES bytes. */
static int open_far_below(const char* folder) {
    char name[NAME_BYTES + 1], *whole = realpath(folder, NULL);
    size_t left = whole ? PATH_BYTES - strlen(whole) : 0;

    truth_need(whole ? chdir(whole) : -1, "chdir");
    free(whole);
    while (left > NAME_BYTES + 2) {
        memset(name, 1, NAME_BYTES);
        name[NAME_BYTES] = 0;
        truth_need(mkdir(name, 0755), "mkdir");
        truth_need(chdir(name), "chdir");
        left -= NAME_BYTES + 1;
    }
    memset(name, 1, left - 1);
    name[left - 1] = 0;
    return (int)truth_need(open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0644), "open");
}

/* pause(2) with this for a frame pointer. */
static void pause_at(const uint64_t* frame) {
    long result = SYS_pause;

    __asm__ volatile(
        "lea -128(%%rsp), %%rsp\n"
        "push %%rbp\n"
        "mov %[frame], %%rbp\n"
        "syscall\n"
        "pop %%rbp\n"
        "lea 128(%%rsp), %%rsp\n"
        : "+a"(result)
        : [frame] "r"(frame)
        : "rcx", "r11", "memory");
}

static void* sleep_there(void* unused) {
    uint64_t chain[FRAMES][2];

    for (int i = 0; i < FRAMES; i++) {
        chain[i][0] = i + 1 < FRAMES ? (uintptr_t)chain[i + 1] : 0;
        chain[i][1] = in_file + 16 * (uint64_t)i;
    }
    for (;;)
        pause_at(chain[0]);
    return unused;
}

int main(int argc, char** argv) {
    long count = truth_arg(argc, argv, 2, 600), seconds = truth_arg(argc, argv, 3, 5);
    pthread_attr_t small;
    pthread_t thread;
    void* page;
    int fd;

    truth_will("be asleep in %ld threads on stacks in a file with a name of %d bytes, for %ld s",
               count, PATH_BYTES, seconds);
    fd = open_far_below(argc > 1 ? argv[1] : ".");
    truth_need(ftruncate(fd, PAGE), "ftruncate");
    page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) truth_die("mmap");
    in_file = (uintptr_t)page;
    truth_need0(pthread_attr_init(&small), "pthread_attr_init");
    truth_need0(pthread_attr_setstacksize(&small, STACK_BYTES), "pthread_attr_setstacksize");
    for (long i = 0; i < count; i++)
        truth_need0(pthread_create(&thread, &small, sleep_there, NULL), "pthread_create");
    printf("asleep prog=long-paths pid=%d\n", getpid());
    fflush(stdout);
    truth_sleep_us(seconds * 1000000);
    return 0;
}
