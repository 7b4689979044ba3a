// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies one task, so that its figures and its entries agree to the nanosecond.
 * Called by snapshot.c, which holds lt->mutex: nothing that the copies point to is
 * freed meanwhile, no entry leaves its table, and no table grows. Room is made
 * before the shard's lock is taken; under it nothing allocates.
 *
 * A hook that waits for that lock has its runqueue's lock. So it is held for a
 * piece of the work at a time, however many entries and wakers a task has. From
 * the first piece to the last the task is watched: hooks chain the entries in which
 * a sleep begins or ends, and those are seen to again. The hold in which none is
 * left is the moment that all of the copy is of.
 */
#include <linux/cred.h>
#include <linux/sched.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/user_namespace.h>

#include "copies.h"
#include "tasks.h"
#include "wakers.h"

/* What one hold of the lock is worth, in looks at an entry: some 30 instructions each. */
enum {
	PIECE		= 64,
	COPY		= 16,	/* of an entry; of a waker one */
	MAX_ROUNDS	= 8,	/* before the copying task is not preempted any more */
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
	to->exec_id = t->exec_id;
	to->own_exec_id = t->own_exec_id;
	to->creds = t->creds;
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
	c->exec_id = w->exec_id;
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
	c->trace = e->trace;
	c->exec_id = e->exec_id;
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

/* Its copy from this pass; NULL: there is none yet. */
static struct lt_copied_entry *copy_of(const struct lt_copies *to, const struct lt_entry *e)
{
	struct lt_copied_entry *c = (struct lt_copied_entry *)to->entries.data + e->copied_at;

	return e->copied_at < lt_copies_count(to) && c->of == e ? c : NULL;
}

/* A task that is being copied. */
struct pass {
	struct lt_copies *to;
	struct lt_task *t;
	u32 which;			/* LT_TRACES_* */
	u64 now;
	bool begun;
	unsigned int rounds;		/* pieces of what changed behind the others */
	unsigned int bucket;
	struct lt_entry *next;		/* to be seen to; NULL: each was, once */
	struct lt_entry *worst;		/* of those that were, the one with the most blocked time */
};

static size_t entries_room(const struct pass *p)
{
	/* the worst and the ongoing sleep's: two */
	return (p->which == LT_TRACES_ALL ? READ_ONCE(p->t->nr_entries) + 1 : 2) * sizeof(struct lt_copied_entry);
}

/* Behind those that are there: an entry that is copied again has its wakers behind the others. */
static size_t wakers_room(const struct pass *p)
{
	return p->which == LT_TRACES_NONE ? 0 : READ_ONCE(p->t->nr_wakers) * sizeof(struct lt_copied_waker);
}

static int reserve(struct pass *p)
{
	struct lt_copies *to = p->to;

	return lt_buffer_reserve(&to->entries, max(entries_room(p), to->entries.len) - to->entries.len) ?:
	       lt_buffer_reserve(&to->wakers, wakers_room(p));
}

static bool fits(const struct pass *p)
{
	return p->to->entries.room >= entries_room(p) && p->to->wakers.room - p->to->wakers.len >= wakers_room(p);
}

/*
 * The entry behind e, or the first. Also when the lock was let go in between: who
 * comes meanwhile comes in front of its bucket, with a sleep that begins.
 */
static struct lt_entry *entry_behind(struct pass *p, const struct lt_entry *e)
{
	const struct hlist_node *node = e ? e->node.next : p->t->buckets[0].first;

	while (!node && ++p->bucket < 1U << p->t->bucket_bits)
		node = p->t->buckets[p->bucket].first;
	return hlist_entry_safe(node, struct lt_entry, node);
}

static void begin(struct pass *p)
{
	p->begun = true;
	if (p->which == LT_TRACES_NONE)
		return;
	p->next = entry_behind(p, NULL);
	p->t->watched = true;
	lt_entry_touched(p->t, &p->t->other);
}

/* What it took. Who is on the chain of the touched is seen to there: once under one hold. */
static unsigned int see_to(struct pass *p, struct lt_entry *e)
{
	if (!e->sleeps || e->touched)
		return 1;
	if (p->which == LT_TRACES_ALL) {
		copy_entry(p->to, copy_of(p->to, e), p->t, e, p->now);
		return COPY + e->nr_wakers;
	}
	if (!p->worst || entry_blocked(p->t, e, p->now) > entry_blocked(p->t, p->worst, p->now))
		p->worst = e;
	return 1;
}

static struct lt_entry *take_touched(struct lt_task *t)
{
	struct lt_entry *e = t->touched;

