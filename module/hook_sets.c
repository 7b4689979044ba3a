// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table: which probes see every sleep on which kernel, and what each probe
 * tells account.c. hooks.c attaches a set, selftest.c accepts or refuses it;
 * docs/kernels.md has the measurements behind the order.
 *
 * Context of every handler: the runqueue's lock held, interrupts off; kprobes
 * also inside an int3 or ftrace trampoline. A wake-up of current by itself may
 * come without the lock and with interrupts on: it ends no sleep and is left
 * alone. The idle task is nobody's business.
 */
#include <linux/kernel.h>
#include <linux/ptrace.h>
#include <linux/sched.h>

#include "arch_x86.h"
#include "compat/sched_flags.h"
#include "compat/sched_switch.h"
#include "compat/task.h"
#include "cost.h"
#include "filter.h"
#include "hooks.h"
#include "lattop.h"
#include "wakers.h"

/* --- tracepoints: exact on every kernel, and cheapest --- */

/* prev is turned away; next may yet be known. */
static noinline void known_in(struct lt *lt, struct task_struct *next)
{
	u64 now;

	if (!next->pid)
		return;
	now = lt_clock();
	lt_switch_in(lt, next, now);
	lt_cost(lt, now);
}

/* Whether prev's leaving the CPU in this state is anything to account. */
static inline bool follows(const struct lt *lt, enum lt_mode mode, struct task_struct *prev, unsigned int state)
{
	if (likely(mode == LT_ON))
		return true;
	return prev->pid && (state & TASK_DEAD ? lt_knows(lt, mode, prev) : lt_wants(lt, mode, prev));
}

/* notrace: a tracer of it would put its own return address where *at is read from. */
static notrace void LT_COMPAT_SCHED_SWITCH(on_sched_switch)
{
	unsigned int state = lt_compat_prev_state(prev);
	struct lt *lt = data;
	enum lt_mode mode = lt_mode(lt);
	u64 now;

	if (unlikely(!follows(lt, mode, prev, state))) {
		if (lt_knows(lt, mode, next))
			known_in(lt, next);
		return;
	}
	now = lt_clock();
	if (likely(prev->pid)) {
		if (likely(!preempt && state && !(state & TASK_DEAD) && lt_compat_task_blocked(prev))) {
			struct lt_kframe at;

			lt_sleep_and_switch(lt, prev, state, lt_arch_caller(&at), next, now);
			lt_cost(lt, now);
			return;
		}
		if (unlikely(state & TASK_DEAD))
			lt_task_dead(lt, prev, now);
		else
			lt_preempted(lt, prev, now);
	}
	if (likely(next->pid))
		lt_switch_in(lt, next, now);
	lt_cost(lt, now);
}

static void on_sched_wakeup(void *data, struct task_struct *p)
{
	struct lt *lt = data;

	if (lt_knows(lt, lt_mode(lt), p) && p != current)
		lt_wake(lt, p);
}

static void on_sched_wakeup_new(void *data, struct task_struct *p)
{
	struct lt *lt = data;

	if (lt_wants(lt, lt_mode(lt), p))
		lt_wake_new(lt, p);
}

/* In the waker, p's pi_lock held: whatever becomes of the wake-up, and wherever. notrace: as above. */
static notrace void on_sched_waking(void *data, struct task_struct *p)
{
	struct lt *lt = data;
	struct lt_kframe at;
	u64 now;

	if (p == current || !lt_knows(lt, lt_mode(lt), p))
		return;
	now = lt_clock();
	lt_waking(lt, p, lt_arch_caller(&at));
	lt_cost(lt, now);
}

const struct lt_hook_probe lt_hook_waking = { .symbol = "sched_waking", .tracepoint = on_sched_waking };

const struct lt_hook_set lt_hook_tracepoints = {
	.name = "tracepoint",
	.probe = {
		{ .symbol = "sched_switch", .tracepoint = on_sched_switch },
		{ .symbol = "sched_wakeup", .tracepoint = on_sched_wakeup },
		{ .symbol = "sched_wakeup_new", .tracepoint = on_sched_wakeup_new },
	},
};

/* --- kprobes --- */

/* (rq, p, flags): deactivate_task, dequeue_task and the classes' own. */
static int on_dequeue(struct kprobe *kp, struct pt_regs *regs)
{
	struct lt *lt = lt_kprobe_owner(kp);
	struct task_struct *p = (void *)regs_get_kernel_argument(regs, 1);
	int flags = regs_get_kernel_argument(regs, 2);
	struct lt_kframe at;
	struct lt_capture *c;
	unsigned int state;
	u64 now;

	/* Only current blocks; anything else taken off a runqueue moves or changes. */
	if (!(flags & LT_DEQUEUE_SLEEP) || p != current || !lt_wants(lt, lt_mode(lt), p))
		return 0;
	c = this_cpu_ptr(lt->capture);
	c->sleeper = NULL;
	state = lt_compat_task_state(p);
	if (!state || state & TASK_DEAD)
		return 0;
	now = lt_clock();
	/* There the unwinder knows its way, not a byte further on, where an int3 leaves it */
	at.pc = (unsigned long)kp->addr;
	at.sp = kernel_stack_pointer(regs);
	at.bp = frame_pointer(regs);
	lt_sleep_begin(lt, p, state, &at, now);
	c->sleeper = p;
	c->cost_ns = lt_clock() - now;
	if (lt_cost_sampled(now))
		lt_cost_add(lt, c->cost_ns);
	return 0;
}

