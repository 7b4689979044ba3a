// SPDX-License-Identifier: GPL-2.0-only
/*
 * A filter: what is not wanted is not accounted, and costs next to nothing.
 * Written to /proc/lattop (proc.c), or given at load (main.c):
 *
 *	tgid=PID[,PID...]	only these processes, while they live
 *	uid=UID[,UID...]	only tasks with these real uids
 *	cgroup=PATH		only tasks in this cgroup (version 2) or below it,
 *				a path as in /proc/PID/cgroup, \040 for a space;
 *				may be given more than once
 *	kthreads=no		no kernel threads
 *	none			no filter
 *
 * What is given must all hold. lt_filter_admits runs in hooks, the rest in
 * process context.
 *
 * A change resets every figure: those before and after it would mean different
 * things. Records of tasks that are not wanted any more go; tasks asleep that
 * are wanted now come in as they do at load (seed.c). That is sound only while
 * each wake takes its task's shard lock, so for the time of the change the mode
 * is LT_SIFTING, in which every task counts as known.
 */
#include <linux/bsearch.h>
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/pid.h>
#include <linux/ratelimit.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/string_helpers.h>
#include <linux/user_namespace.h>

#include "compat/task.h"
#include "filter.h"
#include "numbers.h"
#include "params.h"
#include "tasks.h"

enum {
	TGID_BITS = 4096,
	MAX_CGROUPS = 64,	/* hooks ask one after the other */
	FORGET_BATCH = 16,	/* records looked at per lock hold */
};

/* A process: its number may come again, with its start time it does not. */
struct process {
	u32 tgid;
	u64 start_ns;
};

struct lt_filter {
	bool no_kthreads;
	unsigned int nr_processes, nr_uids, nr_cgroups;
	struct process *processes;	/* in order */
	u32 *uids;			/* of the first user namespace, in order */
	struct cgroup **cgroups;
	unsigned long tgids[BITS_TO_LONGS(TGID_BITS)];	/* by their low bits: most tasks are told from them */
	char *text;			/* as it was given */
};

