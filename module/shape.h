/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the walk up a stack went: every word that decided its way, noted down by
 * those who walk (arch_x86.c the kernel stack, row_walk.c the user stack) for
 * memo.c, which says why these words are enough.
 */
#ifndef LATTOP_SHAPE_H
#define LATTOP_SHAPE_H

#include <linux/types.h>

struct lt_space;

enum {
	LT_SHAPE_KERNEL		= 144,	/* frames, the hooks' own among them */
	LT_SHAPE_USER		= 160,	/* a deeper stack is walked each time */
	LT_SHAPE_POINTERS	= 128,
	LT_SLOT_BP		= 0xffff,
};

/* Where current's kernel stack is walked from. */
struct lt_kframe {
	unsigned long pc, sp, bp;
};

/* A word that holds an address of its own stack, by which code goes that does not know its frame's size. */
struct lt_pointer {
	u16 slot;	/* words up from sp; LT_SLOT_BP: the register bp */
	u16 from_top;	/* kernel: distance is from the stack's top; else from sp */
	s32 distance;	/* bytes */
};

/* Slot: where frame i's return address lies, in words up from sp. Frame 0 has none. */
struct lt_kshape {
	bool known;		/* these words are all there is to it */
	int generation;		/* of the kernel's code */
	struct lt_kframe from;
	u16 n_slots;		/* with frame 0's */
	u16 n_pointers;
	u16 first_from_top;	/* the slots from this frame's on count down from the top */
	u32 depth;		/* bytes from sp to the top, if that decides, else 0 */
	u16 slot[LT_SHAPE_KERNEL];
	struct lt_pointer pointer[LT_SHAPE_POINTERS];
};

struct lt_ushape {
	bool known;
	struct lt_space *space;	/* whose rows were walked by, */
	u64 generation;		/* and which rows these were */
	u16 n_slots;
	u16 n_pointers;
	u16 slot[LT_SHAPE_USER];
	struct lt_pointer pointer[LT_SHAPE_POINTERS];
};

#endif
