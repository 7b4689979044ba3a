// SPDX-License-Identifier: GPL-2.0-only
/*
 * The story: what the hooks saw, put on a task's account. Hook context; each
 * function takes the task's shard lock, and under it at most a bucket lock of
 * traces.c and a list lock of pool.c, or miss_lock. The sleeper's stack is
 * compared or walked under the shard lock.
 *
 *	sleep_begin	the task blocks: count it, to the trace it blocks in
 *	wake		it is runnable: add the time to task and trace
 *	preempted	it is off the CPU but runnable
 *	switch_in	it runs: what lies behind since wake, wake_new or
 *			preempted is run-queue delay
 *	task_dead	it will not come back
 *
 * A task without a record (max_tasks, or none free at that moment) is
 * accounted in the shard's lt_others, which is exact without knowing who is
 * who: a bit a pid says whether its sleep was counted there.
 */
#include <linux/bitops.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>

#include "cgroups.h"
#include "compat/task.h"
#include "cost.h"
#include "filter.h"
#include "hist.h"
#include "lattop.h"
#include "memo.h"
#include "tasks.h"
#include "wakers.h"

#define CREATE_TRACE_POINTS
#include "lattop_events.h"

void lt_account_begin(struct lt *lt, struct lt_task *t, struct lt_entry *e, u64 now)
{
	t->entry = e;
	lt_entry_touched(t, e);
	e->sleeps++;
	t->sleeps++;
	t->asleep_since_ns = now;
	t->asleep = true;
	t->queued = false;
}

static __always_inline u64 account_end(struct lt_task *t, u64 now)
{
	u64 slept = now > t->asleep_since_ns ? now - t->asleep_since_ns : 0;
	struct lt_entry *e = t->entry;

	lt_entry_touched(t, e);
	e->blocked_ns += slept;
	e->hist[lt_hist_bucket(slept)]++;
	if (slept > e->max_ns)
		e->max_ns = slept;
	t->blocked_ns += slept;
	if (slept > t->max_ns)
		t->max_ns = slept;
	t->asleep = false;
	t->seeded = false;
	return slept;
}

/* How long it slept, in nanoseconds. */
u64 lt_account_end(struct lt *lt, struct lt_task *t, u64 now)
{
	return account_end(t, now);
}

static void queue(struct lt_task *t, u64 now)
{
	if (t->queued)
		return;
	t->queued = true;
	t->queued_since_ns = now;
}

/* A sleep of a task that found no record. Shard lock held. */
void lt_others_sleep(struct lt *lt, struct lt_shard *shard, u32 pid, u64 now,
		     enum lt_lost cause)
{
	struct lt_others *o = &shard->others;

	if (test_and_set_bit(pid, lt->other_asleep)) {
		o->wake_sum_ns += now;	/* its wake was not seen: it ends here */
		lt_lose(lt, LT_LOST_order);
	} else {
		o->asleep++;
		set_bit(pid, lt->known);
	}
	o->sleep_sum_ns += now;
	o->sleeps++;
	lt_lose(lt, cause);
}

static bool others_wake(struct lt *lt, struct lt_shard *shard, u32 pid, u64 now)
{
	if (!test_and_clear_bit(pid, lt->other_asleep))
		return false;
	shard->others.asleep--;
	shard->others.wake_sum_ns += now;
	return true;
}

static void others_queue(struct lt *lt, struct lt_shard *shard, u32 pid, u64 now)
{
	if (test_and_set_bit(pid, lt->other_queued))
		return;
	set_bit(pid, lt->known);
	shard->others.queued++;
	shard->others.queue_sum_ns += now;
}

static void others_run(struct lt *lt, struct lt_shard *shard, u32 pid, u64 now)
{
	if (!test_and_clear_bit(pid, lt->other_queued))
		return;
	shard->others.queued--;
	shard->others.run_sum_ns += now;
	shard->others.runs++;
}

/* Whoever is asleep or waits among them is let go, and is not known any more. A reset follows. */
void lt_others_forget(struct lt *lt)
{
	u64 now = lt_clock();
	unsigned long pid;

	for_each_set_bit(pid, lt->known, PID_MAX_LIMIT) {
		struct lt_shard *shard = lt_shard_of(lt, pid);

		raw_spin_lock_irq(&shard->lock);
		others_wake(lt, shard, pid, now);
		others_run(lt, shard, pid, now);
		lt_task_unknow(lt, shard, pid);
		raw_spin_unlock_irq(&shard->lock);
		cond_resched();
	}
}

/* Since the last reset. The sums wrap; their difference does not. */
u64 lt_others_blocked(const struct lt_others *o, u64 now)
{
	return o->wake_sum_ns - o->sleep_sum_ns + o->asleep * now - o->blocked_base_ns;
}

u64 lt_others_runq(const struct lt_others *o, u64 now)
{
	return o->run_sum_ns - o->queue_sum_ns + o->queued * now - o->runq_base_ns;
}