static int by_process(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Past its exit p may have lost its group's leader: then it is what it was. */
static noinline bool has_process(const struct lt *lt, const struct lt_filter *f, const struct task_struct *p)
{
	struct process key = { .tgid = p->tgid };

	if (unlikely(p->exit_state))
		return test_bit(READ_ONCE(p->pid), lt->known);
	key.start_ns = p->group_leader->start_boottime;
	return __inline_bsearch(&key, f->processes, f->nr_processes, sizeof(key), by_process);
}

static bool has_uid(const struct lt_filter *f, const struct task_struct *p)
{
	u32 uid = __kuid_val(lt_compat_task_cred(p)->uid);

	if (likely(f->nr_uids == 1))
		return uid == f->uids[0];
	return lt_has_number(f->uids, f->nr_uids, uid);
}

static noinline bool in_cgroup(const struct lt_filter *f, struct task_struct *p)
{
	struct cgroup *cgroup;
	bool found = false;
	unsigned int i;

	rcu_read_lock();
	cgroup = task_dfl_cgroup(p);
	for (i = 0; i < f->nr_cgroups && !found; i++)
		found = cgroup_is_descendant(cgroup, f->cgroups[i]);
	rcu_read_unlock();
	return found;
}

/* p does not exit or change its credentials meanwhile. Hooks; under RCU. */
bool lt_filter_admits(const struct lt *lt, struct task_struct *p)
{
	const struct lt_filter *f = rcu_dereference_raw(lt->filter);

	if (!f)
		return true;	/* it is just being taken away */
	if (f->nr_processes && (!test_bit((u32)p->tgid % TGID_BITS, f->tgids) || !has_process(lt, f, p)))
		return false;
	if (f->no_kthreads && p->flags & PF_KTHREAD)
		return false;
	if (f->nr_uids && !has_uid(f, p))
		return false;
	return !f->nr_cgroups || in_cgroup(f, p);
}

static void filter_free(struct lt_filter *f)
{
	unsigned int i;

	if (!f)
		return;
	for (i = 0; i < f->nr_cgroups; i++)
		cgroup_put(f->cgroups[i]);
	kvfree(f->cgroups);
	kvfree(f->processes);
	kvfree(f->uids);
	kfree(f->text);
	kfree(f);
}

/* --- reading one --- */

static int wrong(int err, const char *what, const char *value)
{
	pr_info_ratelimited("lattop: filter: %s%s%s\n", what, value ? ": " : "", value ?: "");
	return err;
}

/* One more of nr elements. */
static int extend(void **array, unsigned int nr, size_t bytes)
{
	void *more;

	if (nr & (nr - 1))
		return 0;	/* rooms double */
	more = kvcalloc(nr ? 2 * nr : 1, bytes, GFP_KERNEL_ACCOUNT);
	if (!more)
		return -ENOMEM;
	if (nr)
		memcpy(more, *array, nr * bytes);
	kvfree(*array);
	*array = more;
	return 0;
}

static int add_process(struct lt_filter *f, const char *number)
{
	struct task_struct *p;
	struct process found;
	unsigned int tgid;
	int err;

	if (kstrtouint(number, 10, &tgid))
		return wrong(-EINVAL, "tgid= wants the numbers of processes", number);
	err = extend((void **)&f->processes, f->nr_processes, sizeof(found));
	if (err)
		return err;
	rcu_read_lock();
	p = pid_task(find_vpid(tgid), PIDTYPE_TGID);
	if (p) {
		found.tgid = p->tgid;
		found.start_ns = p->start_boottime;
	}
	rcu_read_unlock();
	if (!p)
		return wrong(-ESRCH, "there is no such process", number);
	f->processes[f->nr_processes++] = found;
	__set_bit(found.tgid % TGID_BITS, f->tgids);
	return 0;
}

static int add_uid(struct lt_filter *f, const char *number)
{
	unsigned int uid;
	kuid_t kuid;
	int err;

	if (kstrtouint(number, 10, &uid))
		return wrong(-EINVAL, "uid= wants numbers of users", number);
	kuid = make_kuid(current_user_ns(), uid);
	if (!uid_valid(kuid))
		return wrong(-EINVAL, "there is no such user here", number);
	err = extend((void **)&f->uids, f->nr_uids, sizeof(u32));
	if (!err)
		f->uids[f->nr_uids++] = __kuid_val(kuid);
	return err;
}

static int add_cgroup(struct lt_filter *f, char *path)
{
	struct cgroup *cgroup;
	int err;

	string_unescape_inplace(path, UNESCAPE_OCTAL);
	if (*path != '/')
		return wrong(-EINVAL, "cgroup= wants a path that begins with /", path);
	if (f->nr_cgroups == MAX_CGROUPS)
		return wrong(-E2BIG, "more than 64 cgroups", path);
	err = extend((void **)&f->cgroups, f->nr_cgroups, sizeof(*f->cgroups));
	if (err)
		return err;
	cgroup = cgroup_get_from_path(path);
	if (IS_ERR(cgroup))
		return wrong(PTR_ERR(cgroup), "no such cgroup; its path is what /proc/PID/cgroup shows behind 0::", path);
	f->cgroups[f->nr_cgroups++] = cgroup;
	return 0;
}

static int add_list(struct lt_filter *f, char *list, int (*add)(struct lt_filter *f, const char *number))
{
	char *number;
	int err = 0;

	while (!err && (number = strsep(&list, ",")))
		err = add(f, number);
	return err;
}

static int add_term(struct lt_filter *f, char *term)
{
	char *value = term;

	strsep(&value, "=");
	if (value && !strcmp(term, "tgid"))
		return add_list(f, value, add_process);
	if (value && !strcmp(term, "uid"))
		return add_list(f, value, add_uid);
	if (value && !strcmp(term, "cgroup"))
		return add_cgroup(f, value);
	if (value && !strcmp(term, "kthreads") && !strcmp(value, "no")) {
		f->no_kthreads = true;
		return 0;
	}
	return wrong(-EINVAL, "give tgid=, uid=, cgroup= or kthreads=no, or none alone", term);
}

/* The filter that text says; NULL for none; or an error. */
static struct lt_filter *parse(const char *text)
{
	struct lt_filter *f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);
	char *copy = kstrdup(text, GFP_KERNEL_ACCOUNT);
	char *rest = copy ? strim(copy) : NULL;
	bool none = rest && !strcmp(rest, "none");
	char *term;
	int err;

	if (f && rest)
		f->text = kstrdup(rest, GFP_KERNEL_ACCOUNT);
	err = f && f->text ? 0 : -ENOMEM;
	if (!err && !*rest)
		err = wrong(-EINVAL, "it is empty; say none for no filter", NULL);
	while (!err && !none && (term = strsep(&rest, " \t\n")))
		if (*term)
			err = add_term(f, term);
	kfree(copy);
	if (err || none) {
		filter_free(f);
		return ERR_PTR(err);	/* NULL without an error */
	}
	sort(f->processes, f->nr_processes, sizeof(*f->processes), by_process, NULL);
	lt_sort_numbers(f->uids, f->nr_uids);
	return f;
}

