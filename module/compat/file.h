/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in <linux/fs.h>. */
#ifndef LATTOP_COMPAT_FILE_H
#define LATTOP_COMPAT_FILE_H

#include <linux/fs.h>

/*
 * The path by which a program has mapped the file, as /proc/PID/maps says it. Where file systems lie on
 * others (overlayfs, FUSE), what is mapped is a file of the one below from 6.7 on, whose own path is not the program's to know.
 */
static inline const struct path *lt_compat_user_path(const struct file *file)
{
#ifdef LT_HAVE_FILE_USER_PATH
	return file_user_path((struct file *)file);
#else
	return &file->f_path;
#endif
}

#endif
