// SPDX-License-Identifier: GPL-2.0-only
/*
 * LT_IOC_REGS: where a task that is asleep entered the kernel. Called by proc.c
 * in process context, for `lattop stack`: /proc/PID/syscall tells pc and sp,
 * but not bp, by which much code finds its caller.
 *
 * The registers are read under the shard lock with the task asleep: its wake
 * passes through a hook that wants the same lock, so it can neither run nor
 * lose its stack meanwhile (seed.c). A task without a record may be doing
 * either, and is not looked at.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/sched/task.h>
#include <linux/uaccess.h>

#include "arch_x86.h"
#include "compat/task.h"
#include "lattop.h"
#include "rows.h"
#include "security.h"
#include "tasks.h"
#include "user_args.h"

/* shard->lock held */
static bool asleep(struct lt_shard *shard, struct task_struct *p)
{
	struct lt_task *t = lt_task_find(shard, p->pid, p->start_boottime);

	return t && t->asleep && !lt_compat_task_on_cpu(p);
}

static int read_registers(struct lt *lt, struct task_struct *p, struct lt_regs *regs)
{
	struct lt_shard *shard = lt_shard_of(lt, p->pid);
	struct lt_uframe f;
	int err = -EAGAIN;
	u32 flags = 0;

	raw_spin_lock_irq(&shard->lock);
	if (!asleep(shard, p))
		goto out;
	err = -EINVAL;
	if (lt_compat_no_user(p))
		goto out;
	err = -EAGAIN;
	if (p->in_execve)	/* the registers are the old program's, the memory the new one's */
		goto out;
	lt_arch_user_frame(p, &f, &flags);
	err = -EOPNOTSUPP;
	if (flags & LT_TR_COMPAT)
		goto out;
	regs->pc = f.pc;
	regs->sp = f.sp;
	regs->bp = f.bp;
	regs->start_ns = p->start_boottime;
	regs->exec_id = (u32)p->self_exec_id;
	regs->syscall = lt_arch_syscall(p);
	regs->switches = p->nvcsw + p->nivcsw;
	err = 0;
out:
	raw_spin_unlock_irq(&shard->lock);
	return err;
}

long lt_registers(struct lt *lt, struct file *file, void __user *arg)
{
	struct lt_regs regs;
	struct task_struct *p;
	int err;

	if (!lt_may_resolve(file))
		return -EPERM;
	err = lt_copy_args(&regs, sizeof(regs), offsetofend(struct lt_regs, bp), arg);
	if (err)
		return err;
	p = lt_get_task(regs.pid);
	if (!p)
		return -ESRCH;
	err = read_registers(lt, p, &regs);
	put_task_struct(p);
	if (err)
		return err;
	return copy_to_user(arg, &regs, min_t(u32, regs.size, sizeof(regs))) ? -EFAULT : 0;
}
