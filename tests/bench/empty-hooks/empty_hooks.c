// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hooks that do nothing, at the places where lattop's are: what is left is what
 * the kernel takes to call a hook, below which nobody's gets. Loaded by the
 * script floor, in a guest of bench.
 *
 *	insmod empty_hooks.ko by=tracepoint|kprobe at=NAME[,NAME...]
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/version.h>

#define MOST 16

struct task_struct;

static char *by = "tracepoint";
module_param(by, charp, 0444);
MODULE_PARM_DESC(by, "tracepoint or kprobe");

static char *at[MOST];
static int n;
module_param_array(at, charp, &n, 0444);
MODULE_PARM_DESC(at, "where: the tracepoints' names, or the functions'");

static struct tracepoint *points[MOST];
static struct kprobe probes[MOST];

#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 18, 0)
static void on_switch(void *data, bool preempt, struct task_struct *prev, struct task_struct *next,
		      unsigned int prev_state)
#else
static void on_switch(void *data, bool preempt, struct task_struct *prev, struct task_struct *next)
#endif
{
}

/* sched_wakeup, sched_wakeup_new, sched_waking */
static void on_task(void *data, struct task_struct *task)
{
}

static int on_probe(struct kprobe *kp, struct pt_regs *regs)
{
	return 0;
}

static void *handler(int i)
{
	return strcmp(at[i], "sched_switch") ? (void *)on_task : (void *)on_switch;
}

static void match(struct tracepoint *tp, void *data)
{
	int i;

	for (i = 0; i < n; i++)
		if (!strcmp(tp->name, at[i]))
			points[i] = tp;
}

static int attach_tracepoint(int i)
{
	return points[i] ? tracepoint_probe_register(points[i], handler(i), NULL) : -ENOENT;
}

static int attach_kprobe(int i)
{
	probes[i].symbol_name = at[i];
	probes[i].pre_handler = on_probe;
	return register_kprobe(&probes[i]);
}

static void detach(int count)
{
	while (count--) {
		if (!strcmp(by, "kprobe"))
			unregister_kprobe(&probes[count]);
		else
			tracepoint_probe_unregister(points[count], handler(count), NULL);
	}
	tracepoint_synchronize_unregister();
}

static int __init empty_hooks_init(void)
{
	int i, err;

	if (!n || (strcmp(by, "kprobe") && strcmp(by, "tracepoint")))
		return -EINVAL;
	for_each_kernel_tracepoint(match, NULL);
	for (i = 0; i < n; i++) {
		err = strcmp(by, "kprobe") ? attach_tracepoint(i) : attach_kprobe(i);
		if (err) {
			pr_err("empty_hooks: %s %s: %d\n", by, at[i], err);
			detach(i);
			return err;
		}
	}
	return 0;
}

static void __exit empty_hooks_exit(void)
{
	detach(n);
}

module_init(empty_hooks_init);
module_exit(empty_hooks_exit);
MODULE_DESCRIPTION("Hooks that do nothing, to be measured");
MODULE_LICENSE("GPL");
