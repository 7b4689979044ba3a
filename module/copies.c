// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies one task, so that its figures and its entries agree to the nanosecond.
 * Called by snapshot.c, which holds lt->mutex: nothing that the copies point to is
 * freed meanwhile. Room is made before the shard's lock is taken; under it
 * nothing allocates.
 *
 * Many entries are copied in pieces, with the lock let go in between: a hook
 * that waits for it has its runqueue's lock. In a last piece the task is copied,
 * and each entry compared with its copy: the few that sleeps ended or began in
 * meanwhile are copied again. Where they are not few, it is one more round.
 */
#include <linux/cred.h>
#include <linux/errno.h>
#include <linux/sched.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/user_namespace.h>

#include "copies.h"
#include "tasks.h"
#include "wakers.h"

enum {
	PIECE		= 16,	/* entries copied under one hold of the lock */
	MAX_ROUNDS	= 16,
};

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

/* to is zeroed. Before Linux 5.17 the name that a task had before stands behind the NUL: maybe another user's, and from before an exec. */
static void copy_name(char *to, const char *from)
{
	memcpy(to, from, strnlen(from, LT_COMM_BYTES));
}

static void copy_task(struct lt_copies *to, const struct lt_task *t, u64 now)
{
	struct lt_task_rec *rec = &to->task;

	memset(rec, 0, sizeof(*rec));
	to->own_exec_id = t->own_exec_id;
	rec->start_ns = t->start_ns;
	copy_name(rec->comm, t->comm);
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
	copy_name(c->rec.comm, w->comm);
}

static bool going_on(const struct lt_task *t, const struct lt_entry *e)
{
	return t->asleep && t->entry == e;
}

/* Over an older copy of it (its wakers anew), or behind the others. */
static void copy_entry(struct lt_copies *to, struct lt_copied_entry *c, const struct lt_task *t,
		       struct lt_entry *e, u64 now)
{
	const struct lt_waker *w;

	if (!c) {
		e->copied_at = lt_copies_count(to);
		c = lt_buffer_add(&to->entries, NULL, sizeof(*c));
	}
	c->of = e;
	c->round = to->round;
	c->trace = e->trace;
	c->rec.flags = going_on(t, e) ? LT_E_ONGOING : 0;
	c->rec.exec_id = e->exec_id;
	c->rec.ongoing_ns = going_on(t, e) ? lt_ongoing(t, now) : 0;
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
static struct lt_entry *worst(struct lt_task *t, u64 now)
{
	struct lt_entry *e, *found = t->other.sleeps ? &t->other : NULL;
	unsigned int b;

	lt_for_each_entry(e, t, b)
		if (e->sleeps && (!found || entry_blocked(t, e, now) > entry_blocked(t, found, now)))
			found = e;
	return found;
}

/* Bytes that copying may take of each: entries, and their wakers as often as they may be copied. */
static size_t entries_room(const struct lt_task *t, u32 which)
{
	/* the worst and the ongoing sleep's: two */
	return (which == LT_TRACES_ALL ? READ_ONCE(t->nr_entries) + 1 : 2) * sizeof(struct lt_copied_entry);
}

static size_t wakers_room(const struct lt_task *t, u32 which)
{
	return which == LT_TRACES_NONE ? 0 : READ_ONCE(t->nr_wakers) * sizeof(struct lt_copied_waker);
}

static int reserve(const struct lt_task *t, u32 which, struct lt_copies *to)
{
	return lt_buffer_reserve(&to->entries, entries_room(t, which)) ?:
	       lt_buffer_reserve(&to->wakers, wakers_room(t, which));
}

/* Behind what is there already. */
static bool fits(const struct lt_task *t, u32 which, const struct lt_copies *to)
{
	return to->entries.room - to->entries.len >= entries_room(t, which) &&
	       to->wakers.room - to->wakers.len >= wakers_room(t, which);
}

static void restart(struct lt_copies *to)
{
	to->entries.len = 0;
	to->wakers.len = 0;
	to->round = 0;
}

static void copy_all(struct lt_copies *to, struct lt_task *t, u64 now)
{
	struct lt_entry *e;
	unsigned int b;

	if (t->other.sleeps)
		copy_entry(to, NULL, t, &t->other, now);
	lt_for_each_entry(e, t, b)
		if (e->sleeps)
			copy_entry(to, NULL, t, e, now);
}

static void copy_some(struct lt_copies *to, struct lt_task *t, u32 which, u64 now)
{
	struct lt_entry *e = which == LT_TRACES_NONE ? NULL : worst(t, now);

	if (e)
		copy_entry(to, NULL, t, e, now);
	if (e && which == LT_TRACES_WORST_AND_ONGOING && t->asleep && t->entry && t->entry != e)
		copy_entry(to, NULL, t, t->entry, now);
}

/* Under one hold of the lock. */
static int copy_at_once(struct lt_shard *shard, struct lt_task *t, u32 which, u64 now, struct lt_copies *to)
{
	bool done;
	int err;

	do {
		restart(to);
		err = reserve(t, which, to);
		if (err)
			return err;
		raw_spin_lock_irq(&shard->lock);
		done = fits(t, which, to);	/* it may have got more since */
		if (done) {
			copy_task(to, t, now);
			if (which == LT_TRACES_ALL)
				copy_all(to, t, now);
			else
				copy_some(to, t, which, now);
		}
		raw_spin_unlock_irq(&shard->lock);
	} while (!done);
	return 0;
}

/* Buckets from b on, and from which one on the next piece is. They change under lt->mutex only. */
static unsigned int copy_piece(struct lt_copies *to, struct lt_task *t, unsigned int b, u64 now)
{
	unsigned int copied = 0;
	struct lt_entry *e;

	for (; b < 1U << t->bucket_bits && copied < PIECE; b++)
		hlist_for_each_entry(e, &t->buckets[b], node) {
			if (!e->sleeps)
				continue;
			copy_entry(to, NULL, t, e, now);
			copied++;
		}
	return b;
}

static struct lt_copied_entry *copy_of(const struct lt_copies *to, const struct lt_entry *e)
{
	struct lt_copied_entry *c = (struct lt_copied_entry *)to->entries.data + e->copied_at;

