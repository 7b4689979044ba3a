// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who ends a sleep (parameter wakers=1): the task that woke the sleeper, or the
 * interrupt, and the stack from which it did. Each entry of a task has a list of
 * them with what the sleeps that they ended amount to. Called by hook_sets.c, when
 * somebody is about to wake a task; by account.c, when that has woken; and by
 * whoever moves or frees entries.
 *
 * sched_waking comes in the waker's own context, under the pi_lock of the task
 * that it wakes, also where the wake-up itself is left to another CPU. Nobody
 * else can begin to wake that task before it has woken, so the last one who was
 * about to is the one who did.
 *
 * What the waker itself slept in last, and how much of that lay within the sleep
 * that it ends, is kept beside: whoever blocks on it blocked on that.
 *
 * An interrupt is not what it interrupted: its stack ends where it came in, and no
 * task is named. A softirq that a task runs by itself, on its way out of a
 * bottom half, is that task's doing: its stack goes on to the system call.
 *
 * Who wakes pays (owners.c): for the trace he wakes from, and for his place on the
 * entry's list. Interrupts, the kernel's threads and root are not limited; what
 * they wake from is paid by who is woken, where he is. Of who is about to wake
 * only the user's number is kept, which takes no pin; what is on a list counts
 * against a slot, which keeps that, and is taken back where it is dropped, by
 * whomever: all lists end in drop().
 */
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "compat/task.h"
#include "memo.h"
#include "params.h"
#include "tasks.h"
#include "wakers.h"

static void drop(struct lt *lt, struct lt_waker *w)
{
	if (w->trace)
		lt_trace_put(lt, w->trace);
	if (w->waited)
		lt_trace_put(lt, w->waited);
	lt_owner_give(lt, &lt->waker_pool, w, w->owner, LT_HELD_wakers);
}

/* p, which is woken, may run yet, and change its credentials: they stay for as long as interrupts are off. */
static kuid_t payer(const struct task_struct *p, bool interrupt)
{
	kuid_t uid;

	if (!interrupt && lt_owner_whose(lt_compat_task_cred(current), &uid))
		return uid;
	if (lt_owner_whose(rcu_dereference_check(p->real_cred, irqs_disabled()), &uid))
		return uid;
	return INVALID_UID;
}

/* p is woken. */
static void read_current(struct lt_waker *w, const struct task_struct *p, bool interrupt)
{
	memset(w, 0, sizeof(*w));
	w->payer = payer(p, interrupt);
	w->kind = interrupt ? LT_WAKER_INTERRUPT : LT_WAKER_TASK;
	if (interrupt)
		return;
	w->pid = current->pid;
	w->tgid = current->tgid;
	w->start_ns = current->start_boottime;
	w->exec_id = current->self_exec_id;
	memcpy(w->comm, current->comm, LT_COMM_BYTES);
}

/* A sleep that has ended. */
struct nap {
	struct lt_trace *trace;		/* with a reference; NULL: none that counts */
	u64 from_ns, to_ns;
};

/* t's last one, in the program that it runs now. Its shard lock held. */
static void last_nap(const struct lt_task *t, struct nap *nap)
{
	/* not where the end of its last sleep was not seen: then woke_ns is an earlier one's */
	if (t->asleep || !t->woke_ns || t->woke_ns < t->asleep_since_ns || !t->entry ||
	    !t->entry->trace || t->entry->exec_id != current->self_exec_id)
		return;
	nap->trace = t->entry->trace;
	nap->from_ns = t->asleep_since_ns;
	nap->to_ns = t->woke_ns;
	atomic_inc(&nap->trace->refs);	/* the entry has one: it is not the first */
}

/* What of the waker's last sleep lay within t's, which goes on. */
static void note_nap(struct lt_waker *w, const struct lt_task *t, struct nap *nap)
{
	if (!nap->trace || !t->asleep || nap->to_ns <= t->asleep_since_ns)
		return;
	w->waited_ns = nap->to_ns - max(nap->from_ns, t->asleep_since_ns);
	w->waited = nap->trace;
	nap->trace = NULL;
}

/* By walking what is not remembered of current's stack. t: as below. */
static struct lt_trace *walked_trace(struct lt *lt, const struct lt_waker *w, struct lt_task *t,
				     const struct lt_kframe *at, const struct lt_memo *kernel, bool learn)
{
	struct lt_capture *c = this_cpu_ptr(lt->capture);
	struct lt_trace *tr;

	lt_capture_waker(lt, c, at, kernel ? kernel->trace : NULL);
	tr = lt_trace_intern_wakers(lt, c, w->payer);
	/* What comes once need not be remembered */
	if (learn && tr && t && !t->exited && atomic_read(&tr->refs) > 1)
		lt_memo_learn(lt, t, NULL, tr, c, kernel);
	return tr;
}

