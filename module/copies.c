// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies one task whole under its shard's lock, so its figures and its entries
 * agree to the nanosecond. Called by snapshot.c, which holds lt->mutex: nothing
 * that the copies point to is freed meanwhile. Room is made before the lock is
 * taken; under it nothing allocates.
 */
#include <linux/cred.h>
#include <linux/sched.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/user_namespace.h>

#include "copies.h"
#include "tasks.h"
#include "wakers.h"

/* ps's letter for a sleep with this state. */
static char state_letter(const struct lt_task *t)
{
	u32 state = t->sleep_state;

	if (t->exited)
		return 'X';
	if (!t->asleep)
		return 'R';
	if (state & __TASK_STOPPED)
		return 'T';
	if (state & __TASK_TRACED)
		return 't';
	if (state & TASK_PARKED)
		return 'P';
	if (state & TASK_INTERRUPTIBLE)
		return 'S';
	return (state & TASK_IDLE) == TASK_IDLE ? 'I' : 'D';
}

static void copy_task(struct lt_task_rec *rec, const struct lt_task *t, u64 now)
{
	rec->start_ns = t->start_ns;
	memcpy(rec->comm, t->comm, sizeof(rec->comm));
	rec->kind = t->kind;
	rec->uid = from_kuid_munged(current_user_ns(), t->creds.uid);
	rec->state = state_letter(t);
	rec->flags = (t->kthread ? LT_T_KTHREAD : 0) | (t->exited ? LT_T_EXITED : 0) |
		     (t->asleep ? LT_T_ASLEEP : 0) | (t->asleep && t->iowait ? LT_T_IOWAIT : 0) |
		     (t->seeded ? LT_T_SEEDED : 0);
	rec->ongoing_ns = lt_ongoing(t, now);
	rec->blocked_ns = t->blocked_ns + rec->ongoing_ns;
	rec->max_ns = max(t->max_ns, rec->ongoing_ns);
	rec->sleeps = t->sleeps;
	rec->runq_ns = t->runq_ns;
	rec->runs = t->runs;
	rec->exec_id = t->exec_id;
	rec->traces_total = t->nr_entries + !!t->other.sleeps;
}

static u64 entry_blocked(const struct lt_task *t, const struct lt_entry *e, u64 now)
{
	return e->blocked_ns + (t->entry == e ? lt_ongoing(t, now) : 0);
}

static void copy_waker(struct lt_copies *to, const struct lt_waker *w)
{
	struct lt_copied_waker *c = lt_buffer_add(&to->wakers, NULL, sizeof(*c));

	c->trace = w->trace;
	c->waited = w->waited;
	c->rec = (struct lt_waker_rec) {
		.kind = w->kind,
		.pid = w->pid,
		.tgid = w->tgid,
		.start_ns = w->start_ns,
		.exec_id = w->exec_id,
		.blocked_ns = w->blocked_ns,
		.max_ns = w->max_ns,
		.sleeps = w->sleeps,
		.waited_ns = w->waited_ns,
	};
	memcpy(c->rec.comm, w->comm, sizeof(c->rec.comm));
}

static void copy_entry(struct lt_copies *to, const struct lt_task *t, const struct lt_entry *e, u64 now)
{
	struct lt_copied_entry *c = lt_buffer_add(&to->entries, NULL, sizeof(*c));
	bool going_on = t->asleep && t->entry == e;
	const struct lt_waker *w;

	c->trace = e->trace;
	c->rec.flags = going_on ? LT_E_ONGOING : 0;
	c->rec.exec_id = e->exec_id;
	c->rec.ongoing_ns = going_on ? lt_ongoing(t, now) : 0;
	c->rec.blocked_ns = entry_blocked(t, e, now);
	c->rec.max_ns = max(e->max_ns, c->rec.ongoing_ns);
	c->rec.sleeps = e->sleeps;
	memcpy(c->rec.hist, e->hist, sizeof(c->rec.hist));
	c->rec.first_waker = to->wakers.len / sizeof(struct lt_copied_waker);
	c->rec.n_wakers = e->nr_wakers;
	for (w = e->wakers; w; w = w->next)
		copy_waker(to, w);
}

/* The entry with the most blocked time; NULL when the task never slept. */
static const struct lt_entry *worst(const struct lt_task *t, u64 now)
{
	const struct lt_entry *e, *found = t->other.sleeps ? &t->other : NULL;
	unsigned int b;

	lt_for_each_entry(e, t, b)
		if (e->sleeps && (!found || entry_blocked(t, e, now) > entry_blocked(t, found, now)))
			found = e;
	return found;
}

