// SPDX-License-Identifier: GPL-2.0-only
/*
 * What becomes of tasks that exit. They stay apart for retain_s seconds and
 * while there are no more than retain_exited of them; then they merge into the
 * [exited] record of their process, and of those the ones merged into longest
 * ago, past retain_exited, into one record of all exited. No step loses a
 * nanosecond. Worker, lt->mutex held: readers see every step whole.
 *
 * When records, entries or traces run short, the past makes room for the
 * present: nothing is retained then. The same goes for one user's past where his
 * share (owners.c) runs short, or where he has more than his share of what is
 * retained: first of all, so that it is not the others' past that makes room. Where
 * wakers run short, it is the wakers of the past alone that make room.
 */
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "cgroups.h"
#include "lattop.h"
#include "security.h"
#include "tasks.h"
#include "wakers.h"

enum {
	RETIRE_BATCH = 16,	/* tasks taken off a shard per lock hold */
	RETIRE_LOOK = 32,	/* tasks looked at per lock hold */
	LIVENESS_S = 10,	/* between two searches for records that missed their death, */
	MOVED_MS = 500,		/* or two where some exec is known to have made one */
	LOOK_AGAIN = 32,	/* shards, whether wakers are short still */
};

static void absorb(struct lt *lt, struct lt_task *to, struct lt_task *from)
{
	to->blocked_ns += from->blocked_ns;
	to->sleeps += from->sleeps;
	to->runq_ns += from->runq_ns;
	to->runs += from->runs;
	to->max_ns = max(to->max_ns, from->max_ns);
	lt_entries_move(lt, to, from);
	lt_lattree_remove(lt, to);
	lt_lattree_insert(lt, to, false, to->blocked_ns);
}

static int compare(const struct lt_task *a, const struct lt_task *t)
{
	if (t->tgid != a->tgid)
		return t->tgid < a->tgid ? -1 : 1;
	if (t->leader_start_ns != a->start_ns)
		return t->leader_start_ns < a->start_ns ? -1 : 1;
	return 0;
}

static struct lt_task *aggregate_new(struct lt *lt, const struct lt_task *t)
{
	struct lt_task *a = kmalloc(sizeof(*a), GFP_KERNEL);

	if (!a)
		return NULL;
	lt_task_init(a, LT_KIND_EXITED);
	a->pid = a->tgid = t->tgid;
	a->start_ns = t->leader_start_ns;
	a->exited = true;
	a->kthread = t->kthread;
	a->exec_id = t->exec_id;
	a->own_exec_id = t->own_exec_id;
	a->creds = t->creds;
	a->owner = lt_owner_get_again(lt, t->owner);
	lt_owner_charge_anyway(lt, a->owner, LT_HELD_exited_procs, 1);
	memcpy(a->comm, t->comm, LT_COMM_BYTES);
	return a;
}

/* The record of t's process; of all exited tasks when there is no memory for it. */
static struct lt_task *aggregate_of(struct lt *lt, const struct lt_task *t)
{
	struct rb_node **link = &lt->exited_procs.rb_node, *parent = NULL;
	struct lt_task *a;

	while (*link) {
		int order;

		parent = *link;
		a = rb_entry(parent, struct lt_task, pid_node);
		order = compare(a, t);
		if (!order) {
			list_move_tail(&a->exited_node, &lt->exited_lru);
			return a;
		}
		link = order < 0 ? &parent->rb_left : &parent->rb_right;
	}
	a = aggregate_new(lt, t);
	if (!a)
		return lt->exited_all;
	rb_link_node(&a->pid_node, parent, link);
	rb_insert_color(&a->pid_node, &lt->exited_procs);
	list_add_tail(&a->exited_node, &lt->exited_lru);
	lt->nr_exited_procs++;
	return a;
}

/* Its members may differ in credentials: readers must be allowed all of them. */
static void narrow_creds(struct lt_creds *to, const struct lt_creds *from)
{
	if (!lt_creds_same_ids(to, from) || !from->dumpable)
		to->dumpable = false;
	to->privileged |= from->privileged;
}

static void merge(struct lt *lt, struct lt_task *t)
{
	struct lt_task *a = aggregate_of(lt, t);

	narrow_creds(&a->creds, &t->creds);
	if (t->own_exec_id > a->own_exec_id)
		a->own_exec_id = t->own_exec_id;
	if (a->kind == LT_KIND_EXITED)
		lt_cgroup_share(lt, a, t);
	absorb(lt, a, t);
	lt_task_free(lt, t);
}