/* Where current wakes somebody, with a reference. t: its record if that is of its program, whose shard lock is held. */
static struct lt_trace *task_trace(struct lt *lt, const struct lt_waker *w, struct lt_task *t,
				   const struct lt_kframe *at)
{
	const struct lt_memo *kernel = NULL, *m = NULL;
	struct lt_trace *tr;

	if (t)
		m = lt_memo_find(lt, t, LT_MEMO_WAKER, at, &kernel);
	if (!m)
		return walked_trace(lt, w, t, at, kernel, true);
	if (lt_memo_recheck(lt)) {
		tr = walked_trace(lt, w, t, at, NULL, false);
		if (tr && tr != m->trace)
			lt_memo_refuted(lt, t, LT_MEMO_WAKER, at, m, tr);
		return tr;
	}
	atomic_inc(&m->trace->refs);	/* the memo has one: it is not the first */
	return m->trace;
}

/* The last sleep of current, which wakes somebody; at: its trace too is to be found. */
static void read_task(struct lt *lt, struct lt_waker *w, const struct lt_kframe *at, struct nap *nap)
{
	struct lt_shard *shard = lt_shard_of(lt, current->pid);
	struct lt_task *t;

	raw_spin_lock(&shard->lock);
	t = lt_task_find(shard, current->pid, current->start_boottime);
	/* what it remembers is of the program of its record: another may be in an execve, and have let go of that one's memory */
	if (at)
		w->trace = task_trace(lt, w, t && t->exec_id == current->self_exec_id ? t : NULL, at);
	if (t)
		last_nap(t, nap);
	raw_spin_unlock(&shard->lock);
}

/* Woken on an interrupt's way out, mostly, which is counted as one no more then: ksoftirqd, and PREEMPT_RT's ktimers. */
static bool serves_softirqs(const struct task_struct *p)
{
	return p->flags & PF_KTHREAD &&
	       (!strncmp(p->comm, "ksoftirqd/", 10) || !strncmp(p->comm, "ktimers/", 8));
}

/* An interrupt's or a softirq's, which may be the task's own doing. */
static void read_interrupt(struct lt *lt, struct lt_waker *w, const struct task_struct *p,
			   const struct lt_kframe *at, struct nap *nap)
{
	struct lt_capture *c = this_cpu_ptr(lt->capture);
	bool interrupt = lt_capture_interrupt(lt, c, at);

	read_current(w, p, interrupt);
	w->trace = lt_trace_intern_wakers(lt, c, w->payer);
	if (!interrupt)
		read_task(lt, w, NULL, nap);
}

void lt_waking(struct lt *lt, struct task_struct *p, const struct lt_kframe *at)
{
	u32 pid = READ_ONCE(p->pid);
	struct lt_shard *shard = lt_shard_of(lt, pid);
	struct nap nap = { .trace = NULL };
	enum lt_refused why;
	struct lt_waker *w;
	struct lt_task *t;

	/* nobody's: it is given back, or paid for by keep() */
	w = lt_pool_take(&lt->waker_pool, LT_NO_OWNER, &why);
	if (w && (hardirq_count() || in_serving_softirq() || !current->pid || serves_softirqs(p))) {
		read_interrupt(lt, w, p, at, &nap);
	} else if (w) {
		read_current(w, p, false);
		read_task(lt, w, at, &nap);
	}
	raw_spin_lock(&shard->lock);
	t = lt_task_find(shard, pid, p->start_boottime);
	if (t) {
		if (w)
			note_nap(w, t, &nap);
		lt_waker_forget(lt, t);		/* it woke nobody: p was not asleep yet */
		swap(t->waking, w);
	}
	raw_spin_unlock(&shard->lock);
	if (w)
		drop(lt, w);
	if (nap.trace)
		lt_trace_put(lt, nap.trace);
}

void lt_waker_forget(struct lt *lt, struct lt_task *t)
{
	if (t->waking)
		drop(lt, t->waking);
	t->waking = NULL;
}

static bool same(const struct lt_waker *a, const struct lt_waker *b)
{
	return a->trace == b->trace && a->pid == b->pid && a->start_ns == b->start_ns &&
	       a->exec_id == b->exec_id && a->kind == b->kind;
}

