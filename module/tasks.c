// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of tasks in pid-keyed red-black trees, sharded by pid, one raw lock
 * a shard. A task is identified by pid and start time: a reused pid is a new
 * task. Called by account.c in hooks and by seed.c, exited.c, reset.c; the
 * shard lock is held wherever a function takes the shard.
 *
 * An exec by a thread that does not lead its group takes over the leader's pid
 * and start time: from then on it is the leader's record that goes on, as the
 * process does in /proc. The record under its old pid gets no death of its
 * own; exited.c finds it.
 */
#include <linux/bitmap.h>
#include <linux/cred.h>
#include <linux/jiffies.h>
#include <linux/sched/coredump.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/threads.h>
#include <linux/vmalloc.h>

#include "cgroups.h"
#include "compat/task.h"
#include "lattop.h"
#include "params.h"
#include "security.h"
#include "tasks.h"
#include "wakers.h"

static void insert(struct lt_shard *shard, struct lt_task *t)
{
	struct rb_node **link = &shard->tasks.rb_node, *parent = NULL;

	while (*link) {
		parent = *link;
		if (lt_task_precedes(t->pid, t->start_ns, rb_entry(parent, struct lt_task, pid_node)))
			link = &parent->rb_left;
		else
			link = &parent->rb_right;
	}
	rb_link_node(&t->pid_node, parent, link);
	rb_insert_color(&t->pid_node, &shard->tasks);
}

/*
 * Whose p is. It cannot free its credentials while it is here, being current,
 * asleep or under its runqueue's lock.
 */
static void read_creds(struct lt_task *t, struct task_struct *p)
{
	const struct cred *cred = lt_compat_task_cred(p);

	t->cred = cred;
	t->kthread = p->flags & PF_KTHREAD;
	lt_creds_read(&t->creds, cred);
}

/* t counts against its new user from now on. What it made before stays with the old one, who may have none left to spare. */
static void change_owner(struct lt *lt, struct lt_task *t)
{
	unsigned int memos = lt_memos(t);
	u16 owner;

	if (likely(lt_owner_is(lt, t->owner, t->cred)))
		return;
	owner = lt_owner_get(lt, t->cred);
	lt_owner_charge_anyway(lt, owner, LT_HELD_tasks, 1);
	lt_owner_charge_anyway(lt, owner, LT_HELD_memos, memos);
	lt_owner_uncharge(lt, t->owner, LT_HELD_tasks, 1);
	lt_owner_uncharge(lt, t->owner, LT_HELD_memos, memos);
	lt_owner_put(lt, t->owner);
	t->owner = owner;
}

/* p has other credentials than t says, or runs another program: both, mostly. */
void lt_task_change_creds(struct lt *lt, struct lt_task *t, struct task_struct *p, u64 exec_id)
{
	struct lt_creds before = t->creds;
	bool next = t->exec_id != exec_id;

	read_creds(t, p);
	change_owner(lt, t);
	t->exec_id = exec_id;
	if ((next && !before.dumpable) || !lt_creds_same_owner(&before, &t->creds))
		t->own_exec_id = exec_id;
}

void lt_task_init(struct lt_task *t, u8 kind)
{
	memset(t, 0, sizeof(*t));
	t->kind = kind;
	t->buckets = t->inline_buckets;
	t->bucket_bits = LT_INLINE_BUCKET_BITS;
	INIT_LIST_HEAD(&t->dirty_node);
	INIT_LIST_HEAD(&t->exited_node);
}

/* The leader died before the thread that took its place went on, whose own record is nobody's now. */
void lt_task_revive(struct lt *lt, struct lt_task *t)
{
	WRITE_ONCE(lt->identities_moved, true);
	t->exited = false;
	list_del_init(&t->exited_node);
	atomic_dec(&lt->nr_exited);
	lt_owner_uncharge(lt, t->owner, LT_HELD_exited, 1);
}

