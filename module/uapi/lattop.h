/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The contract between lattop.ko and user space: the record view of
 * /proc/lattop. The text view is described in docs/man/proc-lattop.5.
 *
 * A descriptor of /proc/lattop starts in the text view. LT_IOC_QUERY sets what
 * the next snapshot of that descriptor holds. A read from offset 0 takes a
 * fresh snapshot; reads from any other offset go on in the snapshot taken
 * last. So a held descriptor, one pread at 0 and, where lt_header.total_bytes
 * is larger than the buffer, preads behind it are a refresh.
 *
 * A snapshot in the record view, every part 8-byte aligned, offsets from its
 * first byte, native byte order:
 *
 *	+-----------------------+ 0
 *	| struct lt_header      |  says where each section is, how many records
 *	|                       |  it has and how large one is
 *	+-----------------------+ section[LT_SEC_TASKS].offset
 *	| struct lt_task_rec    |  in the order asked for
 *	+-----------------------+ section[LT_SEC_ENTRIES].offset
 *	| struct lt_entry_rec   |  task i has n_entries of them from first_entry,
 *	|                       |  most blocked time first
 *	+-----------------------+ section[LT_SEC_TRACES].offset
 *	| struct lt_trace_rec   |  each trace once, however many entries name it
 *	+-----------------------+ section[LT_SEC_FRAMES].offset
 *	| __u64                 |  trace i has nr_kernel + nr_user of them from
 *	|                       |  first_frame, innermost first, kernel frames
 *	|                       |  first
 *	+-----------------------+ section[LT_SEC_KSYMS].offset
 *	| struct lt_ksym_rec    |  the kernel functions that the frames name
 *	+-----------------------+ section[LT_SEC_STRINGS].offset
 *	| char                  |  NUL-terminated names; offset 0 is ""
 *	+-----------------------+ wakers.offset
 *	| struct lt_waker_rec   |  entry i has n_wakers of them from first_waker
 *	+-----------------------+ users.offset
 *	| struct lt_user_rec    |  each user who is limited and holds something
 *	+-----------------------+ total_bytes
 *
 * A kernel frame is (index into KSYMS << 32) | offset of the return address in
 * that function: kernel addresses never leave the kernel. A user frame is the
 * address, valid in the address space the task had under the entry's exec_id.
 * User frames above the innermost are return addresses (look up address - 1);
 * the innermost one is the instruction after the system call.
 *
 * Growth: records only ever grow at their end. A reader steps by
 * lt_section.record_bytes and ignores what it does not know. `version` changes
 * only when old fields change their meaning.
 */
#ifndef _UAPI_LATTOP_H
#define _UAPI_LATTOP_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define LT_PROC_PATH	"/proc/lattop"
#define LT_MAGIC	0x504f544cU	/* "LTOP" */

enum {
	LT_VERSION	= 1,
	LT_COMM_BYTES	= 16,
	LT_HOOK_BYTES	= 192,
	LT_RELEASE_BYTES = 32,
	LT_HIST_BUCKETS	= 40,	/* bucket i: 2^i <= ns < 2^(i+1); 0 holds 0 and 1; 39 all longer */
	LT_MAX_PIDS	= 1024,	/* longest list of pids in one query */
	LT_TEXT_TASKS	= 1000,	/* tasks in the text view, and in a query whose limit is 0 */
	LT_MAX_LIMIT	= 1 << 20,
	LT_LOST_SLOTS	= 32,	/* room for causes to come */
	LT_LIMIT_SLOTS	= 8,
	LT_HELD_SLOTS	= 16,	/* room for kinds to come */
	LT_MAX_COMMAND	= 65536, /* bytes of one write */
};

/* What a descriptor yields. */
enum lt_view {
	LT_VIEW_TEXT	= 0,
	LT_VIEW_RECORDS	= 1,
};

