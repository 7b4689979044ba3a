/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one state object, its parts, and who may touch what. README.md beside
 * this file has the lock order and the contexts; uapi/lattop.h is what user
 * space sees.
 *
 * "hook" below means: under some runqueue's lock, interrupts off, possibly in
 * a kprobe's int3. Nothing there allocates, wakes, prints or faults.
 */
#ifndef LATTOP_H
#define LATTOP_H

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>

#include "owners.h"
#include "shape.h"
#include "uapi/lattop.h"

#define LT_RELEASE "0.1.0"

enum {
	LT_SHARD_BITS		= 10,
	LT_SHARDS		= 1 << LT_SHARD_BITS,
	LT_TRACE_HASH_BITS_MIN	= 8,
	LT_TRACE_HASH_BITS_MAX	= 20,
	LT_TRACE_LOCKS		= 256,
	LT_INLINE_BUCKET_BITS	= 2,
	LT_SKIP_FRAMES		= 16,	/* of the hooks themselves, above __schedule */
	LT_KERNEL_DEPTH_MAX	= 127,
	LT_USER_DEPTH_MAX	= 1024,
	LT_TRACE_CLASSES	= 3,
	LT_SPACE_HASH_BITS	= 13,	/* a hook looks at all of a bucket: as many processes as a user may have */
	LT_RECENT_MISSES	= 1024,
	LT_MEMOS		= 4,	/* of a task and kind */
	LT_OWNERS		= 256,	/* users at a time */
};

/* What a task remembers traces of: memo.c. */
enum lt_memo_kind {
	LT_MEMO_SLEEP,			/* where it sleeps */
	LT_MEMO_WAKER,			/* where it wakes others */
	LT_MEMO_KINDS
};

struct task_struct;
struct cred;
struct file;
struct kmem_cache;

/*
 * A pool of equal objects: taken and given back in hooks, filled by the
 * worker. See pool.c.
 */
struct lt_pool_cpu {
	raw_spinlock_t lock;
	void *free;		/* chained through the objects' first word */
	unsigned int nr;
};

struct lt_pool {
	struct kmem_cache *cache;
	struct lt_pool_cpu __percpu *cpu;
	struct irq_work *kick;	/* queued when the pool runs low */
	unsigned int max;	/* objects in use at most */
	unsigned int reserve;	/* free objects the worker keeps ready */
	unsigned int object_bytes;
	unsigned int burst;	/* of the reserve, what one owner may take between two refills */
	atomic_t *taken;	/* by each owner, since the last */
	bool dry;		/* the last refill found no memory: the worker's next second is soon enough */
	atomic_t in_use;
	atomic_t nr_free;
};

/* Less than an eighth is left of what there may be. */
static inline bool lt_scarce(unsigned int used, unsigned int max)
{
	return used && used >= max - max / 8;
}

/* An interned call trace. Immutable but for refs and the snapshot's mark. */
struct lt_trace {
	struct hlist_node node;		/* bucket lock */
	u64 id;
	atomic_t refs;			/* entries, wakers and their memos naming it; to and from 0 under the bucket lock */
	u32 hash;
	u16 nr_kernel;
	u16 nr_user;
	s32 syscall;
	u32 flags;			/* LT_TR_* */
	u16 class;			/* its pool */
	u16 owner;			/* who made it */
	u32 snap_index;			/* lt->mutex: place in the snapshot being built, */
	u64 snap_seq;			/* valid when this is that snapshot's number */
	unsigned long frames[];		/* kernel, then user, innermost first */
};

/* A trace as a hook captured it, and how, in a per-CPU buffer. */
struct lt_capture {
	u32 first;			/* frames[first] is the innermost kernel frame */
	u16 nr_kernel;
	u16 nr_user;
	s32 syscall;
	u32 flags;
	const struct task_struct *sleeper;	/* hook_sets.c: who blocked on this CPU last, */
	u64 cost_ns;				/* and what the hook for that took */
	struct lt_kshape kernel;
	struct lt_ushape user;
	unsigned long frames[LT_SKIP_FRAMES + LT_KERNEL_DEPTH_MAX + 1 + LT_USER_DEPTH_MAX];
};

