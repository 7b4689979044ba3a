/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading current's memory in a hook, by row_walk.c: page faults are disabled, and
 * all reads of a walk are done in one window, in which user memory is open to
 * the kernel and no function may be called. A port replaces this file.
 */
#ifndef LATTOP_ARCH_X86_H
#define LATTOP_ARCH_X86_H

#include <linux/nospec.h>
#include <linux/uaccess.h>

static __always_inline bool lt_arch_open_user(void)
{
	return user_access_begin((void __user *)NULL, sizeof(u64));
}

static __always_inline void lt_arch_close_user(void)
{
	user_access_end();
}

/* A lt_read_word. The address is what a user's stack says: nor may it be speculated with beyond user memory. */
static __always_inline int lt_arch_read_word(void *unused, u64 address, u64 *word)
{
	unsigned long end = TASK_SIZE_MAX - sizeof(*word);

	OPTIMIZER_HIDE_VAR(end);	/* to 5.10's mask a constant of 64 bits is an error */
	if (address >= end)
		return 0;
	address &= array_index_mask_nospec(address, end);
	unsafe_get_user(*word, (u64 __user *)address, fault);
	return 1;
fault:
	return 0;
}

#endif
