/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finding a task's record, inlined into the hooks of account.c; tasks.c says how
 * records are kept. The shard lock is held.
 */
#ifndef LATTOP_TASKS_H
#define LATTOP_TASKS_H

#include <linux/hash.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "compat/task.h"
#include "lattop.h"

static inline struct lt_shard *lt_shard_of(struct lt *lt, u32 pid)
{
	return &lt->shards[hash_32(pid, LT_SHARD_BITS)];
}

/* The order of a shard's tree. */
static inline bool lt_task_precedes(u32 pid, u64 start_ns, const struct lt_task *t)
{
	return pid < t->pid || (pid == t->pid && start_ns < t->start_ns);
}

static inline struct lt_task *lt_task_find(struct lt_shard *shard, u32 pid, u64 start_ns)
{
	struct rb_node *n = shard->tasks.rb_node;

	lockdep_assert_held(&shard->lock);
	while (n) {
		struct lt_task *t = rb_entry(n, struct lt_task, pid_node);

		if (likely(t->pid == pid && t->start_ns == start_ns))
			return t;
		n = lt_task_precedes(pid, start_ns, t) ? n->rb_left : n->rb_right;
	}
	return NULL;
}

/* The task of a record, while it lives. Under RCU. */
static inline struct task_struct *lt_task_alive(u32 pid, u64 start_ns)
{
	struct task_struct *p = pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_PID);

	return p && p->start_boottime == start_ns ? p : NULL;
}

static inline void lt_task_mark_dirty(struct lt_shard *shard, struct lt_task *t)
{
	if (t->dirty)
		return;
	t->dirty = true;
	list_add_tail(&t->dirty_node, &shard->dirty);
}

/* A sleep in e, one of t's entries, begins or ends: copies.c, which is in the middle of t, has to see to it again. */
static inline void lt_entry_touched(struct lt_task *t, struct lt_entry *e)
{
	if (likely(!t->watched) || e->touched)
		return;
	e->touched = true;
	e->touched_next = t->touched;
	t->touched = e;
}

/* tasks.c */
struct lt_task *lt_task_new(struct lt *lt, struct lt_shard *shard, struct task_struct *p,
			    u32 pid, enum lt_lost *cause);
void lt_task_revive(struct lt *lt, struct lt_task *t);
void lt_task_change_creds(struct lt *lt, struct lt_task *t, struct task_struct *p, u64 exec_id);

/*
 * What may change in a task's life. On its way out, without its memory, a task
 * keeps what it was when it last slept with it: whose it is, its name and whether
 * it is dumpable go together. Was it not, by then, it is not for its user. t->cred
 * is compared only; should new credentials lie where the old ones lay, readers
 * ask p itself while it lives (security.c). In execve it is neither program:
 * what it has of the new one comes piece by piece.
 */
static __always_inline void lt_task_refresh(struct lt *lt, struct lt_task *t, struct task_struct *p)
{
	u64 exec_id = p->self_exec_id;
	struct user_namespace *ns;

	if (unlikely(!p->mm || p->in_execve)) {
		if (p->flags & PF_KTHREAD)
			memcpy(t->comm, p->comm, LT_COMM_BYTES);
		else if (!p->in_execve && !lt_compat_left_dumpable(p))
			t->creds.dumpable = false;
		return;
	}
	memcpy(t->comm, p->comm, LT_COMM_BYTES);
	if (unlikely(t->cred != lt_compat_task_cred(p) || t->exec_id != exec_id))
		lt_task_change_creds(lt, t, p, exec_id);
	t->creds.dumpable = lt_compat_dumpable(p, &ns);
}

/*
 * p's record, made if there is none. pid is p's, read once by the caller: an
 * exec elsewhere in its group may change it under us. NULL when there is no
 * room, and *cause says why.
 */
static __always_inline struct lt_task *lt_task_get(struct lt *lt, struct lt_shard *shard,
					  struct task_struct *p, u32 pid, enum lt_lost *cause)
{
	struct lt_task *t = lt_task_find(shard, pid, p->start_boottime);

	if (unlikely(!t))
		return lt_task_new(lt, shard, p, pid, cause);
	if (unlikely(t->exited))
		lt_task_revive(lt, t);
	lt_task_refresh(lt, t, p);
	return t;
}

#endif
