/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Taking another program's mmap_lock: rows.c, text.c; process context. A
 * program decides who holds it and for how long: in a page fault that a dead
 * file system never answers, for ever. And who waits in its queue to write
 * keeps the program's own readers out. So nobody waits there, or for long.
 */
#ifndef LATTOP_MM_LOCK_H
#define LATTOP_MM_LOCK_H

#include <linux/delay.h>
#include <linux/mmap_lock.h>
#include <linux/sched/signal.h>

enum { LT_LOCK_TRIES = 500 };	/* some half a second */

/* try: mmap_read_trylock or lt_compat_mmap_write_trylock; *tries are left, of LT_LOCK_TRIES. Is it locked now? */
static inline bool lt_lock_mm(struct mm_struct *mm, bool (*try)(struct mm_struct *mm), int *tries)
{
	while (!try(mm)) {
		if (*tries <= 0 || fatal_signal_pending(current))
			return false;
		--*tries;
		usleep_range(500, 1000);
	}
	return true;
}

#endif
