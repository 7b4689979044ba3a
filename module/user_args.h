/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ioctls are told: a struct that begins with its size, and a task by its
 * pid. Called by proc.c, teach.c and registers.c in process context.
 */
#ifndef LATTOP_USER_ARGS_H
#define LATTOP_USER_ARGS_H

#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

/*
 * A struct of room bytes, of which callers built against an older header know
 * the first `least` at least. Its size, the first member, is the one that was
 * checked, whatever another thread has stored there since.
 */
static inline int lt_copy_args(void *to, size_t room, size_t least, const void __user *from)
{
	u32 size;
	int err;

	if (get_user(size, (const u32 __user *)from))
		return -EFAULT;
	if (size < least || size > PAGE_SIZE)
		return -EINVAL;
	err = copy_struct_from_user(to, room, from, size);
	*(u32 *)to = size;
	return err;
}

/* In the caller's pid namespace; to be put. NULL: there is none. */
static inline struct task_struct *lt_get_task(u32 nr)
{
	struct pid *pid = find_get_pid(nr);
	struct task_struct *p = get_pid_task(pid, PIDTYPE_PID);

	put_pid(pid);
	return p;
}

#endif
