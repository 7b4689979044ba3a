// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks user stacks of tasks that are asleep, now that more rows are known, and
 * moves their ongoing sleep to the better trace: who sleeps for an hour need
 * not wake up to be seen whole. Called by teach.c in process context.
 *
 * The registers are read under the shard lock with the task asleep, which is
 * when its stack holds still (seed.c). The memory is read without it; behind it
 * the task must still be in the same sleep, or what was read is thrown away.
 *
 * Memory is read as hooks read it, and for the same reason: what is not there
 * ends the walk. A fault could wait for ever, for a file system's server or
 * whoever else the program under it chose to ask. Only a kernel thread can
 * borrow an address space, so the walk is work for lt->rewalk_wq: at everybody's
 * priority, as how many threads and how deep their stacks are is up to the program.
 */
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "arch_x86.h"
#include "compat/task.h"
#include "lattop.h"
#include "rows.h"
#include "tasks.h"

/* One ongoing sleep: valid while the task is asleep and has begun no other. */
struct sleep {
	struct task_struct *p;
	struct lt_shard *shard;
	u64 since_ns;			/* a reset between begins the count anew */
	u64 sleeps;
	struct lt_entry *entry;
	unsigned int had;		/* user frames */
	struct lt_uframe frame;
	struct lt_capture *c;
};

enum { UNFINISHED = LT_TR_MISS | LT_TR_SEEDED | LT_TR_FP };

static struct lt_task *find(struct sleep *s)
{
	return lt_task_find(s->shard, s->p->pid, s->p->start_boottime);
}

/* Takes down an ongoing sleep whose user stack, in mm, is not whole; false: nothing to do. */
static bool begin(struct sleep *s, const struct mm_struct *mm)
{
	struct lt_capture *c = s->c;
	struct lt_trace *tr = NULL;
	struct lt_task *t;

	raw_spin_lock_irq(&s->shard->lock);
	t = find(s);
	if (t && t->asleep && t->entry && !lt_compat_task_on_cpu(s->p) && !s->p->in_execve &&
	    s->p->mm == mm)
		tr = t->entry->trace;
	if (tr && (!(tr->flags & UNFINISHED) || tr->flags & (LT_TR_NO_USER | LT_TR_COMPAT)))
		tr = NULL;
	if (tr) {
		s->since_ns = t->asleep_since_ns;
		s->sleeps = t->sleeps;
		s->entry = t->entry;
		s->had = tr->nr_user;
		lt_capture_kernel_of(c, tr);
		c->nr_user = 0;
		c->syscall = tr->syscall;
		lt_arch_user_frame(s->p, &s->frame, &c->flags);
	}
	raw_spin_unlock_irq(&s->shard->lock);
	return tr;
}

/* Of the address space that this thread has borrowed. */
static int read_word(void *unused, u64 address, u64 *word)
{
	int err;

	pagefault_disable();
	err = get_user(*word, (u64 __user *)(unsigned long)address);
	pagefault_enable();
	return !err;
}

/* The sleep goes on under the trace that was captured, and misses what that lacks, if it is still the same sleep. */
static void finish(struct lt *lt, struct sleep *s)
{
	struct lt_entry *better, *emptied = NULL;
	struct lt_task *t;

	raw_spin_lock_irq(&s->shard->lock);
	t = find(s);
	if (t && t->asleep && t->asleep_since_ns == s->since_ns && t->sleeps == s->sleeps &&
	    t->entry == s->entry) {
		better = lt_entry_better(lt, t, s->c);
		if (better && better != s->entry) {
			if (!--s->entry->sleeps)
				emptied = s->entry;
			better->sleeps++;
			t->entry = better;
		}
		if (s->c->flags & LT_TR_MISS && lt_resolved(lt))
			lt_miss(lt, s->p, &s->frame);
	}
	if (emptied)
		lt_entry_take_out(lt, t, emptied);
	raw_spin_unlock_irq(&s->shard->lock);
	if (emptied)
		lt_entry_give_back(lt, emptied);
}

struct rewalk {
	struct work_struct work;
	struct lt *lt;
	struct task_struct *p, *resolver;	/* who waits */
	struct mm_struct *mm;
	struct lt_capture c;
	u64 held_since;				/* lt->mutex; 0: it is not */
};

/* So long others wait for lt->mutex at a time: less than a reader keeps them */
#define AT_A_TIME_NS	NSEC_PER_MSEC

/*
 * A reader who copies a task may be in the middle of it. Not taken anew for each
 * thread, as one may be in front of each. True: it had to be taken, which takes time.
 */
static bool hold(struct rewalk *r)
{
	if (r->held_since)
		return false;
	mutex_lock(&r->lt->mutex);
	r->held_since = ktime_get_ns();
	return true;
}

static void let_go(struct rewalk *r)
{
	if (!r->held_since)
		return;
	r->held_since = 0;
	mutex_unlock(&r->lt->mutex);
}

static void rewalk_one(struct rewalk *r, struct task_struct *p)
{
	struct lt *lt = r->lt;
	struct lt_capture *c = &r->c;
	struct sleep s = { .p = p, .shard = lt_shard_of(lt, p->pid), .c = c };
	struct lt_space *space;

	if (!begin(&s, r->mm))
		return;
	/* Nobody would walk it again in a sleep that was reset, or moved to another trace, meanwhile */
	if (hold(r) && !begin(&s, r->mm))
		return;
	space = lt_space_held(lt, r->mm);
	if (!space)
		return;
	c->nr_user = lt_rows_walk(space, &s.frame, &c->frames[c->nr_kernel],
				  lt->user_depth, &c->flags, read_word, NULL);
	/* Memory that was there when it went to sleep may be swapped out by now: no worse trace for a better one */
	if (!(c->flags & LT_TR_USER_FAULT) || c->nr_user > s.had)
		finish(lt, &s);
}

static void rewalk_all(struct work_struct *work)
{
	struct rewalk *r = container_of(work, struct rewalk, work);
	struct task_struct *q = r->p, *next;
	int rest = get_nr_threads(r->p);	/* p may leave the ring it is the end of */

	kthread_use_mm(r->mm);
	get_task_struct(q);
	do {
		rewalk_one(r, q);
		if (need_resched() || (r->held_since && ktime_get_ns() - r->held_since > AT_A_TIME_NS)) {
			let_go(r);
			cond_resched();
		}
		rcu_read_lock();
		next = pid_alive(q) ? next_thread(q) : r->p;
		get_task_struct(next);
		rcu_read_unlock();
		put_task_struct(q);
		q = next;
	} while (q != r->p && --rest > 0 && !fatal_signal_pending(r->resolver));
	let_go(r);
	put_task_struct(q);
	kthread_unuse_mm(r->mm);
}

/* Every thread of p's process that is asleep. mm: theirs, a user of which the caller holds. */
void lt_rewalk(struct lt *lt, struct task_struct *p, struct mm_struct *mm)
{
	struct rewalk *r = kvmalloc(sizeof(*r), GFP_KERNEL);

	if (!r)
		return;
	r->lt = lt;
	r->p = p;
	r->resolver = current;
	r->mm = mm;
	r->held_since = 0;
	INIT_WORK(&r->work, rewalk_all);
	queue_work(lt->rewalk_wq, &r->work);
	flush_work(&r->work);
	kvfree(r);
}
