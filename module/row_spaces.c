// SPDX-License-Identifier: GPL-2.0-only
/*
 * The address spaces that rows are kept for, by mm: made with the first lesson
 * (rows.c), gone with the mm or the module.
 *
 * An MMU notifier ties a space to its mm: it holds the struct, tells when the
 * mm ends, and when a mapping goes in which there are rows, which flushes the
 * space; what is still needed is taught again. Notifiers may be called where
 * nothing may sleep, so they take lt->spaces_lock only and leave freeing to
 * RCU and the worker. exec brings a fresh mm and so a fresh space.
 */
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "compat/mm.h"
#include "lattop.h"
#include "params.h"
#include "row_space.h"
#include "rows.h"
#include "try_lock.h"

static_assert(sizeof(struct lt_space) <= 4096);

static void unhash(struct lt_space *s)
{
	lockdep_assert_held(&s->lt->spaces_lock);
	if (hlist_unhashed(&s->node))
		return;
	hlist_del_init_rcu(&s->node);
	lt_space_drop_rows(s);
	s->lt->nr_spaces--;
	lt_owner_put(s->lt, s->owner);
	list_add_tail(&s->dead_node, &s->lt->dead_spaces);
}

/* The last user of the mm is gone. */
static void on_release(struct mmu_notifier *mn, struct mm_struct *mm)
{
	struct lt_space *s = container_of(mn, struct lt_space, notifier);

	spin_lock(&s->lt->spaces_lock);
	unhash(s);
	spin_unlock(&s->lt->spaces_lock);
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

static void on_free(struct mmu_notifier *mn)
{
	struct lt_space *s = container_of(mn, struct lt_space, notifier);
	struct lt *lt = s->lt;

	kvfree_rcu(s, rcu);
	atomic_dec(&lt->nr_notifiers);
}

static const struct mmu_notifier_ops notifier_ops = {
	.release = on_release,
	.invalidate_range_start = on_invalidate,
	.free_notifier = on_free,
};

/* Worker: lets go of the mms that ended. */
void lt_rows_reap(struct lt *lt)
{
	struct lt_space *s, *next;
	LIST_HEAD(dead);

	spin_lock(&lt->spaces_lock);
	list_splice_init(&lt->dead_spaces, &dead);
	spin_unlock(&lt->spaces_lock);
	list_for_each_entry_safe(s, next, &dead, dead_node)
		mmu_notifier_put(&s->notifier);
}

/* --- the first lesson --- */

/* mm locked to write: nobody else makes another for it. */
static int publish(struct lt *lt, struct lt_space *s, struct mm_struct *mm)
{
	int err = __mmu_notifier_register(&s->notifier, mm);

	if (err)
		return err;
	atomic_inc(&lt->nr_notifiers);
	spin_lock(&lt->spaces_lock);
	lt_space_new_generation(s);
	hlist_add_head_rcu(&s->node, lt_space_bucket(lt, mm));
	lt->nr_spaces++;
	spin_unlock(&lt->spaces_lock);
	return 0;
}

/* Without rows_mutex: who waits here, for a program's memory or the kernel's locks on it, keeps no other program's lesson. */
struct lt_space *lt_space_of(struct lt *lt, struct task_struct *p, struct mm_struct *mm)
{
	int err = -EAGAIN, tries = LT_LOCK_TRIES;
	struct lt_space *s, *others = lt_space_held(lt, mm);

	if (others)
		return others;
	s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	if (!s)
		return ERR_PTR(-ENOMEM);
	s->lt = lt;
	s->mm = mm;
	s->used = jiffies;
	s->owner = lt_owner_of(lt, p);
	s->notifier.ops = &notifier_ops;
	if (lt_lock_mm(mm, lt_compat_mmap_write_trylock, &tries)) {
		others = lt_space_held(lt, mm);	/* another lesson's, by now */
		err = others ? 0 : publish(lt, s, mm);
		mmap_write_unlock(mm);
	}
	if (!err && !others)
		return s;
	lt_owner_put(lt, s->owner);
	kfree(s);
	return others ?: ERR_PTR(err);
}

/* --- load, unload --- */

u64 lt_rows_bytes(struct lt *lt)
{
	return lt->row_bytes + lt->nr_spaces * sizeof(struct lt_space);
}

int lt_rows_init(struct lt *lt)
{
	lt->spaces = kvcalloc(1UL << LT_SPACE_HASH_BITS, sizeof(*lt->spaces), GFP_KERNEL);
	if (!lt->spaces)
		return -ENOMEM;
	spin_lock_init(&lt->spaces_lock);
	mutex_init(&lt->rows_mutex);
	INIT_LIST_HEAD(&lt->dead_spaces);
	lt->max_rows = lt_params.max_rows;
	return 0;
}

/* Nothing walks and nothing teaches any more. */
void lt_rows_exit(struct lt *lt)
{
	struct hlist_node *next;
	struct lt_space *s;
	unsigned int i;

	spin_lock(&lt->spaces_lock);
	for (i = 0; i < 1U << LT_SPACE_HASH_BITS; i++)
		hlist_for_each_entry_safe(s, next, &lt->spaces[i], node)
			unhash(s);
	spin_unlock(&lt->spaces_lock);
	lt_rows_reap(lt);
	/* Not a barrier: on_free comes on whichever CPU its mm was let go. It comes with bottom halves off. */
	while (atomic_read(&lt->nr_notifiers)) {
		mmu_notifier_synchronize();
		usleep_range(500, 1000);
	}
	synchronize_rcu();
	kvfree(lt->spaces);
}
