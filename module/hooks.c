// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attaches a set of probes from hook_sets.c, has selftest.c try it, and keeps
 * the first that sees every sleep. Called at load and unload only.
 *
 * Tracepoints are found by name among the kernel's own (the symbols are not
 * exported) and get the state object as their data; a kprobe stands in a
 * struct that points to it.
 *
 * Nothing is accounted before every probe of the set is in place on every CPU:
 * lt->mode is set behind a grace period, so that no sleep is seen whose wake
 * would not be.
 */
#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "arch_x86.h"
#include "hooks.h"
#include "lattop.h"
#include "params.h"

struct probe {
	struct kprobe kp;
	struct lt *lt;
	struct tracepoint *tp;		/* attached, when not NULL */
	void *handler;
	bool kprobed;
};

struct lt_hooks {
	struct probe probe[LT_HOOK_PROBES];
};

/* A set without a free place, and lt_hook_waking behind it */
static_assert(sizeof_field(struct lt_hooks, probe) / sizeof(struct probe) >
	      sizeof_field(struct lt_hook_set, probe) / sizeof(struct lt_hook_probe));

struct lt *lt_kprobe_owner(struct kprobe *kp)
{
	return container_of(kp, struct probe, kp)->lt;
}

struct search {
	const char *name;
	struct tracepoint *found;
};

static void match(struct tracepoint *tp, void *data)
{
	struct search *s = data;

	if (!strcmp(tp->name, s->name))
		s->found = tp;
}

static int attach_tracepoint(struct probe *p, const struct lt_hook_probe *def)
{
	struct search s = { .name = def->symbol };
	int err;

	for_each_kernel_tracepoint(match, &s);
	if (!s.found)
		return -ENOENT;
	p->handler = def->tracepoint;
	err = tracepoint_probe_register(s.found, p->handler, p->lt);
	if (!err)
		p->tp = s.found;
	return err;
}

static int attach_kprobe(struct probe *p, const struct lt_hook_probe *def)
{
	const char * const names[] = { def->symbol, def->alias };
	int i, err = -ENOENT;

	for (i = 0; i < ARRAY_SIZE(names) && names[i]; i++) {
		memset(&p->kp, 0, sizeof(p->kp));
		p->kp.symbol_name = names[i];
		p->kp.pre_handler = def->kprobe;
		err = register_kprobe(&p->kp);
		if (!err) {
			p->kprobed = true;
			return 0;
		}
	}
	return err;
}

/* Times the kernel skipped one of our kprobes; what it would have seen was not seen. */
u64 lt_hooks_missed(struct lt *lt)
{
	u64 missed = 0;
	int i;

	for (i = 0; lt->hooks && i < LT_HOOK_PROBES; i++)
		if (lt->hooks->probe[i].kprobed)
			missed += READ_ONCE(lt->hooks->probe[i].kp.nmissed);
	return missed;
}

/*
 * Removing a kprobe that goes by ftrace allocates. Where there is no memory for
 * that, as for a rmmod that is being killed for want of it, the kernel warns,
 * unsets the address, by which nothing finds the kprobe any more, and keeps it
 * in its table for ever. Disabled, neither a kprobe of somebody else's at that
 * place nor one that arms all of them calls it. False: it must not be freed.
 */
static bool detach_kprobe(struct kprobe *kp)
{
	unregister_kprobe(kp);
	if (kp->addr)
		return true;
	kp->flags |= KPROBE_FLAG_DISABLED;
	pr_warn("lattop: the kernel could not remove the kprobe on %s: it stays in its table, disabled\n",
		kp->symbol_name);
	kp->symbol_name = NULL;
	return false;
}

