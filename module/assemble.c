// SPDX-License-Identifier: GPL-2.0-only
/*
 * A snapshot after it was taken: its tasks in order, all of it in one piece as the
 * record view has it (uapi/lattop.h), and given back. Called by snapshot.c and
 * proc.c in process context; no lock is held, and the snapshot is its reader's.
 */
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "snapshot.h"

const u32 lt_record_bytes[LT_SEC_NR] = {
	[LT_SEC_TASKS] = sizeof(struct lt_task_rec),
	[LT_SEC_ENTRIES] = sizeof(struct lt_entry_rec),
	[LT_SEC_TRACES] = sizeof(struct lt_trace_rec),
	[LT_SEC_FRAMES] = sizeof(u64),
	[LT_SEC_KSYMS] = sizeof(struct lt_ksym_rec),
	[LT_SEC_STRINGS] = 1,
};

struct order {
	u64 key;
	u32 index;
};

static int by_order(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* Figures moved while they were copied: what is shown is in the order of what is shown. */
void lt_snapshot_sort(struct lt_snapshot *s, u32 sort_by, u32 limit)
{
	struct lt_buffer *taken = &s->taken;
	u32 i, n = taken->len / sizeof(struct lt_taken);
	struct lt_taken *t = (struct lt_taken *)taken->data;
	struct lt_buffer sorted = { .budget = taken->budget }, orders = sorted;
	struct order o;

	for (i = 0; i < n; i++) {
		o.key = lt_sort_key(&t[i].rec, sort_by);
		o.index = i;
		lt_buffer_add(&orders, &o, sizeof(o));
	}
	if (n && !orders.err)
		sort(orders.data, n, sizeof(o), by_order, NULL);
	for (i = 0; i < min(n, limit) && !orders.err; i++)
		lt_buffer_add(&sorted, &t[((struct order *)orders.data)[i].index], sizeof(*t));
	sorted.err = sorted.err ?: orders.err ?: taken->err;
	lt_buffer_free(&orders);
	lt_buffer_free(taken);
	*taken = sorted;
}

/* b comes at *at, which moves on. */
static struct lt_section place(const struct lt_buffer *b, u32 record_bytes, u64 *at)
{
	struct lt_section section = {
		.offset = *at,
		.count = b->len / record_bytes,
		.record_bytes = record_bytes,
	};

	*at = ALIGN(*at + b->len, 8);
	return section;
}

static void move(struct lt_buffer *out, const struct lt_section *to, struct lt_buffer *from)
{
	lt_buffer_add(out, NULL, to->offset - out->len);
	lt_buffer_add(out, from->data, from->len);
	lt_buffer_free(from);
}

/* Everything in one piece, as the record view has it. The snapshot is used up. */
int lt_snapshot_assemble(struct lt_snapshot *s, struct lt_buffer *out)
{
	const struct lt_taken *t = (const struct lt_taken *)s->taken.data;
	u32 n = s->taken.len / sizeof(*t), i;
	struct lt_header *h = &s->header;
	u64 at = ALIGN(sizeof(*h), 8);

	for (i = 0; i < n; i++)
		lt_buffer_add(&s->section[LT_SEC_TASKS], &t[i].rec, sizeof(t[i].rec));
	for (i = 0; i < LT_SEC_NR; i++) {
		if (s->section[i].err)
			return s->section[i].err;
		h->section[i] = place(&s->section[i], lt_record_bytes[i], &at);
	}
	h->wakers = place(&s->wakers, sizeof(struct lt_waker_rec), &at);
	h->users = place(&s->users, sizeof(struct lt_user_rec), &at);
	h->total_bytes = at;
	if (lt_buffer_reserve(out, at))
		return out->err;
	lt_buffer_add(out, h, sizeof(*h));
	for (i = 0; i < LT_SEC_NR; i++)
		move(out, &h->section[i], &s->section[i]);
	move(out, &h->wakers, &s->wakers);
	move(out, &h->users, &s->users);
	return out->err;
}

void lt_snapshot_free(struct lt_snapshot *s)
{
	int i;

	kfree(s->cgroup_root);
	s->cgroup_root = NULL;
	lt_buffer_free(&s->taken);
	lt_buffer_free(&s->wakers);
	lt_buffer_free(&s->users);
	for (i = 0; i < LT_SEC_NR; i++)
		lt_buffer_free(&s->section[i]);
}