/* The sleeps of one task in one trace. Shard lock. */
struct lt_entry {
	struct hlist_node node;
	struct lt_trace *trace;		/* NULL: [other] */
	u64 exec_id;			/* the kernel's own: 32 bits come round, and would tell of another program's */
	u16 owner;			/* who made it */
	bool touched;			/* it is on its task's chain of these */
	u64 blocked_ns;			/* ended sleeps */
	u64 max_ns;
	u64 sleeps;			/* begun */
	u64 hist[LT_HIST_BUCKETS];	/* ended */
	struct lt_waker *wakers;	/* wakers.h */
	u32 nr_wakers;
	u32 copied_at;			/* copies.c: where its copy is, if that says so, too */
	struct lt_entry *touched_next;
};

/* Who a task was, for readers that come after its exit. */
struct lt_creds {
	kuid_t uid, euid, suid;
	kgid_t gid, egid, sgid;
	bool dumpable;
	bool privileged;	/* held capabilities, or lived in another user namespace */
};

/*
 * The record of a task, or (kind) of what exited tasks left behind. Everything
 * under the shard lock but what stands under "lt->mutex".
 */
struct lt_task {
	struct rb_node pid_node;
	u32 pid;
	u32 tgid;
	u64 start_ns;			/* start_boottime: with pid, the identity */

	u64 asleep_since_ns;
	u64 queued_since_ns;
	struct lt_entry *entry;		/* of the ongoing sleep, or of the last */
	u64 blocked_ns;			/* ended sleeps */
	u64 max_ns;
	u64 sleeps;			/* begun */
	u64 runq_ns;
	u64 runs;
	u64 exec_id;
	u32 sleep_state;		/* TASK_* it went to sleep with */
	bool asleep;
	bool queued;
	bool dirty;			/* on the shard's dirty list */
	bool exited;
	bool iowait;
	bool delayed;			/* it was left on its runqueue when it went to sleep */
	bool seeded;
	bool kthread;
	bool wants_buckets;		/* on lt->wants_buckets */
	bool watched;			/* copies.c is at it, under lt->mutex */
	u8 kind;			/* enum lt_kind; never changes */
	u8 bucket_bits;
	char comm[LT_COMM_BYTES];
	u16 owner;			/* pinned; changes with its credentials */

	u32 nr_entries;			/* in buckets; `other` not among them */
	struct hlist_head *buckets;
	struct hlist_head inline_buckets[1 << LT_INLINE_BUCKET_BITS];
	struct lt_entry other;
	struct lt_entry *touched;	/* by a sleep that began or ended, while it is watched */

	struct lt_memo *memo[LT_MEMO_KINDS][LT_MEMOS];	/* memo.c: the one matched last in front */

	struct lt_waker *waking;	/* wakers.c: who is about to wake it, or was */
	u64 woke_ns;			/* when the last sleep ended; with wakers=1 */
	u32 nr_wakers;			/* of its entries */

	struct list_head dirty_node;
	struct list_head exited_node;	/* shard->exited; aggregates: lt->exited_lru */
	struct llist_node wants_buckets_node;
	u64 exit_ns;
	u64 leader_start_ns;
	struct lt_creds creds;
	u64 own_exec_id;		/* programs before that one may have been hidden from who may see it now */
	const struct cred *cred;	/* they are from; compared, never followed */

	/* cgroups.c: hooks set these two, the worker clears the first behind its work */
	struct cgroup *left_cgroup;	/* where it exited, held until it is named */
	struct llist_node left_node;	/* on lt->left_cgroups */

	/* lt->mutex */
	struct rb_node lat_node;
	struct rb_root *lat_root;	/* NULL: in neither tree */
	s64 lat_key;
	struct lt_cgroup *cgroup;	/* NULL: not known */
	u64 cgroup_id;			/* its id, 0 for none; hooks read it */
};

/*
 * Tasks that found no record, as one: with w, s the sums of all wake and sleep
 * stamps and n asleep now, they have slept w - s + n * now altogether, exactly,
 * whoever they are.
 */