	return e->copied_at < lt_copies_count(to) && c->of == e ? c : NULL;
}

/* No sleep has begun or ended in it since: that is what changes an entry while lt->mutex is held. */
static bool still_true(const struct lt_copied_entry *c, const struct lt_task *t, const struct lt_entry *e, u64 now)
{
	return c->rec.sleeps == e->sleeps && !(c->rec.flags & LT_E_ONGOING) == !going_on(t, e) &&
	       c->rec.blocked_ns == entry_blocked(t, e, now);
}

/* Sees to it that e's copy is true; false: it would be one too many. */
static bool see_to_copy(struct lt_copies *to, struct lt_task *t, struct lt_entry *e, u64 now, unsigned int *copied)
{
	struct lt_copied_entry *c = copy_of(to, e);

	if (!e->sleeps)
		return true;
	if (c && still_true(c, t, e, now)) {
		c->round = to->round;
		return true;
	}
	if (++*copied > PIECE)
		return false;
	copy_entry(to, c, t, e, now);
	return true;
}

/* The last piece; false: there was too much to copy again. */
static bool copy_changes(struct lt_copies *to, struct lt_task *t, u64 now)
{
	unsigned int b, copied = 0;
	struct lt_entry *e;

	to->round++;
	if (!see_to_copy(to, t, &t->other, now, &copied))
		return false;
	lt_for_each_entry(e, t, b)
		if (!see_to_copy(to, t, e, now, &copied))
			return false;
	copy_task(to, t, now);
	return true;
}

/* Of an entry that was given up meanwhile there is no copy from the last round. */
static void drop_untrue(struct lt_copies *to)
{
	struct lt_copied_entry *c = (struct lt_copied_entry *)to->entries.data;
	unsigned int i, kept = 0, n = lt_copies_count(to);

	for (i = 0; i < n; i++)
		if (c[i].round == to->round)
			c[kept++] = c[i];
	to->entries.len = kept * sizeof(*c);
}

/* -EBUSY: so much happens that it never was few changes. */
static int copy_in_pieces(struct lt_shard *shard, struct lt_task *t, u64 now, struct lt_copies *to)
{
	unsigned int b = 0, rounds = 0;
	bool done = false;
	int err;

	restart(to);
	while (!done) {
		err = reserve(t, LT_TRACES_ALL, to);
		if (err)
			return err;
		raw_spin_lock_irq(&shard->lock);
		if (!fits(t, LT_TRACES_ALL, to)) {
			;	/* it has got more since */
		} else if (b < 1U << t->bucket_bits) {
			b = copy_piece(to, t, b, now);
		} else {
			done = copy_changes(to, t, now);
			rounds++;
		}
		raw_spin_unlock_irq(&shard->lock);
		if (!done && rounds == MAX_ROUNDS)
			return -EBUSY;
	}
	drop_untrue(to);
	return 0;
}

/* t as of one moment; which: LT_TRACES_*; ongoing sleeps are measured to now. */
int lt_copies_take(struct lt *lt, struct lt_task *t, u32 which, u64 now, struct lt_copies *to)
{
	struct lt_shard *shard = lt_shard_of(lt, t->pid);
	int err = -EBUSY;

	if (which == LT_TRACES_ALL && READ_ONCE(t->nr_entries) > PIECE)
		err = copy_in_pieces(shard, t, now, to);
	return err == -EBUSY ? copy_at_once(shard, t, which, now, to) : err;
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
