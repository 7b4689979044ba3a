/* SPDX-License-Identifier: GPL-2.0-only */
/* What is copied of one task under its shard's lock: its record, its entries, their wakers. */
#ifndef LATTOP_COPIES_H
#define LATTOP_COPIES_H

#include "buffer.h"
#include "lattop.h"

/* An entry and a waker as copied: their traces by pointer, which lt->mutex keeps. */
struct lt_copied_entry {
	const struct lt_entry *of;
	struct lt_trace *trace;		/* NULL for [other] */
	u64 exec_id;
	struct lt_entry_rec rec;	/* first_waker: among the copies */
};

struct lt_copied_waker {
	struct lt_trace *trace, *waited;
	u64 exec_id;
	struct lt_waker_rec rec;
};

/* Zeroed but for its buffers' budget before the first use; used again for each task, then freed. */
struct lt_copies {
	struct lt_task_rec task;	/* all but pids and what points into the snapshot */
	u64 exec_id, own_exec_id;
	struct lt_creds creds;
	struct lt_buffer entries, wakers;
};

static inline unsigned int lt_copies_count(const struct lt_copies *c)
{
	return c->entries.len / sizeof(struct lt_copied_entry);
}

int lt_copies_take(struct lt *lt, struct lt_task *t, u32 which, u64 now, struct lt_copies *to);
void lt_copies_hide_before(struct lt_copies *c, u64 exec_id);
void lt_copies_sort(struct lt_copies *c, u32 which);
void lt_copies_free(struct lt_copies *c);

#endif
