// SPDX-License-Identifier: GPL-2.0-only
/*
 * "reset": every figure starts again from 0, ongoing sleeps from now. Called by
 * proc.c and filter.c. Each task is reset in one step under its lock, so its figures and
 * entries agree before and after; the entries it had are freed behind the lock.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "lattop.h"
#include "tasks.h"
#include "wakers.h"

/* The table a task had, to be freed outside its lock. */
static void take_table(struct lt_task *t, struct lt_task *old)
{
	unsigned int b;

	lt_task_init(old, t->kind);
	old->bucket_bits = t->bucket_bits;
	old->nr_entries = t->nr_entries;
	old->nr_wakers = t->nr_wakers;
	if (t->buckets == t->inline_buckets) {
		for (b = 0; b < ARRAY_SIZE(t->inline_buckets); b++)
			hlist_move_list(&t->inline_buckets[b], &old->inline_buckets[b]);
	} else {
		old->buckets = t->buckets;
	}
	t->buckets = t->inline_buckets;
	t->bucket_bits = LT_INLINE_BUCKET_BITS;
	t->nr_entries = 0;
	t->nr_wakers = 0;
	memset(t->inline_buckets, 0, sizeof(t->inline_buckets));
	memset(&t->other, 0, sizeof(t->other));
}

/*
 * The ongoing sleep keeps its entry, moved to the new table with its count
 * of one; nothing else is kept.
 */
static void reset_task(struct lt *lt, struct lt_task *t, struct lt_task *old, u64 now)
{
	struct lt_shard *shard = lt_shard_of(lt, t->pid);
	struct lt_entry *e;

	raw_spin_lock_irq(&shard->lock);
	e = t->asleep ? t->entry : NULL;
	if (e && e->trace) {
		hlist_del(&e->node);
		t->nr_entries--;
		lt_wakers_free(lt, t, e);
	}
	lt_memos_forget(lt, t);		/* they name entries */
	take_table(t, old);
	t->entry = NULL;
	t->blocked_ns = 0;
	t->max_ns = 0;
	t->sleeps = 0;
	t->runq_ns = 0;
	t->runs = 0;
	if (t->queued)
		t->queued_since_ns = max(now, t->queued_since_ns);
	if (e) {
		struct lt_trace *tr = e->trace;
		u64 exec_id = e->exec_id;
		u16 owner = e->owner;

		memset(e, 0, sizeof(*e));
		e->trace = tr;
		e->exec_id = exec_id;
		e->owner = owner;
		if (tr)
			lt_entry_put_back(t, e);
		lt_account_begin(lt, t, e, max(now, t->asleep_since_ns));
	}
	if (t->kind == LT_KIND_TASK)
		lt_task_mark_dirty(shard, t);
	raw_spin_unlock_irq(&shard->lock);
}

static void reset_others(struct lt *lt)
{
	u64 now;
	int i;

	for (i = 0; i < LT_SHARDS; i++) {
		struct lt_shard *shard = &lt->shards[i];
		struct lt_others *o = &shard->others;

		raw_spin_lock_irq(&shard->lock);
		now = lt_clock();
		WRITE_ONCE(lt->seen_ns, now);
		o->blocked_base_ns += lt_others_blocked(o, now);
		o->runq_base_ns += lt_others_runq(o, now);
		o->sleeps = o->asleep;
		o->runs = 0;
		raw_spin_unlock_irq(&shard->lock);
	}
}

/* What was lost and what hooks took begins at 0 again. lt->mutex held, or loading. */
void lt_reset_counts(struct lt *lt)
{
	int i;

	for (i = 0; i < LT_LOST_NR; i++)
		lt->lost_base[i] += lt_lost(lt, i);
	lt->cost_base_ns += lt_cost_ns(lt);
}

/* lt->mutex held; old is room for one. */
void lt_reset_held(struct lt *lt, struct lt_task *old)
{
	struct lt_lat_cursor cur;
	struct lt_task *t;
	u64 now;

	lt_entries_grow_wanted(lt);
	/* Before the sync: who is born behind it in a shard that was looked at begins behind this moment */
	now = lt_clock();
	WRITE_ONCE(lt->seen_ns, now);
	lt_lattree_sync(lt);
	lt_lattree_start(lt, &cur, now);
	while ((t = lt_lattree_step(&cur))) {
		reset_task(lt, t, old, now);
		lt_entries_free(lt, old);
		cond_resched();
	}
	reset_others(lt);
	lt_exited_drop(lt);
	lt_reset_counts(lt);
	lt->since_ns = now;
}

/* 0 or -ENOMEM, -ERESTARTSYS: then nothing was reset. */
int lt_reset(struct lt *lt)
{
	struct lt_task *old = kmalloc(sizeof(*old), GFP_KERNEL);

	if (!old)
		return -ENOMEM;
	if (mutex_lock_interruptible(&lt->mutex)) {
		kfree(old);
		return -ERESTARTSYS;
	}
	lt_reset_held(lt, old);
	mutex_unlock(&lt->mutex);
	kfree(old);
	return 0;
}