/* The one like w on e's list, taken off it; or NULL. same_wait: that had waited in the same trace. */
static struct lt_waker *take_same(struct lt_entry *e, const struct lt_waker *w, bool same_wait)
{
	struct lt_waker **link, *found;

	for (link = &e->wakers; (found = *link); link = &found->next) {
		if (!same(found, w) || (same_wait && found->waited != w->waited))
			continue;
		*link = found->next;
		return found;
	}
	return NULL;
}

static void put(struct lt_entry *e, struct lt_waker *w)
{
	w->next = e->wakers;
	e->wakers = w;
}

static void add(struct lt_waker *to, const struct lt_waker *w)
{
	to->blocked_ns += w->blocked_ns;
	to->max_ns = max(to->max_ns, w->max_ns);
	to->sleeps += w->sleeps;
	to->waited_ns += w->waited_ns;
}

/* The last eighth of the pool is for those about to wake: who is known already is counted on. */
static bool room(const struct lt *lt)
{
	int max = lt->waker_pool.max;

	return atomic_read(&lt->waker_pool.in_use) <= max - max / 8;
}

/* Little of the pool is left to who wakes the living. */
bool lt_wakers_scarce(const struct lt *lt)
{
	int max = lt->waker_pool.max;

	return atomic_read(&lt->waker_pool.in_use) > max - max / 4;
}

/*
 * At others' sleeps a user's wakers take half of his share: how many there are is up to
 * who is woken, too. Who has a program of another's wake him at many places leaves
 * that one the other half, for who wakes whom among his own.
 */
static unsigned int most(const struct lt *lt, u16 owner, const struct lt_entry *e)
{
	unsigned int max = lt->owner_max[LT_HELD_wakers];

	return owner == e->owner ? max : max / 2;
}

static bool fits(const struct lt *lt, u16 owner, const struct lt_entry *e)
{
	return !owner || lt_owner_holds(lt, owner, LT_HELD_wakers) < most(lt, owner, e);
}

/* Little is left of that. */
static bool owner_scarce(const struct lt *lt, u16 owner, const struct lt_entry *e)
{
	return owner && lt_scarce(lt_owner_holds(lt, owner, LT_HELD_wakers), most(lt, owner, e));
}

/* And half of the list that somebody else's sleep has: he may wake from as many places as he likes. */
static bool fits_list(u16 owner, const struct lt_entry *e)
{
	const struct lt_waker *w;
	unsigned int n = 0;

	if (!owner || owner == e->owner || e->nr_wakers < LT_WAKERS_PER_ENTRY / 2)
		return true;
	for (w = e->wakers; w; w = w->next)
		n += w->owner == owner;
	return n < LT_WAKERS_PER_ENTRY / 2;
}

/* w, which was on no list, is paid for; false: who is to has his share. */
static bool charge(struct lt *lt, struct lt_waker *w, const struct lt_entry *e)
{
	u16 owner = lt_owner_get_for(lt, w->payer);
	bool paid = fits(lt, owner, e) && fits_list(owner, e) && lt_owner_charge(lt, owner, LT_HELD_wakers);

	if (paid && !lt_pool_claim(&lt->waker_pool, owner)) {
		lt_owner_uncharge(lt, owner, LT_HELD_wakers, 1);
		paid = false;
	}
	if (paid)
		w->owner = owner;
	lt_owner_put(lt, owner);	/* what counts against it keeps the slot */
	return paid;
}

/* May w stay on e's list? Else *cause. fresh: it was on none before. */
static bool keep(struct lt *lt, struct lt_task *t, struct lt_entry *e, struct lt_waker *w, bool fresh,
		 enum lt_lost *cause)
{
	*cause = LT_LOST_waker_pool;
	if (!room(lt))
		return false;
	*cause = LT_LOST_waker_limit;
	if (!e->trace || e->nr_wakers >= LT_WAKERS_PER_ENTRY || t->nr_wakers >= LT_WAKERS_PER_TASK)
		return false;
	*cause = LT_LOST_waker_user;
	return !fresh || charge(lt, w, e);
}

