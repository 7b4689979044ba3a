/* SPDX-License-Identifier: GPL-2.0-only */
/* PDE_DATA became pde_data in 5.17. */
#ifndef LATTOP_COMPAT_PROC_H
#define LATTOP_COMPAT_PROC_H

#include <linux/proc_fs.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 17, 0)
#define pde_data(inode) PDE_DATA(inode)
#endif

#endif
