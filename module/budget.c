// SPDX-License-Identifier: GPL-2.0-only
/*
 * What open descriptors hold: snapshots, those that are being made, queries.
 * Called by proc.c and buffer.c in process context.
 *
 * It counts against who opened the descriptor, whoever reads by it. All users
 * together hold at most max_snapshot_mib, and one of them his share of that.
 * Who sees all is not limited, so that an administrator can always look; what he
 * holds is counted in memory_bytes, too.
 */
#include <linux/errno.h>
#include <linux/kernel.h>

#include "budget.h"
#include "lattop.h"
#include "security.h"

static int kib(size_t bytes)
{
	return DIV_ROUND_UP(bytes, 1024);
}

void lt_budget_open(struct lt_budget *b, struct lt *lt, struct file *file)
{
	struct lt_viewer v;

	lt_viewer_init(&v, file);
	b->lt = lt;
	b->limited = !v.all;
	b->owner = b->limited ? lt_owner_of(lt, current) : LT_NO_OWNER;
}

void lt_budget_close(struct lt_budget *b)
{
	lt_owner_put(b->lt, b->owner);
}

/* 0 or -EDQUOT. Given back with the same number of bytes. */
int lt_budget_take(struct lt_budget *b, size_t bytes)
{
	struct lt *lt = b->lt;

	if (!bytes)
		return 0;
	if (!lt_owner_charge_many(lt, b->owner, LT_HELD_snapshot_kib, kib(bytes)))
		return -EDQUOT;
	if (b->limited && atomic_add_return(kib(bytes), &lt->users_snapshot_kib) > lt->max_snapshot_kib) {
		atomic_sub(kib(bytes), &lt->users_snapshot_kib);
		lt_owner_uncharge(lt, b->owner, LT_HELD_snapshot_kib, kib(bytes));
		return -EDQUOT;
	}
	atomic_add(kib(bytes), &lt->snapshot_kib);
	return 0;
}

void lt_budget_give(struct lt_budget *b, size_t bytes)
{
	struct lt *lt = b->lt;

	if (b->limited)
		atomic_sub(kib(bytes), &lt->users_snapshot_kib);
	lt_owner_uncharge(lt, b->owner, LT_HELD_snapshot_kib, kib(bytes));
	atomic_sub(kib(bytes), &lt->snapshot_kib);
}
