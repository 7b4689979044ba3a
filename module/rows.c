// SPDX-License-Identifier: GPL-2.0-only
/*
 * Learned rows: (address space, pc) -> how to reach the caller. Taught in
 * process context (teach.c); row_walk.c walks by them, in hooks too.
 *
 *	lt->spaces, by mm  ->  struct lt_space  ->  open-addressed table of rows
 *
 * A row is two words, 16 bytes: its key (pc, and whether pc is exact or a
 * return address) and how to step. Hooks read without a lock: interrupts are
 * off, which is an RCU read side. A row is published by storing its key last;
 * replaced by storing its second word; a table that grows or is flushed is
 * replaced whole and freed behind a grace period.
 *
 * An MMU notifier ties a space to its mm: it holds the struct, tells when the
 * mm ends, and when a mapping goes in which there are rows, which flushes the
 * space; what is still needed is taught again. Notifiers may be called where
 * nothing may sleep, so they take lt->spaces_lock only and leave freeing to
 * RCU and the worker. exec brings a fresh mm and so a fresh space.
 *
 * max_rows bounds the rows of all spaces, and a share of it those of one user's.
 * At the limit the space that was used longest ago gives way; at a user's share, of his.
 */
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "compat/mm.h"
#include "lattop.h"
#include "params.h"
#include "rows.h"
#include "try_lock.h"

#ifdef CONFIG_MMU_NOTIFIER

#include "row_space.h"

enum {
	MIN_TABLE_BITS		= 6,
	SLOTS_AT_A_STRETCH	= 1024,
	REBUILDS		= 3,	/* of a table, by other multipliers, for rows that find no place */
};

static_assert(sizeof(struct lt_space) <= 4096);

/* --- tables: spaces_lock held --- */

static size_t table_bytes(u32 bits)
{
	return sizeof(struct lt_row_table) + (sizeof(struct lt_packed_row) << bits);
}

/* What it takes of memory: kmalloc's objects of such sizes are powers of two. */
static size_t held_bytes(const struct lt_row_table *table)
{
	size_t bytes = table_bytes(table->bits);

	return is_vmalloc_addr(table) ? PAGE_ALIGN(bytes) : roundup_pow_of_two(bytes);
}

static struct lt_row_table *table_of(const struct lt_space *s)
{
	return rcu_dereference_protected(s->table, lockdep_is_held(&s->lt->spaces_lock));
}

/* What was remembered of walks in this space is not to be relied on any more. */
static void new_generation(struct lt_space *s)
{
	WRITE_ONCE(s->generation, ++s->lt->row_generations);
}

static void drop_table(struct lt_space *s)
{
	struct lt_row_table *old = table_of(s);

	if (!old)
		return;
	rcu_assign_pointer(s->table, NULL);
	new_generation(s);	/* behind that: who reads the new one finds no old rows */
	s->lt->nr_rows -= old->nr;
	lt_owner_uncharge(s->lt, s->owner, LT_HELD_rows, old->nr);
	s->lt->row_bytes -= held_bytes(old);
	s->n_ranges = 0;
	kvfree_rcu(old, rcu);
}

/*
 * There is room: at most three quarters of a table are used. False where there is none near the row's place, which comes to pass once
 * in thousands of tables of 200,000 rows.
 */
static bool put_row(struct lt_space *s, struct lt_row_table *table, u64 key, u64 how)
{
	u32 mask = (1U << table->bits) - 1, i = lt_row_place(table, key), left = MAX_PLACES;

	while (table->rows[i].key && table->rows[i].key != key) {
		if (!--left)
			return false;
		i = (i + 1) & mask;
	}
	if (table->rows[i].key) {
		if (table->rows[i].how == how)
			return true;
		/* before: a walk by the other row is not what a memo says that was made by this one; behind: nor the other way round */
		new_generation(s);
		WRITE_ONCE(table->rows[i].how, how);
		new_generation(s);
		return true;
	}
	WRITE_ONCE(table->rows[i].how, how);
	/* the key last: find_row's acquire */
	smp_store_release(&table->rows[i].key, key);
	table->nr++;
	return true;
}