/* Descending, but for LT_SORT_PID. */
enum lt_sort {
	LT_SORT_BLOCKED	= 0,	/* blocked_ns, the ongoing sleep included */
	LT_SORT_ONGOING	= 1,
	LT_SORT_MAX	= 2,
	LT_SORT_SLEEPS	= 3,
	LT_SORT_RUNQ	= 4,
	LT_SORT_PID	= 5,	/* ascending */
	LT_SORT_NR
};

/* Which traces of a task the snapshot holds. */
enum lt_traces {
	LT_TRACES_NONE	= 0,
	LT_TRACES_WORST	= 1,	/* the one with the most blocked time */
	LT_TRACES_ALL	= 2,
	LT_TRACES_WORST_AND_ONGOING = 3,	/* and that of the ongoing sleep, where it is another */
	LT_TRACES_NR
};

/* lt_query.flags: what to leave out. */
enum {
	LT_Q_NO_KTHREADS	= 1 << 0,
	LT_Q_NO_EXITED		= 1 << 1,	/* exited tasks and [exited] records */
	LT_Q_ASLEEP		= 1 << 2,	/* only tasks blocked at this moment */
	LT_Q_ALL		= (1 << 3) - 1,
};

#define LT_UID_ANY	(~0U)

/**
 * struct lt_query - what the next snapshots of this descriptor hold
 * @size: sizeof(struct lt_query) as the caller knows it
 * @view: enum lt_view
 * @sort: enum lt_sort
 * @limit: at most this many tasks (1..LT_MAX_LIMIT); 0 is LT_TEXT_TASKS
 * @traces: enum lt_traces
 * @flags: LT_Q_*
 * @uid: only tasks of this real uid, in the caller's user namespace; LT_UID_ANY
 * @n_pids: only tasks whose pid or tgid is among these; 0 is all
 * @pids: user address of __u32[n_pids], in the caller's pid namespace
 * @min_blocked_ns: only tasks with at least this much blocked time
 *
 * Errors of the ioctl: EINVAL (a value out of its range, unknown flags),
 * E2BIG (more than LT_MAX_PIDS, or a newer struct with fields set that this
 * module does not know), EDQUOT (the pids do not fit in what the opener's user
 * may hold), EFAULT, EINTR, ENOMEM, ENOTTY (another ioctl). After an error the
 * descriptor's query is what it was.
 */
struct lt_query {
	__u32 size;
	__u32 view;
	__u32 sort;
	__u32 limit;
	__u32 traces;
	__u32 flags;
	__u32 uid;
	__u32 n_pids;
	__u64 pids;
	__u64 min_blocked_ns;
};

#define LT_IOC_QUERY	_IO('L', 0x70)	/* struct lt_query; the size is in it, so that it can grow */

enum lt_sec {
	LT_SEC_TASKS,
	LT_SEC_ENTRIES,
	LT_SEC_TRACES,
	LT_SEC_FRAMES,
	LT_SEC_KSYMS,
	LT_SEC_STRINGS,
	LT_SEC_NR
};

struct lt_section {
	__u64 offset;		/* bytes from the start of the snapshot */
	__u32 count;		/* records; bytes for LT_SEC_STRINGS */
	__u32 record_bytes;
};

/*
 * What could not be kept, by cause: X(name, what one count is). Nothing here
 * loses blocked time but `order` and `probe_missed`; the other causes say how much stands under
 * a coarser name, or how many stacks are not whole.
 */
