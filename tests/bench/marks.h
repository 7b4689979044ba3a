/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two instructions that do nothing, and that irqs_off.c knows by their bytes: a
 * nopl whose displacement is the mark. The first has three numbers with it: an
 * id for the line that is printed, start and length of the module's text.
 */
#ifndef TESTS_BENCH_MARKS_H
#define TESTS_BENCH_MARKS_H

#define MARK_NOPL ".byte 0x0f, 0x1f, 0x80\n\t.ascii "
#define MARK_BEGIN_CODE "\x0f\x1f\x80LTB0"
#define MARK_END_CODE "\x0f\x1f\x80LTE0"

enum { MARK_BYTES = 7 };

#define MARK_BEGIN(id, text, length)                                         \
    __asm__ volatile(MARK_NOPL "\"LTB0\""                                    \
                     :                                                       \
                     : "D"((unsigned long)(id)), "S"((unsigned long)(text)), \
                       "d"((unsigned long)(length))                          \
                     : "memory")
#define MARK_END() __asm__ volatile(MARK_NOPL "\"LTE0\"" ::: "memory")

#endif
