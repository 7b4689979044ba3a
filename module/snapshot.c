// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes a snapshot in the layout of uapi/lattop.h. Process context; lt->mutex
 * is held while it is taken, a shard's lock only while one task is copied
 * (copies.c). The mutex keeps records, entries and traces from being freed or
 * merged meanwhile, so nothing is missing and nothing counted twice. Tasks go on
 * while others are copied; ongoing sleeps are all measured to one moment, the
 * snapshot's time_ns (those of [other] to when each shard was read).
 */
#include <linux/cred.h>
#include <linux/string.h>

#include "budget.h"
#include "cgroups.h"
#include "copies.h"
#include "filter.h"
#include "params.h"
#include "snapshot.h"
#include "tasks.h"

static u32 count(const struct lt_snapshot *s, enum lt_sec sec)
{
	return s->section[sec].len / lt_record_bytes[sec];
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

static u32 add_cgroup_path(struct lt *lt, struct lt_snapshot *s, struct lt_task *t)
{
	struct lt_buffer *b = &s->section[LT_SEC_STRINGS];
	struct lt_cgroup *c = lt_cgroup_of(lt, t);

	if (!c || !*s->cgroup_root)
		return 0;
	if (c->snap_seq != lt->snap_seq) {
		c->snap_seq = lt->snap_seq;
		c->snap_index = b->len;
		lt_cgroup_path_from(s->cgroup_root, c->path, b);
	}
	return c->snap_index;
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

/* The trace's index, after adding it if this snapshot does not have it yet; tr may be NULL. */
static u32 trace_index(struct lt *lt, struct lt_snapshot *s, struct lt_trace *tr)
{
	struct lt_trace_rec rec;
	unsigned int i, n;
	u64 frame;

	if (!tr)
		return LT_TRACE_OTHER;
	if (tr->snap_seq == lt->snap_seq)
		return tr->snap_index;
	tr->snap_seq = lt->snap_seq;
	tr->snap_index = count(s, LT_SEC_TRACES);
	rec = (struct lt_trace_rec) {
		.id = tr->id,
		.first_frame = count(s, LT_SEC_FRAMES),
		.nr_kernel = tr->nr_kernel,
		.nr_user = tr->nr_user,
		.syscall = tr->syscall,
		.flags = tr->flags,
	};
	n = tr->nr_kernel + tr->nr_user;
	lt_buffer_add(&s->section[LT_SEC_TRACES], &rec, sizeof(rec));
	for (i = 0; i < n; i++) {
		frame = i < tr->nr_kernel ? kernel_frame(lt, s, tr->frames[i]) : tr->frames[i];
		lt_buffer_add(&s->section[LT_SEC_FRAMES], &frame, sizeof(frame));
	}
	return tr->snap_index;
}

/*
 * Whether the reader may know who this was; then rec has the numbers that he knows
 * him by. Of another program than the task runs now, or ran last, its record may say
 * nothing: that may have woken others and never slept.
 */
static bool sees_waker(struct lt *lt, const struct lt_viewer *v, u64 exec_id, struct lt_waker_rec *rec)
{
	struct lt_shard *shard = lt_shard_of(lt, rec->pid);
	struct lt_sight now_as;
	struct lt_task *t;

	if (v->all || rec->kind == LT_WAKER_INTERRUPT)
		return true;
	raw_spin_lock_irq(&shard->lock);
	t = lt_task_find(shard, rec->pid, rec->start_ns);
	raw_spin_unlock_irq(&shard->lock);
	if (!t || !lt_viewer_sees(v, t, &now_as) || exec_id != now_as.exec_id)
		return false;
	rec->pid = now_as.pid;
	rec->tgid = now_as.tgid;
	return true;
}

static void add_waker(struct lt *lt, struct lt_snapshot *s, const struct lt_viewer *v,
		      const struct lt_copied_waker *c)
{
	struct lt_waker_rec rec = c->rec;

	if (sees_waker(lt, v, c->exec_id, &rec)) {
		rec.trace = trace_index(lt, s, c->trace);
		rec.waited_trace = trace_index(lt, s, c->waited);
	} else {
		rec = (struct lt_waker_rec) {
			.trace = LT_TRACE_OTHER,
			.waited_trace = LT_TRACE_OTHER,
			.kind = LT_WAKER_HIDDEN,
			.blocked_ns = rec.blocked_ns,
			.max_ns = rec.max_ns,
			.sleeps = rec.sleeps,
		};
	}
	lt_buffer_add(&s->wakers, &rec, sizeof(rec));
}

static void add_entry(struct lt *lt, struct lt_snapshot *s, const struct lt_viewer *v,
		      const struct lt_copies *copies, const struct lt_copied_entry *c)
{
	const struct lt_copied_waker *w = (struct lt_copied_waker *)copies->wakers.data + c->rec.first_waker;
	struct lt_entry_rec rec = c->rec;
	u32 i;

	rec.trace = trace_index(lt, s, c->trace);
	rec.first_waker = s->wakers.len / sizeof(struct lt_waker_rec);
	for (i = 0; i < rec.n_wakers; i++)
		add_waker(lt, s, v, &w[i]);
	lt_buffer_add(&s->section[LT_SEC_ENTRIES], &rec, sizeof(rec));
}

/* It may have woken, exited or become another user's since it was chosen. */
static bool still_wanted(const struct lt_query *q, const struct lt_task_rec *rec)
{
	return !(q->flags & LT_Q_ASLEEP && !(rec->flags & LT_T_ASLEEP)) &&
	       !(q->flags & LT_Q_NO_EXITED && rec->flags & LT_T_EXITED) &&
	       (q->uid == LT_UID_ANY || q->uid == rec->uid);
}

/*
 * Leaves of a task what is his who sees it now. What has done nothing yet as what it is
 * now, another program or another's, has a record of what it was: whether that was his,
 * its name and its past, is not known.
 */
static void hide_what_was_anothers(struct lt_copies *copies, const struct lt_sight *now_as)
{
	if (now_as->exec_id == copies->exec_id && lt_creds_same_owner(&now_as->creds, &copies->creds)) {
		lt_copies_hide_before(copies, copies->own_exec_id);
		return;
	}
	lt_copies_hide_before(copies, now_as->exec_id);
	copies->task.uid = from_kuid_munged(current_user_ns(), now_as->creds.uid);
	memcpy(copies->task.comm, now_as->comm, sizeof(now_as->comm));
}

/* One task and its entries, as of one moment; or nothing. copies is reused. */
static int take_one(struct lt *lt, struct lt_snapshot *s, const struct lt_viewer *v,
		    const struct lt_chosen *c, const struct lt_query *q, u64 now, struct lt_copies *copies)
{
	struct lt_taken taken = { .pid = c->task->pid, .start_ns = c->task->start_ns };
	const struct lt_copied_entry *e;
	struct lt_sight now_as;
	unsigned int i;
	int err;

	/* What is hidden is hidden in all of it: how many there are, and which is the worst, tell of others, too. */
	err = lt_copies_take(lt, c->task, v->all ? q->traces : LT_TRACES_ALL, now, copies);
	if (err)
		return err;
	/* Asked again behind the copy: it may have become another's program since it was chosen. */
	if (!lt_viewer_sees(v, c->task, &now_as))
		return 0;
	if (!v->all)
		hide_what_was_anothers(copies, &now_as);
	if (!still_wanted(q, &copies->task))
		return 0;
	lt_copies_sort(copies, q->traces);
	taken.rec = copies->task;
	taken.rec.pid = c->pid;
	taken.rec.tgid = c->tgid;
	taken.rec.first_entry = count(s, LT_SEC_ENTRIES);
	taken.rec.n_entries = lt_copies_count(copies);
	taken.rec.cgroup = add_cgroup_path(lt, s, c->task);
	e = (const struct lt_copied_entry *)copies->entries.data;
	for (i = 0; i < taken.rec.n_entries; i++)
		add_entry(lt, s, v, copies, &e[i]);
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
		WRITE_ONCE(lt->seen_ns, now);
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
	h->limit[LT_LIMIT_SNAPSHOT_KIB] = lt->max_snapshot_kib;
	h->used[LT_LIMIT_SNAPSHOT_KIB] = atomic_read(&lt->snapshot_kib);
	h->memory_bytes = lt_memory_bytes(lt);
	h->filter = add_string(s, lt_filter_text(lt));
	h->hooks_ns = lt_cost_ns(lt);
	h->user_share = lt->user_share ?: 100;
	for (i = 0; i < LT_LOST_NR; i++)
		h->lost[i] = lt_lost(lt, i);
}

/* What is filled while lt->mutex is held. */
struct draft {
	struct lt_snapshot *s;
	struct lt_buffer chosen;
	struct lt_copies copies;
	struct lt_buffer *all[LT_SNAPSHOT_BUFFERS];
};

/* With as much room as the last one took. */
static void draft_init(struct draft *d, struct lt_snapshot *s, struct lt_budget *budget, const size_t *room)
{
	struct lt_buffer * const own[] = {
		&s->taken, &s->wakers, &s->users, &d->chosen, &d->copies.entries, &d->copies.wakers,
	};
	unsigned int i;

	static_assert(ARRAY_SIZE(own) + LT_SEC_NR == LT_SNAPSHOT_BUFFERS);
	memset(s, 0, sizeof(*s));
	memset(d, 0, sizeof(*d));
	d->s = s;
	for (i = 0; i < ARRAY_SIZE(own); i++)
		d->all[i] = own[i];
	for (i = 0; i < LT_SEC_NR; i++)
		d->all[ARRAY_SIZE(own) + i] = &s->section[i];
	for (i = 0; i < LT_SNAPSHOT_BUFFERS; i++) {
		d->all[i]->budget = budget;
		lt_buffer_reserve(d->all[i], room[i]);
	}
}

static int draft_restart(struct draft *d)
{
	int i, err = 0;

	for (i = 0; i < LT_SNAPSHOT_BUFFERS; i++)
		err = err ?: lt_buffer_restart(d->all[i]);
	lt_buffer_add(&d->s->section[LT_SEC_STRINGS], "", 1);
	return err;
}

static int draft_error(const struct draft *d)
{
	int i, err = 0;

	for (i = 0; i < LT_SNAPSHOT_BUFFERS; i++)
		err = err ?: d->all[i]->err;
	return err;
}

/* lt->mutex held. */
static int fill(struct lt *lt, const struct lt_viewer *v, const struct lt_request *r, struct draft *d)
{
	const struct lt_chosen *chosen;
	struct lt_snapshot *s = d->s;
	u32 i, n, matched = 0;
	u64 now;
	int err;

	lt_ksyms_trim(lt);
	lt->snap_seq++;
	lt_lattree_sync(lt);
	now = lt_clock();
	WRITE_ONCE(lt->seen_ns, now);
	err = lt_select(lt, v, r, now, &d->chosen, &matched);
	chosen = (const struct lt_chosen *)d->chosen.data;
	n = d->chosen.len / sizeof(*chosen);
	for (i = 0; i < n && !err; i++) {
		err = take_one(lt, s, v, &chosen[i], &r->query, now, &d->copies) ?: draft_error(d);
		cond_resched();
	}
	matched -= n - s->taken.len / sizeof(struct lt_taken);	/* those that are not wanted any more */
	matched += take_others(lt, s, v, &r->query);
	lt_users_add(lt, v, s);
	fill_header(lt, s, now);
	s->header.tasks_total = lt->nr_records;
	s->header.tasks_matched = matched;
	return err ?: draft_error(d);
}

/*
 * With whoever else wants lt->mutex, the worker or a lesson, at most one reader competes,
 * and with other users' readers at most one of the same user's.
 */
static int lock_as_reader(struct lt *lt, u16 owner)
{
	if (lt_owner_lock_reading(lt, owner))
		return -ERESTARTSYS;
	if (!mutex_lock_interruptible(&lt->readers)) {
		if (!mutex_lock_interruptible(&lt->mutex))
			return 0;
		mutex_unlock(&lt->readers);
	}
	lt_owner_unlock_reading(lt, owner);
	return -ERESTARTSYS;
}

static void unlock_as_reader(struct lt *lt, u16 owner)
{
	mutex_unlock(&lt->mutex);
	mutex_unlock(&lt->readers);
	lt_owner_unlock_reading(lt, owner);
}

/*
 * On failure the snapshot is empty. Others wait for lt->mutex, among them the
 * worker, so memory that is not there at once is waited for without it (a reader's
 * cgroup may make him wait for long), and the snapshot begun again.
 */
int lt_snapshot_take(struct lt *lt, const struct lt_viewer *v, struct lt_request *r,
		     struct lt_budget *budget, struct lt_snapshot *s)
{
	struct draft d;
	int i, err;

	draft_init(&d, s, budget, r->room);
	s->cgroup_root = lt_cgroup_readers_root();
	err = s->cgroup_root ? -EAGAIN : -ENOMEM;
	while (err == -EAGAIN) {
		err = draft_restart(&d) ?: lock_as_reader(lt, budget->owner);
		if (err)
			break;
		budget->hurry = true;
		err = fill(lt, v, r, &d);
		budget->hurry = false;
		unlock_as_reader(lt, budget->owner);
	}
	for (i = 0; i < LT_SNAPSHOT_BUFFERS; i++)
		r->room[i] = err ? 0 : d.all[i]->room;
	lt_buffer_free(&d.chosen);
	lt_copies_free(&d.copies);
	if (!err) {
		lt_snapshot_sort(s, r->query.sort, r->query.limit);
		err = s->taken.err;
	}
	if (err)
		lt_snapshot_free(s);
	return err;
}
