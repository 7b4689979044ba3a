// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes a snapshot in the layout of uapi/lattop.h. Process context; lt->mutex
 * is held while it is taken, a shard's lock only while one task is copied.
 *
 * Each task is copied whole under its lock, so its figures and its entries
 * agree to the nanosecond. The mutex keeps records, entries and traces from
 * being freed or merged meanwhile, so nothing is missing and nothing counted
 * twice. Tasks go on while others are copied; ongoing sleeps are all measured
 * to one moment, the snapshot's time_ns (those of [other] to when each shard
 * was read).
 */
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/user_namespace.h>

#include "compat/task.h"
#include "filter.h"
#include "params.h"
#include "snapshot.h"
#include "tasks.h"
#include "wakers.h"

static const u32 record_bytes[LT_SEC_NR] = {
	[LT_SEC_TASKS] = sizeof(struct lt_task_rec),
	[LT_SEC_ENTRIES] = sizeof(struct lt_entry_rec),
	[LT_SEC_TRACES] = sizeof(struct lt_trace_rec),
	[LT_SEC_FRAMES] = sizeof(u64),
	[LT_SEC_KSYMS] = sizeof(struct lt_ksym_rec),
	[LT_SEC_STRINGS] = 1,
};

static u32 count(const struct lt_snapshot *s, enum lt_sec sec)
{
	return s->section[sec].len / record_bytes[sec];
}

static u32 add_string(struct lt_snapshot *s, const char *text)
{
	struct lt_buffer *b = &s->section[LT_SEC_STRINGS];
	u32 at = b->len;

	if (!*text)
		return 0;
	lt_buffer_add(b, text, strlen(text) + 1);
	return at;
}

static u64 kernel_frame(struct lt *lt, struct lt_snapshot *s, unsigned long addr)
{
	struct lt_ksym_rec rec;
	struct lt_kfunc *f;
	u32 offset = 0;

	f = lt_ksym(lt, addr, &offset);
	if (!f) {
		s->section[LT_SEC_KSYMS].err = -ENOMEM;
		return 0;
	}
	if (f->snap_seq != lt->snap_seq) {
		f->snap_seq = lt->snap_seq;
		f->snap_index = count(s, LT_SEC_KSYMS);
		rec.name = add_string(s, f->name);
		rec.module = add_string(s, f->module);
		lt_buffer_add(&s->section[LT_SEC_KSYMS], &rec, sizeof(rec));
	}
	return (u64)f->snap_index << 32 | offset;
}

/* The trace's index, after adding it if this snapshot does not have it yet. */
static u32 add_trace(struct lt *lt, struct lt_snapshot *s, struct lt_trace *tr)
{
	struct lt_trace_rec rec = {
		.id = tr->id,
		.first_frame = count(s, LT_SEC_FRAMES),
		.nr_kernel = tr->nr_kernel,
		.nr_user = tr->nr_user,
		.syscall = tr->syscall,
		.flags = tr->flags,
	};
	unsigned int i, n = tr->nr_kernel + tr->nr_user;
	u64 frame;

	if (tr->snap_seq == lt->snap_seq)
		return tr->snap_index;
	tr->snap_seq = lt->snap_seq;
	tr->snap_index = count(s, LT_SEC_TRACES);
	lt_buffer_add(&s->section[LT_SEC_TRACES], &rec, sizeof(rec));
	for (i = 0; i < n; i++) {
		frame = i < tr->nr_kernel ? kernel_frame(lt, s, tr->frames[i]) : tr->frames[i];
		lt_buffer_add(&s->section[LT_SEC_FRAMES], &frame, sizeof(frame));
	}
	return tr->snap_index;
}

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
}

/* An entry and a waker being copied: their traces by pointer until the lock is let go. */
struct copied {
	struct lt_trace *trace;
	struct lt_entry_rec rec;
};

struct copied_waker {
	struct lt_trace *trace;
	struct lt_waker_rec rec;
};

/* What one task's lock is held for. Reserved before, so that adding to them allocates nothing. */
struct copies {
	struct lt_buffer entries, wakers;
};

