// SPDX-License-Identifier: GPL-2.0-only
/*
 * Do the hooks see sleeps? Compilers inline the functions that kprobes hang
 * on; registration succeeds all the same and nothing is ever seen. So the
 * loading task sleeps a few times and compares its record with the kernel's
 * own count of its voluntary switches. Called by hooks.c for each set.
 */
#include <linux/errno.h>
#include <linux/sched.h>

#include "lattop.h"
#include "tasks.h"

enum { SLEEPS = 8 };

struct figures {
	u64 sleeps, blocked_ns, switches;
	bool asleep;
};

/* No record yet: zeros. Sleeping is off the table here, preemption is not. */
static void read_figures(struct lt *lt, struct figures *f)
{
	struct lt_shard *shard = lt_shard_of(lt, current->pid);
	struct lt_task *t;

	memset(f, 0, sizeof(*f));
	raw_spin_lock_irq(&shard->lock);
	t = lt_task_find(shard, current->pid, current->start_boottime);
	if (t) {
		f->sleeps = t->sleeps;
		f->blocked_ns = t->blocked_ns;
		f->asleep = t->asleep;
	}
	f->switches = current->nvcsw;
	raw_spin_unlock_irq(&shard->lock);
}

/* However small max_tasks is, this task has a record. */
static bool make_record(struct lt *lt)
{
	struct lt_shard *shard = lt_shard_of(lt, current->pid);
	enum lt_lost cause;
	struct lt_task *t;

	raw_spin_lock_irq(&shard->lock);
	t = lt_task_get(lt, shard, current, current->pid, &cause);
	raw_spin_unlock_irq(&shard->lock);
	return t;
}

/* 0, or -ENODEV when what the hooks saw is not what happened. */
int lt_selftest(struct lt *lt)
{
	struct figures before, after;
	u64 start, passed;
	int i;

	if (!make_record(lt))
		return -ENOSPC;
	read_figures(lt, &before);
	start = lt_clock();
	for (i = 0; i < SLEEPS; i++)
		schedule_timeout_uninterruptible(1);
	passed = lt_clock() - start;
	read_figures(lt, &after);

	after.sleeps -= before.sleeps;
	after.blocked_ns -= before.blocked_ns;
	after.switches -= before.switches;
	if (after.sleeps && after.sleeps == after.switches && !after.asleep &&
	    after.blocked_ns && after.blocked_ns <= passed)
		return 0;
	pr_info("lattop: self-test: %llu sleeps seen of %llu, %llu of %llu ns blocked\n",
		after.sleeps, after.switches, after.blocked_ns, passed);
	return -ENODEV;
}
