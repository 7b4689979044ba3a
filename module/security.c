// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who sees what. Called by snapshot.c, mapped.c and reset.c in process context.
 *
 * A task is shown to those who could read its /proc/PID/maps: the kernel's
 * PTRACE_MODE_READ_FSCREDS rules, written out here because ptrace_may_access is
 * not exported (security modules that narrow them further are not asked; that
 * is in docs/man/proc-lattop.5). They must hold twice: for the process that
 * reads, and for the one that opened the descriptor. So neither a descriptor
 * passed on, nor a privileged program made to read one, shows more than the
 * poorer of the two may see.
 *
 * What a task did before an exec is not his who sees it now, where he may not have
 * seen the program before: the child of a server has the server's addresses. That may
 * have become his by the exec, or behind it. lt_task.own_exec_id says from which exec
 * on it was its owner's; snapshot.c puts what lies before under [other], and shows
 * no name from before.
 *
 * Exited tasks are judged by the credentials they had. Pids are those of the
 * reader's pid namespace; outside the first one an exited task has none.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/user_namespace.h>

#include "cgroups.h"
#include "compat/task.h"
#include "lattop.h"
#include "security.h"
#include "tasks.h"
#include "try_lock.h"

static bool reader_capable(struct user_namespace *ns, int cap)
{
	return ns_capable_noaudit(ns, cap);
}

static bool opener_capable(const struct lt_viewer *v, struct user_namespace *ns, int cap)
{
	return file_ns_capable(v->file, ns, cap);
}

void lt_viewer_init(struct lt_viewer *v, struct file *file)
{
	v->file = file;
	v->pid_ns = task_active_pid_ns(current);
	v->all = v->pid_ns == &init_pid_ns &&
		 reader_capable(&init_user_ns, CAP_SYS_PTRACE) &&
		 opener_capable(v, &init_user_ns, CAP_SYS_PTRACE);
}

/* The descriptor's mutex held, in all three. */
void lt_taker_set(struct lt_taker *taker)
{
	taker->cred = get_current_cred();
	taker->pid_ns = get_pid_ns(task_active_pid_ns(current));
	taker->cgroup_root = lt_cgroup_readers_root_id();
}

void lt_taker_clear(struct lt_taker *taker)
{
	if (!taker->cred)
		return;
	put_cred(taker->cred);
	put_pid_ns(taker->pid_ns);
	taker->cred = NULL;
}

/* May current read on? What he may see goes by these alone, and by what is the same for both. */
bool lt_taker_is_reader(const struct lt_taker *taker)
{
	const struct cred *t = taker->cred, *r = current_cred();

	return t && t->user_ns == r->user_ns && uid_eq(t->fsuid, r->fsuid) && gid_eq(t->fsgid, r->fsgid) &&
	       uid_eq(t->euid, r->euid) &&	/* may own a user namespace */
	       cap_issubset(t->cap_effective, r->cap_effective) &&
	       taker->pid_ns == task_active_pid_ns(current) &&
	       taker->cgroup_root == lt_cgroup_readers_root_id();
}

static bool ids_match(const struct cred *reader, const struct lt_creds *t)
{
	return uid_eq(reader->fsuid, t->euid) && uid_eq(reader->fsuid, t->suid) &&
	       uid_eq(reader->fsuid, t->uid) && gid_eq(reader->fsgid, t->egid) &&
	       gid_eq(reader->fsgid, t->sgid) && gid_eq(reader->fsgid, t->gid);
}

/* What is left of t lived in the first user namespace without privileges: its own see it, from there. */
static bool was_his(const struct cred *reader, const struct lt_creds *t)
{
	return reader->user_ns == &init_user_ns && ids_match(reader, t);
}

/* commoncap's part: nobody looks at more privilege than he has. */
static bool caps_cover(const struct cred *reader, const struct cred *p)
{
	return reader->user_ns == p->user_ns &&
	       cap_issubset(p->cap_permitted, reader->cap_effective);
}

