/* SPDX-License-Identifier: GPL-2.0-only */
/* The module's parameters, checked when they are set. Read at load only. */
#ifndef LATTOP_PARAMS_H
#define LATTOP_PARAMS_H

enum lt_hook_mode {
	LT_HOOK_AUTO,
	LT_HOOK_KPROBE,
	LT_HOOK_TRACEPOINT,
};

struct lt_params {
	enum lt_hook_mode hook;
	unsigned int max_tasks;
	unsigned int max_traces;
	unsigned int max_entries;
	unsigned int max_traces_per_task;
	unsigned int max_rows;
	unsigned int max_memos;
	unsigned int wakers;
	unsigned int max_wakers;
	unsigned int kernel_depth;
	unsigned int user_depth;
	unsigned int retain_exited;
	unsigned int retain_s;
	unsigned int reserve;
	unsigned int user_share;
	unsigned int max_snapshot_mib;
	unsigned int recheck;
	unsigned int fail_init;
	char *filter;
};

extern struct lt_params lt_params;

#endif
