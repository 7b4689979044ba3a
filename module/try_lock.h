/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Taking locks of another program's: rows.c, row_spaces.c, teach.c, security.c, mapped.c;
 * process context. A program decides who holds them and for how long: in a page fault,
 * or the close of a file in an exec, that a dead file system never answers, for
 * ever. And who waits in the queue to write keeps the program's own readers out.
 * So nobody waits there, or for long: a lesson (teach.c), or a text (text.c), has one
 * patience for all that it asks for.
 */
#ifndef LATTOP_TRY_LOCK_H
#define LATTOP_TRY_LOCK_H

#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/mmap_lock.h>
#include <linux/rwsem.h>
#include <linux/sched/signal.h>

#define LT_PATIENCE_NS	(500 * NSEC_PER_MSEC)

/*
 * *patience_ns is left, of LT_PATIENCE_NS: by the clock, as whoever sleeps where
 * others want his CPU wakes up late. false: none is left.
 */
static inline bool lt_try_again(s64 *patience_ns)
{
	u64 began;

	if (*patience_ns <= 0 || fatal_signal_pending(current))
		return false;
	began = ktime_get_ns();
	usleep_range(500, 1000);
	*patience_ns -= ktime_get_ns() - began;
	return true;
}

/* To read. Is it locked now? */
static inline bool lt_lock_mm(struct mm_struct *mm, s64 *patience_ns)
{
	while (!mmap_read_trylock(mm))
		if (!lt_try_again(patience_ns))
			return false;
	return true;
}

/* Keeps p from exec, up_read(&p->signal->exec_update_lock) lets it. Is it kept now? */
static inline bool lt_lock_exec(struct task_struct *p, s64 *patience_ns)
{
	while (!down_read_trylock(&p->signal->exec_update_lock))
		if (!lt_try_again(patience_ns))
			return false;
	return true;
}

#endif
