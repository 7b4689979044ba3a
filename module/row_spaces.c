// SPDX-License-Identifier: GPL-2.0-only
/*
 * The address spaces that rows are kept for, by mm: made with the first lesson
 * (rows.c), gone with the mm or the module.
 *
 * An MMU notifier ties a space to its mm: it holds the struct, and tells when a
 * mapping goes in which there are rows, which flushes the space; what is still
 * needed is taught again. exec brings a fresh mm and so a fresh space.
 *
 * A program that ends with such a notifier waits for a grace period of SRCU
 * (mn_hlist_release()). So a space has an interval notifier, too, of a byte that
 * is no program's: the kernel tells these of the end first, without that wait,
 * and the other is let go before the kernel comes to it. To remove an interval
 * notifier waits, if anything that it covers is being invalidated, until nothing
 * of the mm is. That is so while a program unmaps all it has at its end, and a
 * live one can have it so for as long as it likes; so one is removed when its mm
 * has ended, and of another at unload alone.
 *
 * Notifiers may be called where nothing may sleep, so they take lt->spaces_lock
 * only and leave freeing to SRCU and the worker: let_go() -> on_free() ->
 * lt_rows_reap().
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "compat/mm.h"
#include "lattop.h"
#include "params.h"
#include "row_space.h"
#include "rows.h"
#include "try_lock.h"

static_assert(sizeof(struct lt_space) <= 4096);

/* Nobody finds it any more. Who makes it so gives the notifier back. */
static bool unhash(struct lt_space *s)
{
	lockdep_assert_held(&s->lt->spaces_lock);
	if (hlist_unhashed(&s->node))
		return false;
	hlist_del_init_rcu(&s->node);
	lt_space_drop_rows(s);
	lt_owner_put(s->lt, s->owner);
	return true;
}

static void let_go(struct lt_space *s)
{
	bool mine;

	spin_lock(&s->lt->spaces_lock);
	mine = unhash(s);
	spin_unlock(&s->lt->spaces_lock);
	if (mine)
		mmu_notifier_put(&s->notifier);
}

/* The last user of the mm is gone. */
static bool on_interval(struct mmu_interval_notifier *mn, const struct mmu_notifier_range *range,
			unsigned long seq)
{
	if (range->event == MMU_NOTIFY_RELEASE)
		let_go(container_of(mn, struct lt_space, end));
	return true;
}

/* The same where the kernel had not entered the interval yet, for another of the mm's was busy. */
static void on_release(struct mmu_notifier *mn, struct mm_struct *mm)
{
	let_go(container_of(mn, struct lt_space, notifier));
}

static bool has_rows_in(const struct lt_space *s, u64 start, u64 end)
{
	u32 i;

	for (i = 0; i < s->n_ranges; i++)
		if (start < s->ranges[i].end && end > s->ranges[i].start)
			return true;
	return false;
}

static int on_invalidate(struct mmu_notifier *mn, const struct mmu_notifier_range *range)
{
	struct lt_space *s = container_of(mn, struct lt_space, notifier);

	if (range->event != MMU_NOTIFY_UNMAP || !READ_ONCE(s->n_ranges))
		return 0;
	spin_lock(&s->lt->spaces_lock);
	if (has_rows_in(s, range->start, range->end))
		lt_space_drop_rows(s);
	spin_unlock(&s->lt->spaces_lock);
	return 0;
}

/* The notifier is not called any more. In a thread of the kernel's, with bottom halves off. */
static void on_free(struct mmu_notifier *mn)
{
	struct lt_space *s = container_of(mn, struct lt_space, notifier);

	spin_lock(&s->lt->spaces_lock);
	list_add_tail(&s->dead_node, &s->lt->dead_spaces);
	spin_unlock(&s->lt->spaces_lock);
}

static const struct mmu_notifier_ops notifier_ops = {
	.release = on_release,
	.invalidate_range_start = on_invalidate,
	.free_notifier = on_free,
};

static const struct mmu_interval_notifier_ops interval_ops = {
	.invalidate = on_interval,
};