/* rcu_read_lock held. By creds, which are p's. */
static bool may_read(const struct lt_viewer *v, struct task_struct *p, struct lt_creds *creds)
{
	const struct cred *cred = __task_cred(p);
	struct user_namespace *exec_ns;
	bool dumpable;

	lt_creds_read(creds, cred);
	if (!(ids_match(current_cred(), creds) && caps_cover(current_cred(), cred)) &&
	    !reader_capable(cred->user_ns, CAP_SYS_PTRACE))
		return false;
	if (!(ids_match(v->file->f_cred, creds) && caps_cover(v->file->f_cred, cred)) &&
	    !opener_capable(v, cred->user_ns, CAP_SYS_PTRACE))
		return false;

	smp_rmb();	/* as the kernel has it: commit_creds() makes it not dumpable first */
	task_lock(p);	/* keeps the mm, and with it the namespace */
	dumpable = lt_compat_dumpable(p, &exec_ns);
	if (!dumpable)
		dumpable = reader_capable(exec_ns, CAP_SYS_PTRACE) &&
			   opener_capable(v, exec_ns, CAP_SYS_PTRACE);
	task_unlock(p);
	return dumpable;
}

/*
 * As what program p is shown. In execve it is neither: its memory may be the
 * reader's already while it still counts as the program before, whose past is not
 * his. It counts as the next one then, as whose nothing is known. rcu_read_lock held.
 */
static bool sees_program(const struct lt_viewer *v, struct task_struct *p, struct lt_sight *sight)
{
	bool kept = down_read_trylock(&p->signal->exec_update_lock);
	bool sees = may_read(v, p, &sight->creds);

	memset(sight->comm, 0, sizeof(sight->comm));
	if (kept && sees)
		get_task_comm(sight->comm, p);
	sight->exec_id = READ_ONCE(p->self_exec_id) + !kept;
	if (kept)
		up_read(&p->signal->exec_update_lock);
	return sees;
}

/* Whether t is shown to this reader, and as what. */
bool lt_viewer_sees(const struct lt_viewer *v, const struct lt_task *t, struct lt_sight *sight)
{
	struct task_struct *p;
	bool sees = false;

	sight->pid = t->pid;
	sight->tgid = t->tgid;
	sight->exec_id = READ_ONCE(t->exec_id);
	if (v->all)
		return true;
	if (t->kind == LT_KIND_EXITED_ALL)
		return false;

	rcu_read_lock();
	p = t->kind == LT_KIND_TASK ? lt_task_alive(t->pid, t->start_ns) : NULL;
	if (p) {
		sight->pid = task_pid_nr_ns(p, v->pid_ns);
		sight->tgid = task_tgid_nr_ns(p, v->pid_ns);
		sees = sight->pid && sees_program(v, p, sight);
	} else {
		/* in the scheduler for the last time it may be found not dumpable meanwhile: it is asked again behind the copy */
		sight->creds = data_race(t->creds);
		memcpy(sight->comm, t->comm, sizeof(sight->comm));
		sees = v->pid_ns == &init_pid_ns && sight->creds.dumpable && !sight->creds.privileged &&
		       was_his(current_cred(), &sight->creds) && was_his(v->file->f_cred, &sight->creds);
	}
	rcu_read_unlock();
	return sees;
}

/*
 * The address space of a task, while the program that slept still runs in it:
 * asked with exec held off, so that what was allowed is what is given. NULL
 * when it is not to be had, in the time that is left (try_lock.h). lt_compat_mmput() when done.
 */
struct mm_struct *lt_viewer_mm(const struct lt_viewer *v, u32 pid, u64 start_ns, u32 exec_id, s64 *patience_ns)
{
	struct mm_struct *mm = NULL;
	struct task_struct *p;
	struct lt_creds creds;
	bool allowed;

	rcu_read_lock();
	p = lt_task_alive(pid, start_ns);
	if (p)
		get_task_struct(p);
	rcu_read_unlock();
	if (!p)
		return NULL;
	if (!lt_lock_exec(p, patience_ns))
		goto out;
	rcu_read_lock();
	allowed = v->all || may_read(v, p, &creds);
	rcu_read_unlock();
	if (allowed && (u32)p->self_exec_id == exec_id)
		mm = get_task_mm(p);
	up_read(&p->signal->exec_update_lock);
out:
	put_task_struct(p);
	return mm;
}

bool lt_viewer_may_reset(const struct lt_viewer *v)
{
	return reader_capable(&init_user_ns, CAP_SYS_ADMIN) &&
	       opener_capable(v, &init_user_ns, CAP_SYS_ADMIN);
}

/* A resolver reads every program's code and stack anyway; it must be allowed to. */
bool lt_may_resolve(struct file *file)
{
	struct lt_viewer v;

	lt_viewer_init(&v, file);
	return v.all;
}