/* The entry of current's sleep, by walking what is not remembered of its stack. */
static noinline struct lt_entry *walked_entry(struct lt *lt, struct lt_task *t,
					      const struct lt_kframe *at,
					      const struct lt_memo *kernel, bool learn)
{
	struct lt_capture *c = this_cpu_ptr(lt->capture);
	struct lt_entry *e;

	lt_capture_current(lt, c, at, kernel ? kernel->trace : NULL);
	e = lt_entry_get(lt, t, c);
	/* What comes once need not be remembered */
	if (learn && e->trace && e->sleeps)
		lt_memo_learn(lt, t, e, e->trace, c, kernel);
	if (unlikely(c->flags & lt->counted_flags))
		lt_capture_lose(lt, c->flags);
	return e;
}

/* Of every lt->recheck'th remembered trace: what the walk says. */
static noinline struct lt_entry *rechecked_entry(struct lt *lt, struct lt_task *t,
						 const struct lt_kframe *at, struct lt_entry *e)
{
	const struct lt_memo *m = t->memo[LT_MEMO_SLEEP][0];	/* the one that matched */
	struct lt_entry *walked = walked_entry(lt, t, at, NULL, false);

	if (walked != e && walked->trace)
		lt_memo_refuted(lt, t, LT_MEMO_SLEEP, at, m, walked->trace);
	return walked;
}

static __always_inline struct lt_entry *entry_of(struct lt *lt, struct lt_task *t, const struct lt_kframe *at)
{
	const struct lt_memo *kernel = NULL;
	const struct lt_memo *m = lt_memo_find(lt, t, LT_MEMO_SLEEP, at, &kernel);
	struct lt_entry *e;

	if (unlikely(!m))
		return walked_entry(lt, t, at, kernel, true);
	e = m->entry;
	if (lt_memo_recheck(lt))
		return rechecked_entry(lt, t, at, e);
	if (unlikely(e->trace->flags & lt->counted_flags))
		lt_capture_lose(lt, e->trace->flags);
	return e;
}

/* p is current and on its way off the CPU, blocked with this state; *at: in whose call. */
static __always_inline void sleep_begin(struct lt *lt, struct task_struct *p, unsigned int state,
					const struct lt_kframe *at, u64 now)
{
	u32 pid = READ_ONCE(p->pid);
	struct lt_shard *shard = lt_shard_of(lt, pid);
	struct lt_task *t;
	enum lt_lost cause;

	raw_spin_lock(&shard->lock);
	t = lt_task_get(lt, shard, p, pid, &cause);
	if (likely(t)) {
		if (unlikely(t->asleep)) {
			lt_lose(lt, LT_LOST_order);
			lt_account_end(lt, t, now);
		}
		t->sleep_state = state;
		t->iowait = p->in_iowait;
		t->delayed = lt_compat_task_delayed(p);
		lt_account_begin(lt, t, entry_of(lt, t, at), now);
		lt_task_mark_dirty(shard, t);
	} else {
		lt_others_sleep(lt, shard, pid, now, cause);
	}
	raw_spin_unlock(&shard->lock);

	trace_sleep(p, state);
}

/*
 * When p, which is awake since, was put on its runqueue, by the runqueue's own
 * clock: sched_wakeup comes behind the interrupt to p's CPU, and sending that
 * takes microseconds in a virtual machine, milliseconds where its host is busy.
 * rq_now: that clock at now, 0 where it does not say. Not before what a reader
 * has seen. Of who slept delayed it may be when it was moved, and stays that when
 * it has left its runqueue: whether it did is not known of who was asleep before
 * (t->seeded), nor of the others.
 */
static __always_inline u64 woken_at(const struct lt *lt, const struct lt_task *t, const struct task_struct *p,
				    u64 rq_now, u64 now)
{
	u64 queued = lt_compat_task_queued(p);

	if (!rq_now || !queued || queued >= rq_now)
		return now;
	if (LT_COMPAT_SLEEPS_DELAYED && (!t || t->delayed || t->seeded))
		return now;
	return max(now - (rq_now - queued), READ_ONCE(lt->seen_ns));
}

/* p != current is runnable again, or was all the time. */
void lt_wake(struct lt *lt, struct task_struct *p)
{
	u32 pid = READ_ONCE(p->pid);
	struct lt_shard *shard = lt_shard_of(lt, pid);
	u64 now, rq_now, slept = 0, from = 0;
	struct lt_task *t;
	bool woke = false;

	/* The clock is read under the lock, too late to pick this call: it picks the next on this CPU */
	if (unlikely(this_cpu_read(lt->stats->wake_sampled)))
		from = lt_clock();
	raw_spin_lock(&shard->lock);
	/* Only another CPU is sent an interrupt */
	rq_now = task_cpu(p) != raw_smp_processor_id() && READ_ONCE(lt->queue_clock) ? local_clock() : 0;
	now = lt_clock();	/* behind every snapshot that saw it asleep */
	t = lt_task_find(shard, pid, p->start_boottime);
	if (t && t->asleep) {
		now = woken_at(lt, t, p, rq_now, now);
		slept = account_end(t, now);
		if (lt->wakers)
			lt_waker_count(lt, t, slept);
		woke = true;
		if (!lt_compat_task_on_cpu(p))
			queue(t, now);
		lt_task_mark_dirty(shard, t);
	} else if (unlikely(t && !t->queued && !lt_compat_task_on_cpu(p) && lt_wants(lt, lt_mode(lt), p))) {
		lt_lose(lt, LT_LOST_order);	/* its sleep was not seen to begin */
		queue(t, now);
	} else if (!t) {
		now = woken_at(lt, NULL, p, rq_now, now);
		if (others_wake(lt, shard, pid, now) && !lt_compat_task_on_cpu(p))
			others_queue(lt, shard, pid, now);
	}
	raw_spin_unlock(&shard->lock);

	if (woke)
		trace_wake(p, slept);
	if (unlikely(from)) {
		this_cpu_write(lt->stats->wake_sampled, false);
		lt_cost_add(lt, lt_clock() - from);
	}
	if (lt_cost_sampled(now))
		this_cpu_write(lt->stats->wake_sampled, true);
}

