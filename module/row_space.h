/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An address space's rows as they lie in memory: what row_table.c builds, and
 * row_walk.c and memo.h read without a lock. For these, rows.c and row_spaces.c alone.
 */
#ifndef LATTOP_ROW_SPACE_H
#define LATTOP_ROW_SPACE_H

#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/mmu_notifier.h>
#include <linux/rcupdate.h>

#include "lattop.h"
#include "row_pack.h"

enum {
	MAX_RANGES	= 230,	/* of one space, which is 4 KiB then; more are merged into their neighbours */
	MAX_PLACES	= 512,	/* from its own on in which a row may be, as hooks look for it; MIN_TABLE_BITS */
};

struct lt_packed_row {
	u64 key, how;	/* row_pack.h; key 0: an empty place */
};

struct lt_row_table {
	struct rcu_head rcu;
	u64 multiplier;		/* odd, and nobody's to guess */
	u32 bits;
	u32 nr;
	struct lt_packed_row rows[];
};

/* Where a key belongs. Programs choose their pcs: by a multiplier known to them all could be one place's. */
static __always_inline u32 lt_row_place(const struct lt_row_table *table, u64 key)
{
	return key * table->multiplier >> (64 - table->bits);
}

#ifdef CONFIG_MMU_NOTIFIER

struct lt_space {
	struct hlist_node node;			/* lt->spaces; spaces_lock, RCU */
	struct list_head dead_node;		/* lt->dead_spaces; spaces_lock */
	struct rcu_head rcu;
	struct lt *lt;
	struct mm_struct *mm;			/* compared, never followed */
	struct lt_row_table __rcu *table;	/* spaces_lock */
	struct mmu_notifier notifier;
	struct mmu_interval_notifier end;
	unsigned long used;			/* jiffies of the last walk */
	u64 generation;				/* changes when a row goes or is replaced; spaces_lock */
	u16 owner;				/* pinned while it is hashed */
	u32 n_ranges;				/* spaces_lock */
	struct lt_row_range ranges[MAX_RANGES];
};

/* row_spaces.c. The space of mm, a user of which the caller holds; made for owner where there was none. -ENOMEM, -EAGAIN, -EINTR */
struct lt_space *lt_space_of(struct lt *lt, u16 owner, struct mm_struct *mm, s64 *patience_ns);

/* row_table.c, spaces_lock held */
void lt_space_drop_rows(struct lt_space *s);
void lt_space_new_generation(struct lt_space *s);

/* row_table.c, rows_mutex held and spaces_lock not */
u32 lt_space_rows(struct lt_space *s);
bool lt_space_has_room(struct lt_space *s, u32 more);
int lt_space_make_room(struct lt_space *s, u32 more);
int lt_space_add_rows(struct lt_space *s, const struct lt_row *rows, u32 n_rows,
		      const struct lt_row_range *ranges, u32 n_ranges);

static inline struct hlist_head *lt_space_bucket(struct lt *lt, struct mm_struct *mm)
{
	return &lt->spaces[hash_ptr(mm, LT_SPACE_HASH_BITS)];
}

/* Once a jiffy: a cache line that all CPUs read. */
static inline void lt_space_touch(struct lt_space *space)
{
	unsigned long now = jiffies;

	if (READ_ONCE(space->used) != now)
		WRITE_ONCE(space->used, now);
}

/* What walks by these rows find does not change while this is the same. */
static inline u64 lt_space_generation(struct lt_space *space)
{
	lt_space_touch(space);
	return READ_ONCE(space->generation);
}

#else /* there are no rows: rows.h */

static inline u64 lt_space_generation(struct lt_space *space)
{
	return 0;
}

#endif

#endif
