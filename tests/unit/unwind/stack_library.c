/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of a library that block, reading standard input: linked to
 * stack_modules.c and called through its PLT, or opened by it with dlopen(3).
 * As a plugin it blocks in its constructor too, where that is asked for.
 */
#include <stdlib.h>
#include <unistd.h>

long in_library(void);

static long __attribute__((noinline, noclone)) block(void) {
    char byte;
    long n = read(STDIN_FILENO, &byte, 1);

    __asm__ volatile("" : : "r"(&n) : "memory");
    return n;
}

long in_library(void) {
    long n = block();

    __asm__ volatile("" : : "r"(&n) : "memory");
    return n;
}

#ifdef PLUGIN
static void __attribute__((constructor)) construct(void) {
    long n = getenv("STACK_CONSTRUCT") ? in_library() : 0;

    __asm__ volatile("" : : "r"(&n) : "memory");
}
#endif
