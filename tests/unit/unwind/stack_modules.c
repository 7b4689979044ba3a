/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main > outer > inner > a function of another module, which blocks reading
 * standard input. See stack_program.c.
 *
 *	stack_modules plt|dlopen|constructor
 */
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone))

long in_library(void); /* of the library that is linked */

static const char* way;

static void* KEPT open_plugin(void) {
    char self[PATH_MAX] = "", path[PATH_MAX + 32];
    void* plugin;

    if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
        abort();
    snprintf(path, sizeof(path), "%s/libstack_plugin.so", dirname(self));
    plugin = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    __asm__ volatile("" : : "r"(&plugin) : "memory");
    return plugin;
}

static long KEPT inner(void) {
    long (*function)(void) = in_library;
    long n;

    if (!strcmp(way, "constructor"))
        setenv("STACK_CONSTRUCT", "1", 1);
    if (!strcmp(way, "plt")) {
        n = in_library();
    } else {
        *(void**)&function = dlsym(open_plugin(), "in_library");
        n = function();
    }
    __asm__ volatile("" : : "r"(&n) : "memory");
    return n;
}

static long KEPT outer(void) {
    long n = inner();

    __asm__ volatile("" : : "r"(&n) : "memory");
    return n;
}

int main(int argc, char** argv) {
    way = argc > 1 ? argv[1] : "plt";
    return outer() < 0;
}
