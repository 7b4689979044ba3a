// SPDX-License-Identifier: GPL-2.0-only
/*
 * What could not be kept, by cause, counted per CPU; and what the module
 * holds. lt_lose is called in hooks, the rest by readers under lt->mutex.
 */
#include <linux/cpumask.h>
#include <linux/percpu.h>

#include "lattop.h"
#include "rows.h"

void lt_lose(struct lt *lt, enum lt_lost cause)
{
	this_cpu_inc(lt->stats->lost[cause]);
}

void lt_lose_many(struct lt *lt, enum lt_lost cause, u64 n)
{
	this_cpu_add(lt->stats->lost[cause], n);
}

/* Since load or the last reset. */
u64 lt_lost(struct lt *lt, enum lt_lost cause)
{
	u64 sum = cause == LT_LOST_probe_missed ? lt_hooks_missed(lt) : 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(lt->stats, cpu)->lost[cause]);
	return sum - lt->lost_base[cause];
}

/* Of all hooks, in nanoseconds since load or the last reset. */
u64 lt_cost_ns(struct lt *lt)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(lt->stats, cpu)->cost_ns);
	return sum - lt->cost_base_ns;
}

u64 lt_memory_bytes(struct lt *lt)
{
	u64 bytes = lt_pool_bytes(&lt->task_pool) + lt_pool_bytes(&lt->entry_pool) +
		    lt_pool_bytes(&lt->memo_pool) + lt_pool_bytes(&lt->waker_pool);
	int i;

	for (i = 0; i < LT_TRACE_CLASSES; i++)
		bytes += lt_pool_bytes(&lt->trace_pool[i]);
	bytes += LT_SHARDS * sizeof(struct lt_shard) +
		 LT_TRACE_LOCKS * sizeof(struct lt_trace_bucket_lock) +
		 (sizeof(struct hlist_head) << lt->trace_hash_bits);
	bytes += 3 * (PID_MAX_LIMIT / 8);
	bytes += num_possible_cpus() * (sizeof(struct lt_capture) + sizeof(struct lt_stats)) + lt_memo_drafts_bytes();
	bytes += (lt->nr_exited_procs + 1) * sizeof(struct lt_task);
	bytes += lt_owners_bytes() + ((u64)atomic_read(&lt->snapshot_kib) << 10);
	bytes += LT_MAX_MISSES * sizeof(struct lt_miss) +
		 (sizeof(struct hlist_head) << LT_SPACE_HASH_BITS) + lt_rows_bytes(lt);
	return bytes + lt->bucket_bytes + lt->ksym_bytes + lt->cgroup_bytes;
}

int lt_stats_init(struct lt *lt)
{
	lt->stats = alloc_percpu(struct lt_stats);
	return lt->stats ? 0 : -ENOMEM;
}

void lt_stats_exit(struct lt *lt)
{
	free_percpu(lt->stats);
}