/* (rq, p, flags): activate_task, enqueue_task. */
static int on_enqueue(struct kprobe *kp, struct pt_regs *regs)
{
	struct lt *lt = lt_kprobe_owner(kp);
	struct task_struct *p = (void *)regs_get_kernel_argument(regs, 1);
	int flags = regs_get_kernel_argument(regs, 2);

	if (flags & (LT_ENQUEUE_WAKEUP | LT_ENQUEUE_DELAYED) && lt_knows(lt, lt_mode(lt), p))
		lt_wake(lt, p);
	return 0;
}

/* (rq, p, wake_flags, rf): comes for every task that a wake-up puts on a runqueue. */
static int on_ttwu(struct kprobe *kp, struct pt_regs *regs)
{
	struct task_struct *p = (void *)regs_get_kernel_argument(regs, 1);
	struct lt *lt = lt_kprobe_owner(kp);

	if (lt_knows(lt, lt_mode(lt), p))
		lt_wake(lt, p);
	return 0;
}

/*
 * (p): called for a new task that is about to be put on its first runqueue, by
 * wake_up_new_task alone, and unlike that under the runqueue's lock: a kprobe
 * that an interrupt can come into would make the kernel skip those in it.
 */
static int on_new_task(struct kprobe *kp, struct pt_regs *regs)
{
	struct task_struct *p = (void *)regs_get_kernel_argument(regs, 0);
	struct lt *lt = lt_kprobe_owner(kp);

	if (lt_wants(lt, lt_mode(lt), p))
		lt_wake_new(lt, p);
	return 0;
}

/*
 * (prev): runs in the task switched to, prev still pinned to this CPU. Where
 * prev blocked, what the hook for that took (the unwind) is no run-queue delay
 * of the next: the kernel's clock for the switch was read before.
 */
static int on_finish_switch(struct kprobe *kp, struct pt_regs *regs)
{
	struct lt *lt = lt_kprobe_owner(kp);
	struct task_struct *prev = (void *)regs_get_kernel_argument(regs, 0);
	struct lt_capture *c = this_cpu_ptr(lt->capture);
	const struct task_struct *sleeper = c->sleeper;
	unsigned int state = lt_compat_task_state(prev);
	enum lt_mode mode = lt_mode(lt);
	u64 from, now;

	c->sleeper = NULL;
	if (unlikely(!follows(lt, mode, prev, state))) {
		if (lt_knows(lt, mode, current))
			known_in(lt, current);
		return 0;
	}
	from = now = lt_clock();
	if (sleeper == prev && lt_compat_task_blocked(prev))
		now -= c->cost_ns;
	if (likely(prev->pid)) {
		if (unlikely(state & TASK_DEAD))
			lt_task_dead(lt, prev, now);
		else if (!lt_compat_task_blocked(prev))
			lt_preempted(lt, prev, now);
	}
	if (likely(current->pid))
		lt_switch_in(lt, current, now);
	lt_cost(lt, from);
	return 0;
}

#define LT_SWITCHES								\
	{ .symbol = "finish_task_switch", .alias = "finish_task_switch.isra.0",	\
	  .kprobe = on_finish_switch },						\
	{ .symbol = "post_init_entity_util_avg", .kprobe = on_new_task }

#define LT_DEQUEUE_CLASSES							\
	{ .symbol = "dequeue_task_fair", .kprobe = on_dequeue },		\
	{ .symbol = "dequeue_task_rt", .kprobe = on_dequeue },			\
	{ .symbol = "dequeue_task_dl", .kprobe = on_dequeue },			\
	{ .symbol = "dequeue_task_stop", .kprobe = on_dequeue },		\
	{ .symbol = "dequeue_task_scx", .kprobe = on_dequeue, .optional = true }

const struct lt_hook_set lt_hook_kprobes[] = {
	{	/* the pair: where the compiler left both out of line in __schedule and ttwu_do_activate */
		.name = "kprobe",
		.probe = {
			{ .symbol = "deactivate_task", .kprobe = on_dequeue },
			{ .symbol = "activate_task", .kprobe = on_enqueue },
			LT_SWITCHES,
		},
	},
	{	/* 7.2 */
		.name = "kprobe",
		.probe = {
			{ .symbol = "dequeue_task", .kprobe = on_dequeue },
			{ .symbol = "enqueue_task", .kprobe = on_enqueue },
			LT_SWITCHES,
		},
	},
	{	/* 6.12: dequeue_task is inlined; delayed wakes come by enqueue_task only */
		.name = "kprobe",
		.probe = {
			LT_DEQUEUE_CLASSES,
			{ .symbol = "enqueue_task", .kprobe = on_enqueue },
			LT_SWITCHES,
		},
	},
	{	/* 5.10, 6.1 */
		.name = "kprobe",
		.probe = {
			LT_DEQUEUE_CLASSES,
			{ .symbol = "ttwu_do_activate", .kprobe = on_ttwu },
			LT_SWITCHES,
		},
	},
	{ .name = NULL },
};