static bool short_of_entries(const struct lt *lt)
{
	return lt_scarce(atomic_read(&lt->entry_pool.in_use), lt->entry_pool.max) ||
	       lt_scarce(atomic_read(&lt->nr_traces), lt->max_traces);
}

static bool short_of_room(const struct lt *lt)
{
	return lt_scarce(atomic_read(&lt->task_pool.in_use), lt->task_pool.max) ||
	       short_of_entries(lt);
}

static bool too_many(const struct lt *lt)
{
	return atomic_read(&lt->nr_exited) > (int)lt->retain_exited || short_of_room(lt);
}

static bool owner_has_too_many(const struct lt *lt, const struct lt_task *t, enum lt_held exited)
{
	return !lt_owner_fits(lt, t->owner, exited, 0) || lt_owner_short(lt, t->owner);
}

/* all: whoever's it is. */
static bool due(const struct lt *lt, const struct lt_task *t, u64 now, bool all)
{
	return now >= t->exit_ns + lt->retain_ns || owner_has_too_many(lt, t, LT_HELD_exited) ||
	       (all && too_many(lt));
}

static int take_due(struct lt *lt, struct lt_shard *shard, struct lt_task **batch, u64 now, bool all)
{
	struct lt_task *t, *next;
	int n = 0, looked = 0;

	raw_spin_lock_irq(&shard->lock);
	list_for_each_entry_safe(t, next, &shard->exited, exited_node) {
		if (n == RETIRE_BATCH || looked++ == RETIRE_LOOK)
			break;
		if (!due(lt, t, now, all))
			continue;
		lt_task_unlink(lt, shard, t);
		batch[n++] = t;
	}
	raw_spin_unlock_irq(&shard->lock);
	return n;
}

static void drop_aggregate(struct lt *lt, struct lt_task *a)
{
	rb_erase(&a->pid_node, &lt->exited_procs);
	list_del(&a->exited_node);
	lt->nr_exited_procs--;
	absorb(lt, lt->exited_all, a);
	if (a->wants_buckets)
		lt_entries_grow_wanted(lt);
	lt_lattree_remove(lt, a);
	lt_cgroup_forget(lt, a);
	lt_entries_free(lt, a);
	lt_owner_uncharge(lt, a->owner, LT_HELD_exited_procs, 1);
	lt_owner_put(lt, a->owner);
	kfree(a);
}

static void drop_oldest_aggregate(struct lt *lt)
{
	drop_aggregate(lt, list_first_entry(&lt->exited_lru, struct lt_task, exited_node));
	cond_resched();		/* there may be thousands, of hundreds of entries each */
}

/* Of users who have too many of them, or need the room; oldest first. */
static void drop_owners_aggregates(struct lt *lt)
{
	struct lt_task *a, *next;

	list_for_each_entry_safe(a, next, &lt->exited_lru, exited_node) {
		if (owner_has_too_many(lt, a, LT_HELD_exited_procs))
			drop_aggregate(lt, a);
		cond_resched();
	}
}

static struct lt_task *next_record(struct lt_shard *shard, struct lt_task *t)
{
	raw_spin_lock_irq(&shard->lock);
	if (t)
		t = rb_entry_safe(rb_next(&t->pid_node), struct lt_task, pid_node);
	else
		t = lt_task_from(shard, 0, 0);
	raw_spin_unlock_irq(&shard->lock);
	return t;
}

/* Of processes, those that were merged into longest ago first, then of tasks. */
static void retire_wakers(struct lt *lt)
{
	struct lt_task *t;
	int i;

	/* Who has many at his own sleeps looks short as well, and nothing may come of it: for users alone once a second */
	if (!lt_wakers_short(lt) ||
	    (!lt_wakers_scarce(lt) && time_before(jiffies, lt->wakers_looked + HZ)))
		return;
	lt->wakers_looked = jiffies;
	list_for_each_entry(t, &lt->exited_lru, exited_node) {
		lt_wakers_retire(lt, t);
		cond_resched();
	}
	for (i = 0; i < LT_SHARDS && (i % LOOK_AGAIN || lt_wakers_short(lt)); i++)
		for (t = NULL; (t = next_record(&lt->shards[i], t));) {
			if (READ_ONCE(t->exited))
				lt_wakers_retire(lt, t);
			cond_resched();
		}
}

