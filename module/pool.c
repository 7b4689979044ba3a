// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pools of equal objects, so that hooks never allocate. Hooks take and give
 * back; the worker refills in process context. Called by tasks.c, entries.c,
 * traces.c.
 *
 * Free objects stand on per-CPU lists, each under a raw lock that only its own
 * CPU takes as a rule: a hook that finds its list empty looks at the others,
 * but only when the pool as a whole has something free, so a pool that is
 * exhausted costs a load and not a walk over all CPUs. Locks: a list's lock is
 * a leaf, taken with interrupts off.
 *
 * What stands ready is shared like the tables are (owners.c): who has taken his
 * burst since the last refill leaves the rest to others until the next.
 */
#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include "lattop.h"
#include "params.h"

static void *list_pop(struct lt_pool_cpu *c)
{
	void *object;
	unsigned long flags;

	raw_spin_lock_irqsave(&c->lock, flags);
	object = c->free;
	if (object) {
		c->free = *(void **)object;
		WRITE_ONCE(c->nr, c->nr - 1);
	}
	raw_spin_unlock_irqrestore(&c->lock, flags);
	return object;
}

static void list_push(struct lt_pool_cpu *c, void *object)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&c->lock, flags);
	*(void **)object = c->free;
	c->free = object;
	WRITE_ONCE(c->nr, c->nr + 1);
	raw_spin_unlock_irqrestore(&c->lock, flags);
}

static void *pop_any(struct lt_pool *pool)
{
	void *object = list_pop(this_cpu_ptr(pool->cpu));
	int cpu;

	if (likely(object))
		return object;
	for_each_possible_cpu(cpu) {
		if (!READ_ONCE(per_cpu_ptr(pool->cpu, cpu)->nr))
			continue;
		object = list_pop(per_cpu_ptr(pool->cpu, cpu));
		if (object)
			return object;
	}
	return NULL;
}

static void kick(struct lt_pool *pool)
{
	if (!READ_ONCE(pool->dry))
		lt_kick(pool->kick);
}

/* May this owner have one more for good? Counts it. Any context with preemption off. */
bool lt_pool_claim(struct lt_pool *pool, u16 owner)
{
	if (!owner)
		return true;
	if (atomic_read(&pool->nr_free) <= (int)(pool->reserve - pool->burst) &&
	    atomic_read(&pool->taken[owner]) >= (int)pool->burst) {
		kick(pool);
		return false;
	}
	atomic_inc(&pool->taken[owner]);
	return true;
}

/* Any context with preemption off. NULL: *why. */
void *lt_pool_take(struct lt_pool *pool, u16 owner, enum lt_refused *why)
{
	void *object = NULL;
	int nr_free;

	*why = LT_USER;
	if (!lt_pool_claim(pool, owner))
		return NULL;
	*why = LT_FULL;
	if (atomic_inc_return(&pool->in_use) > pool->max) {
		atomic_dec(&pool->in_use);
		return NULL;
	}
	*why = LT_DRY;
	nr_free = atomic_read(&pool->nr_free);
	if (nr_free > 0)
		object = pop_any(pool);
	if (object)
		nr_free = atomic_dec_return(&pool->nr_free);
	else
		atomic_dec(&pool->in_use);
	if (nr_free < (int)(pool->reserve / 2))
		kick(pool);
	return object;
}

/* Any context with preemption off, or the worker. */
void lt_pool_give(struct lt_pool *pool, void *object)
{
	unsigned long flags;

	local_irq_save(flags);
	list_push(this_cpu_ptr(pool->cpu), object);
	local_irq_restore(flags);
	atomic_inc(&pool->nr_free);
	atomic_dec(&pool->in_use);
}

/* Worker and load: bring the free objects up to the reserve, spread over the CPUs online. */
int lt_pool_refill(struct lt_pool *pool)
{
	int cpu, owner;

	while (atomic_read(&pool->nr_free) < (int)pool->reserve) {
		for_each_online_cpu(cpu) {
			void *object;

			if (atomic_read(&pool->nr_free) >= (int)pool->reserve)
				break;
			object = kmem_cache_zalloc(pool->cache,
						   GFP_KERNEL | __GFP_NOWARN | __GFP_NORETRY);
			if (!object) {
				WRITE_ONCE(pool->dry, true);
				return -ENOMEM;
			}
			list_push(per_cpu_ptr(pool->cpu, cpu), object);
			atomic_inc(&pool->nr_free);
		}
	}
	WRITE_ONCE(pool->dry, false);	/* also where what came back did it */
	for (owner = 0; owner < LT_OWNERS; owner++)
		atomic_set(&pool->taken[owner], 0);
	/* What a burst left over goes back to the kernel. */
	while (atomic_read(&pool->nr_free) > (int)pool->reserve * 2) {
		void *object = NULL;

		for_each_possible_cpu(cpu) {
			object = list_pop(per_cpu_ptr(pool->cpu, cpu));
			if (!object)
				continue;
			atomic_dec(&pool->nr_free);
			kmem_cache_free(pool->cache, object);
		}
		cond_resched();
	}
	return 0;
}

u64 lt_pool_bytes(const struct lt_pool *pool)
{
	return (u64)(atomic_read(&pool->in_use) + atomic_read(&pool->nr_free)) * pool->object_bytes;
}

/* On failure nothing is left behind. */
int lt_pool_init(struct lt_pool *pool, const char *name, unsigned int object_bytes,
		 unsigned int max, unsigned int reserve, struct irq_work *kick)
{
	int cpu, err;

	pool->object_bytes = object_bytes;
	pool->max = max;
	pool->reserve = reserve;
	pool->kick = kick;
	pool->burst = max_t(u64, (u64)reserve * lt_params.user_share / 100,
			    clamp_t(unsigned int, reserve, 1, LT_SEED_BATCH));
	atomic_set(&pool->in_use, 0);
	atomic_set(&pool->nr_free, 0);
	pool->taken = kcalloc(LT_OWNERS, sizeof(*pool->taken), GFP_KERNEL);
	if (!pool->taken)
		return -ENOMEM;
	pool->cpu = alloc_percpu(struct lt_pool_cpu);
	if (!pool->cpu) {
		kfree(pool->taken);
		return -ENOMEM;
	}
	for_each_possible_cpu(cpu)
		raw_spin_lock_init(&per_cpu_ptr(pool->cpu, cpu)->lock);
	pool->cache = kmem_cache_create(name, object_bytes, 0, 0, NULL);
	err = pool->cache ? lt_pool_refill(pool) : -ENOMEM;
	if (err)
		lt_pool_exit(pool);
	return err;
}

/* Every object has been given back. */
void lt_pool_exit(struct lt_pool *pool)
{
	void *object;
	int cpu;

	if (!pool->cpu)
		return;
	WARN_ON_ONCE(atomic_read(&pool->in_use));
	for_each_possible_cpu(cpu)
		while ((object = list_pop(per_cpu_ptr(pool->cpu, cpu)))) {
			kmem_cache_free(pool->cache, object);
			cond_resched();
		}
	kmem_cache_destroy(pool->cache);
	free_percpu(pool->cpu);
	kfree(pool->taken);
	pool->cpu = NULL;
	pool->cache = NULL;
}