struct lt_others {
	u64 wake_sum_ns, sleep_sum_ns, asleep, sleeps;
	u64 run_sum_ns, queue_sum_ns, queued, runs;
	u64 blocked_base_ns, runq_base_ns;	/* what a reset hid */
};

struct lt_shard {
	raw_spinlock_t lock;
	struct rb_root tasks;		/* by pid, start_ns */
	struct list_head dirty;		/* changed since a reader last looked */
	struct list_head exited;	/* oldest first */
	struct lt_others others;
} ____cacheline_aligned_in_smp;

struct lt_stats {
	u64 lost[LT_LOST_NR];
	u64 cost_ns;		/* of hooks: cost.h */
	bool wake_sampled;
	u32 matches;		/* of remembered traces; only with recheck */
};

struct lt_trace_bucket_lock {
	raw_spinlock_t lock;
} ____cacheline_aligned_in_smp;

/* What hooks ask first. */
enum lt_mode {
	LT_OFF,			/* loading or unloading */
	LT_FILTERED,		/* a filter: who is not in lt->known was never let in */
	LT_SIFTING,		/* the filter changes: known says nothing */
	LT_ON,
};

/* Where a kernel function lies: start < return address <= end; 0, 0: not known. */
struct lt_text {
	unsigned long start, end;
};

struct cgroup;
struct lt_cgroup;
struct lt_filter;
struct lt_hooks;
struct lt_memo;
struct lt_memo_draft;
struct lt_owner;
struct lt_waker;

struct lt {
	enum lt_mode mode;		/* hooks.c, filter.c */
	struct lt_filter __rcu *filter;	/* lt->mutex changes it */
	/* set before hooks run, constant afterwards */
	bool by_kprobes;
	bool queue_clock;		/* the runqueue's own says when a task was woken: account.c */
	bool wakers;
	unsigned int kernel_depth, user_depth;
	u32 counted_flags;			/* LT_TR_*: of a sleep's trace, lost by its cause */
	unsigned int max_traces, max_traces_per_task;
	unsigned int retain_exited;
	u64 retain_ns;
	struct lt_text schedule, ttwu;	/* __schedule, try_to_wake_up */
	struct lt_capture __percpu *capture;
	struct lt_stats __percpu *stats;
	struct lt_hooks *hooks;
	char hook_name[LT_HOOK_BYTES];

	struct lt_shard *shards;
	unsigned long *other_asleep;	/* a bit a pid: asleep, counted in lt_others */
	unsigned long *other_queued;
	unsigned long *known;		/* a bit a pid: has a record, or stands in lt_others, or once did */
	atomic_t nr_exited;

	/* shares of the tables: owners.c */
	struct lt_owner *owners;	/* LT_OWNERS; the first is nobody's */
	raw_spinlock_t owners_lock;
	unsigned int owner_max[LT_HELD_NR];
	unsigned int user_share;	/* percent; 0: nobody is limited */
	u32 owner_seed;
	unsigned long owners_kicked;	/* jiffies when somebody's past was to make room for his present */

	struct hlist_head *trace_buckets;
	struct lt_trace_bucket_lock *trace_locks;
	unsigned int trace_hash_bits;
	u32 trace_seed;
	atomic64_t trace_ids;
	atomic_t nr_traces;

	struct lt_pool task_pool;
	struct lt_pool entry_pool;
	struct lt_pool waker_pool;
	struct lt_pool trace_pool[LT_TRACE_CLASSES];
	unsigned int trace_class_frames[LT_TRACE_CLASSES];

	/* remembered traces: memo.c */
	struct lt_pool memo_pool;
	struct lt_memo_draft __percpu *drafts;
	struct notifier_block module_notifier;
	atomic_t kernel_generation;	/* changes with the kernel's code */
	unsigned int recheck;

	/* what open descriptors hold: budget.c */
	atomic_t snapshot_kib, users_snapshot_kib;
	int max_snapshot_kib;