static void empty(struct lt *lt, struct lt_task *a)
{
	lt_lattree_remove(lt, a);
	lt_lattree_insert(lt, a, false, 0);
}

/* Reset: the records of exited processes, their figures gone already, go too. */
void lt_exited_drop(struct lt *lt)
{
	if (!lt->exited_all)
		return;		/* loading failed before, or unloading is past it */
	while (lt->nr_exited_procs)
		drop_oldest_aggregate(lt);
	empty(lt, lt->exited_all);
}

/* The record of all exited, without figures. lt->mutex held. */
static void begin_all(struct lt *lt, struct lt_task *all)
{
	lt_task_init(all, LT_KIND_EXITED_ALL);
	all->exited = true;
	lt_lattree_insert(lt, all, false, 0);
}

/* The same with figures: what hooks saw that were refused was never so. Who calls has emptied the list of who wants buckets. */
void lt_exited_forget(struct lt *lt)
{
	struct lt_task *all = lt->exited_all;

	if (!all)
		return;
	lt_exited_drop(lt);
	lt_entries_free(lt, all);
	lt_lattree_remove(lt, all);
	begin_all(lt, all);
}

static void retire(struct lt *lt, bool all)
{
	struct lt_task *batch[RETIRE_BATCH];
	u64 now = lt_clock();
	int i, j, n;

	for (i = 0; i < LT_SHARDS; i++) {
		do {
			n = take_due(lt, &lt->shards[i], batch, now, all);
			for (j = 0; j < n; j++)
				merge(lt, batch[j]);
			cond_resched();
		} while (n == RETIRE_BATCH);
	}
}

/* Merges what is past the retention limit. */
void lt_exited_retire(struct lt *lt)
{
	retire(lt, false);
	if (too_many(lt))
		retire(lt, true);
	drop_owners_aggregates(lt);
	while (lt->nr_exited_procs > lt->retain_exited ||
	       (lt->nr_exited_procs && short_of_entries(lt)))
		drop_oldest_aggregate(lt);
	retire_wakers(lt);
}

static bool still_there(const struct lt_task *t)
{
	bool there;

	rcu_read_lock();
	there = lt_task_alive(t->pid, t->start_ns);
	rcu_read_unlock();
	return there;
}

/*
 * Records whose task is gone without a death under that pid: it took over its
 * leader's identity at exec. A task that is dying on its own can look the same
 * for a moment, which does no harm: it is marked once.
 */
void lt_exited_find_lost(struct lt *lt)
{
	struct lt_lat_cursor cur;
	struct lt_task *t;
	u64 now = lt_clock();
	unsigned int n = 0;

	if (now < lt->last_liveness_ns + (READ_ONCE(lt->identities_moved) ?
					  MOVED_MS * NSEC_PER_MSEC : LIVENESS_S * NSEC_PER_SEC))
		return;
	WRITE_ONCE(lt->identities_moved, false);
	lt->last_liveness_ns = now;
	lt_lattree_sync(lt);
	lt_lattree_start(lt, &cur, now);
	while ((t = lt_lattree_step(&cur))) {
		if (!(++n % 256))
			cond_resched();
		if (t->kind == LT_KIND_TASK && !READ_ONCE(t->exited) && !READ_ONCE(t->asleep) &&
		    !still_there(t)) {
			struct lt_shard *shard = lt_shard_of(lt, t->pid);

			raw_spin_lock_irq(&shard->lock);
			if (!t->asleep)
				lt_task_mark_exited(lt, shard, t, now);
			raw_spin_unlock_irq(&shard->lock);
		}
	}
}

int lt_exited_init(struct lt *lt)
{
	struct lt_task *all = kmalloc(sizeof(*all), GFP_KERNEL);

	if (!all)
		return -ENOMEM;
	lt->exited_procs = RB_ROOT;
	INIT_LIST_HEAD(&lt->exited_lru);
	lt->nr_exited_procs = 0;
	lt->exited_all = all;
	mutex_lock(&lt->mutex);
	begin_all(lt, all);
	mutex_unlock(&lt->mutex);
	return 0;
}

void lt_exited_exit(struct lt *lt)
{
	mutex_lock(&lt->mutex);
	lt_exited_drop(lt);
	lt_lattree_remove(lt, lt->exited_all);
	mutex_unlock(&lt->mutex);
	kfree(lt->exited_all);
	lt->exited_all = NULL;
}
