// SPDX-License-Identifier: GPL-2.0-only
/*
 * lattop: exact sleep accounting for every task. Loads step by step and
 * unloads in the reverse order; README.md beside this file says where to read
 * on.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "lattop.h"
#include "params.h"
#include "rows.h"
#include "wakers.h"

static struct lt lattop;

static void nothing(struct lt *lt)
{
}

/* What hooks and readers find set, and never changed. */
static int lt_state_init(struct lt *lt)
{
	memset(lt, 0, sizeof(*lt));
	lt->kernel_depth = lt_params.kernel_depth;
	lt->user_depth = lt_params.user_depth;
	lt->counted_flags = lt->user_depth ? LT_TR_NOT_WHOLE : LT_TR_NOT_WHOLE & ~LT_TR_USER_CUT;
	lt->max_traces = lt_params.max_traces;
	lt->max_traces_per_task = lt_params.max_traces_per_task;
	lt->max_snapshot_kib = lt_params.max_snapshot_mib << 10;
	lt->retain_exited = lt_params.retain_exited;
	lt->retain_ns = (u64)lt_params.retain_s * NSEC_PER_SEC;
	lt->lat_awake = RB_ROOT;
	lt->lat_asleep = RB_ROOT;
	lt->since_ns = lt_clock();
	init_llist_head(&lt->wants_buckets);
	init_llist_head(&lt->left_cgroups);
	lt->cgroups = RB_ROOT;
	mutex_init(&lt->mutex);
	mutex_init(&lt->readers);
	return 0;
}

/* Each undone by its exit, in the reverse order; an init that fails has cleaned up after itself. */
static const struct step {
	const char *name;
	int (*init)(struct lt *lt);
	void (*exit)(struct lt *lt);
} steps[] = {
	{ "state",	lt_state_init,	nothing },
	{ "stats",	lt_stats_init,	lt_stats_exit },
	{ "owners",	lt_owners_init,	lt_owners_exit },
	{ "capture",	lt_capture_init, lt_capture_exit },
	{ "traces",	lt_traces_init,	lt_traces_exit },
	{ "memos",	lt_memos_init,	lt_memos_exit },
	{ "wakers",	lt_wakers_init,	lt_wakers_exit },
	{ "tasks",	lt_tasks_init,	lt_tasks_exit },
	{ "exited",	lt_exited_init,	lt_exited_exit },
	{ "ksyms",	lt_ksyms_init,	lt_ksyms_exit },
	{ "rows",	lt_rows_init,	lt_rows_exit },
	{ "misses",	lt_misses_init,	lt_misses_exit },
	{ "worker",	lt_worker_init,	lt_worker_exit },
	{ "hooks",	lt_hooks_init,	lt_hooks_exit },
	{ "seed",	lt_seed,	nothing },
	{ "filter",	lt_filter_init,	lt_filter_exit },
	{ "proc",	lt_proc_init,	lt_proc_exit },
};

static void undo(struct lt *lt, int done)
{
	while (done--)
		steps[done].exit(lt);
}

/* User space has been compiled with these. */
static_assert((int)LT_LOST_NR <= (int)LT_LOST_SLOTS && (int)LT_LIMIT_NR <= (int)LT_LIMIT_SLOTS);
static_assert(sizeof(struct lt_query) == 48);
static_assert(sizeof(struct lt_header) == 808);
static_assert(sizeof(struct lt_task_rec) == 120);
static_assert(sizeof(struct lt_entry_rec) == 376);
static_assert(sizeof(struct lt_trace_rec) == 24);
static_assert(sizeof(struct lt_waker_rec) == 80);
static_assert(sizeof(struct lt_row) == 24);
static_assert(sizeof(struct lt_teach) == 48);
static_assert(sizeof(struct lt_miss) == 48);
static_assert(sizeof(struct lt_misses) == 24);
static_assert(sizeof(struct lt_regs) == 56);

static int __init lattop_init(void)
{
	int i, err;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		err = lt_params.fail_init == i + 1 ? -ENOMEM : steps[i].init(&lattop);
		if (err) {
			pr_err("lattop: not loaded: %s failed (%d)\n", steps[i].name, err);
			undo(&lattop, i);
			return err;
		}
	}
	pr_info("lattop: " LT_RELEASE " loaded\n");
	return 0;
}

static void __exit lattop_exit(void)
{
	undo(&lattop, ARRAY_SIZE(steps));
}

module_init(lattop_init);
module_exit(lattop_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("lattop: exact sleep latency of every task, by call trace");
MODULE_VERSION(LT_RELEASE);
