// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every parameter: default, range, one line of help. All are set at load and
 * only read afterwards; a value out of its range refuses the load.
 *
 * Memory, at most, in bytes (a pool has up to 2 * reserve free records; sizes on x86-64, trace: 32, 96 or all frames):
 *
 *	(max_tasks   + 2 * reserve) * sizeof(struct lt_task)	 ~ 0.9 KiB each
 *	(max_entries + 2 * reserve) * sizeof(struct lt_entry)	 ~ 0.4 KiB each
 *	(max_traces + 6 * reserve) * (64 + 8 * frames)		 ~ 0.3 KiB typically
 *	(max_memos + 2 * reserve) * 512
 *	(max_wakers + 2 * reserve) * 104, with wakers=1
 *	max_rows * 21 to 171 (tables are 3/16 to 3/4 full, and up to 4 MiB take twice that)
 *	+ 8 KiB for each process that has rows: what it has a table in, and the least that is one
 *	+ retain_exited * sizeof(struct lt_task) for processes that ended
 *	+ 64 + the length of its path for each cgroup that a record is of
 *	+ 42 KiB for the shares of users, and 64 for finding processes that have rows
 *	+ max_snapshot_mib for what readers hold who do not see all, and what those hold who do
 *	+ 1.5 MiB of bitmaps + 16 KiB a CPU + 8 bytes a trace and 32 an entry for hash tables
 *
 * used and memory_bytes in /proc/lattop say what is really held.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>

#include "lattop.h"
#include "params.h"
#include "wakers.h"

static_assert(sizeof(struct lt_task) <= 9 * 1024 / 10 && sizeof(struct lt_entry) <= 4 * 1024 / 10 && sizeof(struct lt_waker) == 104,
	      "as said above and in proc-lattop(5)");

struct lt_params lt_params = {
	.hook			= LT_HOOK_AUTO,
	.max_tasks		= 32768,
	.max_traces		= 32768,
	.max_entries		= 65536,
	.max_traces_per_task	= 512,
	.max_rows		= 262144,
	.max_memos		= 32768,
	.wakers			= 0,
	.max_wakers		= 65536,
	.kernel_depth		= 64,
	.user_depth		= 127,
	.retain_exited		= 1024,
	.retain_s		= 60,
	.reserve		= 1024,
	.user_share		= 50,
	.max_snapshot_mib	= 512,
	.recheck		= 0,
	.fail_init		= 0,
	.filter			= "",
};

struct lt_range {
	const char *name;
	unsigned int *value;
	unsigned int min, max;
};

static int range_set(const char *text, const struct kernel_param *kp)
{
	const struct lt_range *r = kp->arg;
	unsigned int value;
	int err = kstrtouint(text, 0, &value);

	if (err || value < r->min || value > r->max) {
		pr_err("lattop: %s=%s: give a whole number from %u to %u\n",
		       r->name, text, r->min, r->max);
		return -EINVAL;
	}
	*r->value = value;
	return 0;
}

static int range_get(char *buffer, const struct kernel_param *kp)
{
	const struct lt_range *r = kp->arg;

	return sprintf(buffer, "%u\n", *r->value);
}

static const struct kernel_param_ops range_ops = { .set = range_set, .get = range_get };

#define LT_PARAM(field, low, high, help)					\
	static const struct lt_range field##_range = {				\
		.name = #field, .value = &lt_params.field, .min = low, .max = high \
	};									\
	module_param_cb(field, &range_ops, (void *)&field##_range, 0444);	\
	MODULE_PARM_DESC(field, help)

LT_PARAM(max_tasks, 1, 1 << 22, "tasks with a record of their own (default 32768)");
LT_PARAM(max_traces, 1, 1 << 22, "distinct call traces (default 32768)");
LT_PARAM(max_entries, 1, 1 << 24, "(task, trace) pairs (default 65536)");
LT_PARAM(max_traces_per_task, 1, 1 << 12, "traces of one task, the rest under [other] (default 512)");
LT_PARAM(max_rows, 64, 1 << 24, "learned rows for user stacks, of all processes (default 262144)");
LT_PARAM(max_memos, 0, 1 << 24, "remembered traces, at most 4 a task, 8 with wakers=1; 0: walk each stack (default 32768)");
LT_PARAM(wakers, 0, 1, "1: account who ends each sleep, and from where (default 0)");
LT_PARAM(max_wakers, 1, 1 << 24, "(task, trace, waker) triples, with wakers=1 (default 65536)");
LT_PARAM(kernel_depth, 1, LT_KERNEL_DEPTH_MAX, "kernel frames of a trace (default 64)");
LT_PARAM(user_depth, 0, LT_USER_DEPTH_MAX, "user frames of a trace, 0 for none (default 127)");
LT_PARAM(retain_exited, 0, 1 << 22, "exited tasks kept apart before they merge (default 1024)");
LT_PARAM(retain_s, 0, 1 << 20, "seconds an exited task is kept apart (default 60)");
LT_PARAM(reserve, 16, 1 << 20, "free records of each kind kept ready for hooks (default 1024)");
LT_PARAM(user_share, 1, 100, "percent of each table that one user may hold, 100: all of it (default 50)");
LT_PARAM(max_snapshot_mib, 1, 1 << 20, "MiB that descriptors opened by users who do not see all may hold (default 512)");
LT_PARAM(recheck, 0, 1 << 20, "for tests: walk every Nth remembered trace again and compare (default 0, none)");
LT_PARAM(fail_init, 0, 64, "for tests: make this step of loading fail (default 0, none)");

module_param_named(filter, lt_params.filter, charp, 0444);
MODULE_PARM_DESC(filter, "account only these tasks: tgid=PID,... uid=UID,... cgroup=PATH kthreads=no (default: all)");

static const char * const hook_names[] = {
	[LT_HOOK_AUTO] = "auto",
	[LT_HOOK_KPROBE] = "kprobe",
	[LT_HOOK_TRACEPOINT] = "tracepoint",
};

static int hook_set(const char *text, const struct kernel_param *kp)
{
	int mode = sysfs_match_string(hook_names, text);

	if (mode < 0) {
		pr_err("lattop: hook=%s: give auto, kprobe or tracepoint\n", text);
		return -EINVAL;
	}
	lt_params.hook = mode;
	return 0;
}

static int hook_get(char *buffer, const struct kernel_param *kp)
{
	return sprintf(buffer, "%s\n", hook_names[lt_params.hook]);
}

static const struct kernel_param_ops hook_ops = { .set = hook_set, .get = hook_get };

module_param_cb(hook, &hook_ops, NULL, 0444);
MODULE_PARM_DESC(hook, "auto, kprobe or tracepoint (default auto: the tracepoints where they work)");
