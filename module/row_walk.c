// SPDX-License-Identifier: GPL-2.0-only
/*
 * The walk up a user stack by learned rows: for current in hooks (capture.c),
 * for a task that is asleep in process context (rewalk.c). rows.c says how
 * rows come to be there while these read them without a lock.
 */
#include <linux/jiffies.h>

#include "rows.h"

#ifdef CONFIG_MMU_NOTIFIER

#include "arch_x86.h"
#include "row_space.h"

/* A table always has empty places, so the search ends. */
static __always_inline bool find_row(const struct lt_row_table *table, u64 key, struct lt_row *row)
{
	u32 mask = (1U << table->bits) - 1, i = hash_64(key, table->bits);
	u64 seen;

	while ((seen = smp_load_acquire(&table->rows[i].key)) && seen != key)
		i = (i + 1) & mask;
	if (seen)
		lt_row_unpack(READ_ONCE(table->rows[i].how), row);
	return seen;
}

static bool find_row_of(const void *of, u64 key, struct lt_row *row)
{
	const struct lt_space *space = of;
	const struct lt_row_table *table;
	bool found;

	rcu_read_lock();
	table = rcu_dereference(space->table);
	found = table && find_row(table, key, row);
	rcu_read_unlock();
	return found;
}

static __always_inline bool find_row_in(const void *table, u64 key, struct lt_row *row)
{
	return find_row(table, key, row);
}

struct lt_space *lt_space_find(struct lt *lt, struct mm_struct *mm)
{
	struct lt_space *s;

	hlist_for_each_entry_rcu(s, lt_space_bucket(lt, mm), node)
		if (s->mm == mm)
			return s;
	return NULL;
}

static __always_inline u32 why(enum lt_step step)
{
	switch (step) {
	case LT_STEP_END:
		return LT_TR_COMPLETE;
	case LT_STEP_CANNOT:
		return LT_TR_CANNOT;
	default:
		return LT_TR_USER_FAULT;
	}
}

/* From *f up, by rows that find() finds in rows and words that read() reads: inlined, with both, for each use. */
static __always_inline unsigned int
walk(struct lt_uframe *f, unsigned long *frames, unsigned int max, u32 *flags,
     bool (*find)(const void *rows, u64 key, struct lt_row *row), const void *rows,
     lt_read_word read, void *memory)
{
	enum lt_step step;
	unsigned int n = 0;
	struct lt_row row;

	for (;;) {
		if (n == max) {
			*flags |= LT_TR_USER_CUT;
			return n;
		}
		frames[n++] = f->pc;
		if (!find(rows, lt_row_key(f->pc, f->exact), &row)) {
			*flags |= LT_TR_MISS;
			return n;
		}
		step = lt_row_step(&row, f, read, memory);
		if (step == LT_STEP_OK && !f->pc)
			step = LT_STEP_END;	/* a return address of 0 ends a stack */
		if (step != LT_STEP_OK) {
			*flags |= why(step);
			return n;
		}
	}
}

static void touch(struct lt_space *space)
{
	unsigned long now = jiffies;

	if (READ_ONCE(space->used) != now)
		WRITE_ONCE(space->used, now);
}

unsigned int lt_rows_walk(struct lt_space *space, struct lt_uframe *f, unsigned long *frames,
			  unsigned int max, u32 *flags, lt_read_word read, void *memory)
{
	touch(space);
	return walk(f, frames, max, flags, find_row_of, space, read, memory);
}

unsigned int lt_rows_walk_current(struct lt_space *space, struct lt_uframe *f,
				  unsigned long *frames, unsigned int max, u32 *flags)
{
	struct lt_uframe at = *f;	/* in registers, as *f need not be */
	const struct lt_row_table *table;
	unsigned int n = 0;
	u32 found = 0;

	touch(space);
	rcu_read_lock();
	table = rcu_dereference(space->table);
	if (table && lt_arch_open_user()) {
		n = walk(&at, frames, max, &found, find_row_in, table, lt_arch_read_word, NULL);
		lt_arch_close_user();
	} else if (max) {
		frames[n++] = at.pc;
		found = LT_TR_MISS;
	} else {
		found = LT_TR_USER_CUT;
	}
	rcu_read_unlock();
	*f = at;
	*flags |= found;
	return n;
}

#else /* rows.c: no rows, frame pointers only */

struct lt_space *lt_space_find(struct lt *lt, struct mm_struct *mm)
{
	return NULL;
}

unsigned int lt_rows_walk(struct lt_space *space, struct lt_uframe *f, unsigned long *frames,
			  unsigned int max, u32 *flags, lt_read_word read, void *memory)
{
	return 0;
}

unsigned int lt_rows_walk_current(struct lt_space *space, struct lt_uframe *f,
				  unsigned long *frames, unsigned int max, u32 *flags)
{
	return 0;
}

#endif
