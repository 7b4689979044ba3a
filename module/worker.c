// SPDX-License-Identifier: GPL-2.0-only
/*
 * What hooks must not do, done in process context: refill the pools, grow hash
 * tables, name cgroups, retire exited tasks. Runs every second and when a hook asks, through
 * an irq_work (the one wake-up that is safe under a runqueue lock).
 */
#include <linux/cpumask.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "arch_x86.h"
#include "cgroups.h"
#include "lattop.h"
#include "rows.h"

/* Hooks may ask for it every microsecond: an upkeep looks into each shard, and holds lt->mutex. */
#define LT_UPKEEP_PAUSE	(HZ / 50 ?: 1)

static void kicked(struct irq_work *kick)
{
	struct lt *lt = container_of(kick, struct lt, kick);
	unsigned long again = READ_ONCE(lt->upkept) + LT_UPKEEP_PAUSE, now = jiffies;

	if (READ_ONCE(lt->worker_ends))
		return;
	queue_work(lt->wq, &lt->refill);
	mod_delayed_work(lt->wq, &lt->upkeep, time_before(now, again) ? again - now : 0);
}

/*
 * Any context with interrupts off. A CPU that goes offline runs no irq_work any more, and what was queued there would be
 * pending until it is back, for all CPUs; only hooks by kprobes and RT's threads get so far. The worker's next second will do.
 */
void lt_kick(struct irq_work *kick)
{
	if (likely(cpu_active(raw_smp_processor_id())))
		irq_work_queue(kick);
}

/*
 * Apart from the upkeep, which may wait for a reader. A refill that finds no
 * memory is tried again next time; the hooks count what they miss.
 */
void lt_refill(struct lt *lt)
{
	int i;

	lt_pool_refill(&lt->task_pool);
	lt_pool_refill(&lt->entry_pool);
	lt_pool_refill(&lt->memo_pool);
	lt_pool_refill(&lt->waker_pool);
	for (i = 0; i < LT_TRACE_CLASSES; i++)
		lt_pool_refill(&lt->trace_pool[i]);
}

static void refill(struct work_struct *work)
{
	lt_refill(container_of(work, struct lt, refill));
}

static void upkeep(struct work_struct *work)
{
	struct lt *lt = container_of(to_delayed_work(work), struct lt, upkeep);

	WRITE_ONCE(lt->upkept, jiffies);
	queue_work(lt->wq, &lt->refill);
	lt_rows_reap(lt);
	if (READ_ONCE(lt->miss_nr))
		lt_kick(&lt->miss_kick);	/* a CPU on its way offline does not */
	if (!lt_arch_sched_clock_stable())
		WRITE_ONCE(lt->queue_clock, false);
	mutex_lock(&lt->mutex);
	lt_entries_grow_wanted(lt);
	lt_cgroups_name_left(lt);
	lt_exited_retire(lt);
	lt_exited_find_lost(lt);
	mutex_unlock(&lt->mutex);
	queue_delayed_work(lt->wq, &lt->upkeep, HZ);
}

int lt_worker_init(struct lt *lt)
{
	init_irq_work(&lt->kick, kicked);
	INIT_WORK(&lt->refill, refill);
	INIT_DELAYED_WORK(&lt->upkeep, upkeep);
	lt->upkept = jiffies - LT_UPKEEP_PAUSE;
	lt->wq = alloc_workqueue("lattop", WQ_UNBOUND | WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	if (!lt->wq)
		return -ENOMEM;
	lt->rewalk_wq = alloc_workqueue("lattop-rewalk", WQ_UNBOUND, 0);
	if (!lt->rewalk_wq) {
		destroy_workqueue(lt->wq);
		return -ENOMEM;
	}
	queue_delayed_work(lt->wq, &lt->upkeep, HZ);
	return 0;
}

/* The hooks are off; the upkeep may still kick, to no effect any more once the kick before that has been waited for. */
void lt_worker_exit(struct lt *lt)
{
	WRITE_ONCE(lt->worker_ends, true);
	smp_mb();	/* a kick that is not waited for sees it */
	irq_work_sync(&lt->kick);
	cancel_delayed_work_sync(&lt->upkeep);
	cancel_work_sync(&lt->refill);
	irq_work_sync(&lt->kick);	/* on RT a thread runs it, when it comes to it */
	destroy_workqueue(lt->rewalk_wq);
	destroy_workqueue(lt->wq);
}