#define LT_LOST_LIST(X) \
	X(task_limit,	"sleeps under the [other] task: max_tasks reached") \
	X(task_pool,	"sleeps under the [other] task: no free record yet") \
	X(entry_limit,	"sleeps under [other]: max_traces_per_task reached") \
	X(entry_pool,	"sleeps under [other]: max_entries reached or none free yet") \
	X(trace_limit,	"sleeps under [other]: max_traces reached, or the place for it is full") \
	X(trace_pool,	"sleeps under [other]: no free trace yet") \
	X(kernel_cut,	"sleeps whose kernel stack is deeper than kernel_depth") \
	X(user_cut,	"sleeps whose user stack is deeper than user_depth") \
	X(user_fault,	"sleeps whose user stack was not readable to its end") \
	X(order,	"sleeps whose end was not seen (ended at the next event), or whose begin (not in any sum)") \
	X(probe_missed,	"kprobes skipped by the kernel because another was being handled") \
	X(user_miss,	"sleeps whose user stack ends at code no row is known for yet") \
	X(user_cannot,	"sleeps whose user stack ends at code that cannot be unwound") \
	X(miss_full,	"misses not handed to the resolver: too many at once") \
	X(row_limit,	"rows not kept: max_rows reached, or the places for it are others'") \
	X(memo_wrong,	"remembered traces that a walk refuted: a defect of lattop's") \
	X(waker_limit,	"sleeps whose waker is not kept: too many of one trace or task, or the sleep stands under [other]") \
	X(waker_pool,	"sleeps whose waker is not known: max_wakers reached, none free yet, or not seen") \
	X(task_user,	"sleeps under the [other] task: its user has his share of max_tasks, or of the free records") \
	X(entry_user,	"sleeps under [other]: their user has his share of max_entries, or of the free ones") \
	X(trace_user,	"sleeps under [other]: their user has his share of max_traces, or of the free ones") \
	X(waker_user,	"sleeps whose waker is not kept: who woke, or was woken by root or the kernel, has his share of max_wakers, of the free ones, or of the trace's") \
	X(row_user,	"rows not kept: their process's user has his share of max_rows") \
	X(miss_user,	"misses not handed to the resolver: their user has his share of those that wait")

enum lt_lost {
#define LT_LOST_ENUM(name, text) LT_LOST_##name,
	LT_LOST_LIST(LT_LOST_ENUM)
#undef LT_LOST_ENUM
	LT_LOST_NR
};

/* A limit (module parameter) and how much of it is in use now. */
enum lt_limit {
	LT_LIMIT_TASKS,		/* records of tasks, exited ones included */
	LT_LIMIT_ENTRIES,	/* (task, trace) pairs */
	LT_LIMIT_TRACES,	/* distinct traces */
	LT_LIMIT_EXITED,	/* exited tasks kept before they merge */
	LT_LIMIT_ROWS,		/* learned rows, all address spaces */
	LT_LIMIT_MEMOS,		/* remembered traces, of all tasks */
	LT_LIMIT_WAKERS,	/* wakers of all entries; the limit is 0 without wakers=1 */
	LT_LIMIT_SNAPSHOT_KIB,	/* what open descriptors hold; the limit is of users who do not see all */
	LT_LIMIT_NR
};

/* What one user may hold his share of: X(name). */
#define LT_HELD_LIST(X) \
	X(tasks)		/* records of tasks, exited ones included */ \
	X(entries)		/* (task, trace) pairs */ \
	X(traces)		/* distinct traces that he was the first to sleep in */ \
	X(memos)		/* remembered traces */ \
	X(wakers)		/* wakers of entries that he pays for: where he woke, mostly */ \
	X(exited)		/* exited tasks kept before they merge */ \
	X(exited_procs)		/* [exited] records */ \
	X(rows)			/* learned rows */ \
	X(misses)		/* misses that wait for a resolver */ \
	X(snapshot_kib)		/* what his open descriptors hold; nothing where he sees all */

enum lt_held {
#define LT_HELD_ENUM(name) LT_HELD_##name,
	LT_HELD_LIST(LT_HELD_ENUM)
#undef LT_HELD_ENUM
	LT_HELD_NR
};