/* What __mmput() does behind exit_mmap() */
static bool has_ended(const struct mm_struct *mm)
{
	return !rcu_access_pointer(mm->exe_file);
}

enum whose { OF_ENDED, OF_LIVE_TOO, OF_ALL };

static bool may_go(const struct lt_space *s, enum whose whose)
{
	const struct mm_struct *mm = s->end.mm;

	return !mm || whose == OF_ALL || has_ended(mm) || (whose == OF_LIVE_TOO && atomic_read(&mm->mm_users));
}

/* OF_ENDED: does not wait. */
static void reap(struct lt *lt, enum whose whose)
{
	struct lt_space *s, *next;
	LIST_HEAD(dead);
	LIST_HEAD(left);

	spin_lock(&lt->spaces_lock);
	list_splice_init(&lt->dead_spaces, &dead);
	spin_unlock(&lt->spaces_lock);
	list_for_each_entry_safe(s, next, &dead, dead_node) {
		cond_resched();
		if (!may_go(s, whose)) {
			list_move(&s->dead_node, &left);
			continue;
		}
		if (s->end.mm)
			mmu_interval_notifier_remove(&s->end);
		kvfree_rcu(s, rcu);
		atomic_dec(&lt->nr_notifiers);
	}
	spin_lock(&lt->spaces_lock);
	list_splice(&left, &lt->dead_spaces);
	spin_unlock(&lt->spaces_lock);
}

/* Worker: lets go of the mms that ended. */
void lt_rows_reap(struct lt *lt)
{
	reap(lt, OF_ENDED);
}

/* --- the first lesson --- */

/* How long those that are in a page fault keep the others of their program from one */
#define FAULT_PATIENCE_NS	(20 * NSEC_PER_MSEC)

/* The last byte of what the kernel says has ended when an mm has: no program's, on any machine. */
#define NOBODYS (ULONG_MAX - 1)

/*
 * To register a notifier is to take all locks of the mm's mappings, and one at a time in the whole machine does that.
 * A page fault keeps its mapping locked for as long as a file system takes: so as not to wait for it there, with
 * what others of the machine want, nobody may be in one. mm is locked to write; its unlock lets them in again.
 */
static bool lock_mappings(struct mm_struct *mm)
{
#ifdef CONFIG_PER_VMA_LOCK
	VMA_ITERATOR(all, mm, 0);
	VMA_ITERATOR(again, mm, 0);
	s64 patience_ns = FAULT_PATIENCE_NS;
	struct vm_area_struct *vma;

	for_each_vma(all, vma) {
		cond_resched();
		lt_compat_vma_keep_readers_out(vma);
	}
	smp_mb();	/* who does not see that is seen */
	for_each_vma(again, vma) {
		cond_resched();
		while (lt_compat_vma_is_read(vma))
			if (!lt_try_again(&patience_ns))
				return false;
	}
#endif
	return true;
}

static bool try_to_register(struct lt *lt, struct mm_struct *mm)
{
	if (!mutex_trylock(&lt->register_mutex))
		return false;
	if (lt_compat_mmap_write_trylock(mm))
		return true;
	mutex_unlock(&lt->register_mutex);
	return false;
}

static void unlock_registered(struct lt *lt, struct mm_struct *mm)
{
	mmap_write_unlock(mm);
	mutex_unlock(&lt->register_mutex);
}

/* mm, to write, and its mappings. A program that never lets that be done keeps others' lessons for FAULT_PATIENCE_NS at most. */
static bool lock_to_register(struct lt *lt, struct mm_struct *mm, s64 *patience_ns)
{
	while (!try_to_register(lt, mm))
		if (!lt_try_again(patience_ns))
			return false;
	if (lock_mappings(mm))
		return true;
	unlock_registered(lt, mm);
	return false;
}