static bool has_room(const struct lt_row_table *table, u32 more)
{
	return table && table->nr + more <= (3U << table->bits) / 4;
}

/* Bytes between the two, 0 where they touch. */
static u64 distance(const struct lt_row_range *a, const struct lt_row_range *b)
{
	if (a->end < b->start)
		return b->start - a->end;
	return b->end < a->start ? a->start - b->end : 0;
}

/* Ranges are few and long-lived; past MAX_RANGES the nearest one is stretched. */
static void cover(struct lt_space *s, const struct lt_row_range *r)
{
	struct lt_row_range *nearest = s->ranges;
	u32 i;

	for (i = 1; i < s->n_ranges; i++)
		if (distance(&s->ranges[i], r) < distance(nearest, r))
			nearest = &s->ranges[i];
	if (!s->n_ranges || (distance(nearest, r) && s->n_ranges < MAX_RANGES)) {
		s->ranges[s->n_ranges++] = *r;
		return;
	}
	nearest->start = min(nearest->start, r->start);
	nearest->end = max(nearest->end, r->end);
}

/* --- the mm's life --- */

static void unhash(struct lt_space *s)
{
	lockdep_assert_held(&s->lt->spaces_lock);
	if (hlist_unhashed(&s->node))
		return;
	hlist_del_init_rcu(&s->node);
	drop_table(s);
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
		drop_table(s);
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

/* --- teaching --- */

/* mm locked to write: nobody else makes another for it. */
static int publish(struct lt *lt, struct lt_space *s, struct mm_struct *mm)
{
	int err = __mmu_notifier_register(&s->notifier, mm);

	if (err)
		return err;
	atomic_inc(&lt->nr_notifiers);
	spin_lock(&lt->spaces_lock);
	new_generation(s);
	hlist_add_head_rcu(&s->node, lt_space_bucket(lt, mm));
	lt->nr_spaces++;
	spin_unlock(&lt->spaces_lock);
	return 0;
}

/* Without rows_mutex: who waits here, for a program's memory or the kernel's locks on it, keeps no other program's lesson. */
static struct lt_space *space_of(struct lt *lt, struct task_struct *p, struct mm_struct *mm)
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

/* --- rows: lt->rows_mutex held --- */

/* Drops the rows of the space used longest ago, other than keep, of its owner or of all; false when there is none. */
static bool evict_one(struct lt *lt, const struct lt_space *keep, bool of_owner)
{
	struct lt_space *s, *oldest = NULL;
	unsigned int i;

	spin_lock(&lt->spaces_lock);
	for (i = 0; i < 1U << LT_SPACE_HASH_BITS; i++)
		hlist_for_each_entry(s, &lt->spaces[i], node)
			if (s != keep && rcu_access_pointer(s->table) &&
			    (!of_owner || s->owner == keep->owner) &&
			    (!oldest || time_before(READ_ONCE(s->used), READ_ONCE(oldest->used))))
				oldest = s;
	if (oldest)
		drop_table(oldest);
	spin_unlock(&lt->spaces_lock);
	return oldest;
}

/* What finds no place in the new table, a quarter full, is not kept: nr tells. */
static void copy_slots(struct lt_space *s, struct lt_row_table *to, const struct lt_row_table *from, u32 first, u32 end)
{
	u32 i;

	for (i = first; i < end; i++)
		if (from->rows[i].key)
			put_row(s, to, from->rows[i].key, from->rows[i].how);
}

static void replaced(struct lt *lt, struct lt_space *s, struct lt_row_table *old, const struct lt_row_table *new)
{
	u32 gone = old->nr - new->nr;

	if (unlikely(gone)) {
		new_generation(s);
		lt->nr_rows -= gone;
		lt_owner_uncharge(lt, s->owner, LT_HELD_rows, gone);
		lt_lose_many(lt, LT_LOST_row_limit, gone);
	}
	lt->row_bytes -= held_bytes(old);
	kvfree_rcu(old, rcu);
}

/*
 * Sees to room for more rows in s's table; who calls looks again whether there is. Copied in stretches: meanwhile
 * programs that unmap something have the lock. Only teaching adds rows and makes tables, under rows_mutex; one that
 * was dropped between two stretches is not to be touched any more.
 */
static int make_room(struct lt *lt, struct lt_space *s, u32 more)
{
	struct lt_row_table *old, *new;
	u32 nr, slots, first = 0, bits = MIN_TABLE_BITS;
	bool there, last;

	spin_lock(&lt->spaces_lock);
	old = table_of(s);
	nr = old ? old->nr : 0;
	slots = old ? 1U << old->bits : 0;
	spin_unlock(&lt->spaces_lock);
	while ((3U << bits) / 4 < nr + more)
		bits++;
	new = kvzalloc(table_bytes(bits + 1), GFP_KERNEL_ACCOUNT);
	if (!new)
		return -ENOMEM;
	new->bits = bits + 1;
	new->multiplier = get_random_u64() | 1;
	do {
		cond_resched();
		last = slots - first <= SLOTS_AT_A_STRETCH;
		spin_lock(&lt->spaces_lock);
		there = rcu_access_pointer(s->table) == old;
		if (there)
			copy_slots(s, new, old, first, last ? slots : first + SLOTS_AT_A_STRETCH);
		if (there && last) {
			rcu_assign_pointer(s->table, new);
			lt->row_bytes += held_bytes(new);
			if (old)
				replaced(lt, s, old, new);
		}
		spin_unlock(&lt->spaces_lock);
		first += SLOTS_AT_A_STRETCH;
	} while (there && !last);
	if (!there)
		kvfree(new);
	return 0;
}

/* Each range is one executable mapping, or part of one. mmap_lock held. */
static bool ranges_mapped(struct mm_struct *mm, const struct lt_row_range *ranges, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		struct vm_area_struct *vma = find_vma(mm, ranges[i].start);

		if (!vma || vma->vm_start > ranges[i].start || vma->vm_end < ranges[i].end ||
		    !(vma->vm_flags & VM_EXEC))
			return false;
	}
	return true;
}