/* Is there a past to give way, behind this refusal? One user may not keep the worker busy: for him once a jiffy. */
static bool exited_make_room(struct lt *lt, u16 owner, enum lt_refused why)
{
	unsigned long now = jiffies;

	if (why == LT_FULL)
		return atomic_read(&lt->nr_exited);
	if (why != LT_USER || !lt_owner_holds(lt, owner, LT_HELD_exited) ||
	    READ_ONCE(lt->owners_kicked) == now)
		return false;
	WRITE_ONCE(lt->owners_kicked, now);
	return true;
}

/* For lt_task_get. */
struct lt_task *lt_task_new(struct lt *lt, struct lt_shard *shard, struct task_struct *p,
			    u32 pid, enum lt_lost *cause)
{
	static const enum lt_lost causes[] = {
		[LT_FULL] = LT_LOST_task_limit,
		[LT_DRY] = LT_LOST_task_pool,
		[LT_USER] = LT_LOST_task_user,
	};
	u16 owner = lt_owner_get(lt, lt_compat_task_cred(p));
	enum lt_refused why;
	struct lt_task *t;

	t = lt_owner_take(lt, &lt->task_pool, owner, LT_HELD_tasks, &why);
	if (unlikely(!t)) {
		*cause = causes[why];
		if (exited_make_room(lt, owner, why))
			lt_kick(&lt->kick);
		lt_owner_put(lt, owner);
		return NULL;
	}
	lt_task_init(t, LT_KIND_TASK);
	t->owner = owner;
	t->pid = pid;
	t->tgid = p->tgid;
	t->start_ns = p->start_boottime;
	/* a task past exit_notify may have been reaped, and its leader freed */
	t->leader_start_ns = (p->exit_state ? p : p->group_leader)->start_boottime;
	t->exec_id = p->self_exec_id;
	t->own_exec_id = t->exec_id;
	read_creds(t, p);
	lt_task_refresh(lt, t, p);
	insert(shard, t);
	set_bit(pid, lt->known);
	lt_task_mark_dirty(shard, t);
	return t;
}

/* The first record with this pid and start, or behind. */
struct lt_task *lt_task_from(struct lt_shard *shard, u32 pid, u64 start_ns)
{
	struct rb_node *n = shard->tasks.rb_node;
	struct lt_task *found = NULL;

	lockdep_assert_held(&shard->lock);
	while (n) {
		struct lt_task *t = rb_entry(n, struct lt_task, pid_node);
		bool behind = t->pid < pid || (t->pid == pid && t->start_ns < start_ns);

		if (!behind)
			found = t;
		n = behind ? n->rb_right : n->rb_left;
	}
	return found;
}

/* A bit too many costs a search a wake. */
void lt_task_unknow(struct lt *lt, struct lt_shard *shard, u32 pid)
{
	struct lt_task *t = lt_task_from(shard, pid, 0);

	if ((!t || t->pid != pid) && !test_bit(pid, lt->other_asleep) &&
	    !test_bit(pid, lt->other_queued))
		clear_bit(pid, lt->known);
}

void lt_task_mark_exited(struct lt *lt, struct lt_shard *shard, struct lt_task *t, u64 now)
{
	if (t->exited)
		return;
	t->exited = true;
	t->queued = false;
	t->exit_ns = now;
	lt_memos_forget(lt, t);
	lt_waker_forget(lt, t);
	list_add_tail(&t->exited_node, &shard->exited);
	lt_task_mark_dirty(shard, t);
	lt_owner_charge_anyway(lt, t->owner, LT_HELD_exited, 1);
	if (atomic_inc_return(&lt->nr_exited) > (int)lt->retain_exited + 256)
		lt_kick(&lt->kick);
}

