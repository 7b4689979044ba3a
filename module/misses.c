// SPDX-License-Identifier: GPL-2.0-only
/*
 * Misses: walks that met code without a row, on their way to a resolver. Put
 * on a small ring in hooks (and by rewalk.c), taken off by LT_IOC_MISSES.
 * Collected only while there is a resolver.
 *
 * The same code misses at every sleep until its row is taught, so what was
 * handed out is remembered and not handed out again for 2^27 ns or less: a
 * table of keys that hold the time, in that unit. Of two places that share a
 * slot each may come a little more often. No user has more than his share of the
 * ring. miss_lock is raw, taken with interrupts off; only owners_lock is taken under it.
 */
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "compat/eventfd.h"
#include "compat/task.h"
#include "lattop.h"
#include "row_pack.h"
#include "rows.h"

enum {
	RECENT_SHIFT	= 27,	/* 2^27 ns = 134 ms */
	MISSES_AT_ONCE	= 32,	/* taken under the lock */
};

struct lt_resolver {
	struct list_head node;
	struct eventfd_ctx *event;	/* or NULL */
};

bool lt_resolved(const struct lt *lt)
{
	return atomic_read(&lt->nr_resolvers);
}

static bool handed_out(struct lt *lt, u64 place)
{
	u64 *slot = &lt->recent_misses[hash_64(place, ilog2(LT_RECENT_MISSES))];
	u64 key = place + ((lt_clock() >> RECENT_SHIFT) << 48);

	if (*slot == key)
		return true;
	*slot = key;
	return false;
}

static bool charge(struct lt *lt, struct task_struct *p, u16 *owner)
{
	bool fits;

	*owner = lt_owner_get(lt, lt_compat_task_cred(p));
	fits = lt_owner_charge(lt, *owner, LT_HELD_misses);
	lt_owner_put(lt, *owner);
	if (!fits)
		lt_lose(lt, LT_LOST_miss_user);
	return fits;
}

/* p's walk ended at f. p is current, or asleep and cannot leave meanwhile. */
void lt_miss(struct lt *lt, struct task_struct *p, const struct lt_uframe *f)
{
	unsigned long flags;
	bool put = false;
	struct lt_miss *m;
	unsigned int i;
	u16 owner;

	raw_spin_lock_irqsave(&lt->miss_lock, flags);
	if (lt->miss_nr == LT_MAX_MISSES) {
		lt_lose(lt, LT_LOST_miss_full);
	} else if (!handed_out(lt, (unsigned long)p->mm ^ lt_row_key(f->pc, f->exact)) &&
		   charge(lt, p, &owner)) {
		i = (lt->miss_first + lt->miss_nr++) % LT_MAX_MISSES;
		lt->miss_owners[i] = owner;
		m = &lt->misses[i];
		m->pid = p->pid;
		m->tgid = p->tgid;
		m->start_ns = p->start_boottime;
		m->exec_id = (u32)p->self_exec_id;
		m->flags = f->exact;
		m->pc = f->pc;
		m->sp = f->sp;
		m->bp = f->bp;
		put = true;
	}
	raw_spin_unlock_irqrestore(&lt->miss_lock, flags);
	if (put)
		lt_kick(&lt->miss_kick);
}

/* How many came, in one piece. */
static u32 take_some(struct lt *lt, struct lt_miss *to, u32 n)
{
	u32 i, at;

	raw_spin_lock_irq(&lt->miss_lock);
	n = min(n, lt->miss_nr);
	for (i = 0; i < n; i++) {
		at = (lt->miss_first + i) % LT_MAX_MISSES;
		to[i] = lt->misses[at];
		lt_owner_uncharge(lt, lt->miss_owners[at], LT_HELD_misses, 1);
	}
	lt->miss_first = (lt->miss_first + n) % LT_MAX_MISSES;
	lt->miss_nr -= n;
	raw_spin_unlock_irq(&lt->miss_lock);
	return n;
}

/* How many came. Hooks wait for the lock of a piece at most. */
u32 lt_misses_take(struct lt *lt, struct lt_miss *to, u32 n)
{
	u32 had = 0, came;

	do {
		came = take_some(lt, to + had, min_t(u32, n - had, MISSES_AT_ONCE));
		had += came;
	} while (came == MISSES_AT_ONCE && had < n);
	return had;
}

static void signal_resolvers(struct irq_work *work)
{
	struct lt *lt = container_of(work, struct lt, miss_kick);
	struct lt_resolver *r;
	unsigned long flags;

	spin_lock_irqsave(&lt->resolvers_lock, flags);
	list_for_each_entry(r, &lt->resolvers, node)
		if (r->event)
			lt_compat_eventfd_signal(r->event);
	spin_unlock_irqrestore(&lt->resolvers_lock, flags);
}

/* event_fd: of the calling process, -1 for none. An ERR_PTR on failure. */
struct lt_resolver *lt_resolver_new(struct lt *lt, int event_fd)
{
	struct lt_resolver *r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);

	if (!r)
		return ERR_PTR(-ENOMEM);
	if (event_fd >= 0) {
		r->event = eventfd_ctx_fdget(event_fd);
		if (IS_ERR(r->event)) {
			void *err = r->event;

			kfree(r);
			return err;
		}
	}
	spin_lock_irq(&lt->resolvers_lock);
	list_add(&r->node, &lt->resolvers);
	spin_unlock_irq(&lt->resolvers_lock);
	atomic_inc(&lt->nr_resolvers);
	return r;
}

void lt_resolver_free(struct lt *lt, struct lt_resolver *r)
{
	if (!r)
		return;
	atomic_dec(&lt->nr_resolvers);
	spin_lock_irq(&lt->resolvers_lock);
	list_del(&r->node);
	spin_unlock_irq(&lt->resolvers_lock);
	/* Who waits for misses learns that there will be none: the module may be on its way out */
	if (r->event) {
		lt_compat_eventfd_signal(r->event);
		eventfd_ctx_put(r->event);
	}
	kfree(r);
}

int lt_misses_init(struct lt *lt)
{
	lt->misses = kcalloc(LT_MAX_MISSES, sizeof(*lt->misses), GFP_KERNEL);
	if (!lt->misses)
		return -ENOMEM;
	raw_spin_lock_init(&lt->miss_lock);
	spin_lock_init(&lt->resolvers_lock);
	INIT_LIST_HEAD(&lt->resolvers);
	atomic_set(&lt->nr_resolvers, 0);
	init_irq_work(&lt->miss_kick, signal_resolvers);
	return 0;
}

/* Hooks are off, descriptors closed. */
void lt_misses_exit(struct lt *lt)
{
	unsigned int i;

	irq_work_sync(&lt->miss_kick);
	for (i = 0; i < lt->miss_nr; i++)
		lt_owner_uncharge(lt, lt->miss_owners[(lt->miss_first + i) % LT_MAX_MISSES],
				  LT_HELD_misses, 1);
	kfree(lt->misses);
}