static void detach(struct lt *lt)
{
	struct lt_hooks *h = lt->hooks;
	bool all = true;
	int i;

	WRITE_ONCE(lt->mode, LT_OFF);
	for (i = 0; i < LT_HOOK_PROBES; i++) {
		struct probe *p = &h->probe[i];

		if (p->tp)
			tracepoint_probe_unregister(p->tp, p->handler, lt);
		if (p->kprobed && !detach_kprobe(&p->kp))
			all = false;
	}
	tracepoint_synchronize_unregister();
	synchronize_rcu();
	if (all)
		kfree(h);
	lt->hooks = NULL;
}

static void name_hooks(struct lt *lt, const struct lt_hook_set *set)
{
	const char *separator = ": ";
	size_t n = strscpy(lt->hook_name, set->name, sizeof(lt->hook_name));
	int i;

	for (i = 0; i < LT_HOOK_PROBES; i++) {
		struct probe *p = &lt->hooks->probe[i];

		if (!p->tp && !p->kprobed)
			continue;
		n += scnprintf(lt->hook_name + n, sizeof(lt->hook_name) - n, "%s%s", separator,
			       p->tp ? p->tp->name : p->kp.symbol_name);
		separator = " ";
	}
}

static int attach_probe(struct lt *lt, struct probe *p, const struct lt_hook_probe *def, const char *set)
{
	int err;

	p->lt = lt;
	err = def->kprobe ? attach_kprobe(p, def) : attach_tracepoint(p, def);
	if (err && !def->optional) {
		pr_info("lattop: no %s %s here (%d)\n", set, def->symbol, err);
		return err;
	}
	return 0;
}

static int attach(struct lt *lt, const struct lt_hook_set *set)
{
	int i, err = 0;

	lt->hooks = kzalloc(sizeof(*lt->hooks), GFP_KERNEL);
	if (!lt->hooks)
		return -ENOMEM;
	for (i = 0; i < LT_HOOK_SET_PROBES && set->probe[i].symbol && !err; i++)
		err = attach_probe(lt, &lt->hooks->probe[i], &set->probe[i], set->name);
	if (lt->wakers && !err)
		err = attach_probe(lt, &lt->hooks->probe[i], &lt_hook_waking, "tracepoint");
	if (err) {
		detach(lt);
		return err;
	}
	name_hooks(lt, set);
	lt->by_kprobes = set != &lt_hook_tracepoints;
	lt->queue_clock = !lt->by_kprobes && lt_arch_sched_clock_stable();
	synchronize_rcu();
	smp_store_release(&lt->mode, LT_ON);	/* pairs with lt_mode() */
	return 0;
}

/* Attaches and tries a set; leaves nothing behind when it does not see sleeps. */
static int try_set(struct lt *lt, const struct lt_hook_set *set)
{
	int err = attach(lt, set);

	if (err)
		return err;
	err = lt_selftest(lt);
	if (err) {
		pr_info("lattop: the self-test refused %s\n", lt->hook_name);
		detach(lt);
		lt_forget_all(lt);
		lt_reset_counts(lt);
	}
	return err;
}

int lt_hooks_init(struct lt *lt)
{
	const struct lt_hook_set *set;
	int err = -ENODEV;

	if (lt_params.hook != LT_HOOK_KPROBE)
		err = try_set(lt, &lt_hook_tracepoints);
	if (err && lt_params.hook != LT_HOOK_TRACEPOINT)
		for (set = lt_hook_kprobes; err && err != -ENOMEM && set->name; set++)
			err = try_set(lt, set);
	if (err) {
		pr_err("lattop: no hook of this kernel sees sleeps with hook=%s; try hook=auto, and see docs/kernels.md\n",
		       lt_params.hook == LT_HOOK_KPROBE ? "kprobe" :
		       lt_params.hook == LT_HOOK_TRACEPOINT ? "tracepoint" : "auto");
		return err == -ENOMEM ? err : -EOPNOTSUPP;
	}
	pr_info("lattop: accounting by %s\n", lt->hook_name);
	return 0;
}

void lt_hooks_exit(struct lt *lt)
{
	detach(lt);
}
