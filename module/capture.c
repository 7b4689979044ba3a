// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trace of a sleep: kernel frames by the kernel's own unwinder, user frames
 * by learned rows or frame pointers. lt_capture_current runs in hooks, with the
 * sleeper's shard lock held; lt_capture_asleep at load, for a task that is asleep
 * (seed.c says why its stack holds still).
 *
 * A kernel stack is unwound from where the hook was called, or where a kprobe
 * stopped the sleeper. What lies above __schedule differs by hook and kernel
 * and says nothing: the trace begins with __schedule's caller. Where __schedule
 * lies is asked of kprobes once, at load; a kernel that will not say gets
 * untrimmed traces.
 */
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/uaccess.h>

#include "arch_x86.h"
#include "compat/task.h"
#include "lattop.h"
#include "params.h"
#include "rows.h"

/* Drops frames up to and including those of a function of the scheduler's. */
static void trim(struct lt *lt, struct lt_capture *c, unsigned int n, const struct lt_text *past)
{
	unsigned int i, skip = 0;

	for (i = 0; i < n && i < LT_SKIP_FRAMES; i++) {
		if (c->frames[i] > past->start && c->frames[i] <= past->end)
			skip = i + 1;
		else if (skip)
			break;
	}
	c->first = skip;
	c->nr_kernel = n - skip;
	if (c->nr_kernel > lt->kernel_depth) {
		c->nr_kernel = lt->kernel_depth;
		c->flags |= LT_TR_KERNEL_CUT;
	}
}

/* Counts what is not whole about a sleep's trace. */
void lt_capture_lose(struct lt *lt, u32 flags)
{
	flags &= lt->counted_flags;
	if (flags & LT_TR_KERNEL_CUT)
		lt_lose(lt, LT_LOST_kernel_cut);
	if (flags & LT_TR_USER_CUT)
		lt_lose(lt, LT_LOST_user_cut);
	if (flags & LT_TR_USER_FAULT)
		lt_lose(lt, LT_LOST_user_fault);
	if (flags & LT_TR_MISS)
		lt_lose(lt, LT_LOST_user_miss);
	if (flags & LT_TR_CANNOT)
		lt_lose(lt, LT_LOST_user_cannot);
}

/* By learned rows where there are any for this address space, else by frame pointer. */
static void capture_user(struct lt *lt, struct lt_capture *c)
{
	unsigned long *frames = &c->frames[c->first + c->nr_kernel];
	struct lt_space *space = lt_space_find(lt, current->mm);
	struct lt_uframe f;

	lt_arch_user_frame(current, &f, &c->flags);
	if (!lt->user_depth) {
		c->flags |= LT_TR_USER_CUT;
		c->user.known = !(c->flags & LT_TR_COMPAT);
		c->user.n_slots = 0;
		c->user.n_pointers = 0;
		return;
	}
	pagefault_disable();
	if (space && !(c->flags & LT_TR_COMPAT))
		c->nr_user = lt_rows_walk_current(space, &f, frames, lt->user_depth, &c->flags, &c->user);
	else
		c->nr_user = lt_arch_stack_user(frames, lt->user_depth, &c->flags);
	pagefault_enable();
	if (lt_resolved(lt) && (c->flags & LT_TR_MISS || (!space && !(c->flags & LT_TR_COMPAT))))
		lt_miss(lt, current, &f);
}

/* The kernel part of a trace. Not memcpy: what it thinks of sizes it would print, and hooks may not. */
void lt_capture_kernel_of(struct lt_capture *c, const struct lt_trace *tr)
{
	unsigned int i;

	c->first = 0;
	c->nr_kernel = tr->nr_kernel;
	c->flags = tr->flags & LT_TR_KERNEL_CUT;
	for (i = 0; i < tr->nr_kernel; i++)
		c->frames[i] = tr->frames[i];
}

static void begin(struct lt_capture *c, u32 flags)
{
	c->flags = flags;
	c->nr_user = 0;
	c->syscall = -1;
}

/* In execve the registers are the old program's, the memory already the new one's. */
static bool no_program(const struct task_struct *p)
{
	return lt_compat_no_user(p) || p->in_execve;
}

/* What current does in user space, if it is there for itself. */
static void capture_program(struct lt *lt, struct lt_capture *c, bool interrupt)
{
	if (interrupt || no_program(current)) {
		c->flags |= LT_TR_NO_USER | LT_TR_COMPLETE;
		return;
	}
	c->syscall = lt_arch_syscall(current);
	capture_user(lt, c);
}

