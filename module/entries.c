// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task's hash table of call traces: (trace, exec_id) -> struct lt_entry with
 * count, total, max and histogram. lt_entry_get runs in hooks with the task's
 * shard lock held; the rest in the worker and readers under lt->mutex.
 *
 * The table starts with a few buckets inside the task's record. When entries
 * outnumber buckets by two, the hook asks the worker for larger buckets and
 * goes on with long chains meanwhile: hooks do not allocate.
 */
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "hist.h"
#include "lattop.h"
#include "tasks.h"
#include "wakers.h"

static struct hlist_head *bucket(const struct lt_task *t, const struct lt_trace *tr, u64 exec_id)
{
	return &t->buckets[hash_32(tr->hash ^ (u32)exec_id, t->bucket_bits)];
}

static struct lt_entry *find(const struct lt_task *t, const struct lt_trace *tr, u64 exec_id)
{
	struct lt_entry *e;

	hlist_for_each_entry(e, bucket(t, tr, exec_id), node)
		if (e->trace == tr && e->exec_id == exec_id)
			return e;
	return NULL;
}

/* e is in no table. Shard lock held where hooks can reach t. */
void lt_entry_put_back(struct lt_task *t, struct lt_entry *e)
{
	hlist_add_head(&e->node, bucket(t, e->trace, e->exec_id));
	t->nr_entries++;
}

static void want_buckets(struct lt *lt, struct lt_task *t)
{
	if (t->wants_buckets || t->nr_entries <= 2U << t->bucket_bits)
		return;
	t->wants_buckets = true;
	llist_add(&t->wants_buckets_node, &lt->wants_buckets);
	lt_kick(&lt->kick);
}

/* NULL when it could not be kept, and *cause says why. */
static __always_inline struct lt_entry *get(struct lt *lt, struct lt_task *t,
					    const struct lt_capture *c, enum lt_lost *cause)
{
	struct lt_entry *e = t->entry;
	enum lt_refused why;
	struct lt_trace *tr;

	/* A sleeper usually blocks where it blocked last. */
	if (e && e->trace && e->exec_id == t->exec_id && lt_trace_equal(e->trace, c))
		return e;

	tr = lt_trace_intern(lt, c, t->owner, cause);
	if (unlikely(!tr))
		return NULL;
	e = find(t, tr, t->exec_id);
	if (e) {
		atomic_dec(&tr->refs);	/* e's own reference keeps it above 0 */
		return e;
	}
	if (unlikely(t->nr_entries >= lt->max_traces_per_task)) {
		*cause = LT_LOST_entry_limit;
		e = NULL;
		goto drop;
	}
	e = lt_owner_take(lt, &lt->entry_pool, t->owner, LT_HELD_entries, &why);
	if (unlikely(!e)) {
		*cause = why == LT_USER ? LT_LOST_entry_user : LT_LOST_entry_pool;
		goto drop;
	}
	memset(e, 0, sizeof(*e));
	e->trace = tr;
	e->exec_id = t->exec_id;
	e->owner = t->owner;
	lt_entry_put_back(t, e);
	want_buckets(lt, t);
	return e;
drop:
	lt_trace_put(lt, tr);
	return e;
}

/*
 * The entry for a sleep in this trace; [other] when it could not be kept
 * (counted by cause). Shard lock held.
 */
struct lt_entry *lt_entry_get(struct lt *lt, struct lt_task *t, const struct lt_capture *c)
{
	enum lt_lost cause;
	struct lt_entry *e = get(lt, t, c, &cause);

	if (likely(e))
		return e;
	lt_lose(lt, cause);
	return &t->other;
}

/* The same for a sleep that has an entry already: NULL when this one could not be kept, by which nothing is lost. */
struct lt_entry *lt_entry_better(struct lt *lt, struct lt_task *t, const struct lt_capture *c)
{
	enum lt_lost cause;

	return get(lt, t, c, &cause);
}

void lt_entry_add(struct lt_entry *to, const struct lt_entry *from)
{
	int i;

	to->blocked_ns += from->blocked_ns;
	to->sleeps += from->sleeps;
	to->max_ns = max(to->max_ns, from->max_ns);
	for (i = 0; i < LT_HIST_BUCKETS; i++)
		to->hist[i] += from->hist[i];
}

static void entry_free(struct lt *lt, struct lt_task *t, struct lt_entry *e)
{
	lt_wakers_free(lt, t, e);
	lt_trace_put(lt, e->trace);
	lt_owner_give(lt, &lt->entry_pool, e, e->owner, LT_HELD_entries);
}

