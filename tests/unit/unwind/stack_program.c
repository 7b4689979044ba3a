/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that blocks at a known place: main > outer > inner > the way its
 * argument names. Built many ways for unwinding tests; prints the addresses of
 * its functions, then blocks until its standard input ends.
 *
 *	stack_program call|alloca|vla|aligned|signal|altstack|interrupt|deep|thread|direct
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone))

typedef float wide __attribute__((vector_size(32)));

static const char* way;
static volatile int depth = 300;

/* The compiler must neither know what is in p nor drop it. */
static void KEPT use(void* p) {
    __asm__ volatile("" : : "r"(p) : "memory");
}

static long KEPT block(void) {
    char byte;
    long n = read(STDIN_FILENO, &byte, 1);

    use(&n);
    return n;
}

/* The system call in its own frame: no library function below. */
static long KEPT block_directly(void) {
    char byte;
    long n = SYS_read;

    __asm__ volatile("syscall" : "+a"(n) : "D"(STDIN_FILENO), "S"(&byte), "d"(1) : "rcx", "r11", "memory");
    use(&n);
    return n;
}

static long KEPT with_alloca(int bytes) {
    char* p = alloca((size_t)bytes);
    long n;

    memset(p, 1, (size_t)bytes);
    use(p);
    n = block();
    use(p);
    return n;
}

static long KEPT with_vla(int bytes) {
    char p[bytes];
    long n;

    memset(p, 1, sizeof(p));
    use(p);
    n = block();
    use(p);
    return n;
}

static long KEPT with_alignment(int bytes) {
    wide values[4];
    char* p = alloca((size_t)bytes);
    long n;

    memset(values, 0, sizeof(values));
    use(values);
    use(p);
    n = block();
    use(values);
    return n;
}

static void KEPT handler(int signal) {
    long n = block() + signal;

    use(&n);
}

static long KEPT in_signal(void) {
    long n = raise(SIGUSR1);

    use(&n);
    return n;
}

/* The handler runs on a stack of its own. */
static long KEPT on_altstack(void) {
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    long n = sigaltstack(&stack, NULL) + sigaction(SIGUSR1, &action, NULL) + raise(SIGUSR1);

    use(&n);
    return n;
}

/* The signal comes in the middle of a system call. */
static long KEPT interrupted(void) {
    struct timespec minute = {60, 0};
    struct itimerval soon = {{0, 0}, {0, 1000}};
    long n = setitimer(ITIMER_REAL, &soon, NULL) + nanosleep(&minute, NULL);

    use(&n);
    return n;
}

static long KEPT deep(int n) {
    long result = n > 0 ? deep(n - 1) : block();

    use(&result);
    return result;
}

static void* KEPT entry(void* argument) {
    long n = block();

    use(&n);
    return argument;
}

static long KEPT in_thread(void) {
    pthread_t thread;
    long n = pthread_create(&thread, NULL, entry, NULL);

    n += pthread_join(thread, NULL);
    use(&n);
    return n;
}

long KEPT inner(int bytes) {
    long n;

    if (!strcmp(way, "alloca"))
        n = with_alloca(bytes);
    else if (!strcmp(way, "vla"))
        n = with_vla(bytes);
    else if (!strcmp(way, "aligned"))
        n = with_alignment(bytes);
    else if (!strcmp(way, "signal"))
        n = in_signal();
    else if (!strcmp(way, "altstack"))
        n = on_altstack();
    else if (!strcmp(way, "interrupt"))
        n = interrupted();
    else if (!strcmp(way, "deep"))
        n = deep(depth - 1);
    else if (!strcmp(way, "thread"))
        n = in_thread();
    else if (!strcmp(way, "direct"))
        n = block_directly();
    else
        n = block();
    use(&n);
    return n;
}

long KEPT outer(int bytes) {
    long n = inner(bytes * 100);

    use(&n);
    return n;
}

static void print(const char* name, void* function) {
    printf("%s %lx\n", name, (unsigned long)function);
}

int main(int argc, char** argv) {
    way = argc > 1 ? argv[1] : "call";
    signal(SIGUSR1, handler);
    signal(SIGALRM, handler);
    print("main", main);
    print("outer", outer);
    print("inner", inner);
    print("block", block);
    print("block_directly", block_directly);
    print("with_alloca", with_alloca);
    print("with_vla", with_vla);
    print("with_alignment", with_alignment);
    print("in_signal", in_signal);
    print("handler", handler);
    print("on_altstack", on_altstack);
    print("interrupted", interrupted);
    print("deep", deep);
    print("entry", entry);
    print("in_thread", in_thread);
    fflush(stdout);
    return outer(argc * 50) < 0;
}
