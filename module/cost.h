/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the hooks cost, measured on one in 64 of their calls, which the clock
 * picks: a hash of what it says, so that no rhythm of the work falls in with
 * it. Called by hook_sets.c and account.c. Left out: the way into a hook (the
 * call, an int3), and what a filter has turned away.
 */
#ifndef LATTOP_COST_H
#define LATTOP_COST_H

#include <linux/hash.h>
#include <linux/percpu.h>

#include "lattop.h"

enum { LT_COST_BITS = 6 };

static inline bool lt_cost_sampled(u64 now)
{
	return unlikely(!hash_32((u32)now, LT_COST_BITS));
}

/* A sampled call that took so long. */
static inline void lt_cost_add(struct lt *lt, u64 ns)
{
	this_cpu_add(lt->stats->cost_ns, ns << LT_COST_BITS);
}

/* At the end of a hook that began at now. */
static inline void lt_cost(struct lt *lt, u64 now)
{
	if (lt_cost_sampled(now))
		lt_cost_add(lt, lt_clock() - now);
}

#endif