	t->touched = e->touched_next;
	e->touched = false;
	return e;
}

static void finish(struct pass *p)
{
	struct lt_task *t = p->t;

	t->watched = false;
	copy_task(p->to, t, p->now);
	if (p->worst)
		copy_entry(p->to, NULL, t, p->worst, p->now);
	if (p->worst && p->which == LT_TRACES_WORST_AND_ONGOING && t->asleep && t->entry && t->entry != p->worst)
		copy_entry(p->to, NULL, t, t->entry, p->now);
}

/* Under one hold of the lock, a piece; true: that was all. */
static bool go_on(struct pass *p)
{
	int worth = PIECE;

	if (!p->begun)
		begin(p);
	for (; p->next && worth > 0; p->next = entry_behind(p, p->next))
		worth -= see_to(p, p->next);
	while (!p->next && p->t->touched && worth > 0)
		worth -= see_to(p, take_touched(p->t));
	if (p->next || p->t->touched)
		return false;
	finish(p);
	return true;
}

/* Under a hold of the lock each, a piece, or all there are while there is room; true: that was all. */
static bool take_pieces(struct lt_shard *shard, struct pass *p, bool all)
{
	bool done = false, room;

	do {
		raw_spin_lock_irq(&shard->lock);
		room = fits(p);	/* it may have got more since */
		if (room)
			done = go_on(p);
		p->rounds += p->begun && !p->next;
		raw_spin_unlock_irq(&shard->lock);
	} while (all && room && !done);
	return done;
}

/* Hooks add to what they touched only while it is watched, and the next one who does holds lt->mutex. */
static void give_up(struct lt_shard *shard, struct lt_task *t)
{
	raw_spin_lock_irq(&shard->lock);
	t->watched = false;
	raw_spin_unlock_irq(&shard->lock);
	while (t->touched)
		take_touched(t);
}

/* t as of one moment; which: LT_TRACES_*; ongoing sleeps are measured to now. */
int lt_copies_take(struct lt *lt, struct lt_task *t, u32 which, u64 now, struct lt_copies *to)
{
	struct pass p = { .to = to, .t = t, .which = which, .now = now };
	struct lt_shard *shard = lt_shard_of(lt, t->pid);
	bool done = false;
	int err;

	to->entries.len = 0;
	to->wakers.len = 0;
	while (!done) {
		err = reserve(&p);
		if (err) {
			give_up(shard, t);
			return err;
		}
		if (p.rounds < MAX_ROUNDS) {
			done = take_pieces(shard, &p, false);
			continue;
		}
		/* So the task cannot sleep in others faster than we see to those, as beside who gets no CPU for long */
		preempt_disable();
		done = take_pieces(shard, &p, true);
		preempt_enable();
	}
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
void lt_copies_hide_before(struct lt_copies *c, u64 exec_id)
{
	struct lt_copied_entry *e = (struct lt_copied_entry *)c->entries.data, *other = NULL;
	unsigned int i, kept = 0, n = lt_copies_count(c);

	for (i = 0; i < n; i++) {
		if (e[i].trace && e[i].exec_id < exec_id) {
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

/* The worst first; of all that were copied those that LT_TRACES_* asks for. */
void lt_copies_sort(struct lt_copies *c, u32 which)
{
	struct lt_copied_entry *e = (struct lt_copied_entry *)c->entries.data;
	unsigned int i, n = lt_copies_count(c), kept = which == LT_TRACES_NONE ? 0 : min(n, 1U);

	sort(e, n, sizeof(*e), by_blocked, NULL);
	if (which == LT_TRACES_ALL)
		return;
	for (i = 1; i < n && which == LT_TRACES_WORST_AND_ONGOING; i++)
		if (e[i].rec.flags & LT_E_ONGOING) {
			e[kept++] = e[i];
			break;
		}
	c->entries.len = kept * sizeof(*e);
}

void lt_copies_free(struct lt_copies *c)
{
	lt_buffer_free(&c->entries);
	lt_buffer_free(&c->wakers);
}
