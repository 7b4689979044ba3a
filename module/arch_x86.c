// SPDX-License-Identifier: GPL-2.0-only
/*
 * What depends on the architecture, x86-64: registers, the user stack by frame
 * pointer, the kernel stack of a task that is asleep or was stopped by a kprobe.
 * Called by capture.c.
 * A port replaces this file.
 */
#ifndef CONFIG_X86_64
#error "lattop knows x86-64 only: a port gives this file's functions for its architecture"
#endif

#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <asm/syscall.h>
#include <asm/unwind.h>

#include "lattop.h"
#include "row_step.h"

enum {
	/* A frame pointer further than this from sp is not one: main stacks are 8 MiB by default. */
	FP_REACH_BYTES	= 16 << 20,
};

struct frame {
	unsigned long next, ret;
};

/* Page faults are disabled: memory that is not there is an error, not a wait. */
static bool read_frame(unsigned long fp, bool compat, struct frame *f)
{
	if (compat) {
		u32 next, ret;

		if (__get_user(next, (u32 __user *)fp) || __get_user(ret, (u32 __user *)fp + 1))
			return false;
		f->next = next;
		f->ret = ret;
		return true;
	}
	return !__get_user(f->next, (unsigned long __user *)fp) &&
	       !__get_user(f->ret, (unsigned long __user *)fp + 1);
}

/* Where p entered the kernel. p is current, or asleep and cannot leave meanwhile. */
void lt_arch_user_frame(struct task_struct *p, struct lt_uframe *f, u32 *flags)
{
	struct pt_regs *regs = task_pt_regs(p);

	f->pc = regs->ip;
	f->sp = regs->sp;
	f->bp = regs->bp;
	f->exact = LT_ROW_EXACT;
	if (!user_64bit_mode(regs))
		*flags |= LT_TR_COMPAT;
}

/*
 * current's user stack by frame pointer, innermost first. Hook context, page
 * faults disabled. Frames
 * of code built without frame pointers are missed, which is why such a trace
 * is never called complete.
 */
unsigned int lt_arch_stack_user(unsigned long *frames, unsigned int max, u32 *flags)
{
	struct pt_regs *regs = task_pt_regs(current);
	bool compat = !user_64bit_mode(regs);
	unsigned long sp = regs->sp, fp = regs->bp;
	unsigned long word = compat ? sizeof(u32) : sizeof(u64);
	unsigned int n = 0;
	struct frame f;

	*flags |= LT_TR_FP | (compat ? LT_TR_COMPAT : 0);
	if (!max)
		return 0;
	frames[n++] = regs->ip;

	while (fp >= sp && fp - sp < FP_REACH_BYTES && !(fp & (word - 1)) &&
	       fp < TASK_SIZE_MAX - 2 * word) {
		if (!read_frame(fp, compat, &f)) {
			*flags |= LT_TR_USER_FAULT;
			break;
		}
		if (f.ret < PAGE_SIZE || f.ret >= TASK_SIZE_MAX)
			break;
		if (n == max) {
			*flags |= LT_TR_USER_CUT;
			break;
		}
		frames[n++] = f.ret;
		if (f.next <= fp)
			break;
		fp = f.next;
	}
	return n;
}

/* The system call p is in, -1 when it entered the kernel otherwise. */
int lt_arch_syscall(struct task_struct *p)
{
	return syscall_get_nr(p, task_pt_regs(p));
}

/* From regs of current; without: p is asleep, off every CPU, and cannot leave meanwhile. */
unsigned int lt_arch_stack_kernel(struct task_struct *p, struct pt_regs *regs, unsigned long *frames,
				  unsigned int max)
{
	struct unwind_state state;
	unsigned int n = 0;

	for (unwind_start(&state, p, regs, NULL); !unwind_done(&state) && n < max;
	     unwind_next_frame(&state)) {
		unsigned long addr = unwind_get_return_address(&state);

		if (!addr)
			break;
		frames[n++] = addr;
	}
	return n;
}