/* Hooks cannot find t any more. */
void lt_task_unlink(struct lt *lt, struct lt_shard *shard, struct lt_task *t)
{
	lockdep_assert_held(&shard->lock);
	rb_erase(&t->pid_node, &shard->tasks);
	lt_task_unknow(lt, shard, t->pid);
	if (t->exited) {
		list_del_init(&t->exited_node);
		atomic_dec(&lt->nr_exited);
		lt_owner_uncharge(lt, t->owner, LT_HELD_exited, 1);
	}
	if (t->dirty) {
		list_del_init(&t->dirty_node);
		t->dirty = false;
	}
}

/* t is unlinked, lt->mutex held. */
void lt_task_free(struct lt *lt, struct lt_task *t)
{
	u16 owner = t->owner;

	if (t->wants_buckets)
		lt_entries_grow_wanted(lt);	/* takes t off the list */
	lt_lattree_remove(lt, t);
	lt_memos_forget(lt, t);
	lt_waker_forget(lt, t);
	lt_cgroup_forget(lt, t);
	lt_entries_free(lt, t);
	lt_owner_give(lt, &lt->task_pool, t, owner, LT_HELD_tasks);
	lt_owner_put(lt, owner);
}

/* Every record, entry and trace goes back to its pool. No hook runs. */
void lt_forget_all(struct lt *lt)
{
	struct lt_others none = {};
	struct lt_task *t;
	struct rb_node *n;
	int i;

	mutex_lock(&lt->mutex);
	llist_del_all(&lt->wants_buckets);
	for (i = 0; i < LT_SHARDS; i++) {
		struct lt_shard *shard = &lt->shards[i];

		raw_spin_lock_irq(&shard->lock);
		while ((n = rb_first(&shard->tasks))) {
			t = rb_entry(n, struct lt_task, pid_node);
			lt_task_unlink(lt, shard, t);
			raw_spin_unlock_irq(&shard->lock);
			lt_task_free(lt, t);
			cond_resched();
			raw_spin_lock_irq(&shard->lock);
		}
		shard->others = none;
		raw_spin_unlock_irq(&shard->lock);
	}
	lt_exited_forget(lt);
	bitmap_zero(lt->other_asleep, PID_MAX_LIMIT);
	bitmap_zero(lt->other_queued, PID_MAX_LIMIT);
	bitmap_zero(lt->known, PID_MAX_LIMIT);
	mutex_unlock(&lt->mutex);
}

static void release(struct lt *lt)
{
	lt_pool_exit(&lt->entry_pool);
	lt_pool_exit(&lt->task_pool);
	vfree(lt->known);
	vfree(lt->other_queued);
	vfree(lt->other_asleep);
	vfree(lt->shards);
}

int lt_tasks_init(struct lt *lt)
{
	int i, err = -ENOMEM;

	lt->shards = vzalloc(sizeof(*lt->shards) * LT_SHARDS);
	lt->other_asleep = vzalloc(PID_MAX_LIMIT / 8);
	lt->other_queued = vzalloc(PID_MAX_LIMIT / 8);
	lt->known = vzalloc(PID_MAX_LIMIT / 8);
	if (!lt->shards || !lt->other_asleep || !lt->other_queued || !lt->known)
		goto fail;
	for (i = 0; i < LT_SHARDS; i++) {
		raw_spin_lock_init(&lt->shards[i].lock);
		lt->shards[i].tasks = RB_ROOT;
		INIT_LIST_HEAD(&lt->shards[i].dirty);
		INIT_LIST_HEAD(&lt->shards[i].exited);
	}
	atomic_set(&lt->nr_exited, 0);
	err = lt_pool_init(&lt->task_pool, "lattop_task", sizeof(struct lt_task),
			   lt_params.max_tasks, lt_params.reserve, &lt->kick);
	if (err)
		goto fail;
	err = lt_pool_init(&lt->entry_pool, "lattop_entry", sizeof(struct lt_entry),
			   lt_params.max_entries, lt_params.reserve, &lt->kick);
	if (err)
		goto fail;
	return 0;
fail:
	release(lt);
	return err;
}

void lt_tasks_exit(struct lt *lt)
{
	lt_forget_all(lt);
	release(lt);
}
