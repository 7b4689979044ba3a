/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What depends on the architecture, x86-64, and is a matter of a few
 * instructions: registers of a task in the kernel, and reading current's memory
 * in a hook (row_walk.c, memo.c). For that page faults are disabled, and all reads
 * of a walk are done in one window, in which user memory is open to the kernel and
 * no function may be called. A port replaces this file.
 */
#ifndef LATTOP_ARCH_X86_H
#define LATTOP_ARCH_X86_H

#include <linux/nospec.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <asm/syscall.h>
#include <asm/tsc.h>

#include "row_step.h"
#include "shape.h"

/* The end of what a task uses of its kernel stack: there it came in, from user mode. */
static __always_inline unsigned long lt_arch_stack_top(struct task_struct *p)
{
	return (unsigned long)task_pt_regs(p);
}

/* A word of current's own kernel stack, whatever KASAN thinks of that place. */
static __always_inline unsigned long lt_arch_stack_word(unsigned long address)
{
#ifdef CONFIG_KASAN
	return READ_ONCE_NOCHECK(*(unsigned long *)address);
#else
	return READ_ONCE(*(unsigned long *)address);
#endif
}

/* Where the function this is inlined in was called, as its caller was then. */
static __always_inline const struct lt_kframe *lt_arch_caller(struct lt_kframe *at)
{
	const unsigned long *frame = __builtin_frame_address(0);

	at->bp = frame[0];
	at->pc = frame[1];
	at->sp = (unsigned long)&frame[2];
	return at;
}

/* Whether local_clock() is the same on every CPU; where it is not, runqueues' clocks are apart by up to a tick. */
static inline bool lt_arch_sched_clock_stable(void)
{
	return !check_tsc_unstable();
}

static __always_inline bool lt_arch_64bit(struct pt_regs *regs)
{
	return user_64bit_mode(regs);
}

/* Where p entered the kernel. p is current, or asleep and cannot leave meanwhile. */
static __always_inline void lt_arch_user_frame(struct task_struct *p, struct lt_uframe *f, u32 *flags)
{
	struct pt_regs *regs = task_pt_regs(p);

	f->pc = regs->ip;
	f->sp = regs->sp;
	f->bp = regs->bp;
	f->exact = LT_ROW_EXACT;
	if (!user_64bit_mode(regs))
		*flags |= LT_TR_COMPAT;
}

/* The system call p is in, -1 when it entered the kernel otherwise. */
static __always_inline int lt_arch_syscall(struct task_struct *p)
{
	return syscall_get_nr(p, task_pt_regs(p));
}

/* Without user_access_begin's barrier: each address is first seen to by lt_arch_user_room. */
static __always_inline void lt_arch_open_user(void)
{
	__uaccess_begin();
}

static __always_inline void lt_arch_close_user(void)
{
	user_access_end();
}

/* Is there room for bytes of user memory above *sp? Not even speculated with otherwise. */
static __always_inline bool lt_arch_user_room(unsigned long *sp, unsigned long bytes)
{
	unsigned long end = TASK_SIZE_MAX - bytes;

	OPTIMIZER_HIDE_VAR(end);	/* to 5.10's mask a constant of 64 bits is an error */
	if (*sp >= end)
		return false;
	*sp &= array_index_mask_nospec(*sp, end);
	return true;
}

/* A lt_read_word. The address is what a user's stack says: nor may it be speculated with beyond user memory. */
static __always_inline int lt_arch_read_word(void *unused, u64 address, u64 *word)
{
	unsigned long at = address;

	if (!lt_arch_user_room(&at, sizeof(*word)))
		return 0;
	unsafe_get_user(*word, (u64 __user *)at, fault);
	return 1;
fault:
	return 0;
}

#endif
