// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text view: the same snapshot as the record view, for people and scripts.
 * The format is documented in docs/man/proc-lattop.5 and is stable: header
 * lines begin with '#', a task's line with a digit, what belongs to a task
 * with a tab. Called by proc.c in process context, without locks.
 */
#include <linux/sched/signal.h>
#include <linux/string.h>

#include "mapped.h"
#include "snapshot.h"
#include "try_lock.h"

static const char * const kind_names[] = {
	[LT_KIND_TASK] = "task",
	[LT_KIND_EXITED] = "exited",
	[LT_KIND_EXITED_ALL] = "exited-all",
	[LT_KIND_OTHER] = "other",
};

static void header(const struct lt_snapshot *s, struct lt_buffer *out)
{
	static const char * const lost_names[] = {
#define LT_LOST_NAME(name, text)	\
		[LT_LOST_##name] = #name,
		LT_LOST_LIST(LT_LOST_NAME)
#undef LT_LOST_NAME
	};
	const struct lt_header *h = &s->header;
	const char *strings = s->section[LT_SEC_STRINGS].data;
	int i;

	lt_buffer_printf(out, "# lattop %u %s\n# hook %s\n", LT_VERSION, h->release, h->hook);
	lt_buffer_printf(out, "# clock monotonic_ns=%llu since_ns=%llu\n", h->time_ns, h->since_ns);
	lt_buffer_printf(out, "# tasks shown=%zu matched=%u total=%u\n",
			 s->taken.len / sizeof(struct lt_taken), h->tasks_matched, h->tasks_total);
	lt_buffer_printf(out, "# limits tasks=%u entries=%u traces=%u exited=%u rows=%u memos=%u wakers=%u snapshot_kib=%u user_share=%u\n",
			 h->limit[LT_LIMIT_TASKS], h->limit[LT_LIMIT_ENTRIES],
			 h->limit[LT_LIMIT_TRACES], h->limit[LT_LIMIT_EXITED],
			 h->limit[LT_LIMIT_ROWS], h->limit[LT_LIMIT_MEMOS],
			 h->limit[LT_LIMIT_WAKERS], h->limit[LT_LIMIT_SNAPSHOT_KIB], h->user_share);
	lt_buffer_printf(out, "# used tasks=%u entries=%u traces=%u exited=%u rows=%u memos=%u wakers=%u snapshot_kib=%u memory_bytes=%llu\n",
			 h->used[LT_LIMIT_TASKS], h->used[LT_LIMIT_ENTRIES],
			 h->used[LT_LIMIT_TRACES], h->used[LT_LIMIT_EXITED],
			 h->used[LT_LIMIT_ROWS], h->used[LT_LIMIT_MEMOS],
			 h->used[LT_LIMIT_WAKERS], h->used[LT_LIMIT_SNAPSHOT_KIB], h->memory_bytes);
	lt_buffer_printf(out, "# lost");
	for (i = 0; i < LT_LOST_NR; i++)
		lt_buffer_printf(out, " %s=%llu", lost_names[i], h->lost[i]);
	lt_buffer_printf(out, "\n# filter ");
	lt_buffer_escaped(out, strings + h->filter, strlen(strings + h->filter));
	lt_buffer_printf(out, "\n# cost hooks_ns=%llu", h->hooks_ns);
	lt_buffer_printf(out, "\n# columns pid tgid uid state kind blocked_ns ongoing_ns max_ns sleeps runq_ns runs comm\n");
}

static void holdings(const char *what, const u32 *held, struct lt_buffer *out)
{
	static const char * const names[] = {
#define LT_HELD_NAME(name)	\
		[LT_HELD_##name] = #name,
		LT_HELD_LIST(LT_HELD_NAME)
#undef LT_HELD_NAME
	};
	int i;

	lt_buffer_printf(out, "%s", what);
	for (i = 0; i < LT_HELD_NR; i++)
		lt_buffer_printf(out, " %s=%u", names[i], held[i]);
	lt_buffer_printf(out, "\n");
}

/* What one user may hold, and what each holds: at the end, as there may be many. */
static void users(const struct lt_snapshot *s, struct lt_buffer *out)
{
	const struct lt_user_rec *u = (const struct lt_user_rec *)s->users.data;
	u32 i, n = s->users.len / sizeof(*u);

	if (n)
		holdings("# share", s->header.share, out);
	for (i = 0; i < n; i++) {
		lt_buffer_printf(out, "# user uid=%u", u[i].uid);
		holdings("", u[i].held, out);
	}
}

static void kernel_frames(const struct lt_snapshot *s, const struct lt_trace_rec *tr,
			  const char *mark, struct lt_buffer *out)
{
	const u64 *frames = (const u64 *)s->section[LT_SEC_FRAMES].data + tr->first_frame;
	const struct lt_ksym_rec *syms = (const struct lt_ksym_rec *)s->section[LT_SEC_KSYMS].data;
	const char *strings = s->section[LT_SEC_STRINGS].data;
	unsigned int i;

	for (i = 0; i < tr->nr_kernel; i++) {
		const struct lt_ksym_rec *sym = &syms[frames[i] >> 32];

		lt_buffer_printf(out, "\t%s %s+0x%x", mark, strings + sym->name, (u32)frames[i]);
		if (sym->module)
			lt_buffer_printf(out, " [%s]", strings + sym->module);
		lt_buffer_printf(out, "\n");
	}
}

/* What a text is made with. */
struct scratch {
	struct lt_mapped mapped;
	s64 patience_ns;	/* with all locks of others: try_lock.h */
};

static void user_frames(const struct lt_viewer *v, const struct lt_snapshot *s,
			const struct lt_whose *who, const struct lt_trace_rec *tr,
			const char *mark, struct scratch *scratch, struct lt_buffer *out)
{
	const u64 *frames = (const u64 *)s->section[LT_SEC_FRAMES].data + tr->first_frame +
			    tr->nr_kernel;
	struct lt_mapped *mapped = &scratch->mapped;
	unsigned int i;

	lt_mapped_take(mapped, v, who, frames, tr->nr_user, &scratch->patience_ns);
	for (i = 0; i < tr->nr_user; i++) {
		const struct lt_mapped_frame *f = &mapped->frames[i];

		lt_buffer_printf(out, "\t%s 0x%llx", mark, frames[i]);
		if (f->name)
			lt_buffer_printf(out, " %s+0x%llx", mapped->names + f->name, f->offset);
		lt_buffer_printf(out, "\n");
	}
	if (mapped->unnamed)
		lt_buffer_printf(out, "\tunnamed frames=%u\n", mapped->unnamed);
}

static const char *user_part(const struct lt_trace_rec *tr)
{
	if (tr->flags & LT_TR_NO_USER)
		return "none";
	if (tr->flags & LT_TR_COMPLETE)
		return "complete";
	if (tr->flags & LT_TR_SEEDED)
		return "pc";
	return tr->flags & LT_TR_FP ? "fp" : "partial";
}

static const struct lt_trace_rec *trace_at(const struct lt_snapshot *s, u32 index)
{
	if (index == LT_TRACE_OTHER)
		return NULL;
	return (const struct lt_trace_rec *)s->section[LT_SEC_TRACES].data + index;
}

static bool same_waker(const struct lt_waker_rec *a, const struct lt_waker_rec *b)
{
	return a->kind == b->kind && a->pid == b->pid && a->start_ns == b->start_ns &&
	       a->exec_id == b->exec_id && a->trace == b->trace;
}

/* What w[i] and those behind it that differ only in what they had waited in amount to. */
static struct lt_waker_rec sum_from(const struct lt_waker_rec *w, u32 i, u32 n)
{
	struct lt_waker_rec sum = w[i];

	for (i++; i < n; i++) {
		if (!same_waker(&sum, &w[i]))
			continue;
		sum.blocked_ns += w[i].blocked_ns;
		sum.max_ns = max(sum.max_ns, w[i].max_ns);
		sum.sleeps += w[i].sleeps;
		sum.waited_ns += w[i].waited_ns;
	}
	return sum;
}

/* Of those who ended sleeps of e, the one with the longest sleeps in all. How many there are. */
static u32 main_waker(const struct lt_snapshot *s, const struct lt_entry_rec *e,
		      struct lt_waker_rec *found)
{
	const struct lt_waker_rec *w = (const struct lt_waker_rec *)s->wakers.data + e->first_waker;
	struct lt_waker_rec sum;
	u32 i, j, n = 0;

	for (i = 0; i < e->n_wakers; i++) {
		for (j = 0; j < i && !same_waker(&w[j], &w[i]); j++)
			;
		if (j < i)
			continue;
		sum = sum_from(w, i, e->n_wakers);
		if (!n++ || sum.blocked_ns > found->blocked_ns)
			*found = sum;
	}
	return n;
}

static void waker(const struct lt_viewer *v, const struct lt_snapshot *s,
		  const struct lt_entry_rec *e, struct scratch *scratch, struct lt_buffer *out)
{
	static const char * const kinds[] = {
		[LT_WAKER_TASK] = "task",
		[LT_WAKER_INTERRUPT] = "interrupt",
		[LT_WAKER_HIDDEN] = "hidden",
	};
	const struct lt_trace_rec *tr;
	struct lt_whose who = {};
	struct lt_waker_rec w;
	u32 n = main_waker(s, e, &w);

	if (!n)
		return;
	lt_buffer_printf(out, "\twoken by=%s wakers=%u blocked_ns=%llu max_ns=%llu sleeps=%llu waited_ns=%llu pid=%u tgid=%u comm=",
			 kinds[w.kind], n, w.blocked_ns, w.max_ns, w.sleeps, w.waited_ns,
			 w.pid, w.tgid);
	lt_buffer_escaped(out, w.comm, sizeof(w.comm));
	lt_buffer_printf(out, "\n");
	tr = trace_at(s, w.trace);
	if (!tr)
		return;
	/* by its number in the first pid namespace, which others are not shown */
	if (v->all)
		who = (struct lt_whose) { .pid = w.pid, .start_ns = w.start_ns, .exec_id = w.exec_id };
	kernel_frames(s, tr, "wk", out);
	user_frames(v, s, &who, tr, "wu", scratch, out);
}

static void trace(const struct lt_viewer *v, const struct lt_snapshot *s, const struct lt_taken *t,
		  const struct lt_entry_rec *e, struct scratch *scratch, struct lt_buffer *out)
{
	const struct lt_trace_rec *tr = trace_at(s, e->trace);
	struct lt_whose who = {
		.pid = t->rec.kind == LT_KIND_TASK ? t->pid : 0,
		.start_ns = t->start_ns,
		.exec_id = e->exec_id,
	};

	lt_buffer_printf(out, "\ttrace blocked_ns=%llu ongoing_ns=%llu max_ns=%llu sleeps=%llu",
			 e->blocked_ns, e->ongoing_ns, e->max_ns, e->sleeps);
	if (!tr) {
		lt_buffer_printf(out, " [other]\n");
		return;
	}
	lt_buffer_printf(out, " syscall=%d user=%s\n", tr->syscall, user_part(tr));
	kernel_frames(s, tr, "k", out);
	user_frames(v, s, &who, tr, "u", scratch, out);
	waker(v, s, e, scratch, out);
}

static void task(const struct lt_snapshot *s, const struct lt_taken *t, struct lt_buffer *out)
{
	const struct lt_task_rec *r = &t->rec;
	const char *cgroup = s->section[LT_SEC_STRINGS].data + r->cgroup;

	lt_buffer_printf(out, "%u %u %u %c %s %llu %llu %llu %llu %llu %llu ", r->pid, r->tgid,
			 r->uid, r->state, kind_names[r->kind], r->blocked_ns, r->ongoing_ns,
			 r->max_ns, r->sleeps, r->runq_ns, r->runs);
	lt_buffer_escaped(out, r->comm, sizeof(r->comm));
	lt_buffer_printf(out, "\n");
	if (!r->cgroup)
		return;
	lt_buffer_printf(out, "\tcgroup ");
	lt_buffer_escaped(out, cgroup, strlen(cgroup));
	lt_buffer_printf(out, "\n");
}

/* Who reads may be ended meanwhile, and others want the CPU. */
static bool goes_on(struct lt_buffer *out)
{
	cond_resched();
	if (!out->err && fatal_signal_pending(current))
		out->err = -EINTR;
	return !out->err;
}

int lt_text(struct lt *lt, const struct lt_viewer *v, const struct lt_snapshot *s,
	    struct lt_buffer *out)
{
	const struct lt_taken *t = (const struct lt_taken *)s->taken.data;
	const struct lt_entry_rec *e = (const struct lt_entry_rec *)s->section[LT_SEC_ENTRIES].data;
	struct lt_buffer room = { .budget = out->budget };
	u32 i, j, n = s->taken.len / sizeof(*t);
	struct scratch *scratch;

	if (lt_buffer_reserve(&room, sizeof(*scratch)))
		return room.err;
	scratch = (struct scratch *)room.data;
	scratch->patience_ns = LT_PATIENCE_NS;
	header(s, out);
	for (i = 0; i < n && goes_on(out); i++) {
		task(s, &t[i], out);
		for (j = 0; j < t[i].rec.n_entries && goes_on(out); j++)
			trace(v, s, &t[i], &e[t[i].rec.first_entry + j], scratch, out);
	}
	lt_buffer_free(&room);
	users(s, out);
	return out->err;
}
