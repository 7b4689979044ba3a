// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which records a snapshot holds, in which order. Called by snapshot.c under
 * lt->mutex, with the latency trees in step.
 *
 * By blocked time the trees have the order already: the walk ends at the limit
 * when nothing is filtered. Any other order, and the count of what matches a
 * filter, look at every record. Figures are read here without the shard lock,
 * for choosing only; what is shown is copied under it.
 */
#include <linux/cred.h>
#include <linux/pid_namespace.h>
#include <linux/sort.h>

#include "numbers.h"
#include "snapshot.h"

/* Compares for sort() and bsearch(). */
static int by_key(const void *a, const void *b)
{
	const struct lt_chosen *x = a, *y = b;

	return x->key < y->key ? 1 : x->key > y->key ? -1 : 0;
}

static bool listed(const struct lt_request *r, u32 pid, u32 tgid)
{
	return lt_has_number(r->pids, r->query.n_pids, pid) ||
	       lt_has_number(r->pids, r->query.n_pids, tgid);
}

static bool empty(const struct lt_task *t)
{
	return t->kind == LT_KIND_EXITED_ALL && !t->sleeps && !t->runs;
}

/* Everything but who may see it, and as what number. The user whom a task is of is who it is shown as, where not all is: who it was before is not told. */
static bool wanted(const struct lt_request *r, const struct lt_viewer *v, const struct lt_task *t,
		   const struct lt_sight *as, u64 now)
{
	const struct lt_query *q = &r->query;

	if (q->flags & LT_Q_NO_KTHREADS && t->kthread)
		return false;
	if (q->flags & LT_Q_NO_EXITED && READ_ONCE(t->exited))
		return false;
	if (q->flags & LT_Q_ASLEEP && !READ_ONCE(t->asleep))
		return false;
	if (q->uid != LT_UID_ANY &&
	    from_kuid_munged(current_user_ns(), v->all ? t->creds.uid : as->creds.uid) != q->uid)
		return false;
	return !q->min_blocked_ns || READ_ONCE(t->blocked_ns) + lt_ongoing(t, now) >= q->min_blocked_ns;
}

static u64 task_key(const struct lt_task *t, u32 sort, u32 pid, u64 now)
{
	u64 since_ns = lt_ongoing(t, now);

	switch (sort) {
	case LT_SORT_ONGOING:	return since_ns;
	case LT_SORT_MAX:	return max(READ_ONCE(t->max_ns), since_ns);
	case LT_SORT_SLEEPS:	return READ_ONCE(t->sleeps);
	case LT_SORT_RUNQ:	return READ_ONCE(t->runq_ns);
	case LT_SORT_PID:	return ~(u64)pid;
	default:		return READ_ONCE(t->blocked_ns) + since_ns;
	}
}

/* The same, of a finished record. Larger comes first. */
u64 lt_sort_key(const struct lt_task_rec *rec, u32 sort)
{
	switch (sort) {
	case LT_SORT_ONGOING:	return rec->ongoing_ns;
	case LT_SORT_MAX:	return rec->max_ns;
	case LT_SORT_SLEEPS:	return rec->sleeps;
	case LT_SORT_RUNQ:	return rec->runq_ns;
	case LT_SORT_PID:	return ~(u64)rec->pid;
	default:		return rec->blocked_ns;
	}
}

int lt_select(struct lt *lt, const struct lt_viewer *v, const struct lt_request *r, u64 now,
	      struct lt_buffer *chosen, u32 *matched)
{
	const struct lt_query *q = &r->query;
	bool by_tree = q->sort == LT_SORT_BLOCKED;
	/* There the numbers of records are the reader's: a few are found without asking who may see each */
	bool by_number = q->n_pids && v->pid_ns == &init_pid_ns;
	bool unfiltered = v->all && !q->flags && !q->n_pids && q->uid == LT_UID_ANY &&
			  !q->min_blocked_ns;
	struct lt_lat_cursor cur;
	struct lt_sight as;
	struct lt_chosen c;
	struct lt_task *t;
	u32 n = 0, looked_at = 0;

	lt_lattree_start(lt, &cur, now);
	while ((t = lt_lattree_step(&cur))) {
		if (!(++looked_at % 256))
			cond_resched();
		if (empty(t) || (by_number && !listed(r, t->pid, t->tgid)))
			continue;
		/* Who may see it before what it is and has, which the time that it takes would tell of one task */
		if (!lt_viewer_sees(v, t, &as) || !wanted(r, v, t, &as, now))
			continue;
		if (q->n_pids && !listed(r, as.pid, as.tgid))
			continue;
		n++;
		if (by_tree && n > q->limit)
			continue;
		c = (struct lt_chosen) {
			.task = t,
			.pid = as.pid,
			.tgid = as.tgid,
			.key = task_key(t, q->sort, as.pid, now),
		};
		lt_buffer_add(chosen, &c, sizeof(c));
		if (by_tree && unfiltered && n == q->limit) {
			n = lt->nr_records - (empty(lt->exited_all) ? 1 : 0);
			break;
		}
	}
	*matched = n;
	if (chosen->err)
		return chosen->err;
	n = chosen->len / sizeof(c);
	if (!by_tree)
		sort(chosen->data, n, sizeof(c), by_key, NULL);
	chosen->len = min(n, q->limit) * sizeof(c);
	return 0;
}