/* w's figures join the list, or are counted as lost. A waker that is known is counted on where there is no room. */
static void join(struct lt *lt, struct lt_task *t, struct lt_entry *e, struct lt_waker *w, bool fresh)
{
	struct lt_waker *found = e->trace ? take_same(e, w, true) : NULL;
	enum lt_lost cause;

	if (!found && keep(lt, t, e, w, fresh, &cause)) {
		put(e, w);
		e->nr_wakers++;
		t->nr_wakers++;
		return;
	}
	if (!found && e->trace) {
		found = take_same(e, w, false);
		w->waited_ns = 0;	/* in a trace that found has not */
	}
	if (found) {
		add(found, w);
		put(e, found);
	} else {
		lt_lose_many(lt, cause, w->sleeps);
	}
	drop(lt, w);
}

/* t's ongoing sleep has ended. */
void lt_waker_count(struct lt *lt, struct lt_task *t, u64 slept)
{
	struct lt_waker *w = t->waking;

	t->waking = NULL;
	t->woke_ns = t->asleep_since_ns + slept;
	if (!w) {
		lt_lose(lt, LT_LOST_waker_pool);
		return;
	}
	w->blocked_ns = slept;
	w->max_ns = slept;
	w->sleeps = 1;
	w->waited_ns = min(w->waited_ns, slept);	/* clocks of two CPUs may differ by a little */
	join(lt, t, t->entry, w, true);
}

void lt_wakers_free(struct lt *lt, struct lt_task *t, struct lt_entry *e)
{
	struct lt_waker *w;

	while ((w = e->wakers)) {
		e->wakers = w->next;
		drop(lt, w);
	}
	t->nr_wakers -= e->nr_wakers;
	e->nr_wakers = 0;
}

/* So it is, or of somebody's share at others' sleeps. */
bool lt_wakers_short(const struct lt *lt)
{
	unsigned int half = lt->owner_max[LT_HELD_wakers] / 2;
	u16 owner;

	if (!lt->wakers || lt_wakers_scarce(lt))
		return lt->wakers;
	/* Nobody has more than there are */
	if (!lt->user_share || !lt_scarce(atomic_read(&lt->waker_pool.in_use), half))
		return false;
	for (owner = LT_NO_OWNER + 1; owner < LT_OWNERS; owner++)
		if (lt_scarce(lt_owner_holds(lt, owner, LT_HELD_wakers), half))
			return true;
	return false;
}

static void retire(struct lt *lt, struct lt_task *t, struct lt_entry *e)
{
	struct lt_waker **link = &e->wakers, *w;

	while ((w = *link)) {
		bool all = lt_wakers_scarce(lt);

		if (!all && !owner_scarce(lt, w->owner, e)) {
			link = &w->next;
			continue;
		}
		*link = w->next;
		e->nr_wakers--;
		t->nr_wakers--;
		lt_lose_many(lt, all ? LT_LOST_waker_pool : LT_LOST_waker_user, w->sleeps);
		drop(lt, w);
	}
}

/* So who woke t, which is gone, makes room, as far as they who pay for it are short. lt->mutex held. */
void lt_wakers_retire(struct lt *lt, struct lt_task *t)
{
	struct lt_shard *shard = lt_shard_of(lt, t->pid);
	struct lt_entry *e;
	unsigned int b;

	lockdep_assert_held(&lt->mutex);
	for (b = 0; b < 1U << t->bucket_bits && READ_ONCE(t->nr_wakers); b++) {
		raw_spin_lock_irq(&shard->lock);
		if (t->exited)		/* an exec may go on with it */
			hlist_for_each_entry(e, &t->buckets[b], node)
				retire(lt, t, e);
		raw_spin_unlock_irq(&shard->lock);
	}
}

/* No hook reaches either. The entries may be the same one: then it changes hands. */
void lt_wakers_move(struct lt *lt, struct lt_task *to, struct lt_entry *to_entry,
		    struct lt_task *from, struct lt_entry *from_entry)
{
	struct lt_waker *w, *next = from_entry->wakers;

	from->nr_wakers -= from_entry->nr_wakers;
	from_entry->wakers = NULL;
	from_entry->nr_wakers = 0;
	while ((w = next)) {
		next = w->next;
		join(lt, to, to_entry, w, false);
	}
}

int lt_wakers_init(struct lt *lt)
{
	unsigned int max = lt_params.wakers ? lt_params.max_wakers : 0;

	lt->wakers = lt_params.wakers;
	return lt_pool_init(&lt->waker_pool, "lattop_waker", sizeof(struct lt_waker), max,
			    min(lt_params.reserve, max), &lt->kick);
}

void lt_wakers_exit(struct lt *lt)
{
	lt_pool_exit(&lt->waker_pool);
}