/* Into a table with room for them. spaces_lock held; how many found no place. */
static u32 put_rows(struct lt *lt, struct lt_space *s, struct lt_row_table *table, const struct lt_row *rows, u32 n_rows)
{
	u32 i, before = table->nr, left_out = 0;

	for (i = 0; i < n_rows; i++)
		left_out += !put_row(s, table, lt_row_key(rows[i].pc, rows[i].flags & LT_ROW_EXACT),
				     lt_row_pack(&rows[i]));
	lt->nr_rows += table->nr - before;
	lt_owner_charge_anyway(lt, s->owner, LT_HELD_rows, table->nr - before);
	return left_out;
}

static bool room_is_there(struct lt *lt, struct lt_space *s, u32 more)
{
	bool there;

	spin_lock(&lt->spaces_lock);
	there = has_room(table_of(s), more);
	spin_unlock(&lt->spaces_lock);
	return there;
}

/*
 * mmap_lock and rows_mutex held: a mapping that goes flushes after this, not before. There is room already, but where the table was dropped
 * in this moment.
 */
static int add_rows(struct lt *lt, struct lt_space *s, const struct lt_row *rows, u32 n_rows,
		    const struct lt_row_range *ranges, u32 n_ranges)
{
	struct lt_row_table *table;
	u32 i, left_out;
	int err, tables = 0;

	for (;;) {
		left_out = n_rows;
		spin_lock(&lt->spaces_lock);
		table = table_of(s);
		if (has_room(table, n_rows)) {
			for (i = 0; i < n_ranges; i++)
				cover(s, &ranges[i]);
			left_out = put_rows(lt, s, table, rows, n_rows);
			tables++;
		}
		spin_unlock(&lt->spaces_lock);
		if (!left_out)
			return 0;
		if (tables > REBUILDS) {
			lt_lose_many(lt, LT_LOST_row_limit, left_out);
			return 0;
		}
		err = make_room(lt, s, n_rows);
		if (err)
			return err;
	}
}

static u32 rows_of(struct lt *lt, struct lt_space *s)
{
	struct lt_row_table *table;
	u32 nr;

	spin_lock(&lt->spaces_lock);
	table = table_of(s);
	nr = table ? table->nr : 0;
	spin_unlock(&lt->spaces_lock);
	return nr;
}