	/* learned rows: rows.c, row_spaces.c, row_table.c */
	struct hlist_head *spaces;	/* by mm; read under RCU */
	spinlock_t spaces_lock;		/* who is in it, their tables; taken in MMU notifiers */
	struct mutex rows_mutex;	/* one teaches at a time */
	struct mutex register_mutex;	/* and one registers notifiers */
	struct list_head dead_spaces;	/* found by nobody: lt_rows_reap() */
	atomic_t nr_notifiers;		/* spaces whose notifiers are registered, or not yet reaped */
	unsigned int nr_rows, max_rows;
	u64 row_bytes;
	u64 row_generations;		/* handed out so far */

	/* misses.c */
	raw_spinlock_t miss_lock;
	struct lt_miss *misses;		/* ring of LT_MAX_MISSES */
	u16 miss_owners[LT_MAX_MISSES];
	unsigned int miss_first, miss_nr;
	u64 recent_misses[LT_RECENT_MISSES];
	atomic_t nr_resolvers;
	struct list_head resolvers;	/* resolvers_lock */
	spinlock_t resolvers_lock;
	struct irq_work miss_kick;

	struct irq_work kick;
	bool worker_ends;		/* what kicks does so to no effect */
	struct llist_head wants_buckets;
	struct llist_head left_cgroups;
	struct workqueue_struct *wq, *rewalk_wq;
	struct work_struct refill;
	struct delayed_work upkeep;
	unsigned long upkept;		/* jiffies when it began last */
	unsigned long wakers_looked;	/* jiffies when those of exited tasks were looked through */

	/*
	 * Readers and the worker, one at a time. Records, entries, and traces
	 * that these or listed wakers name are freed only under it, so pointers
	 * to them stay good under it.
	 */
	struct mutex mutex;
	struct mutex readers;		/* taken before it: only one of them waits for it at a time */
	struct rb_root lat_awake;	/* by blocked_ns */
	struct rb_root lat_asleep;	/* by blocked_ns - asleep_since_ns */
	unsigned int nr_records;	/* in the two trees */
	struct rb_root exited_procs;	/* aggregates, by tgid, leader_start_ns */
	struct list_head exited_lru;
	unsigned int nr_exited_procs;
	struct lt_task *exited_all;
	u64 since_ns;
	u64 seen_ns;			/* no sleep that was seen to go on then ends before: hooks read it */
	u64 last_liveness_ns;
	bool identities_moved;		/* set in hooks: some record's task is not under its pid any more */
	u64 snap_seq;
	u64 lost_base[LT_LOST_NR];
	u64 cost_base_ns;
	struct rb_root ksyms, kfuncs;
	unsigned int nr_ksyms;
	u64 ksym_bytes;
	u64 bucket_bytes;		/* of tasks' tables of entries, but those within their records */
	struct rb_root cgroups;		/* by id */
	u64 cgroup_bytes;
};

/* Nanoseconds of CLOCK_MONOTONIC, from any context. */
#define lt_clock() ktime_get_mono_fast_ns()

/* The part of t's blocked time that is its ongoing sleep. A guess without the shard lock. */
static inline u64 lt_ongoing(const struct lt_task *t, u64 now)
{
	u64 since_ns = READ_ONCE(t->asleep_since_ns);

	return READ_ONCE(t->asleep) && now > since_ns ? now - since_ns : 0;
}

/* account.c: hook context; now: lt_clock() when the hook was entered */
void lt_sleep_begin(struct lt *lt, struct task_struct *p, unsigned int state,
		    const struct lt_kframe *at, u64 now);
void lt_wake(struct lt *lt, struct task_struct *p);
void lt_wake_new(struct lt *lt, struct task_struct *p);
void lt_switch_in(struct lt *lt, struct task_struct *next, u64 now);
void lt_sleep_and_switch(struct lt *lt, struct task_struct *prev, unsigned int state,
			 const struct lt_kframe *at, struct task_struct *next, u64 now);
void lt_preempted(struct lt *lt, struct task_struct *prev, u64 now);
void lt_task_dead(struct lt *lt, struct task_struct *p, u64 now);
void lt_others_sleep(struct lt *lt, struct lt_shard *shard, u32 pid, u64 now,
		     enum lt_lost cause);
