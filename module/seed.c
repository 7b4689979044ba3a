// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks already asleep at load: they are there from the first moment, their
 * sleep counted from now. Called behind the hooks, and when a filter has changed.
 *
 * Each task is looked at with its shard lock held, and with the hooks on. That
 * is what makes it sound: a task that is off the runqueue then has its wake
 * ahead of it, and a wake passes through a hook that wants the same lock. It
 * cannot have been missed, and the task cannot run, exit or lose its stack
 * before we let go. One that is off the runqueue but still on its CPU has the
 * hook for its sleep ahead of it; a sleep that the hooks have seen is theirs.
 */
#include <linux/idr.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>

#include "compat/task.h"
#include "filter.h"
#include "lattop.h"
#include "tasks.h"

static void seed_one(struct lt *lt, struct task_struct *p)
{
	u32 pid = READ_ONCE(p->pid);
	struct lt_shard *shard = lt_shard_of(lt, pid);
	struct lt_capture *c;
	struct lt_task *t;
	enum lt_lost cause;
	unsigned int state;

	raw_spin_lock_irq(&shard->lock);
	state = lt_compat_task_state(p);
	if (!lt_compat_task_blocked(p) || lt_compat_task_on_cpu(p) || p->exit_state ||
	    !lt_compat_state_sleeps(state))
		goto out;
	/* kprobes see the wake of a delayed task before it shows that it is one */
	if (lt->by_kprobes && READ_ONCE(p->on_rq))
		goto out;
	/* Its sleep is counted already; a record alone may be from before a filter turned it away */
	t = lt_task_find(shard, pid, p->start_boottime);
	if (t ? t->asleep : test_bit(pid, lt->other_asleep))
		goto out;
	if (!lt_wants(lt, lt_mode(lt), p))
		goto out;
	t = lt_task_get(lt, shard, p, pid, &cause);
	if (!t) {
		lt_others_sleep(lt, shard, pid, lt_clock(), cause);
		goto out;
	}
	c = this_cpu_ptr(lt->capture);
	lt_capture_asleep(lt, c, p);
	t->sleep_state = state;
	t->iowait = p->in_iowait;
	t->delayed = lt_compat_task_delayed(p);
	t->seeded = true;
	lt_account_begin(lt, t, lt_entry_get(lt, t, c), lt_clock());
out:
	raw_spin_unlock_irq(&shard->lock);
}

/* The task with the lowest pid from nr on, and its reference. */
static struct task_struct *next_task_from(int *nr)
{
	struct task_struct *p = NULL;
	struct pid *pid;

	rcu_read_lock();
	while (!p) {
		pid = idr_get_next(&init_pid_ns.idr, nr);
		if (!pid)
			break;
		p = pid_task(pid, PIDTYPE_PID);
		if (p)
			get_task_struct(p);
		(*nr)++;
	}
	rcu_read_unlock();
	return p;
}

int lt_seed(struct lt *lt)
{
	struct task_struct *p;
	unsigned int seeded = 0;
	int nr = 1;

	/* Hooks that ran before accounting began have let go of their tasks. */
	synchronize_rcu();
	while ((p = next_task_from(&nr))) {
		seed_one(lt, p);
		put_task_struct(p);
		if (!(++seeded % LT_SEED_BATCH))
			lt_refill(lt);
		cond_resched();
	}
	return 0;
}