static void copy_entries(struct lt_copies *to, const struct lt_task *t, u32 which, u64 now)
{
	const struct lt_entry *e;
	unsigned int b;

	if (which == LT_TRACES_NONE)
		return;
	if (which == LT_TRACES_WORST) {
		e = worst(t, now);
		if (e)
			copy_entry(to, t, e, now);
		return;
	}
	if (t->other.sleeps)
		copy_entry(to, t, &t->other, now);
	lt_for_each_entry(e, t, b)
		if (e->sleeps)
			copy_entry(to, t, e, now);
}

/* Bytes that copy_entries may take of each. */
static size_t entries_room(const struct lt_task *t, u32 which)
{
	return (which == LT_TRACES_ALL ? READ_ONCE(t->nr_entries) + 1 : 1) * sizeof(struct lt_copied_entry);
}

static size_t wakers_room(const struct lt_task *t, u32 which)
{
	return which == LT_TRACES_NONE ? 0 : READ_ONCE(t->nr_wakers) * sizeof(struct lt_copied_waker);
}

static bool reserve(const struct lt_task *t, u32 which, struct lt_copies *to)
{
	return !lt_buffer_reserve(&to->entries, entries_room(t, which)) &&
	       !lt_buffer_reserve(&to->wakers, wakers_room(t, which));
}

static bool fits(const struct lt_task *t, u32 which, const struct lt_copies *to)
{
	return to->entries.room >= entries_room(t, which) && to->wakers.room >= wakers_room(t, which);
}

/* t as of one moment; which: LT_TRACES_*; ongoing sleeps are measured to now. */
int lt_copies_take(struct lt *lt, const struct lt_task *t, u32 which, u64 now, struct lt_copies *to)
{
	struct lt_shard *shard = lt_shard_of(lt, t->pid);
	bool done;

	memset(&to->task, 0, sizeof(to->task));
	do {
		to->entries.len = 0;
		to->wakers.len = 0;
		if (!reserve(t, which, to))
			return to->entries.err ?: to->wakers.err;
		raw_spin_lock_irq(&shard->lock);
		done = fits(t, which, to);	/* it may have got more since */
		if (done) {
			copy_task(&to->task, t, now);
			to->own_exec_id = t->own_exec_id;
			copy_entries(to, t, which, now);
		}
		raw_spin_unlock_irq(&shard->lock);
	} while (!done);
	return 0;
}

static void add_entry(struct lt_entry_rec *to, const struct lt_entry_rec *from)
{
	int i;

	to->flags |= from->flags;
	to->blocked_ns += from->blocked_ns;
	to->ongoing_ns += from->ongoing_ns;
	to->max_ns = max(to->max_ns, from->max_ns);
	to->sleeps += from->sleeps;
	for (i = 0; i < LT_HIST_BUCKETS; i++)
		to->hist[i] += from->hist[i];
}

/* Entries of programs before exec_id become one, [other]. */
void lt_copies_hide_before(struct lt_copies *c, u32 exec_id)
{
	struct lt_copied_entry *e = (struct lt_copied_entry *)c->entries.data, *other = NULL;
	unsigned int i, kept = 0, n = lt_copies_count(c);

	for (i = 0; i < n; i++) {
		if (e[i].trace && (s32)(e[i].rec.exec_id - exec_id) < 0) {
			e[i].trace = NULL;
			e[i].rec.exec_id = 0;
			e[i].rec.n_wakers = 0;
		}
		if (!e[i].trace && other) {
			add_entry(&other->rec, &e[i].rec);
			continue;
		}
		e[kept] = e[i];
		if (!e[i].trace)
			other = &e[kept];
		kept++;
	}
	c->task.traces_total -= n - kept;
	c->entries.len = kept * sizeof(*e);
}

static int by_blocked(const void *a, const void *b)
{
	const struct lt_copied_entry *x = a, *y = b;

	return x->rec.blocked_ns < y->rec.blocked_ns ? 1 :
	       x->rec.blocked_ns > y->rec.blocked_ns ? -1 : 0;
}

/* The worst first. */
void lt_copies_sort(struct lt_copies *c)
{
	sort(c->entries.data, lt_copies_count(c), sizeof(struct lt_copied_entry), by_blocked, NULL);
}

void lt_copies_free(struct lt_copies *c)
{
	lt_buffer_free(&c->entries);
	lt_buffer_free(&c->wakers);
}
