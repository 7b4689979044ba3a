/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A remembered trace, and whether a stack is like the one it was taken from:
 * inlined into the hooks in account.c and wakers.c. memo.c makes them, and says
 * why a match is a proof. The task's shard lock is held.
 */
#ifndef LATTOP_MEMO_H
#define LATTOP_MEMO_H

#include <linux/sched.h>
#include <linux/uaccess.h>

#include "arch_x86.h"
#include "compat/task.h"
#include "lattop.h"
#include "row_space.h"
#include "shape.h"

enum { LT_MEMO_LEADS = 4 };

/* What a kernel stack was like; its slots stand first among the memo's, its pointers too. */
struct lt_memo_kernel {
	unsigned long pc;			/* where it was walked from */
	int generation;				/* of the kernel's code */
	u32 room, more_room;			/* bytes from sp to the top: at least, and how many more */
	u8 n_lead, n_below, n_above;		/* slots, in this order */
	u8 n_pointers;
	unsigned long lead[LT_MEMO_LEADS];	/* the frames that the trace leaves out */
};

struct lt_memo {
	struct lt_entry *entry;			/* of a sleep; NULL: of where the task wakes others */
	struct lt_trace *trace;			/* its; else with a reference */
	const unsigned long *frames;		/* of the trace */
	u32 exec_id;
	s32 syscall;
	bool no_user;				/* LT_TR_NO_USER */
	bool whole;				/* the user part is known, too, or there is none */
	struct lt_memo_kernel kernel;
	u8 n_user, n_user_pointers;
	u16 slots;				/* where they begin, bytes from here; then the user's, */
	u16 user_slots, user_pointers;		/* and where the user's pointers do */
	const unsigned long *user_frames;	/* behind frame 0, which has no slot */
	u32 user_reach;				/* bytes of user stack above sp that are looked at */
	unsigned long user_pc;			/* 0: there are no user frames; */
	const struct mm_struct *mm;		/* else its rows' space, and generation */
	struct lt_space *space;
	u64 generation;
	struct lt_pointer data[];		/* then the slots */
};

static __always_inline unsigned int lt_memo_kernel_slots(const struct lt_memo *m)
{
	return m->kernel.n_lead + m->kernel.n_below + m->kernel.n_above;
}

static __always_inline const u16 *lt_memo_slots(const struct lt_memo *m)
{
	return (const void *)m + m->slots;
}

/*
 * Is the kernel stack from *at up that which m was taken from? Most often it
 * is: differences are gathered, and looked at once.
 */
static __always_inline bool lt_memo_same_kernel(const struct lt_memo *m, const struct lt_kframe *at,
						unsigned long top)
{
	const struct lt_memo_kernel *k = &m->kernel;
	const unsigned long *frames = m->frames;
	const struct lt_pointer *p = m->data;
	const u16 *slot = lt_memo_slots(m);
	unsigned long sp = at->sp, different = 0;
	unsigned int n;
	long i;

	if (top - sp - k->room > k->more_room)
		return false;
	for (n = 0; n < k->n_lead; n++)
		different |= lt_arch_stack_word(sp + *slot++ * sizeof(long)) ^ k->lead[n];
	/* One index that ends at 0, for both: a pair is ten instructions */
	i = -(long)k->n_below;
	slot -= i;
	frames -= i;
	if (i & 1) {
		different |= lt_arch_stack_word(sp + slot[i] * sizeof(long)) ^ frames[i];
		i++;
	}
	for (; i; i += 2) {
		different |= lt_arch_stack_word(sp + slot[i] * sizeof(long)) ^ frames[i];
		different |= lt_arch_stack_word(sp + slot[i + 1] * sizeof(long)) ^ frames[i + 1];
	}
	for (n = k->n_above; n; n--)
		different |= lt_arch_stack_word(top - *slot++ * sizeof(long)) ^ *frames++;
	for (n = k->n_pointers; n; n--, p++) {
		unsigned long value = likely(p->slot != LT_SLOT_BP) ?
				      lt_arch_stack_word(sp + p->slot * sizeof(long)) : at->bp;

		different |= value ^ ((p->from_top ? top : sp) + p->distance);
	}
	return !different;
}