struct lt_header {
	__u32 magic;		/* LT_MAGIC */
	__u32 version;		/* LT_VERSION */
	__u32 header_bytes;
	__u32 section_nr;	/* LT_SEC_NR */
	__u64 total_bytes;	/* of the whole snapshot */
	__u64 time_ns;		/* CLOCK_MONOTONIC; ongoing sleeps are measured up to here */
	__u64 since_ns;		/* CLOCK_MONOTONIC of load or of the last reset */
	char  hook[LT_HOOK_BYTES];	/* "tracepoint: EVENT ..." or "kprobe: FUNCTION ..." */
	char  release[LT_RELEASE_BYTES];	/* lattop's release */
	__u32 tasks_total;	/* records the module has */
	__u32 tasks_matched;	/* those this reader may see and that match, before the limit */
	__u32 limit[LT_LIMIT_SLOTS];	/* LT_LIMIT_*; the spare ones are 0 */
	__u32 used[LT_LIMIT_SLOTS];
	__u64 memory_bytes;	/* held by the module */
	__u64 lost[LT_LOST_SLOTS];	/* LT_LOST_*; the spare ones are 0 */
	struct lt_section section[LT_SEC_NR];
	__u64 hooks_ns;		/* what the module's hooks cost since since_ns, all CPUs: estimated from a sample */
	__u32 filter;		/* offset into LT_SEC_STRINGS: what is accounted at all, "none" or as it was set */
	__u32 user_share;	/* percent of each table that one user may hold, 100: all of it; 0: a module that has no shares */
	struct lt_section wakers;	/* as section[], of struct lt_waker_rec */
	struct lt_section users;	/* of struct lt_user_rec; none where user_share is 100 */
	__u32 share[LT_HELD_SLOTS];	/* LT_HELD_*: the most that one user may hold; 0 where user_share is 100 */
};

/**
 * struct lt_user_rec - what a user holds
 * @uid: in the reader's user namespace. Whose a user namespace's tasks are is
 *	told in docs/man/proc-lattop.5. Of the 255 users told apart; more may share a record
 * @held: LT_HELD_*
 *
 * Who does not see all is shown himself only.
 */
struct lt_user_rec {
	__u32 uid;
	__u32 spare;
	__u32 held[LT_HELD_SLOTS];
};

/* lt_task_rec.kind */
enum lt_kind {
	LT_KIND_TASK	= 0,	/* one task */
	LT_KIND_EXITED	= 1,	/* all exited tasks of process tgid that left the retention limit */
	LT_KIND_EXITED_ALL = 2,	/* the same for processes that have gone too; pid 0 */
	LT_KIND_OTHER	= 3,	/* all tasks that found no record; pid 0; no traces, no max */
};

/* lt_task_rec.flags */
enum {
	LT_T_KTHREAD	= 1 << 0,
	LT_T_EXITED	= 1 << 1,
	LT_T_ASLEEP	= 1 << 2,	/* blocked at time_ns */
	LT_T_IOWAIT	= 1 << 3,	/* the ongoing sleep waits for I/O */
	LT_T_SEEDED	= 1 << 4,	/* the ongoing sleep began before load: it counts from load */
};

/**
 * struct lt_task_rec - a task
 * @pid: in the reader's pid namespace (what tools call tid)
 * @tgid: its process
 * @uid: real uid, in the reader's user namespace
 * @kind: enum lt_kind
 * @start_ns: start of the task since boot, CLOCK_BOOTTIME (field 22 of
 *	/proc/PID/stat in ns); kind, pid and start_ns together are its identity
 * @comm: name, not necessarily NUL-terminated, any bytes
 * @state: letter as ps shows it when it went to sleep: S D I T t P; R awake; X exited
 * @flags: LT_T_*
 * @blocked_ns: all sleeps, the ongoing one up to lt_header.time_ns included
 * @ongoing_ns: the ongoing sleep alone, 0 when awake
 * @max_ns: the longest sleep, the ongoing one included
 * @sleeps: sleeps begun
 * @runq_ns: time runnable but waiting for a CPU
 * @runs: times it got a CPU after such a wait
 * @exec_id: counts the execs of the process and its ancestors
 * @first_entry: index of its first entry
 * @n_entries: how many there are in this snapshot
 * @traces_total: how many entries the task has in the module
 * @cgroup: offset into LT_SEC_STRINGS: the path of the cgroup (version 2) that it is
 *	in, or was in when it exited, seen from the reader's cgroup namespace, as in
 *	/proc/PID/cgroup; of LT_KIND_EXITED that of the thread merged last; "" where it is
 *	not known or too long, and of LT_KIND_EXITED_ALL and LT_KIND_OTHER
 */
