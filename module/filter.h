/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which tasks are accounted at all: what hook_sets.c asks before anything that
 * costs. filter.c says what a filter is and how it changes.
 *
 * A task is `wanted` when its sleep or wait begins; one that has a record, or
 * is counted among lt_others, is `known`, and what it began is seen to its end
 * whether it is still wanted or not.
 */
#ifndef LATTOP_FILTER_H
#define LATTOP_FILTER_H

#include <linux/bitops.h>
#include <linux/sched.h>

#include "lattop.h"

bool lt_filter_admits(const struct lt *lt, struct task_struct *p);
const char *lt_filter_text(const struct lt *lt);
int lt_filter_set(struct lt *lt, const char *text);

/* A hook that sees a mode sees what was stored before it. */
static inline enum lt_mode lt_mode(const struct lt *lt)
{
	return smp_load_acquire(&lt->mode);	/* pairs with each smp_store_release() of it */
}

static inline bool lt_knows(const struct lt *lt, enum lt_mode mode, struct task_struct *p)
{
	if (likely(mode > LT_FILTERED))
		return true;
	return mode == LT_FILTERED && test_bit(READ_ONCE(p->pid), lt->known);
}

/* RCU read side. */
static inline bool lt_wants(const struct lt *lt, enum lt_mode mode, struct task_struct *p)
{
	if (likely(mode == LT_ON))
		return true;
	return mode != LT_OFF && lt_filter_admits(lt, p);
}

#endif