/* Is the user stack from regs up? Page faults are disabled here: memory that is not there is not the same. */
static __always_inline bool lt_memo_same_user(const struct lt_memo *m, unsigned long sp, unsigned long bp)
{
	const struct lt_pointer *p = (const void *)m + m->user_pointers;
	long i = -(long)m->n_user;
	const u16 *slot = (const void *)m + m->user_slots - i * sizeof(u16);
	const unsigned long *frames = m->user_frames - i;
	u64 different = 0, a, b;
	bool same = false;
	unsigned int n;

	if (!lt_arch_user_room(&sp, m->user_reach))
		return false;
	pagefault_disable();
	lt_arch_open_user();
	if (i & 1) {
		unsafe_get_user(a, (u64 __user *)sp + slot[i], fault);
		different = a ^ frames[i];
		i++;
	}
	for (; i; i += 2) {
		unsafe_get_user(a, (u64 __user *)sp + slot[i], fault);
		unsafe_get_user(b, (u64 __user *)sp + slot[i + 1], fault);
		different |= (a ^ frames[i]) | (b ^ frames[i + 1]);
	}
	for (n = m->n_user_pointers; n; n--, p++) {
		a = bp;
		if (p->slot != LT_SLOT_BP)
			unsafe_get_user(a, (u64 __user *)sp + p->slot, fault);
		different |= a ^ (sp + p->distance);
	}
	same = !different;
fault:
	lt_arch_close_user();
	pagefault_enable();
	return same;
}

static __always_inline void lt_memo_to_front(struct lt_task *t, enum lt_memo_kind kind, unsigned int i)
{
	struct lt_memo *m = t->memo[kind][i];

	for (; i; i--)
		t->memo[kind][i] = t->memo[kind][i - 1];
	t->memo[kind][0] = m;
}

/*
 * The one that is of the stack from *at up of current, whose record is t; NULL: it
 * has to be walked, its user stack at least if *kernel is one with the same kernel stack.
 */
static __always_inline struct lt_memo *
lt_memo_find(struct lt *lt, struct lt_task *t, enum lt_memo_kind kind,
	     const struct lt_kframe *at, const struct lt_memo **kernel)
{
	bool no_user = lt_compat_no_user(current) || current->in_execve;
	struct pt_regs *regs = task_pt_regs(current);
	int syscall = no_user ? -1 : lt_arch_syscall(current);
	unsigned long top = lt_arch_stack_top(current);
	struct lt_memo *m;
	unsigned int i;

	for (i = 0; i < LT_MEMOS && (m = t->memo[kind][i]); i++) {
		if (m->kernel.pc != at->pc || m->syscall != syscall || m->no_user != no_user ||
		    m->exec_id != (u32)t->exec_id ||
		    m->kernel.generation != atomic_read(&lt->kernel_generation) ||
		    !lt_memo_same_kernel(m, at, top))
			continue;
		if (m->user_pc) {
			if (m->user_pc == instruction_pointer(regs) && m->mm == current->mm &&
			    m->generation == lt_space_generation(m->space) &&
			    lt_arch_64bit(regs) &&
			    lt_memo_same_user(m, user_stack_pointer(regs), frame_pointer(regs)))
				goto found;
		} else if (m->whole && (no_user || lt_arch_64bit(regs))) {
			goto found;
		}
		*kernel = m;
	}
	return NULL;
found:
	if (i)
		lt_memo_to_front(t, kind, i);
	return m;
}

/* Is this match the one of lt->recheck that is walked all the same? */
static __always_inline bool lt_memo_recheck(struct lt *lt)
{
	return unlikely(lt->recheck) && !(this_cpu_inc_return(lt->stats->matches) % lt->recheck);
}

#endif
