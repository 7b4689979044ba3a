/* SPDX-License-Identifier: GPL-2.0-only */
/* What struct task_struct and mm_struct call things on each kernel. */
#ifndef LATTOP_COMPAT_TASK_H
#define LATTOP_COMPAT_TASK_H

#include <linux/cred.h>
#include <linux/sched.h>
#include <linux/sched/coredump.h>
#include <linux/sched/signal.h>
#include <linux/user_namespace.h>
#include <linux/version.h>
#ifdef LT_HAVE_EXEC_STATE
#include <linux/sched/exec_state.h>
#endif

/* task->state until 5.14, then task->__state. */
static inline unsigned int lt_compat_task_state(const struct task_struct *p)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 14, 0)
	return READ_ONCE(p->state);
#else
	return READ_ONCE(p->__state);
#endif
}

#define LT_COMPAT_SLEEPS_DELAYED (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0))

/* From 6.12: blocked, and left on the runqueue, where it may be moved to another like any that waits. */
static inline bool lt_compat_task_delayed(const struct task_struct *p)
{
#if LT_COMPAT_SLEEPS_DELAYED
	return READ_ONCE(p->se.sched_delayed);
#else
	return false;
#endif
}

/*
 * Off the runqueue, or (from 6.12, EEVDF's delayed dequeue) still on it but
 * blocked all the same.
 */
static inline bool lt_compat_task_blocked(const struct task_struct *p)
{
	return lt_compat_task_delayed(p) || !READ_ONCE(p->on_rq);
}

/* When p was put on its runqueue, by that one's clock (local_clock's); 0: not known. Runqueue lock held. */
static inline u64 lt_compat_task_queued(const struct task_struct *p)
{
#ifdef CONFIG_SCHED_INFO
	return p->sched_info.last_queued;
#else
	return 0;
#endif
}

static inline bool lt_compat_task_on_cpu(const struct task_struct *p)
{
#ifdef CONFIG_SMP
	return READ_ONCE(p->on_cpu);
#else
	return p == current;
#endif
}

/* The caller sees to it that p cannot change its credentials meanwhile. */
static inline const struct cred *lt_compat_task_cred(const struct task_struct *p)
{
	return rcu_dereference_protected(p->real_cred, true);
}

/*
 * May p be read by whose ids match? Kept in its mm, and without one in a bit
 * of the task where point releases have it; from 7.x on in an exec_state that
 * outlives the mm. The caller keeps p from exec, or holds rcu_read_lock and
 * task_lock. *ns: whose capabilities overrule it.
 */
static inline bool lt_compat_dumpable(struct task_struct *p, struct user_namespace **ns)
{
#if defined(LT_HAVE_EXEC_STATE)
	struct task_exec_state *state = rcu_dereference_check(p->exec_state, true);

	*ns = state ? state->user_ns : &init_user_ns;
	return state && READ_ONCE(state->dumpable) == TASK_DUMPABLE_OWNER;
#else
	*ns = p->mm ? p->mm->user_ns : &init_user_ns;
	if (p->mm)
		return get_dumpable(p->mm) == SUID_DUMP_USER;
#if defined(LT_HAVE_USER_DUMPABLE)
	return p->user_dumpable;
#else
	return false;
#endif
#endif
}

/* Of a task that has let go of its mm: was it dumpable to the end? Where the kernel cannot say, nothing speaks against it. */
static inline bool lt_compat_left_dumpable(struct task_struct *p)
{
#if defined(LT_HAVE_EXEC_STATE) || defined(LT_HAVE_USER_DUMPABLE)
	struct user_namespace *ns;

	return lt_compat_dumpable(p, &ns);
#else
	return true;
#endif
}

/* Not a program: no user stack of its own. vhost's threads (PF_USER_WORKER) from 6.4 on. */
static inline bool lt_compat_no_user(const struct task_struct *p)
{
#ifdef PF_USER_WORKER
	if (p->flags & PF_USER_WORKER)
		return true;
#endif
	return !p->mm || p->flags & (PF_KTHREAD | PF_IO_WORKER);
}

/*
 * Is a thread of p's group in execve, waiting for the others to die? It will
 * take over the leader's pid and start time. group_exec_task was part of
 * group_exit_task until 5.17.
 */
static inline bool lt_compat_group_execs(const struct task_struct *p)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 17, 0)
	return READ_ONCE(p->signal->group_exit_task);
#else
	return READ_ONCE(p->signal->group_exec_task);
#endif
}

/* Bits of p's state that mean that it is blocked, and not being born or woken. */
static inline bool lt_compat_state_sleeps(unsigned int state)
{
	return state && !(state & (TASK_DEAD | TASK_NEW | TASK_WAKING));
}

#endif