/* --- changing it; lt->mutex held --- */

static bool still_wanted(const struct lt *lt, const struct lt_task *t)
{
	struct task_struct *p;
	bool wanted = false;

	if (t->exited)
		return false;
	rcu_read_lock();
	p = pid_task(find_pid_ns(t->pid, &init_pid_ns), PIDTYPE_PID);
	if (p && p->start_boottime == t->start_ns && !READ_ONCE(p->exit_state))
		wanted = lt_filter_admits(lt, p);
	rcu_read_unlock();
	return wanted;
}

/* Hooks do, when this returns; the filter they went by before is the caller's to free. */
static struct lt_filter *go_by(struct lt *lt, struct lt_filter *f, enum lt_mode mode)
{
	struct lt_filter *old = rcu_replace_pointer(lt->filter, f, true);

	smp_store_release(&lt->mode, mode);	/* pairs with lt_mode() */
	synchronize_rcu();
	return old;
}

/* Takes off the shard what is not wanted, of the records behind *pid, *start_ns; true when there may be more. */
static bool take_unwanted(struct lt *lt, struct lt_shard *shard,
			  u32 *pid, u64 *start_ns, struct list_head *unwanted)
{
	struct lt_task *t;
	int n;

	lockdep_assert_held(&shard->lock);
	for (n = 0; n < FORGET_BATCH; n++) {
		t = lt_task_from(shard, *pid, *start_ns);
		if (!t)
			return false;
		*pid = t->pid;
		*start_ns = t->start_ns + 1;
		if (!still_wanted(lt, t)) {
			lt_task_unlink(lt, shard, t);
			list_add(&t->exited_node, unwanted);
		}
	}
	return true;
}

/* Hooks go by the new filter already. */
static void forget_unwanted(struct lt *lt)
{
	struct lt_task *t, *next;
	LIST_HEAD(unwanted);
	bool more;
	int i;

	for (i = 0; i < LT_SHARDS; i++) {
		struct lt_shard *shard = &lt->shards[i];
		u64 start_ns = 0;
		u32 pid = 0;

		do {
			raw_spin_lock_irq(&shard->lock);
			more = take_unwanted(lt, shard, &pid, &start_ns, &unwanted);
			raw_spin_unlock_irq(&shard->lock);
			list_for_each_entry_safe(t, next, &unwanted, exited_node) {
				list_del_init(&t->exited_node);
				lt_task_free(lt, t);
			}
			cond_resched();
		} while (more);
	}
	lt_others_forget(lt);
}

/* 0; what parse() says, -ENOMEM or -ERESTARTSYS: then nothing has changed. */
int lt_filter_set(struct lt *lt, const char *text)
{
	struct lt_filter *old, *new = parse(text);
	struct lt_task *room;
	int err;

	if (IS_ERR(new))
		return PTR_ERR(new);
	room = kmalloc(sizeof(*room), GFP_KERNEL);
	err = !room ? -ENOMEM : mutex_lock_interruptible(&lt->mutex) ? -ERESTARTSYS : 0;
	if (err) {
		filter_free(new);
		kfree(room);
		return err;
	}
	old = go_by(lt, new, LT_SIFTING);
	forget_unwanted(lt);
	lt_reset_held(lt, room);
	lt_seed(lt);
	smp_store_release(&lt->mode, new ? LT_FILTERED : LT_ON);	/* pairs with lt_mode() */
	mutex_unlock(&lt->mutex);
	filter_free(old);
	kfree(room);
	return 0;
}

/* "none", or what was given. lt->mutex held. */
const char *lt_filter_text(const struct lt *lt)
{
	const struct lt_filter *f = rcu_dereference_raw(lt->filter);

	return f ? f->text : "none";
}

/* What the parameter says. Behind the seed: the self-test knows of no filter. */
int lt_filter_init(struct lt *lt)
{
	return *lt_params.filter ? lt_filter_set(lt, lt_params.filter) : 0;
}

/* Hooks go on without. */
void lt_filter_exit(struct lt *lt)
{
	filter_free(go_by(lt, NULL, LT_ON));
}