/*
 * e, whose only sleep goes on in another entry, leaves t's table. As none of its
 * sleeps has ended, it has no wakers. Shard lock held.
 */
void lt_entry_take_out(struct lt *lt, struct lt_task *t, struct lt_entry *e)
{
	lt_memos_forget(lt, t);		/* they name entries */
	hlist_del(&e->node);
	t->nr_entries--;
}

/* What was taken out. lt->mutex held. */
void lt_entry_give_back(struct lt *lt, struct lt_entry *e)
{
	lt_trace_put(lt, e->trace);
	lt_owner_give(lt, &lt->entry_pool, e, e->owner, LT_HELD_entries);
}

/*
 * All of from's sleeps become to's, entry by entry. lt->mutex held, neither is
 * reachable by a hook.
 */
void lt_entries_move(struct lt *lt, struct lt_task *to, struct lt_task *from)
{
	struct hlist_node *next;
	struct lt_entry *e, *same;
	unsigned int b;

	for (b = 0; b < 1U << from->bucket_bits; b++) {
		hlist_for_each_entry_safe(e, next, &from->buckets[b], node) {
			hlist_del(&e->node);
			same = find(to, e->trace, e->exec_id);
			if (!same && to->kind == LT_KIND_EXITED &&
			    to->nr_entries < lt->max_traces_per_task) {
				lt_entry_put_back(to, e);
				lt_wakers_move(lt, to, e, from, e);
				continue;
			}
			same = same ?: &to->other;
			lt_entry_add(same, e);
			lt_wakers_move(lt, to, same, from, e);
			entry_free(lt, from, e);
		}
	}
	from->nr_entries = 0;
	lt_entry_add(&to->other, &from->other);
	want_buckets(lt, to);
}

static size_t table_bytes(unsigned int bits)
{
	return sizeof(struct hlist_head) << bits;
}

/* lt->mutex held. */
static void free_table(struct lt *lt, struct hlist_head *buckets, const struct hlist_head *inline_buckets, unsigned int bits)
{
	if (buckets == inline_buckets)
		return;
	lt->bucket_bytes -= table_bytes(bits);
	kvfree(buckets);
}

/* No hook can reach t; lt->mutex held. */
void lt_entries_free(struct lt *lt, struct lt_task *t)
{
	struct hlist_node *next;
	struct lt_entry *e;
	unsigned int b;

	for (b = 0; b < 1U << t->bucket_bits; b++)
		hlist_for_each_entry_safe(e, next, &t->buckets[b], node) {
			hlist_del(&e->node);
			entry_free(lt, t, e);
		}
	t->nr_entries = 0;
	free_table(lt, t->buckets, t->inline_buckets, t->bucket_bits);
	t->buckets = t->inline_buckets;
	t->bucket_bits = LT_INLINE_BUCKET_BITS;
}

static void rehash(struct lt_task *t, struct hlist_head *buckets, unsigned int bits)
{
	struct hlist_head *old = t->buckets;
	unsigned int b, old_nr = 1U << t->bucket_bits;
	struct hlist_node *next;
	struct lt_entry *e;

	t->buckets = buckets;
	t->bucket_bits = bits;
	for (b = 0; b < old_nr; b++)
		hlist_for_each_entry_safe(e, next, &old[b], node) {
			hlist_del(&e->node);
			hlist_add_head(&e->node, bucket(t, e->trace, e->exec_id));
		}
}

static void grow(struct lt *lt, struct lt_task *t)
{
	struct lt_shard *shard = lt_shard_of(lt, t->pid);
	unsigned int bits = ilog2(READ_ONCE(t->nr_entries) | 1) + 2, old_bits = t->bucket_bits;
	struct hlist_head *buckets = NULL, *old = t->buckets;

	if (bits > old_bits)
		buckets = kvcalloc(1UL << bits, sizeof(*buckets), GFP_KERNEL | __GFP_NOWARN);
	raw_spin_lock_irq(&shard->lock);
	if (buckets)
		rehash(t, buckets, bits);
	t->wants_buckets = false;
	raw_spin_unlock_irq(&shard->lock);
	if (!buckets)
		return;
	lt->bucket_bytes += table_bytes(bits);
	free_table(lt, old, t->inline_buckets, old_bits);
}

/* Worker, lt->mutex held. */
void lt_entries_grow_wanted(struct lt *lt)
{
	struct llist_node *list = llist_del_all(&lt->wants_buckets);
	struct lt_task *t, *next;

	llist_for_each_entry_safe(t, next, list, wants_buckets_node) {
		grow(lt, t);
		cond_resched();
	}
}
