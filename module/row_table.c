// SPDX-License-Identifier: GPL-2.0-only
/*
 * One address space's rows: an open-addressed table, and the ranges of code
 * that they are of. Filled by teaching (rows.c), dropped by its program's unmapping (row_spaces.c).
 *
 * A row is two words, 16 bytes: its key (pc, and whether pc is exact or a
 * return address) and how to step. Hooks read without a lock: interrupts are
 * off, which is an RCU read side. A row is published by storing its key last;
 * replaced by storing its second word; a table that grows or is flushed is
 * replaced whole and freed behind a grace period.
 */
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "lattop.h"
#include "row_space.h"

enum {
	MIN_TABLE_BITS		= 6,
	SLOTS_AT_A_STRETCH	= 1024,
	REBUILDS		= 3,	/* of a table, by other multipliers, for rows that find no place */
};

/* --- spaces_lock held --- */

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
void lt_space_new_generation(struct lt_space *s)
{
	WRITE_ONCE(s->generation, ++s->lt->row_generations);
}

void lt_space_drop_rows(struct lt_space *s)
{
	struct lt_row_table *old = table_of(s);

	if (!old)
		return;
	rcu_assign_pointer(s->table, NULL);
	lt_space_new_generation(s);	/* behind that: who reads the new one finds no old rows */
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
		lt_space_new_generation(s);
		WRITE_ONCE(table->rows[i].how, how);
		lt_space_new_generation(s);
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

/* Into a table with room for them; how many found no place. */
static u32 put_rows(struct lt_space *s, struct lt_row_table *table, const struct lt_row *rows, u32 n_rows)
{
	struct lt *lt = s->lt;
	u32 i, before = table->nr, left_out = 0;

	for (i = 0; i < n_rows; i++)
		left_out += !put_row(s, table, lt_row_key(rows[i].pc, rows[i].flags & LT_ROW_EXACT),
				     lt_row_pack(&rows[i]));
	lt->nr_rows += table->nr - before;
	lt_owner_charge_anyway(lt, s->owner, LT_HELD_rows, table->nr - before);
	return left_out;
}

/* --- for who teaches: rows_mutex held, and not spaces_lock --- */

bool lt_space_has_room(struct lt_space *s, u32 more)
{
	struct lt *lt = s->lt;
	bool there;

	spin_lock(&lt->spaces_lock);
	there = has_room(table_of(s), more);
	spin_unlock(&lt->spaces_lock);
	return there;
}

u32 lt_space_rows(struct lt_space *s)
{
	struct lt *lt = s->lt;
	struct lt_row_table *table;
	u32 nr;

	spin_lock(&lt->spaces_lock);
	table = table_of(s);
	nr = table ? table->nr : 0;
	spin_unlock(&lt->spaces_lock);
	return nr;
}

/* What finds no place in the new table, a quarter full, is not kept: nr tells. */
static void copy_slots(struct lt_space *s, struct lt_row_table *to, const struct lt_row_table *from, u32 first, u32 end)
{
	u32 i;

	for (i = first; i < end; i++)
		if (from->rows[i].key)
			put_row(s, to, from->rows[i].key, from->rows[i].how);
}

static void replaced(struct lt_space *s, struct lt_row_table *old, const struct lt_row_table *new)
{
	struct lt *lt = s->lt;
	u32 gone = old->nr - new->nr;

	if (unlikely(gone)) {
		lt_space_new_generation(s);
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
int lt_space_make_room(struct lt_space *s, u32 more)
{
	struct lt *lt = s->lt;
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
				replaced(s, old, new);
		}
		spin_unlock(&lt->spaces_lock);
		first += SLOTS_AT_A_STRETCH;
	} while (there && !last);
	if (!there)
		kvfree(new);
	return 0;
}

/*
 * mmap_lock and rows_mutex held: a mapping that goes flushes after this, not before. There is room already, but where the table was dropped
 * in this moment.
 */
int lt_space_add_rows(struct lt_space *s, const struct lt_row *rows, u32 n_rows,
		      const struct lt_row_range *ranges, u32 n_ranges)
{
	struct lt *lt = s->lt;
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
			left_out = put_rows(s, table, rows, n_rows);
			tables++;
		}
		spin_unlock(&lt->spaces_lock);
		if (!left_out)
			return 0;
		if (tables > REBUILDS) {
			lt_lose_many(lt, LT_LOST_row_limit, left_out);
			return 0;
		}
		err = lt_space_make_room(s, n_rows);
		if (err)
			return err;
	}
}
