// SPDX-License-Identifier: GPL-2.0-only
/*
 * Learned rows: (address space, pc) -> how to reach the caller. Taught here, in
 * process context (teach.c), within limits; row_walk.c walks by them, in hooks too.
 *
 *	lt->spaces, by mm (row_spaces.c)  ->  struct lt_space  ->  its rows (row_table.c)
 *
 * max_rows bounds the rows of all spaces, and a share of it those of one user's.
 * At the limit the space that was used longest ago gives way; at a user's share, of his.
 */
#include <linux/mm.h>

#include "lattop.h"
#include "row_space.h"
#include "rows.h"
#include "try_lock.h"

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

static int refused(struct lt *lt, enum lt_lost cause, u32 n_rows)
{
	lt_lose_many(lt, cause, n_rows);
	return -ENOSPC;
}

/* Who is too large alone, for his share or for all, takes nothing from others in vain. 0 or -ENOSPC, counted. */
static int fits_alone(struct lt *lt, struct lt_space *s, u32 more)
{
	u32 alone = lt_space_rows(s) + more;

	if (s->owner && alone > lt->owner_max[LT_HELD_rows])
		return refused(lt, LT_LOST_row_user, more);
	return alone > lt->max_rows ? refused(lt, LT_LOST_row_limit, more) : 0;
}

static bool all_fit(const struct lt *lt, const struct lt_space *s, u32 more)
{
	return lt->nr_rows + more <= lt->max_rows;
}

static bool owners_fit(const struct lt *lt, const struct lt_space *s, u32 more)
{
	return lt_owner_fits(lt, s->owner, LT_HELD_rows, more);
}

enum { GIVE_WAY = 32 };		/* spaces that one look at all of them finds */

/*
 * Those with rows that were used longest ago, the oldest first, other than keep, of its owner or of all: how
 * many. RCU keeps them; they may lose their rows meanwhile. Without spaces_lock, which unmapping programs want.
 */
static unsigned int oldest(struct lt *lt, const struct lt_space *keep, bool of_owner, struct lt_space **found)
{
	unsigned int i, at, n = 0;
	struct lt_space *s;

	for (i = 0; i < 1U << LT_SPACE_HASH_BITS; i++)
		hlist_for_each_entry_rcu(s, &lt->spaces[i], node) {
			if (s == keep || !rcu_access_pointer(s->table) || (of_owner && s->owner != keep->owner))
				continue;
			for (at = n; at && time_before(READ_ONCE(s->used), READ_ONCE(found[at - 1]->used)); at--)
				if (at < GIVE_WAY)
					found[at] = found[at - 1];
			if (at < GIVE_WAY)
				found[at] = s;
			n += n < GIVE_WAY;
		}
	return n;
}

/* Drops the rows of spaces used long ago until more fit; false: there were none. */
static bool make_way(struct lt *lt, struct lt_space *keep, u32 more, bool of_owner,
		     bool (*fit)(const struct lt *lt, const struct lt_space *s, u32 more))
{
	struct lt_space *found[GIVE_WAY];
	unsigned int i, n;

	rcu_read_lock();
	n = oldest(lt, keep, of_owner, found);
	for (i = 0; i < n && !fit(lt, keep, more); i++) {
		spin_lock(&lt->spaces_lock);
		if (!hlist_unhashed(&found[i]->node))
			lt_space_drop_rows(found[i]);
		spin_unlock(&lt->spaces_lock);
	}
	rcu_read_unlock();
	return n;
}

/* Of a space that fits alone. 0 or -ENOSPC, counted. */
static int see_to_limits(struct lt *lt, struct lt_space *s, u32 more)
{
	while (!owners_fit(lt, s, more) && make_way(lt, s, more, true, owners_fit))
		cond_resched();
	/* Others give way only to what its owner may hold */
	if (!owners_fit(lt, s, more))
		return refused(lt, LT_LOST_row_user, more);
	while (!all_fit(lt, s, more) && make_way(lt, s, more, false, all_fit))
		cond_resched();
	return all_fit(lt, s, more) ? 0 : refused(lt, LT_LOST_row_limit, more);
}

/*
 * rows_mutex, and mm to read, but for an error; s fits alone then. Nobody waits for a program's mm with the mutex, which other programs' lessons want;
 * and whoever waits for that mm, behind us, does not wait for memory.
 */
static int lock_with_room(struct lt *lt, struct lt_space *s, struct mm_struct *mm, u32 more, s64 *patience_ns)
{
	int err;

	do {
		if (mutex_lock_killable(&lt->rows_mutex))
			return -EINTR;
		err = fits_alone(lt, s, more);
		if (!err && !lt_space_has_room(s, more))
			err = lt_space_make_room(s, more);
		if (!err && mmap_read_trylock(mm))
			return 0;
		mutex_unlock(&lt->rows_mutex);
		if (err)
			return err;
	} while (lt_try_again(patience_ns));
	return -EAGAIN;
}

/*
 * Adds checked rows to the space of mm, a user of which the caller holds, and which is made for owner.
 * -ESTALE when a range is not an executable mapping any more, -EAGAIN when no
 * patience is left (try_lock.h).
 */
int lt_rows_teach(struct lt *lt, u16 owner, struct mm_struct *mm,
		  const struct lt_row *rows, u32 n_rows,
		  const struct lt_row_range *ranges, u32 n_ranges, s64 *patience_ns)
{
	struct lt_space *s;
	int err;

	s = lt_space_of(lt, owner, mm, patience_ns);
	if (IS_ERR(s))
		return PTR_ERR(s);
	err = lock_with_room(lt, s, mm, n_rows, patience_ns);
	if (err)
		return err;
	/* Others give way only to what will be taken */
	err = ranges_mapped(mm, ranges, n_ranges) ? see_to_limits(lt, s, n_rows) : -ESTALE;
	if (!err)
		err = lt_space_add_rows(s, rows, n_rows, ranges, n_ranges);
	mmap_read_unlock(mm);
	mutex_unlock(&lt->rows_mutex);
	return err;
}