void lt_account_begin(struct lt *lt, struct lt_task *t, struct lt_entry *e, u64 now);
u64 lt_account_end(struct lt *lt, struct lt_task *t, u64 now);
void lt_others_forget(struct lt *lt);
u64 lt_others_blocked(const struct lt_others *o, u64 now);
u64 lt_others_runq(const struct lt_others *o, u64 now);

/* tasks.c; tasks.h has what hooks inline */
void lt_task_mark_exited(struct lt *lt, struct lt_shard *shard, struct lt_task *t, u64 now);
void lt_task_init(struct lt_task *t, u8 kind);
struct lt_task *lt_task_from(struct lt_shard *shard, u32 pid, u64 start_ns);
void lt_task_unknow(struct lt *lt, struct lt_shard *shard, u32 pid);
void lt_task_unlink(struct lt *lt, struct lt_shard *shard, struct lt_task *t);
void lt_task_free(struct lt *lt, struct lt_task *t);
int lt_tasks_init(struct lt *lt);
void lt_tasks_exit(struct lt *lt);

/* entries.c */
struct lt_entry *lt_entry_get(struct lt *lt, struct lt_task *t, const struct lt_capture *c);
struct lt_entry *lt_entry_better(struct lt *lt, struct lt_task *t, const struct lt_capture *c);
void lt_entries_move(struct lt *lt, struct lt_task *to, struct lt_task *from);
void lt_entries_free(struct lt *lt, struct lt_task *t);
void lt_entries_grow_wanted(struct lt *lt);
void lt_entry_put_back(struct lt_task *t, struct lt_entry *e);
void lt_entry_take_out(struct lt *lt, struct lt_task *t, struct lt_entry *e);
void lt_entry_give_back(struct lt *lt, struct lt_entry *e);
void lt_entry_add(struct lt_entry *to, const struct lt_entry *from);

/* traces.c */
bool lt_trace_equal(const struct lt_trace *tr, const struct lt_capture *c);
struct lt_trace *lt_trace_intern(struct lt *lt, const struct lt_capture *c, u16 owner,
				 enum lt_lost *cause);
struct lt_trace *lt_trace_intern_wakers(struct lt *lt, const struct lt_capture *c, kuid_t payer);
void lt_trace_put(struct lt *lt, struct lt_trace *tr);
int lt_traces_init(struct lt *lt);
void lt_traces_exit(struct lt *lt);

/* capture.c */
void lt_capture_current(struct lt *lt, struct lt_capture *c, const struct lt_kframe *at,
			const struct lt_trace *kernel);
void lt_capture_waker(struct lt *lt, struct lt_capture *c, const struct lt_kframe *at,
		      const struct lt_trace *kernel);
bool lt_capture_interrupt(struct lt *lt, struct lt_capture *c, const struct lt_kframe *at);
void lt_capture_asleep(struct lt *lt, struct lt_capture *c, struct task_struct *p);
void lt_capture_kernel_of(struct lt_capture *c, const struct lt_trace *tr);
void lt_capture_lose(struct lt *lt, u32 flags);
int lt_capture_init(struct lt *lt);
void lt_capture_exit(struct lt *lt);

/* arch_x86.c; the rest of what depends on the architecture is in arch_x86.h */
unsigned int lt_arch_stack_kernel(const struct lt_kframe *at, unsigned long *frames,
				  unsigned int max, struct lt_kshape *s);
unsigned int lt_arch_stack_interrupt(const struct lt_kframe *at, unsigned long *frames,
				     unsigned int max, bool *came_in);
unsigned int lt_arch_stack_asleep(struct task_struct *p, unsigned long *frames, unsigned int max);
unsigned int lt_arch_stack_user(unsigned long *frames, unsigned int max, u32 *flags);

/* memo.c: shard lock held; memo.h has what hooks inline */
void lt_memo_learn(struct lt *lt, struct lt_task *t, struct lt_entry *e, struct lt_trace *tr,
		   const struct lt_capture *c, const struct lt_memo *kernel);