/* p was born and waits for its first CPU. */
void lt_wake_new(struct lt *lt, struct task_struct *p)
{
	u32 pid = READ_ONCE(p->pid);
	struct lt_shard *shard = lt_shard_of(lt, pid);
	struct lt_task *t;
	enum lt_lost cause;
	u64 now;

	raw_spin_lock(&shard->lock);
	now = lt_clock();
	t = lt_task_get(lt, shard, p, pid, &cause);
	if (likely(t))
		queue(t, now);
	else
		others_queue(lt, shard, pid, now);
	raw_spin_unlock(&shard->lock);
	lt_cost(lt, now);
}

/* prev leaves the CPU and stays runnable. It was running: what it waited for before is past. */
void lt_preempted(struct lt *lt, struct task_struct *prev, u64 now)
{
	u32 pid = READ_ONCE(prev->pid);
	struct lt_shard *shard = lt_shard_of(lt, pid);
	struct lt_task *t;
	enum lt_lost cause;

	raw_spin_lock(&shard->lock);
	t = lt_task_get(lt, shard, prev, pid, &cause);
	if (likely(t)) {
		t->queued = true;
		t->queued_since_ns = now;
	} else {
		others_queue(lt, shard, pid, now);
	}
	raw_spin_unlock(&shard->lock);
}

static __always_inline void switch_in(struct lt *lt, struct task_struct *next, u64 now)
{
	u32 pid = READ_ONCE(next->pid);
	struct lt_shard *shard = lt_shard_of(lt, pid);
	struct lt_task *t;

	raw_spin_lock(&shard->lock);
	t = lt_task_find(shard, pid, next->start_boottime);
	if (likely(t)) {
		if (unlikely(t->asleep)) {
			lt_lose(lt, LT_LOST_order);
			lt_account_end(lt, t, now);
			lt_task_mark_dirty(shard, t);
		}
		if (t->queued) {
			t->queued = false;
			if (now > t->queued_since_ns)
				t->runq_ns += now - t->queued_since_ns;
			t->runs++;
		}
	} else {
		if (unlikely(others_wake(lt, shard, pid, now)))
			lt_lose(lt, LT_LOST_order);
		others_run(lt, shard, pid, now);
	}
	raw_spin_unlock(&shard->lock);
}

/* Three doors for the hooks: one kind of event each, or both of a switch at once, which is cheaper. */
void lt_sleep_begin(struct lt *lt, struct task_struct *p, unsigned int state,
		    const struct lt_kframe *at, u64 now)
{
	sleep_begin(lt, p, state, at, now);
}

void lt_switch_in(struct lt *lt, struct task_struct *next, u64 now)
{
	switch_in(lt, next, now);
}

void lt_sleep_and_switch(struct lt *lt, struct task_struct *prev, unsigned int state,
			 const struct lt_kframe *at, struct task_struct *next, u64 now)
{
	sleep_begin(lt, prev, state, at, now);
	if (likely(next->pid))
		switch_in(lt, next, now);
}

void lt_task_dead(struct lt *lt, struct task_struct *p, u64 now)
{
	u32 pid = READ_ONCE(p->pid);
	struct lt_shard *shard = lt_shard_of(lt, pid);
	struct lt_task *t;

	raw_spin_lock(&shard->lock);
	t = lt_task_find(shard, pid, p->start_boottime);
	if (likely(t)) {
		if (unlikely(t->asleep)) {
			lt_lose(lt, LT_LOST_order);
			lt_account_end(lt, t, now);
		}
		/* a leader that dies for an exec: the thread that execs goes on as it */
		if (thread_group_leader(p) && lt_compat_group_execs(p))
			WRITE_ONCE(lt->identities_moved, true);
		else
			lt_task_mark_exited(lt, shard, t, now);
		if (!lt_compat_left_dumpable(p))
			t->creds.dumpable = false;
		lt_cgroup_left(lt, t, p);
	} else {
		others_run(lt, shard, pid, now);
		others_wake(lt, shard, pid, now);
	}
	raw_spin_unlock(&shard->lock);
}
