// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records ordered by blocked time, so that the top N need no sort of
 * everything. Only readers and the worker touch the trees, under lt->mutex.
 *
 * Two trees make ongoing sleeps rank without ever moving: who is awake is
 * ordered by blocked time, who is asleep by blocked time less the moment it
 * fell asleep; what it has blocked by now is that plus now, so the order among
 * sleepers does not change as time passes. A walk merges the two.
 *
 * Hooks do not rebalance anything. A task that changed is put on its shard's
 * dirty list, once; lt_lattree_sync takes those lists and moves just those
 * tasks. A hook pays a test and, once a refresh, a list insertion. What a tree
 * is ordered by is what the sync saw: a task that changes during a walk stays
 * where it is until the next.
 */
#include <linux/lockdep.h>
#include <linux/rbtree.h>

#include "lattop.h"

enum {
	SYNC_BATCH = 32,	/* tasks taken from a dirty list per lock hold */
};

void lt_lattree_insert(struct lt *lt, struct lt_task *t, bool asleep, s64 key)
{
	struct rb_root *root = asleep ? &lt->lat_asleep : &lt->lat_awake;
	struct rb_node **link = &root->rb_node, *parent = NULL;

	lockdep_assert_held(&lt->mutex);
	t->lat_key = key;
	t->lat_root = root;
	while (*link) {
		parent = *link;
		if (key < rb_entry(parent, struct lt_task, lat_node)->lat_key)
			link = &parent->rb_left;
		else
			link = &parent->rb_right;
	}
	rb_link_node(&t->lat_node, parent, link);
	rb_insert_color(&t->lat_node, root);
	lt->nr_records++;
}

void lt_lattree_remove(struct lt *lt, struct lt_task *t)
{
	lockdep_assert_held(&lt->mutex);
	if (!t->lat_root)
		return;
	rb_erase(&t->lat_node, t->lat_root);
	t->lat_root = NULL;
	lt->nr_records--;
}

/* Takes up to SYNC_BATCH of the changed, a shard's tasks, to their new places. */
static void sync_batch(struct lt *lt, struct lt_shard *shard, struct list_head *changed)
{
	struct { struct lt_task *t; s64 key; bool asleep; } batch[SYNC_BATCH];
	int i, n = 0;

	raw_spin_lock_irq(&shard->lock);
	while (n < SYNC_BATCH && !list_empty(changed)) {
		struct lt_task *t = list_first_entry(changed, struct lt_task, dirty_node);

		list_del_init(&t->dirty_node);
		t->dirty = false;
		batch[n].t = t;
		batch[n].asleep = t->asleep;
		batch[n].key = t->asleep ? t->blocked_ns - t->asleep_since_ns : t->blocked_ns;
		n++;
	}
	raw_spin_unlock_irq(&shard->lock);
	for (i = 0; i < n; i++) {
		lt_lattree_remove(lt, batch[i].t);
		lt_lattree_insert(lt, batch[i].t, batch[i].asleep, batch[i].key);
	}
}

/*
 * Brings every task that changed to its place. Those that change meanwhile are for
 * the next time: hooks may be faster than this. Only under lt->mutex does a task
 * leave the list.
 */
void lt_lattree_sync(struct lt *lt)
{
	LIST_HEAD(changed);
	int i;

	lockdep_assert_held(&lt->mutex);
	for (i = 0; i < LT_SHARDS; i++) {
		struct lt_shard *shard = &lt->shards[i];

		raw_spin_lock_irq(&shard->lock);
		list_splice_init(&shard->dirty, &changed);
		raw_spin_unlock_irq(&shard->lock);
		while (!list_empty(&changed)) {
			sync_batch(lt, shard, &changed);
			cond_resched();
		}
	}
}

void lt_lattree_start(struct lt *lt, struct lt_lat_cursor *cur, u64 now)
{
	cur->awake = rb_last(&lt->lat_awake);
	cur->asleep = rb_last(&lt->lat_asleep);
	cur->now = now;
}

/* The record with the most blocked time that has not come yet; NULL behind the last. */
struct lt_task *lt_lattree_step(struct lt_lat_cursor *cur)
{
	struct lt_task *awake = rb_entry_safe(cur->awake, struct lt_task, lat_node);
	struct lt_task *asleep = rb_entry_safe(cur->asleep, struct lt_task, lat_node);

	if (asleep && (!awake || asleep->lat_key + (s64)cur->now >= awake->lat_key)) {
		cur->asleep = rb_prev(cur->asleep);
		return asleep;
	}
	if (awake)
		cur->awake = rb_prev(cur->awake);
	return awake;
}