void lt_memo_refuted(struct lt *lt, struct lt_task *t, enum lt_memo_kind kind, const struct lt_kframe *at,
		     const struct lt_memo *m, const struct lt_trace *walked);
unsigned int lt_memos(const struct lt_task *t);
void lt_memos_forget(struct lt *lt, struct lt_task *t);
u64 lt_memo_drafts_bytes(void);
int lt_memos_init(struct lt *lt);
void lt_memos_exit(struct lt *lt);

/* lattree.c: lt->mutex */
void lt_lattree_sync(struct lt *lt);
void lt_lattree_insert(struct lt *lt, struct lt_task *t, bool asleep, s64 key);
void lt_lattree_remove(struct lt *lt, struct lt_task *t);

struct lt_lat_cursor {
	struct rb_node *awake, *asleep;
	u64 now;
};
void lt_lattree_start(struct lt *lt, struct lt_lat_cursor *cur, u64 now);
struct lt_task *lt_lattree_step(struct lt_lat_cursor *cur);

/* exited.c: lt->mutex */
int lt_exited_init(struct lt *lt);
void lt_exited_exit(struct lt *lt);
void lt_exited_retire(struct lt *lt);
void lt_exited_find_lost(struct lt *lt);
void lt_exited_drop(struct lt *lt);
void lt_exited_forget(struct lt *lt);

/* pool.c */
enum { LT_SEED_BATCH = 8 };	/* tasks that seed.c enters with what the least reserve has, whoever's they are */
int lt_pool_init(struct lt_pool *pool, const char *name, unsigned int object_bytes,
		 unsigned int max, unsigned int reserve, struct irq_work *kick);
bool lt_pool_claim(struct lt_pool *pool, u16 owner);
void lt_pool_exit(struct lt_pool *pool);
void *lt_pool_take(struct lt_pool *pool, u16 owner, enum lt_refused *why);
void lt_pool_give(struct lt_pool *pool, void *object);
int lt_pool_refill(struct lt_pool *pool);
u64 lt_pool_bytes(const struct lt_pool *pool);

/* stats.c */
void lt_lose(struct lt *lt, enum lt_lost cause);
void lt_lose_many(struct lt *lt, enum lt_lost cause, u64 n);
u64 lt_lost(struct lt *lt, enum lt_lost cause);
u64 lt_cost_ns(struct lt *lt);
u64 lt_memory_bytes(struct lt *lt);
int lt_stats_init(struct lt *lt);
void lt_stats_exit(struct lt *lt);

/* worker.c */
void lt_kick(struct irq_work *kick);
void lt_refill(struct lt *lt);
int lt_worker_init(struct lt *lt);
void lt_worker_exit(struct lt *lt);

/* hooks.c, hook_sets.c, selftest.c, seed.c */
int lt_hooks_init(struct lt *lt);
void lt_hooks_exit(struct lt *lt);
u64 lt_hooks_missed(struct lt *lt);
int lt_selftest(struct lt *lt);
int lt_seed(struct lt *lt);
void lt_forget_all(struct lt *lt);

/* ksym.c: lt->mutex */
struct lt_kfunc {
	struct rb_node node;		/* by start */
	unsigned long start;
	const char *name;
	const char *module;
	u32 snap_index;
	u64 snap_seq;
};
struct lt_kfunc *lt_ksym(struct lt *lt, unsigned long addr, u32 *offset);
void lt_ksyms_trim(struct lt *lt);
int lt_ksyms_init(struct lt *lt);
void lt_ksyms_exit(struct lt *lt);

/* reset.c */
int lt_reset(struct lt *lt);
void lt_reset_held(struct lt *lt, struct lt_task *old);
void lt_reset_counts(struct lt *lt);

/* filter.c; filter.h has what hooks ask */
int lt_filter_init(struct lt *lt);
void lt_filter_exit(struct lt *lt);

/* proc.c */
int lt_proc_init(struct lt *lt);
void lt_proc_exit(struct lt *lt);

#endif /* LATTOP_H */