/* *at: where current's kernel stack begins, up to a function of the scheduler's; or kernel: a trace with the kernel frames it has. */
static void capture_current(struct lt *lt, struct lt_capture *c, const struct lt_kframe *at,
			    const struct lt_trace *kernel, const struct lt_text *past)
{
	begin(c, 0);
	c->user.known = false;
	if (kernel) {
		lt_capture_kernel_of(c, kernel);
	} else {
		c->kernel.generation = atomic_read(&lt->kernel_generation);	/* before the walk */
		trim(lt, c, lt_arch_stack_kernel(at, c->frames, LT_SKIP_FRAMES + lt->kernel_depth + 1,
						 lt->memo_pool.max ? &c->kernel : NULL), past);
	}
	capture_program(lt, c, false);
}

/* Where current goes to sleep. */
void lt_capture_current(struct lt *lt, struct lt_capture *c, const struct lt_kframe *at,
			const struct lt_trace *kernel)
{
	capture_current(lt, c, at, kernel, &lt->schedule);
}

/* Where current, and no interrupt that it is in, wakes somebody. */
void lt_capture_waker(struct lt *lt, struct lt_capture *c, const struct lt_kframe *at,
		      const struct lt_trace *kernel)
{
	capture_current(lt, c, at, kernel, &lt->ttwu);
}

/*
 * From where an interrupt or a softirq wakes somebody; false: that is current's own
 * doing. An interrupt's stack ends where it came in. One that came out of user mode
 * in a softirq shows by that the task is in no system call; as does a softirq that the
 * task runs by itself in an exception, which nothing tells from it (docs/security.md).
 */
bool lt_capture_interrupt(struct lt *lt, struct lt_capture *c, const struct lt_kframe *at)
{
	bool interrupt = hardirq_count() || !current->pid;
	bool came_in = !lt_compat_no_user(current);	/* where the walk does not tell: a thread of the kernel has no registers at its stack's end */
	unsigned int n, max = LT_SKIP_FRAMES + lt->kernel_depth + 1;

	begin(c, 0);
	n = lt_arch_stack_interrupt(at, c->frames, max, &came_in);
	interrupt |= came_in || (!lt_compat_no_user(current) && lt_arch_syscall(current) < 0);
	trim(lt, c, n, &lt->ttwu);
	capture_program(lt, c, interrupt);
	return interrupt;
}

void lt_capture_asleep(struct lt *lt, struct lt_capture *c, struct task_struct *p)
{
	struct lt_uframe f;
	unsigned int n;

	begin(c, LT_TR_SEEDED);
	n = lt_arch_stack_asleep(p, c->frames, LT_SKIP_FRAMES + lt->kernel_depth + 1);
	trim(lt, c, n, &lt->schedule);
	if (no_program(p)) {
		c->flags |= LT_TR_NO_USER | LT_TR_COMPLETE;
		return;
	}
	c->syscall = lt_arch_syscall(p);
	lt_arch_user_frame(p, &f, &c->flags);
	if (lt->user_depth)
		c->frames[c->first + c->nr_kernel + c->nr_user++] = f.pc;
}

/* Finds a function's text: a disabled kprobe on it has its address, %pS its size. */
static void find_text(struct lt_text *found, const char * const names[], int n)
{
	char text[KSYM_SYMBOL_LEN];
	unsigned long offset, size;
	const char *plus;
	int i;

	for (i = 0; i < n; i++) {
		struct kprobe kp = { .symbol_name = names[i], .flags = KPROBE_FLAG_DISABLED };

		if (register_kprobe(&kp))
			continue;
		snprintf(text, sizeof(text), "%pS", kp.addr);
		plus = strrchr(text, '+');
		if (plus && sscanf(plus, "+0x%lx/0x%lx", &offset, &size) == 2) {
			found->start = (unsigned long)kp.addr - offset;
			found->end = found->start + size;
		}
		unregister_kprobe(&kp);
		break;
	}
	if (!found->end)
		pr_info("lattop: %s not found: traces begin with the scheduler's own frames\n", names[0]);
}

static_assert(LT_SHAPE_KERNEL >= LT_SKIP_FRAMES + LT_KERNEL_DEPTH_MAX + 1);

int lt_capture_init(struct lt *lt)
{
	static const char * const schedule[] = { "__schedule", "__schedule.constprop.0", "__schedule.isra.0" };
	static const char * const ttwu[] = { "try_to_wake_up" };

	find_text(&lt->schedule, schedule, ARRAY_SIZE(schedule));
	if (lt_params.wakers)
		find_text(&lt->ttwu, ttwu, ARRAY_SIZE(ttwu));
	lt->capture = __alloc_percpu(sizeof(struct lt_capture), __alignof__(struct lt_capture));
	return lt->capture ? 0 : -ENOMEM;
}

void lt_capture_exit(struct lt *lt)
{
	free_percpu(lt->capture);
}
