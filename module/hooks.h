/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of hook_sets.c and what hooks.c attaches from it. */
#ifndef LATTOP_HOOKS_H
#define LATTOP_HOOKS_H

#include <linux/kprobes.h>
#include <linux/types.h>

struct lt;

enum {
	LT_HOOK_SET_PROBES	= 8,	/* of the largest set */
	LT_HOOK_PROBES		= LT_HOOK_SET_PROBES + 1,	/* and lt_hook_waking */
};

struct lt_hook_probe {
	const char *symbol;		/* a kernel function, or a tracepoint */
	const char *alias;		/* the name a compiler's clone goes by, or NULL */
	kprobe_pre_handler_t kprobe;	/* either this */
	void *tracepoint;		/* or this */
	bool optional;			/* a kernel without it is fine */
};

struct lt_hook_set {
	const char *name;		/* "tracepoint" or "kprobe" */
	struct lt_hook_probe probe[LT_HOOK_SET_PROBES];
};

extern const struct lt_hook_set lt_hook_tracepoints;
extern const struct lt_hook_set lt_hook_kprobes[];	/* first that passes wins; ends with a NULL name */
extern const struct lt_hook_probe lt_hook_waking;	/* beside any set, with wakers=1 */

struct lt *lt_kprobe_owner(struct kprobe *kp);

#endif