static u64 entry_blocked(const struct lt_task *t, const struct lt_entry *e, u64 now)
{
	return e->blocked_ns + (t->entry == e ? lt_ongoing(t, now) : 0);
}

static void copy_waker(struct copied_waker *c, const struct lt_waker *w)
{
	c->trace = w->trace;
	c->rec = (struct lt_waker_rec) {
		.kind = w->kind,
		.pid = w->pid,
		.tgid = w->tgid,
		.start_ns = w->start_ns,
		.exec_id = w->exec_id,
		.blocked_ns = w->blocked_ns,
		.max_ns = w->max_ns,
		.sleeps = w->sleeps,
	};
	memcpy(c->rec.comm, w->comm, sizeof(c->rec.comm));
}

static void copy_entry(struct copies *to, const struct lt_task *t, const struct lt_entry *e, u64 now)
{
	struct copied *c = lt_buffer_add(&to->entries, NULL, sizeof(*c));
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
	c->rec.first_waker = to->wakers.len / sizeof(struct copied_waker);
	c->rec.n_wakers = e->nr_wakers;
	for (w = e->wakers; w; w = w->next)
		copy_waker(lt_buffer_add(&to->wakers, NULL, sizeof(struct copied_waker)), w);
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

static void copy_entries(struct copies *to, const struct lt_task *t, u32 which, u64 now)
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
	return (which == LT_TRACES_ALL ? READ_ONCE(t->nr_entries) + 1 : 1) * sizeof(struct copied);
}

static size_t wakers_room(const struct lt_task *t, u32 which)
{
	return which == LT_TRACES_NONE ? 0 : READ_ONCE(t->nr_wakers) * sizeof(struct copied_waker);
}

/*
 * From which exec on a task was his who sees it now: a program that has done
 * nothing yet is not in its record, and whether those before it were his is not known.
 */
static u32 own_since(u32 own_exec_id, u32 exec_id, const struct lt_sight *now_as)
{
	return now_as->exec_id == exec_id ? own_exec_id : now_as->exec_id;
}

/*
 * Whether the reader may know who this was; then rec has the numbers that he knows
 * him by. Of another program than the task runs now, or ran last, its record may say
 * nothing: that may have woken others and never slept.
 */
static bool sees_waker(struct lt *lt, const struct lt_viewer *v, struct lt_waker_rec *rec)
{
	struct lt_shard *shard = lt_shard_of(lt, rec->pid);
	struct lt_sight now_as;
	struct lt_task *t;

	if (v->all || rec->kind == LT_WAKER_INTERRUPT)
		return true;
	raw_spin_lock_irq(&shard->lock);
	t = lt_task_find(shard, rec->pid, rec->start_ns);
	raw_spin_unlock_irq(&shard->lock);
	if (!t || !lt_viewer_sees(v, t, &now_as) || rec->exec_id != now_as.exec_id)
		return false;
	rec->pid = now_as.pid;
	rec->tgid = now_as.tgid;
	return true;
}

static void add_waker(struct lt *lt, struct lt_snapshot *s, const struct lt_viewer *v,
		      const struct copied_waker *c)
{
	struct lt_waker_rec rec = c->rec;

	rec.trace = LT_TRACE_OTHER;
	if (!sees_waker(lt, v, &rec))
		rec = (struct lt_waker_rec) {
			.trace = LT_TRACE_OTHER,
			.kind = LT_WAKER_HIDDEN,
			.blocked_ns = rec.blocked_ns,
			.max_ns = rec.max_ns,
			.sleeps = rec.sleeps,
		};
	else if (c->trace)
		rec.trace = add_trace(lt, s, c->trace);
	lt_buffer_add(&s->wakers, &rec, sizeof(rec));
}

