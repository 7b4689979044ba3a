/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flags of enqueue_task and dequeue_task, which no header a module sees has.
 * Values from kernel/sched/sched.h; the load-time self-test and the guest
 * suite are what notices if they move again.
 */
#ifndef LATTOP_COMPAT_SCHED_FLAGS_H
#define LATTOP_COMPAT_SCHED_FLAGS_H

#include <linux/version.h>

enum {
	LT_DEQUEUE_SLEEP	= 0x01,
	LT_ENQUEUE_WAKEUP	= 0x01,
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
	LT_ENQUEUE_DELAYED	= 0x20,
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	LT_ENQUEUE_DELAYED	= 0x200,
#else
	LT_ENQUEUE_DELAYED	= 0,
#endif
};

#endif
