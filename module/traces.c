// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call traces, each kept once: frames -> struct lt_trace, found by hash and
 * accepted by comparing every frame, so two traces never become one. Called
 * by entries.c, in hooks and in the worker.
 *
 * It counts against the user who made it (of wakers': who pays, wakers.c), for as long as it lives. Who sleeps in
 * it after him does so for nothing; and may keep it alive at his expense, if he can
 * guess every address of his stack.
 *
 * A trace is alive while an entry, a waker or a memo of one names it. The reference count
 * reaches 0, and leaves it, only under its bucket lock; so a trace found in the table under the bucket lock is alive.
 *
 * No bucket has more than MAX_CHAIN: hooks go by all of them, with the runqueue's lock. There are a quarter
 * as many buckets as traces at least, so only who makes stacks to lie in one meets that; then there is no room for more of them.
 */
#include <linux/jhash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "lattop.h"
#include "params.h"

#define MAX_CHAIN	64

static raw_spinlock_t *bucket_lock(struct lt *lt, u32 hash)
{
	return &lt->trace_locks[hash % LT_TRACE_LOCKS].lock;
}

static struct hlist_head *bucket(struct lt *lt, u32 hash)
{
	return &lt->trace_buckets[hash & ((1U << lt->trace_hash_bits) - 1)];
}

/* Seeded: user frames are what a program makes them. */
static u32 trace_hash(const struct lt *lt, const struct lt_capture *c)
{
	unsigned int n = c->nr_kernel + c->nr_user;

	return jhash2((const u32 *)&c->frames[c->first], n * (sizeof(long) / sizeof(u32)),
		      lt->trace_seed ^ c->syscall ^ c->flags ^ (c->nr_user << 16));
}

bool lt_trace_equal(const struct lt_trace *tr, const struct lt_capture *c)
{
	return tr->nr_kernel == c->nr_kernel && tr->nr_user == c->nr_user &&
	       tr->syscall == c->syscall && tr->flags == c->flags &&
	       !memcmp(tr->frames, &c->frames[c->first],
		       (c->nr_kernel + c->nr_user) * sizeof(unsigned long));
}

/* cause: why there is none; NULL for what wakers wake from, which leaves a quarter of the room to sleeps. */
static struct lt_trace *trace_new(struct lt *lt, const struct lt_capture *c, u32 hash, u16 owner,
				  enum lt_lost *cause)
{
	unsigned int limit = cause ? lt->max_traces : lt->max_traces - lt->max_traces / 4;
	unsigned int n = c->nr_kernel + c->nr_user, class = 0;
	enum lt_refused why;
	struct lt_trace *tr;

	if (atomic_inc_return(&lt->nr_traces) > (int)limit) {
		if (cause)
			*cause = LT_LOST_trace_limit;
		goto none;
	}
	while (n > lt->trace_class_frames[class])
		class++;
	tr = lt_owner_take(lt, &lt->trace_pool[class], owner, LT_HELD_traces, &why);
	if (!tr) {
		if (cause)
			*cause = why == LT_USER ? LT_LOST_trace_user : LT_LOST_trace_pool;
		goto none;
	}
	tr->id = atomic64_inc_return(&lt->trace_ids);
	atomic_set(&tr->refs, 0);
	tr->hash = hash;
	tr->class = class;
	tr->owner = owner;
	tr->nr_kernel = c->nr_kernel;
	tr->nr_user = c->nr_user;
	tr->syscall = c->syscall;
	tr->flags = c->flags;
	tr->snap_seq = 0;
	memcpy(tr->frames, &c->frames[c->first], n * sizeof(unsigned long));
	return tr;
none:
	atomic_dec(&lt->nr_traces);
	return NULL;
}

/* payer: of a waker's; NULL: a sleeper's, and owner has a pin. */
static struct lt_trace *intern(struct lt *lt, const struct lt_capture *c, u16 owner, const kuid_t *payer,
			       enum lt_lost *cause)
{
	u32 hash = trace_hash(lt, c);
	raw_spinlock_t *lock = bucket_lock(lt, hash);
	struct hlist_head *head = bucket(lt, hash);
	unsigned int chain = 0;
	struct lt_trace *tr;
	unsigned long flags;

	raw_spin_lock_irqsave(lock, flags);
	hlist_for_each_entry(tr, head, node) {
		if (tr->hash == hash && lt_trace_equal(tr, c))
			goto found;
		chain++;
	}
	if (unlikely(chain >= MAX_CHAIN)) {
		if (cause)
			*cause = LT_LOST_trace_limit;
		goto out;
	}
	if (payer)
		owner = lt_owner_get_for(lt, *payer);
	tr = trace_new(lt, c, hash, owner, cause);
	if (payer)
		lt_owner_put(lt, owner);
	if (!tr)
		goto out;
	hlist_add_head(&tr->node, head);
found:
	atomic_inc(&tr->refs);
out:
	raw_spin_unlock_irqrestore(lock, flags);
	return tr;
}

/*
 * The trace of a sleep with these frames, with a reference; NULL when it could not be kept, and *cause
 * says why. owner: who sleeps, pinned.
 */
struct lt_trace *lt_trace_intern(struct lt *lt, const struct lt_capture *c, u16 owner,
				 enum lt_lost *cause)
{
	return intern(lt, c, owner, NULL, cause);
}

/* The same for where current, or an interrupt that came into it, wakes somebody; not counted. payer: wakers.c. */
struct lt_trace *lt_trace_intern_wakers(struct lt *lt, const struct lt_capture *c, kuid_t payer)
{
	return intern(lt, c, LT_NO_OWNER, &payer, NULL);
}

void lt_trace_put(struct lt *lt, struct lt_trace *tr)
{
	raw_spinlock_t *lock = bucket_lock(lt, tr->hash);
	unsigned long flags;

	raw_spin_lock_irqsave(lock, flags);
	if (atomic_dec_and_test(&tr->refs)) {
		hlist_del(&tr->node);
		lt_owner_give(lt, &lt->trace_pool[tr->class], tr, tr->owner, LT_HELD_traces);
		atomic_dec(&lt->nr_traces);
	}
	raw_spin_unlock_irqrestore(lock, flags);
}

int lt_traces_init(struct lt *lt)
{
	static const char * const names[LT_TRACE_CLASSES] = {
		"lattop_trace_small", "lattop_trace_medium", "lattop_trace_large"
	};
	unsigned int all = lt->kernel_depth + lt->user_depth;
	int i, err = 0;

	lt->trace_class_frames[0] = min(32U, all);
	lt->trace_class_frames[1] = min(96U, all);
	lt->trace_class_frames[2] = all;
	atomic64_set(&lt->trace_ids, 0);
	atomic_set(&lt->nr_traces, 0);
	lt->trace_hash_bits = clamp_t(unsigned int, ilog2(lt->max_traces), LT_TRACE_HASH_BITS_MIN,
				      LT_TRACE_HASH_BITS_MAX);
	lt->trace_seed = get_random_u32();
	lt->trace_buckets = vzalloc(sizeof(struct hlist_head) << lt->trace_hash_bits);
	lt->trace_locks = vzalloc(sizeof(*lt->trace_locks) * LT_TRACE_LOCKS);
	if (!lt->trace_buckets || !lt->trace_locks)
		err = -ENOMEM;
	for (i = 0; !err && i < LT_TRACE_LOCKS; i++)
		raw_spin_lock_init(&lt->trace_locks[i].lock);
	for (i = 0; !err && i < LT_TRACE_CLASSES; i++)
		err = lt_pool_init(&lt->trace_pool[i], names[i],
				   sizeof(struct lt_trace) +
				   lt->trace_class_frames[i] * sizeof(unsigned long),
				   lt->max_traces, i ? lt_params.reserve / 4 : lt_params.reserve,
				   &lt->kick);
	if (err)
		lt_traces_exit(lt);
	return err;
}

void lt_traces_exit(struct lt *lt)
{
	int i;

	for (i = 0; i < LT_TRACE_CLASSES; i++)
		lt_pool_exit(&lt->trace_pool[i]);
	vfree(lt->trace_locks);
	vfree(lt->trace_buckets);
}
