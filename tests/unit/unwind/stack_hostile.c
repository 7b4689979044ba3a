/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that blocks where its unwind table harms who takes it at its word: main > the way its
 * argument names. Waits until its standard input ends.
 *
 *	stack_hostile division|states
 */
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone))

/* read(2) in a frame of its own, with these directives before it. */
#define BLOCK(n, byte, directives)                                         \
    __asm__ volatile(directives "syscall\n\tnop\n\t"                       \
                     : "+a"(n)                                             \
                     : "D"(STDIN_FILENO), "S"(&(byte)), "d"(1)             \
                     : "rcx", "r11", "memory")

/*
 * The caller is at INT64_MIN / -1, which no CPU can tell: DW_CFA_def_cfa_expression, of 12 bytes,
 * DW_OP_const8s INT64_MIN, DW_OP_const1s -1, DW_OP_div.
 */
static long KEPT in_division(void) {
    char byte;
    long n = SYS_read;

    BLOCK(n, byte, ".cfi_escape 0x0f, 12, 0x0f, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x09, 0xff, 0x1b\n\t");
    return n;
}

/* The caller is where it should be, but 500,000 states are to be remembered first. */
static long KEPT in_states(void) {
    char byte;
    long n = SYS_read;

    BLOCK(n, byte, ".rept 500000\n\t.cfi_remember_state\n\t.endr\n\t");
    return n;
}

int main(int argc, char** argv) {
    return (argc > 1 && !strcmp(argv[1], "states") ? in_states() : in_division()) < 0;
}
