/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does to its stacks, registers and code whatever could hurt one who walks
 * them: threads asleep with any sp and bp on a stack that another thread
 * rewrites all the time, code that is mapped for one sleep, children that end
 * or exec in the middle of a miss. hostile-stacks [SECONDS]
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { VICTIMS = 4, STACK_BYTES = 65536, CODE_BYTES = 4096 };

static const struct timespec nap = {0, 300000};

struct victim {
    volatile uint64_t sp, bp;
    uint64_t* stack;
};

static struct victim victims[VICTIMS];

static uint64_t random64(unsigned* seed) {
    return (uint64_t)rand_r(seed) << 42 ^ (uint64_t)rand_r(seed) << 21 ^ (uint64_t)rand_r(seed);
}

/* What a walker might take for an address, or choke on. */
static uint64_t garbage(const struct victim* v, unsigned* seed) {
    uint64_t r = random64(seed), stack = (uint64_t)v->stack + r % STACK_BYTES;

    switch (rand_r(seed) % 10) {
    case 0: return stack;
    case 1: return stack & ~7ULL;
    case 2: return (uint64_t)v->stack + STACK_BYTES - 8;
    case 3: return (uint64_t)&nanosleep + r % 256;
    case 4: return (uint64_t)&garbage + r % 4096;
    case 5: return 0xffff888000000000ULL + r % (1ULL << 32);
    case 6: return 0x00007fffffffefffULL + r % 4096;
    case 7: return 0x0000800000000000ULL << (r % 16);
    case 8: return r % 8192;
    default: return r;
    }
}

/* Asleep again and again, with whatever registers; never uses its stack, so that it may hold anything. */
static void* suffer(void* argument) {
    struct victim* v = argument;

    __asm__ volatile(
        "1: mov (%[v]), %%rsp\n"
        "   mov 8(%[v]), %%rbp\n"
        "   mov $35, %%eax\n"
        "   mov %[nap], %%rdi\n"
        "   xor %%esi, %%esi\n"
        "   syscall\n"
        "   jmp 1b\n"
        :
        : [v] "b"(v), [nap] "d"(&nap)
        : "rax", "rdi", "rsi", "rcx", "r11", "memory");
    __builtin_unreachable();
}

static void* torment(void* argument) {
    unsigned seed = 1;

    for (;;) {
        struct victim* v = &victims[(unsigned)rand_r(&seed) % VICTIMS];

        for (int i = 0; i < 64; i++)
            v->stack[(unsigned)rand_r(&seed) % (STACK_BYTES / 8)] = garbage(v, &seed);
        v->sp = rand_r(&seed) % 2 ? ((uint64_t)v->stack + STACK_BYTES / 2) & ~7ULL : garbage(v, &seed);
        v->bp = garbage(v, &seed);
    }
    return argument;
}

/* Code that is there for one sleep: nanosleep(&nap, 0), among bytes that are nothing. */
static void* map_code(void* argument) {
    static const unsigned char code[] = {0xb8, 35, 0, 0, 0, 0x31, 0xf6, 0x0f, 0x05, 0xc3};
    unsigned seed = 2;

    for (;;) {
        unsigned char* page = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        unsigned at = (unsigned)rand_r(&seed) % (CODE_BYTES - sizeof(code));
        long (*function)(const struct timespec*);

        if (page == MAP_FAILED) abort();
        for (int i = 0; i < CODE_BYTES; i++) page[i] = (unsigned char)rand_r(&seed);
        memcpy(page + at, code, sizeof(code));
        *(void**)&function = page + at;
        function(&nap);
        munmap(page, CODE_BYTES);
    }
    return argument;
}

static void* lose_children(void* argument) {
    unsigned seed = 3;

    for (;;) {
        pid_t child = fork();

        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            nanosleep(&nap, NULL);
            if (rand() % 2) execl("/proc/self/exe", "hostile-stacks", "child", (char*)NULL);
            _exit(0);
        }
        if (child < 0) abort();
        usleep((unsigned)rand_r(&seed) % 2000);
        kill(child, rand_r(&seed) % 4 ? 0 : SIGKILL);
        waitpid(child, NULL, 0);
    }
    return argument;
}

static void start(void* (*what)(void*), void* argument) {
    pthread_t thread;

    if (pthread_create(&thread, NULL, what, argument)) abort();
}

int main(int argc, char** argv) {
    unsigned seconds = argc > 1 ? (unsigned)atoi(argv[1]) : 10;

    if (argc > 1 && !strcmp(argv[1], "child")) return nanosleep(&nap, NULL);
    printf("rewrite the stacks of %d sleeping threads, map code for one sleep, lose children, for %u s\n",
           VICTIMS, seconds);
    fflush(stdout);
    for (int i = 0; i < VICTIMS; i++) {
        victims[i].stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (victims[i].stack == MAP_FAILED) abort();
        start(suffer, &victims[i]);
    }
    start(torment, NULL);
    start(map_code, NULL);
    start(lose_children, NULL);
    while (seconds) seconds = sleep(seconds);
    return 0;
}