/* mm locked to write: nobody else makes another for it. Failed with s->notifier registered, it is on_free()'s. -ENOMEM, -EINTR */
static int publish(struct lt *lt, struct lt_space *s, struct mm_struct *mm)
{
	int err = __mmu_notifier_register(&s->notifier, mm);

	if (err)
		return err;
	atomic_inc(&lt->nr_notifiers);
	if (LT_COMPAT_INTERVALS_CAN_GO) {
		err = mmu_interval_notifier_insert_locked(&s->end, mm, NOBODYS, 1, &interval_ops);
		if (err)
			return err;
	}
	spin_lock(&lt->spaces_lock);
	lt_space_new_generation(s);
	hlist_add_head_rcu(&s->node, lt_space_bucket(lt, mm));
	spin_unlock(&lt->spaces_lock);
	return 0;
}

/* Without rows_mutex: who waits here, for a program's memory or the kernel's locks on it, keeps no other program's lesson. */
struct lt_space *lt_space_of(struct lt *lt, u16 owner, struct mm_struct *mm, s64 *patience_ns)
{
	int err = -EAGAIN;
	struct lt_space *s, *others = lt_space_held(lt, mm);

	if (others)
		return others;
	s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	if (!s)
		return ERR_PTR(-ENOMEM);
	s->lt = lt;
	s->mm = mm;
	s->used = jiffies;
	s->owner = lt_owner_get_again(lt, owner);
	s->notifier.ops = &notifier_ops;
	if (lock_to_register(lt, mm, patience_ns)) {
		others = lt_space_held(lt, mm);	/* another lesson's, by now */
		err = others ? 0 : publish(lt, s, mm);
		unlock_registered(lt, mm);
	}
	if (!err && !others)
		return s;
	lt_owner_put(lt, s->owner);
	if (s->notifier.mm)
		mmu_notifier_put(&s->notifier);
	else
		kfree(s);
	return others ?: ERR_PTR(err);
}

/* --- load, unload --- */

u64 lt_rows_bytes(struct lt *lt)
{
	return lt->row_bytes + atomic_read(&lt->nr_notifiers) * sizeof(struct lt_space);
}

int lt_rows_init(struct lt *lt)
{
	lt->spaces = kvcalloc(1UL << LT_SPACE_HASH_BITS, sizeof(*lt->spaces), GFP_KERNEL);
	if (!lt->spaces)
		return -ENOMEM;
	spin_lock_init(&lt->spaces_lock);
	mutex_init(&lt->rows_mutex);
	mutex_init(&lt->register_mutex);
	INIT_LIST_HEAD(&lt->dead_spaces);
	lt->max_rows = lt_params.max_rows;
	return 0;
}

/* How long an unload looks whether programs that are ending have ended */
enum { PATIENCE = HZ / 5 };

/* One that is hashed, no more; NULL: there is none. */
static struct lt_space *take_one(struct lt *lt, unsigned int bucket)
{
	struct lt_space *s;

	spin_lock(&lt->spaces_lock);
	s = hlist_entry_safe(lt->spaces[bucket].first, struct lt_space, node);
	if (s)
		unhash(s);
	spin_unlock(&lt->spaces_lock);
	return s;
}

/* Nothing walks and nothing teaches any more. */
void lt_rows_exit(struct lt *lt)
{
	unsigned long until = jiffies + PATIENCE;
	enum whose whose = OF_LIVE_TOO;
	struct lt_space *s;
	unsigned int i;

	for (i = 0; i < 1U << LT_SPACE_HASH_BITS; i++) {
		cond_resched();
		while ((s = take_one(lt, i)))
			mmu_notifier_put(&s->notifier);
	}
	while (atomic_read(&lt->nr_notifiers)) {
		mmu_notifier_synchronize();
		reap(lt, whose);
		usleep_range(500, 1000);
		if (whose == OF_LIVE_TOO && atomic_read(&lt->nr_notifiers) && time_after(jiffies, until)) {
			/* Not for all of them: before it unmaps, one may wait for a file system for ever */
			whose = OF_ALL;
			pr_info("lattop: of %d programs that are ending the unload waits for those that are unmapping\n",
				atomic_read(&lt->nr_notifiers));
		}
	}
	synchronize_rcu();	/* on_free(), to its last instruction */
	kvfree(lt->spaces);
}