static bool all_fit(const struct lt *lt, u32 more)
{
	return lt->nr_rows + more <= lt->max_rows;
}

static bool owners_fit(const struct lt *lt, const struct lt_space *s, u32 more)
{
	return lt_owner_fits(lt, s->owner, LT_HELD_rows, more);
}

static int refused(struct lt *lt, enum lt_lost cause, u32 n_rows)
{
	lt_lose_many(lt, cause, n_rows);
	return -ENOSPC;
}

/* Who is too large alone, for his share or for all, takes nothing from others in vain. 0 or -ENOSPC, counted. */
static int fits_alone(struct lt *lt, struct lt_space *s, u32 more)
{
	u32 alone = rows_of(lt, s) + more;

	if (s->owner && alone > lt->owner_max[LT_HELD_rows])
		return refused(lt, LT_LOST_row_user, more);
	return alone > lt->max_rows ? refused(lt, LT_LOST_row_limit, more) : 0;
}

/* Of a space that fits alone. 0 or -ENOSPC, counted. */
static int see_to_limits(struct lt *lt, struct lt_space *s, u32 more)
{
	while (!owners_fit(lt, s, more) && evict_one(lt, s, true))
		cond_resched();
	/* Others give way only to what its owner may hold */
	if (!owners_fit(lt, s, more))
		return refused(lt, LT_LOST_row_user, more);
	while (!all_fit(lt, more) && evict_one(lt, s, false))
		cond_resched();
	return all_fit(lt, more) ? 0 : refused(lt, LT_LOST_row_limit, more);
}

/*
 * rows_mutex, and mm to read, but for an error; s fits alone then. Nobody waits for a program's mm with the mutex, which other programs' lessons want;
 * and whoever waits for that mm, behind us, does not wait for memory.
 */
static int lock_with_room(struct lt *lt, struct lt_space *s, struct mm_struct *mm, u32 more)
{
	int err, tries = LT_LOCK_TRIES;

	do {
		if (mutex_lock_killable(&lt->rows_mutex))
			return -EINTR;
		err = fits_alone(lt, s, more);
		if (!err && !room_is_there(lt, s, more))
			err = make_room(lt, s, more);
		if (!err && mmap_read_trylock(mm))
			return 0;
		mutex_unlock(&lt->rows_mutex);
		if (err)
			return err;
	} while (lt_try_again(&tries));
	return -EAGAIN;
}

/*
 * Adds checked rows to the space of mm, which is p's and a user of which the caller holds.
 * -ESTALE when a range is not an executable mapping any more, -EAGAIN when the
 * mm was locked all the while.
 */
int lt_rows_teach(struct lt *lt, struct task_struct *p, struct mm_struct *mm,
		  const struct lt_row *rows, u32 n_rows,
		  const struct lt_row_range *ranges, u32 n_ranges)
{
	struct lt_space *s;
	int err;

	s = space_of(lt, p, mm);
	if (IS_ERR(s))
		return PTR_ERR(s);
	err = lock_with_room(lt, s, mm, n_rows);
	if (err)
		return err;
	/* Others give way only to what will be taken */
	err = ranges_mapped(mm, ranges, n_ranges) ? see_to_limits(lt, s, n_rows) : -ESTALE;
	if (!err)
		err = add_rows(lt, s, rows, n_rows, ranges, n_ranges);
	mmap_read_unlock(mm);
	mutex_unlock(&lt->rows_mutex);
	return err;
}

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

#else /* the kernel cannot say when mappings go: no rows, frame pointers only */

int lt_rows_teach(struct lt *lt, struct task_struct *p, struct mm_struct *mm,
		  const struct lt_row *rows, u32 n_rows,
		  const struct lt_row_range *ranges, u32 n_ranges)
{
	return -EOPNOTSUPP;
}

void lt_rows_reap(struct lt *lt)
{
}

u64 lt_rows_bytes(struct lt *lt)
{
	return 0;
}

int lt_rows_init(struct lt *lt)
{
	return 0;
}

void lt_rows_exit(struct lt *lt)
{
}

#endif
