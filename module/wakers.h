/* SPDX-License-Identifier: GPL-2.0-only */
/* Who woke a sleeper: wakers.c. */
#ifndef LATTOP_WAKERS_H
#define LATTOP_WAKERS_H

#include "lattop.h"

enum {
	LT_WAKERS_PER_ENTRY	= 64,
	LT_WAKERS_PER_TASK	= 2048,	/* what a reader copies at a time */
};

/*
 * Whoever ended sleeps of one entry, and how long these were. Shard lock of the
 * sleeper; freed, once it is an entry's, under lt->mutex only.
 */
struct lt_waker {
	union {
		struct lt_waker *next;	/* of the entry, the last one first; */
		kuid_t payer;		/* while it is on none: who is to pay for it, INVALID_UID: nobody */
	};
	struct lt_trace *trace;		/* from where; NULL: not kept */
	struct lt_trace *waited;	/* in which it slept before, within the sleeper's sleep; or NULL */
	u64 start_ns;			/* with pid, the identity of a task */
	u32 pid, tgid;
	u64 exec_id;
	u16 owner;			/* who pays: it counts against him while it is an entry's */
	u8 kind;			/* enum lt_waker_kind */
	char comm[LT_COMM_BYTES];
	u64 blocked_ns;
	u64 max_ns;
	u64 sleeps;
	u64 waited_ns;			/* of blocked_ns, in waited */
};

/* Hook: current, or the interrupt it is in, is about to wake p; *at: in whose call. */
void lt_waking(struct lt *lt, struct task_struct *p, const struct lt_kframe *at);

/* Shard lock held where hooks can reach t. */
void lt_waker_count(struct lt *lt, struct lt_task *t, u64 slept);
void lt_waker_forget(struct lt *lt, struct lt_task *t);
void lt_wakers_free(struct lt *lt, struct lt_task *t, struct lt_entry *e);
bool lt_wakers_scarce(const struct lt *lt);
bool lt_wakers_short(const struct lt *lt);
void lt_wakers_retire(struct lt *lt, struct lt_task *t);
void lt_wakers_move(struct lt *lt, struct lt_task *to, struct lt_entry *to_entry,
		    struct lt_task *from, struct lt_entry *from_entry);

int lt_wakers_init(struct lt *lt);
void lt_wakers_exit(struct lt *lt);

#endif
