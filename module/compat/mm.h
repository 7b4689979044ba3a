/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in <linux/mmap_lock.h>. */
#ifndef LATTOP_COMPAT_MM_H
#define LATTOP_COMPAT_MM_H

#include <linux/mmap_lock.h>

/* mmap_write_trylock() went in 6.12; mmap_write_unlock() goes with it. */
static inline bool lt_compat_mmap_write_trylock(struct mm_struct *mm)
{
#ifdef LT_HAVE_MMAP_WRITE_TRYLOCK
	return mmap_write_trylock(mm);
#else
	if (!down_write_trylock(&mm->mmap_lock))
		return false;
#ifdef LT_HAVE_MM_LOCK_SEQCOUNT
	mm_lock_seqcount_begin(mm);
#endif
	return true;
#endif
}

#endif
