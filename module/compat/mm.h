/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in <linux/mmap_lock.h> and <linux/sched/mm.h>. */
#ifndef LATTOP_COMPAT_MM_H
#define LATTOP_COMPAT_MM_H

#include <linux/mmap_lock.h>
#include <linux/sched/mm.h>

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

/*
 * mmput(), but the last one leaves the end of the address space to a kernel thread: that waits for
 * all that its program has asked of files and not got yet (exit_aio), for ever where a
 * file system does not answer. Where the kernel has no mmput_async() for modules, the caller is who waits.
 */
static inline void lt_compat_mmput(struct mm_struct *mm)
{
#ifdef LT_HAVE_MMPUT_ASYNC
	mmput_async(mm);
#else
	mmput(mm);
#endif
}

#endif