struct lt_task_rec {
	__u32 pid;
	__u32 tgid;
	__u32 uid;
	__u32 kind;
	__u64 start_ns;
	char  comm[LT_COMM_BYTES];
	__u32 state;
	__u32 flags;
	__u64 blocked_ns;
	__u64 ongoing_ns;
	__u64 max_ns;
	__u64 sleeps;
	__u64 runq_ns;
	__u64 runs;
	__u32 exec_id;
	__u32 first_entry;
	__u32 n_entries;
	__u32 traces_total;
	__u32 cgroup;
	__u32 spare;
};

#define LT_TRACE_OTHER	(~0U)	/* lt_entry_rec.trace of the entry named [other] */

/* lt_entry_rec.flags */
enum {
	LT_E_ONGOING	= 1 << 0,	/* the ongoing sleep is one of these */
};

/**
 * struct lt_entry_rec - the sleeps of one task in one trace
 * @trace: index of the trace, or LT_TRACE_OTHER
 * @flags: LT_E_*
 * @exec_id: the task's exec_id when it slept: another value than the task's
 *	now means that the user addresses belong to an earlier program
 * @blocked_ns, @max_ns: the ongoing sleep included
 * @ongoing_ns: its part
 * @sleeps: sleeps begun; the sum over @hist is this less the ongoing one
 * @hist: ended sleeps by the logarithm of their length
 * @first_waker: index of the first of those who ended sleeps here
 * @n_wakers: how many there are; none where traces are not wanted or wakers=0
 *
 * Over all entries of a task, blocked_ns adds up to the task's, to the
 * nanosecond, and so do sleeps.
 */
struct lt_entry_rec {
	__u32 trace;
	__u32 flags;
	__u32 exec_id;
	__u32 spare;
	__u64 blocked_ns;
	__u64 ongoing_ns;
	__u64 max_ns;
	__u64 sleeps;
	__u64 hist[LT_HIST_BUCKETS];
	__u32 first_waker;
	__u32 n_wakers;
};

/* lt_waker_rec.kind */
enum lt_waker_kind {
	LT_WAKER_TASK		= 0,
	LT_WAKER_INTERRUPT	= 1,	/* a timer's, a device's, another CPU's: its stack says */
	LT_WAKER_HIDDEN		= 2,	/* a task, or an earlier program of one, that the reader may not see, or that has no record */
};

/**
 * struct lt_waker_rec - who ended sleeps of one entry
 * @trace: index of the trace from which it did, LT_TRACE_OTHER where that is
 *	not kept or not shown. An interrupt's ends where the interrupt came in
 * @kind: enum lt_waker_kind
 * @pid, @tgid, @start_ns, @exec_id, @comm: of a task, as in its record; else 0
 * @waited_trace: index of the trace of the last sleep of that task before it
 *	woke the sleeper, where some of it lay within the sleeper's; else LT_TRACE_OTHER
 * @waited_ns: how much of @blocked_ns the waker itself slept there. For the
 *	rest it ran or waited for a CPU, or slept before that one
 * @blocked_ns, @max_ns, @sleeps: of the sleeps it ended. Over all wakers of an
 *	entry they add up to its ended sleeps less those counted in
 *	LT_LOST_waker_limit, LT_LOST_waker_pool and LT_LOST_order
 */
struct lt_waker_rec {
	__u32 trace;
	__u32 kind;
	__u32 pid;
	__u32 tgid;
	__u64 start_ns;
	__u32 exec_id;
	__u32 waited_trace;
	char  comm[LT_COMM_BYTES];
	__u64 blocked_ns;
	__u64 max_ns;
	__u64 sleeps;
	__u64 waited_ns;
};

