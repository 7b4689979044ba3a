// SPDX-License-Identifier: GPL-2.0-only
/*
 * The walk up a user stack by learned rows: for current in hooks (capture.c),
 * for a task that is asleep in process context (rewalk.c). row_table.c says
 * how rows come to be there while these read them without a lock.
 */
#include <linux/jiffies.h>

#include "arch_x86.h"
#include "row_space.h"
#include "rows.h"

static __always_inline bool find_row(const struct lt_row_table *table, u64 key, struct lt_row *row)
{
	u32 mask = (1U << table->bits) - 1, i = lt_row_place(table, key), left = MAX_PLACES;
	u64 seen;

	/* An empty place first: what a program says is a return address may be the key of none */
	while ((seen = smp_load_acquire(&table->rows[i].key))) {
		if (seen == key) {
			lt_row_unpack(READ_ONCE(table->rows[i].how), row);
			return true;
		}
		if (!--left)
			break;
		i = (i + 1) & mask;
	}
	return false;
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

/* Where bp was loaded from, and whether the shape has that already. */
struct bp_source {
	u16 slot;
	bool noted;
};

/* address in words up from sp; LT_SLOT_BP and s is not known, when it is not among those of a shape. */
static __always_inline u16 slot_of(struct lt_ushape *s, u64 sp, u64 address)
{
	u64 bytes = address - sp;

	if (bytes & 7 || bytes >= LT_SLOT_BP * sizeof(u64)) {
		s->known = false;
		return LT_SLOT_BP;
	}
	return bytes / sizeof(u64);
}

static __always_inline void note_pointer(struct lt_ushape *s, u64 sp, u16 slot, u64 value)
{
	struct lt_pointer *p = (struct lt_pointer *)s->pointer + s->n_pointers;
	s64 distance = value - sp;

	if (s->n_pointers == LT_SHAPE_POINTERS || distance != (s32)distance) {
		s->known = false;
		return;
	}
	p->slot = slot;
	p->from_top = 0;
	p->distance = distance;
	s->n_pointers++;
}

/* By row from *from to *to, which is frame n; the walk began at sp. No array is indexed: UBSAN would call while user memory is open. */
static __always_inline void note_step(struct lt_ushape *s, u64 sp, struct bp_source *bp,
				      const struct lt_row *row, const struct lt_uframe *from,
				      const struct lt_uframe *to, unsigned int n)
{
	if (row->kind == LT_ROW_SIGNAL || n >= LT_SHAPE_USER) {
		s->known = false;
		return;
	}
	if (!bp->noted && (row->kind == LT_ROW_BP || row->kind == LT_ROW_AT_BP ||
			   row->flags & LT_ROW_BP_AT_BP)) {
		note_pointer(s, sp, bp->slot, from->bp);
		bp->noted = true;
	}
	if (row->kind == LT_ROW_AT_BP)
		note_pointer(s, sp, slot_of(s, sp, from->bp + (s64)row->cfa_offset), to->sp);
	if (row->kind == LT_ROW_AT_SP)
		note_pointer(s, sp, slot_of(s, sp, from->sp + (s64)row->cfa_offset), to->sp);
	if (row->flags & (LT_ROW_BP_SAVED | LT_ROW_BP_AT_BP)) {
		bp->slot = slot_of(s, sp, (row->flags & LT_ROW_BP_SAVED ? to->sp : from->bp) +
					  (s64)row->bp_offset);
		bp->noted = false;
	}
	*((u16 *)s->slot + n) = slot_of(s, sp, to->sp - sizeof(u64));
}

/*
 * From *f up, by rows that find() finds in rows and words that read() reads:
 * inlined, with both, for each use. s: NULL, or how it went.
 */
static __always_inline unsigned int walk(struct lt_uframe *f, unsigned long *frames, unsigned int max, u32 *flags,
					 bool (*find)(const void *rows, u64 key, struct lt_row *row),
					 const void *rows, lt_read_word read, void *memory, struct lt_ushape *s)
{
	struct bp_source bp = { .slot = LT_SLOT_BP };
	struct lt_uframe from;
	enum lt_step step;
	unsigned int n = 0;
	struct lt_row row;
	u64 sp = f->sp;

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
		from = *f;
		step = lt_row_step(&row, f, read, memory);
		if (step == LT_STEP_OK && s)
			note_step(s, sp, &bp, &row, &from, f, n);
		if (step == LT_STEP_OK && !f->pc) {
			step = LT_STEP_END;	/* a return address of 0 ends a stack */
			if (s)
				s->known = false;	/* that this word was 0 is no frame's pc */
		}
		if (step != LT_STEP_OK) {
			*flags |= why(step);
			return n;
		}
	}
}

unsigned int lt_rows_walk(struct lt_space *space, struct lt_uframe *f, unsigned long *frames,
			  unsigned int max, u32 *flags, lt_read_word read, void *memory)
{
	lt_space_touch(space);
	return walk(f, frames, max, flags, find_row_of, space, read, memory, NULL);
}

unsigned int lt_rows_walk_current(struct lt_space *space, struct lt_uframe *f,
				  unsigned long *frames, unsigned int max, u32 *flags,
				  struct lt_ushape *s)
{
	struct lt_uframe at = *f;	/* in registers, as *f need not be */
	const struct lt_row_table *table;
	unsigned int n = 0;
	u32 found = 0;

	s->known = true;
	s->n_pointers = 0;
	s->space = space;
	s->generation = lt_space_generation(space);	/* before its rows are read */
	rcu_read_lock();
	table = rcu_dereference(space->table);
	if (table) {
		lt_arch_open_user();
		n = walk(&at, frames, max, &found, find_row_in, table, lt_arch_read_word, NULL, s);
		lt_arch_close_user();
	} else {
		frames[n++] = at.pc;
		found = LT_TR_MISS;
	}
	rcu_read_unlock();
	s->n_slots = n;
	/* where it was cut, the word that leads on decided, too */
	s->known &= !(found & (LT_TR_MISS | LT_TR_USER_FAULT | LT_TR_USER_CUT));
	*f = at;
	*flags |= found;
	return n;
}
