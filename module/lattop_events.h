/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lattop:sleep and lattop:wake, for perf, trace-cmd and bpftrace. Fired in
 * hook context by account.c, outside the shard lock. Ask for stacks with the
 * tracer's own option (perf record -g): the sleep event fires in the sleeper.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lattop

#if !defined(LATTOP_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define LATTOP_EVENTS_H

#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

TRACE_EVENT(sleep,
	TP_PROTO(struct task_struct *p, unsigned int state),
	TP_ARGS(p, state),
	TP_STRUCT__entry(
		__array(char, comm, TASK_COMM_LEN)
		__field(pid_t, pid)
		__field(pid_t, tgid)
		__field(unsigned int, state)
	),
	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid = p->pid;
		__entry->tgid = p->tgid;
		__entry->state = state;
	),
	TP_printk("comm=%s pid=%d tgid=%d state=0x%x",
		  __entry->comm, __entry->pid, __entry->tgid, __entry->state)
);

TRACE_EVENT(wake,
	TP_PROTO(struct task_struct *p, u64 slept_ns),
	TP_ARGS(p, slept_ns),
	TP_STRUCT__entry(
		__array(char, comm, TASK_COMM_LEN)
		__field(pid_t, pid)
		__field(pid_t, tgid)
		__field(u64, slept_ns)
	),
	TP_fast_assign(
		memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
		__entry->pid = p->pid;
		__entry->tgid = p->tgid;
		__entry->slept_ns = slept_ns;
	),
	TP_printk("comm=%s pid=%d tgid=%d slept_ns=%llu",
		  __entry->comm, __entry->pid, __entry->tgid,
		  (unsigned long long)__entry->slept_ns)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE lattop_events
#include <trace/define_trace.h>