/* lt_trace_rec.flags */
enum {
	LT_TR_COMPLETE		= 1 << 0,	/* the user part reaches the thread's first frame, or there is none */
	LT_TR_NO_USER		= 1 << 1,	/* no user part: a kernel thread, or between two programs in execve */
	LT_TR_FP		= 1 << 2,	/* user part walked by frame pointer: may skip frames */
	LT_TR_KERNEL_CUT	= 1 << 3,	/* deeper than kernel_depth */
	LT_TR_USER_CUT		= 1 << 4,	/* deeper than user_depth */
	LT_TR_USER_FAULT	= 1 << 5,	/* the walk met memory that was not there */
	LT_TR_COMPAT		= 1 << 6,	/* a 32-bit task */
	LT_TR_SEEDED		= 1 << 7,	/* taken from outside at load: user part is the pc alone */
	LT_TR_MISS		= 1 << 8,	/* walked by rows up to code that no row is known for yet */
	LT_TR_CANNOT		= 1 << 9,	/* walked by rows up to code that cannot be unwound */

	LT_TR_NOT_WHOLE		= LT_TR_KERNEL_CUT | LT_TR_USER_CUT | LT_TR_USER_FAULT | LT_TR_MISS | LT_TR_CANNOT,
};

/**
 * struct lt_trace_rec - a call trace
 * @id: the same trace keeps its id from one snapshot to the next; never reused
 * @first_frame: index of its innermost frame
 * @nr_kernel: kernel frames
 * @nr_user: user frames, behind them
 * @syscall: number of the system call it is in, -1 outside one
 * @flags: LT_TR_*
 */
struct lt_trace_rec {
	__u64 id;
	__u32 first_frame;
	__u16 nr_kernel;
	__u16 nr_user;
	__s32 syscall;
	__u32 flags;
};

/*
 * Learned rows: how to get from a place in user code to its caller, taught by
 * a resolver that has read the binary's call-frame information. Rows belong
 * to an address space; exec gets a fresh one, exit and unmapping drop them.
 *
 * The canonical frame address (cfa) is what sp was before the call; the return
 * address is at cfa - 8.
 */
enum lt_row_kind {
	LT_ROW_SP	= 1,	/* cfa = sp + cfa_offset */
	LT_ROW_BP	= 2,	/* cfa = bp + cfa_offset; also code with frame pointers: 16, saved at -16 */
	LT_ROW_AT_BP	= 3,	/* cfa = the value stored at bp + cfa_offset (realigned stacks) */
	LT_ROW_SIGNAL	= 4,	/* a signal frame: registers in the ucontext at sp + cfa_offset */
	LT_ROW_END	= 5,	/* the thread's first frame: complete */
	LT_ROW_CANNOT	= 6,	/* nothing is known: the trace ends here, incomplete */
	LT_ROW_AT_SP	= 7,	/* cfa = the value stored at sp + cfa_offset */
	LT_ROW_KIND_NR
};

enum {
	LT_ROW_BP_SAVED	= 1 << 0,	/* the caller's bp is at cfa + bp_offset; else bp is unchanged */
	LT_ROW_EXACT	= 1 << 1,	/* pc is where execution goes on, not a return address */
	LT_ROW_BP_AT_BP	= 1 << 2,	/* the caller's bp is at bp + bp_offset (realigned stacks) */
	LT_ROW_FLAGS	= (1 << 3) - 1,
};

struct lt_row {
	__u64 pc;
	__s32 cfa_offset;
	__s32 bp_offset;
	__u32 kind;		/* enum lt_row_kind */
	__u32 flags;		/* LT_ROW_* */
};

/* Executable mapping that rows lie in: [start, end). When it goes, they go. */
struct lt_row_range {
	__u64 start, end;
};

enum {
	LT_MAX_TEACH_ROWS	= 4096,
	LT_MAX_TEACH_RANGES	= 64,
	LT_MAX_MISSES		= 256,
};

