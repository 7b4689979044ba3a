/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in <linux/mmap_lock.h> and <linux/sched/mm.h>. */
#ifndef LATTOP_COMPAT_MM_H
#define LATTOP_COMPAT_MM_H

#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/sched/mm.h>
#include <linux/version.h>

/*
 * Whether an interval notifier can always be removed when its mm has ended. Before 5.13 not beside one of a driver's (i915's, of a program's own
 * memory) that cannot do at once what the OOM killer asks for: the kernel goes on to count who it was that asked. And before
 * 5.15 the executable of a live mm can be missing, by which we know one that has ended.
 */
#define LT_COMPAT_INTERVALS_CAN_GO (LINUX_VERSION_CODE >= KERNEL_VERSION(5, 15, 0))

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

#ifdef CONFIG_PER_VMA_LOCK
/*
 * What vma_start_write() does, in two steps, for it waits for who reads. mm is locked to write, whose unlock ends it.
 * From now on nobody begins to; behind an smp_mb(), whether somebody has begun before and is not through.
 */
static inline void lt_compat_vma_keep_readers_out(struct vm_area_struct *vma)
{
#ifdef LT_HAVE_MM_LOCK_SEQCOUNT
	WRITE_ONCE(vma->vm_lock_seq, vma->vm_mm->mm_lock_seq.sequence);
#else
	WRITE_ONCE(vma->vm_lock_seq, vma->vm_mm->mm_lock_seq);
#endif
}

static inline bool lt_compat_vma_is_read(struct vm_area_struct *vma)
{
#if defined(VM_REFCNT_EXCLUDE_READERS_FLAG) || defined(VMA_LOCK_OFFSET)	/* since 7.0, since 6.15 */
	return refcount_read(&vma->vm_refcnt) > 1;
#else
	return rwsem_is_locked(&vma->vm_lock->lock);
#endif
}
#endif

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
