/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sched_switch probe's prototype. From 5.18 on it is given the state prev
 * blocks with; before, that is prev's state at that moment.
 */
#ifndef LATTOP_COMPAT_SCHED_SWITCH_H
#define LATTOP_COMPAT_SCHED_SWITCH_H

#include <linux/version.h>

#include "task.h"

#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 18, 0)
#define LT_COMPAT_SCHED_SWITCH(name)						\
	name(void *data, bool preempt, struct task_struct *prev,		\
	     struct task_struct *next, unsigned int prev_state)
#define lt_compat_prev_state(prev) prev_state
#else
#define LT_COMPAT_SCHED_SWITCH(name)						\
	name(void *data, bool preempt, struct task_struct *prev,		\
	     struct task_struct *next)
#define lt_compat_prev_state(prev) lt_compat_task_state(prev)
#endif

#endif