/**
 * struct lt_teach - rows for the address space of one task
 * @size: sizeof(struct lt_teach)
 * @pid: any task in it, in the caller's pid namespace
 * @start_ns, @exec_id: as in its record: another program now is ESTALE
 * @n_rows, @rows: struct lt_row[n_rows], each pc inside one of the ranges
 * @n_ranges, @ranges: struct lt_row_range[n_ranges]
 *
 * All rows are checked before one is taken. A row for a pc that has one
 * replaces it. Tasks of that address space whose ongoing sleep stands under
 * an incomplete trace are walked again.
 *
 * Errors: EPERM (caller and opener need CAP_SYS_PTRACE in the initial user
 * namespace, and the initial pid namespace), EINVAL, E2BIG, EFAULT, ENOMEM,
 * ESRCH (no such task), ESTALE, ENOSPC (max_rows: nothing was kept), EAGAIN
 * (its memory map was locked, or it was in an exec, for half a second, or in a
 * page fault for 20 ms of its first lesson), EOPNOTSUPP (this kernel has no MMU
 * notifiers).
 */
struct lt_teach {
	__u32 size;
	__u32 pid;
	__u64 start_ns;
	__u32 exec_id;
	__u32 n_rows;
	__u64 rows;
	__u32 n_ranges;
	__u32 spare;		/* 0 */
	__u64 ranges;
};

/* A walk that met code without a row. pc is that code; sp and bp are the frame's there. */
struct lt_miss {
	__u32 pid;
	__u32 tgid;
	__u64 start_ns;
	__u32 exec_id;
	__u32 flags;		/* LT_ROW_EXACT when pc is no return address */
	__u64 pc, sp, bp;
};

/**
 * struct lt_misses - takes misses off the ring
 * @size: sizeof(struct lt_misses)
 * @n: in: how many fit (at most LT_MAX_MISSES); out: how many came
 * @misses: user address of struct lt_miss[n]
 * @event_fd: an eventfd(2) that is signalled when there are misses, -1 for none
 *
 * Never waits. The first call makes the descriptor a resolver, until it is
 * closed: misses are collected while there is one, each goes to one of them.
 * An eventfd and not poll() on /proc/lattop: the module can be unloaded while
 * somebody polls. It is signalled then too, and the ioctl fails with ENOTTY.
 * Errors: EPERM (as above), EINVAL (also: event_fd is no eventfd), E2BIG, EBADF,
 * EFAULT, ENOMEM.
 */
struct lt_misses {
	__u32 size;
	__u32 n;
	__u64 misses;
	__s32 event_fd;
	__u32 spare;		/* 0 */
};

/**
 * struct lt_regs - where a task that is asleep entered the kernel
 * @size: sizeof(struct lt_regs)
 * @pid: the task, in the caller's pid namespace
 * @start_ns, @exec_id: out: as in its record
 * @switches: out: how often it was switched from, so far. The same in two calls
 *	means that it did not run in between, and that its stack stood still
 * @syscall: out: number of the system call it is in, -1 outside one
 * @pc, @sp, @bp: out: its user registers
 *
 * Errors: EPERM (needs CAP_SYS_PTRACE in the initial user namespace), EINVAL
 * (also: it is a kernel thread), E2BIG, EFAULT, ESRCH (no such task), EAGAIN
 * (it is not asleep now, or has no record), EOPNOTSUPP (a 32-bit task).
 */
struct lt_regs {
	__u32 size;
	__u32 pid;
	__u64 start_ns;
	__u32 exec_id;
	__s32 syscall;
	__u64 switches;
	__u64 pc, sp, bp;
};

#define LT_IOC_TEACH	_IO('L', 0x71)	/* struct lt_teach */
#define LT_IOC_MISSES	_IO('L', 0x72)	/* struct lt_misses */
#define LT_IOC_REGS	_IO('L', 0x73)	/* struct lt_regs */

/* A kernel function: offsets into LT_SEC_STRINGS. */
struct lt_ksym_rec {
	__u32 name;		/* "?" where the kernel knows no name */
	__u32 module;		/* 0 ("") for the kernel itself */
};

#endif /* _UAPI_LATTOP_H */
