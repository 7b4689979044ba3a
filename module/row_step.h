/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One step up a user stack by a learned row. Pure: the module, the unwind
 * library, the unit tests and the fuzzer compile this same file.
 *
 * Three refusals keep a wrong row or a rewritten stack harmless: a step that
 * does not go up, an unaligned frame, memory that is not there. Each step
 * raises sp, but for a signal frame, which may leave a signal stack; the
 * caller bounds the number of steps.
 */
#ifndef LATTOP_ROW_STEP_H
#define LATTOP_ROW_STEP_H

#include "uapi/lattop.h"

/* A frame: where it executes (or returns to), and the registers there. */
struct lt_uframe {
	__u64 pc, sp, bp;
	__u32 exact;		/* LT_ROW_EXACT, or 0: pc is a return address */
};

enum lt_step {
	LT_STEP_OK,		/* the frame is now the caller's */
	LT_STEP_END,		/* it was the first */
	LT_STEP_CANNOT,		/* nothing is known about this code */
	LT_STEP_WRONG_WAY,	/* the caller would not be further up */
	LT_STEP_UNALIGNED,
	LT_STEP_UNREADABLE,
};

/* Offsets of registers in x86-64's struct ucontext (arch/x86/include/uapi/asm/sigcontext.h). */
enum {
	LT_UC_BP	= 120,
	LT_UC_SP	= 160,
	LT_UC_PC	= 168,
};

/* In hooks all of a walk is one function: calls cost more than the work, and may not be made while user memory is open. */
#define LT_ROW_INLINE inline __attribute__((always_inline))

/* Reads 8 bytes of the thread's memory; 0 when they are not there. */
typedef int (*lt_read_word)(void *memory, __u64 address, __u64 *word);

static LT_ROW_INLINE enum lt_step lt_signal_step(const struct lt_row *row, struct lt_uframe *f,
					  lt_read_word read, void *memory)
{
	__u64 uc = f->sp + (__s64)row->cfa_offset;
	struct lt_uframe up = { .exact = LT_ROW_EXACT };

	if (uc & 7)
		return LT_STEP_UNALIGNED;
	if (!read(memory, uc + LT_UC_PC, &up.pc) || !read(memory, uc + LT_UC_SP, &up.sp) ||
	    !read(memory, uc + LT_UC_BP, &up.bp))
		return LT_STEP_UNREADABLE;
	*f = up;
	return LT_STEP_OK;
}

/* On anything but LT_STEP_OK, *f is as it was. */
static LT_ROW_INLINE enum lt_step lt_row_step(const struct lt_row *row, struct lt_uframe *f,
				       lt_read_word read, void *memory)
{
	struct lt_uframe up = { .bp = f->bp };

	switch (row->kind) {
	case LT_ROW_SP:
		up.sp = f->sp + (__s64)row->cfa_offset;
		break;
	case LT_ROW_BP:
		up.sp = f->bp + (__s64)row->cfa_offset;
		break;
	case LT_ROW_AT_BP:
		if (!read(memory, f->bp + (__s64)row->cfa_offset, &up.sp))
			return LT_STEP_UNREADABLE;
		break;
	case LT_ROW_AT_SP:
		if (!read(memory, f->sp + (__s64)row->cfa_offset, &up.sp))
			return LT_STEP_UNREADABLE;
		break;
	case LT_ROW_SIGNAL:
		return lt_signal_step(row, f, read, memory);
	case LT_ROW_END:
		return LT_STEP_END;
	default:
		return LT_STEP_CANNOT;
	}
	if (up.sp <= f->sp)
		return LT_STEP_WRONG_WAY;
	if (up.sp & 7)
		return LT_STEP_UNALIGNED;
	if (!read(memory, up.sp - 8, &up.pc))
		return LT_STEP_UNREADABLE;
	if (row->flags & LT_ROW_BP_SAVED &&
	    !read(memory, up.sp + (__s64)row->bp_offset, &up.bp))
		return LT_STEP_UNREADABLE;
	if (row->flags & LT_ROW_BP_AT_BP &&
	    !read(memory, f->bp + (__s64)row->bp_offset, &up.bp))
		return LT_STEP_UNREADABLE;
	*f = up;
	return LT_STEP_OK;
}

/* Could this row ever be right? What a resolver teaches is checked once, with this. */
static inline int lt_row_valid(const struct lt_row *row)
{
	enum { REACH = 1 << 24 };	/* bytes: no frame is larger */

	if (row->kind < LT_ROW_SP || row->kind >= LT_ROW_KIND_NR || row->flags & ~LT_ROW_FLAGS)
		return 0;
	if ((row->flags & LT_ROW_BP_SAVED) && (row->flags & LT_ROW_BP_AT_BP))
		return 0;
	if (row->cfa_offset < -REACH || row->cfa_offset > REACH)
		return 0;
	return row->bp_offset >= -REACH && row->bp_offset <= REACH;
}

#endif
