/* SPDX-License-Identifier: GPL-2.0-only */
/* eventfd_signal adds 1 and takes no count from 6.8 on. */
#ifndef LATTOP_COMPAT_EVENTFD_H
#define LATTOP_COMPAT_EVENTFD_H

#include <linux/eventfd.h>
#include <linux/version.h>

static inline void lt_compat_eventfd_signal(struct eventfd_ctx *ctx)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
	eventfd_signal(ctx, 1);
#else
	eventfd_signal(ctx);
#endif
}

#endif