static int by_blocked(const void *a, const void *b)
{
	const struct copied *x = a, *y = b;

	return x->rec.blocked_ns < y->rec.blocked_ns ? 1 :
	       x->rec.blocked_ns > y->rec.blocked_ns ? -1 : 0;
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

/* Entries of programs before exec_id become one, [other]. How many there are then. */
static unsigned int hide_before(u32 exec_id, struct copied *c, unsigned int n)
{
	struct copied *other = NULL;
	unsigned int i, kept = 0;

	for (i = 0; i < n; i++) {
		if (c[i].trace && (s32)(c[i].rec.exec_id - exec_id) < 0) {
			c[i].trace = NULL;
			c[i].rec.exec_id = 0;
			c[i].rec.n_wakers = 0;
		}
		if (!c[i].trace && other) {
			add_entry(&other->rec, &c[i].rec);
			continue;
		}
		c[kept] = c[i];
		if (!c[i].trace)
			other = &c[kept];
		kept++;
	}
	return kept;
}

/* Copies one task and its entries, as of one moment. to is reused. */
static int take_one(struct lt *lt, struct lt_snapshot *s, const struct lt_viewer *v,
		    const struct lt_chosen *c, u32 which, u64 now, struct copies *to)
{
	struct lt_task *t = c->task;
	struct lt_shard *shard = lt_shard_of(lt, t->pid);
	struct lt_taken taken = { .pid = t->pid, .start_ns = t->start_ns };
	unsigned int i, j, n, kept;
	struct copied *copies;
	struct lt_sight now_as;
	u32 own_exec_id = 0;
	bool fits;

	do {
		to->entries.len = 0;
		to->wakers.len = 0;
		if (lt_buffer_reserve(&to->entries, entries_room(t, which)) ||
		    lt_buffer_reserve(&to->wakers, wakers_room(t, which)))
			return -ENOMEM;
		raw_spin_lock_irq(&shard->lock);
		fits = to->entries.room >= entries_room(t, which) && to->wakers.room >= wakers_room(t, which);
		if (fits) {
			copy_task(&taken.rec, t, now);
			own_exec_id = t->own_exec_id;
			taken.rec.traces_total = t->nr_entries + !!t->other.sleeps;
			copy_entries(to, t, which, now);
		}
		raw_spin_unlock_irq(&shard->lock);
	} while (!fits);

	/* Asked again behind the copy: it may have become another's program since it was chosen. */
	if (!lt_viewer_sees(v, t, &now_as))
		return 0;
	copies = (struct copied *)to->entries.data;
	n = to->entries.len / sizeof(*copies);
	if (!v->all) {
		kept = hide_before(own_since(own_exec_id, taken.rec.exec_id, &now_as), copies, n);
		taken.rec.traces_total -= n - kept;
		n = kept;
	}
	taken.rec.pid = c->as.pid;
	taken.rec.tgid = c->as.tgid;
	taken.rec.first_entry = count(s, LT_SEC_ENTRIES);
	taken.rec.n_entries = n;
	sort(copies, n, sizeof(*copies), by_blocked, NULL);
	for (i = 0; i < n; i++) {
		struct lt_entry_rec *rec = &copies[i].rec;
		const struct copied_waker *wakers = (struct copied_waker *)to->wakers.data + rec->first_waker;

		rec->trace = copies[i].trace ? add_trace(lt, s, copies[i].trace) : LT_TRACE_OTHER;
		rec->first_waker = s->wakers.len / sizeof(struct lt_waker_rec);
		for (j = 0; j < rec->n_wakers; j++)
			add_waker(lt, s, v, &wakers[j]);
		lt_buffer_add(&s->section[LT_SEC_ENTRIES], rec, sizeof(*rec));
	}
	lt_buffer_add(&s->taken, &taken, sizeof(taken));
	return 0;
}

/* The tasks without a record, as one. */
static bool take_others(struct lt *lt, struct lt_snapshot *s, const struct lt_viewer *v,
			const struct lt_query *q)
{
	struct lt_taken taken = { .rec = { .kind = LT_KIND_OTHER, .state = '-', .comm = "[other]" } };
	int i;

	if (!v->all || q->n_pids || q->uid != LT_UID_ANY || q->flags & LT_Q_ASLEEP)
		return false;
	for (i = 0; i < LT_SHARDS; i++) {
		struct lt_shard *shard = &lt->shards[i];
		u64 now;

		raw_spin_lock_irq(&shard->lock);
		now = lt_clock();
		taken.rec.blocked_ns += lt_others_blocked(&shard->others, now);
		taken.rec.runq_ns += lt_others_runq(&shard->others, now);
		taken.rec.sleeps += shard->others.sleeps;
		taken.rec.runs += shard->others.runs;
		raw_spin_unlock_irq(&shard->lock);
	}
	/* clocks of two CPUs may differ by a little */
	if ((s64)taken.rec.blocked_ns < 0)
		taken.rec.blocked_ns = 0;
	if ((s64)taken.rec.runq_ns < 0)
		taken.rec.runq_ns = 0;
	if ((!taken.rec.sleeps && !taken.rec.runs && !taken.rec.blocked_ns) ||
	    taken.rec.blocked_ns < q->min_blocked_ns)
		return false;
	lt_buffer_add(&s->taken, &taken, sizeof(taken));
	return true;
}

static void fill_header(struct lt *lt, struct lt_snapshot *s, u64 now)
{
	struct lt_header *h = &s->header;
	int i;

	h->magic = LT_MAGIC;
	h->version = LT_VERSION;
	h->header_bytes = sizeof(*h);
	h->section_nr = LT_SEC_NR;
	h->time_ns = now;
	h->since_ns = lt->since_ns;
	strscpy(h->hook, lt->hook_name, sizeof(h->hook));
	strscpy(h->release, LT_RELEASE, sizeof(h->release));
	h->limit[LT_LIMIT_TASKS] = lt->task_pool.max;
	h->limit[LT_LIMIT_ENTRIES] = lt->entry_pool.max;
	h->limit[LT_LIMIT_TRACES] = lt->max_traces;
	h->limit[LT_LIMIT_EXITED] = lt->retain_exited;
	h->used[LT_LIMIT_TASKS] = atomic_read(&lt->task_pool.in_use);
	h->used[LT_LIMIT_ENTRIES] = atomic_read(&lt->entry_pool.in_use);
	h->used[LT_LIMIT_TRACES] = atomic_read(&lt->nr_traces);
	h->used[LT_LIMIT_EXITED] = atomic_read(&lt->nr_exited);
	h->limit[LT_LIMIT_ROWS] = lt->max_rows;
	h->used[LT_LIMIT_ROWS] = READ_ONCE(lt->nr_rows);
	h->limit[LT_LIMIT_MEMOS] = lt->memo_pool.max;
	h->used[LT_LIMIT_MEMOS] = atomic_read(&lt->memo_pool.in_use);
	h->limit[LT_LIMIT_WAKERS] = lt->waker_pool.max;
	h->used[LT_LIMIT_WAKERS] = atomic_read(&lt->waker_pool.in_use);
	h->memory_bytes = lt_memory_bytes(lt);
	h->filter = add_string(s, lt_filter_text(lt));
	h->hooks_ns = lt_cost_ns(lt);
	for (i = 0; i < LT_LOST_NR; i++)
		h->lost[i] = lt_lost(lt, i);
}

static void sort_taken(struct lt_buffer *taken, u32 sort_by, u32 limit);

/* On failure the snapshot is empty. */
int lt_snapshot_take(struct lt *lt, const struct lt_viewer *v, const struct lt_request *r,
		     struct lt_snapshot *s)
{
	struct lt_buffer chosen = {};
	struct copies copies = {};
	u32 i, n, matched = 0;
	u64 now;
	int err;

	memset(s, 0, sizeof(*s));
	lt_buffer_add(&s->section[LT_SEC_STRINGS], "", 1);
	if (mutex_lock_interruptible(&lt->mutex)) {
		lt_snapshot_free(s);
		return -ERESTARTSYS;
	}
	lt_ksyms_trim(lt);
	lt->snap_seq++;
	lt_lattree_sync(lt);
	now = lt_clock();
	err = lt_select(lt, v, r, now, &chosen, &matched);
	n = chosen.len / sizeof(struct lt_chosen);
	for (i = 0; i < n && !err; i++) {
		err = take_one(lt, s, v, (struct lt_chosen *)chosen.data + i, r->query.traces,
			       now, &copies);
		cond_resched();
	}
	matched += take_others(lt, s, v, &r->query);
	fill_header(lt, s, now);
	s->header.tasks_total = lt->nr_records;
	s->header.tasks_matched = matched;
	mutex_unlock(&lt->mutex);

	sort_taken(&s->taken, r->query.sort, r->query.limit);
	err = err ?: s->taken.err ?: s->wakers.err;
	for (i = 0; i < LT_SEC_NR; i++)
		err = err ?: s->section[i].err;
	lt_buffer_free(&chosen);
	lt_buffer_free(&copies.entries);
	lt_buffer_free(&copies.wakers);
	if (err)
		lt_snapshot_free(s);
	return err;
}

struct order {
	u64 key;
	u32 index;
};

static int by_order(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* Figures moved while they were copied: what is shown is in the order of what is shown. */
static void sort_taken(struct lt_buffer *taken, u32 sort_by, u32 limit)
{
	u32 i, n = taken->len / sizeof(struct lt_taken);
	struct lt_taken *t = (struct lt_taken *)taken->data;
	struct lt_buffer sorted = {}, orders = {};
	struct order o;

	for (i = 0; i < n; i++) {
		o.key = lt_sort_key(&t[i].rec, sort_by);
		o.index = i;
		lt_buffer_add(&orders, &o, sizeof(o));
	}
	if (n && !orders.err)
		sort(orders.data, n, sizeof(o), by_order, NULL);
	for (i = 0; i < min(n, limit) && !orders.err; i++)
		lt_buffer_add(&sorted, &t[((struct order *)orders.data)[i].index], sizeof(*t));
	sorted.err = sorted.err ?: orders.err ?: taken->err;
	lt_buffer_free(&orders);
	lt_buffer_free(taken);
	*taken = sorted;
}

/* Everything in one piece, as the record view has it. The snapshot is used up. */
int lt_snapshot_assemble(struct lt_snapshot *s, struct lt_buffer *out)
{
	const struct lt_taken *t = (const struct lt_taken *)s->taken.data;
	u32 n = s->taken.len / sizeof(*t), i;
	u64 at = ALIGN(sizeof(s->header), 8);

	for (i = 0; i < n; i++)
		lt_buffer_add(&s->section[LT_SEC_TASKS], &t[i].rec, sizeof(t[i].rec));
	for (i = 0; i < LT_SEC_NR; i++) {
		if (s->section[i].err)
			return s->section[i].err;
		s->header.section[i].offset = at;
		s->header.section[i].count = count(s, i);
		s->header.section[i].record_bytes = record_bytes[i];
		at = ALIGN(at + s->section[i].len, 8);
	}
	s->header.wakers = (struct lt_section) {
		.offset = at,
		.count = s->wakers.len / sizeof(struct lt_waker_rec),
		.record_bytes = sizeof(struct lt_waker_rec),
	};
	at += s->wakers.len;
	s->header.total_bytes = at;
	if (lt_buffer_reserve(out, at))
		return out->err;
	lt_buffer_add(out, &s->header, sizeof(s->header));
	for (i = 0; i < LT_SEC_NR; i++) {
		lt_buffer_add(out, NULL, s->header.section[i].offset - out->len);
		lt_buffer_add(out, s->section[i].data, s->section[i].len);
		lt_buffer_free(&s->section[i]);
	}
	lt_buffer_add(out, NULL, s->header.wakers.offset - out->len);
	lt_buffer_add(out, s->wakers.data, s->wakers.len);
	lt_buffer_free(&s->wakers);
	return out->err;
}

void lt_snapshot_free(struct lt_snapshot *s)
{
	int i;

	lt_buffer_free(&s->taken);
	lt_buffer_free(&s->wakers);
	for (i = 0; i < LT_SEC_NR; i++)
		lt_buffer_free(&s->section[i]);
}
