// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/lattop: open, read, ioctl, write, close. Process context; a
 * descriptor's mutex is outermost, lt->mutex inside it.
 *
 * Each descriptor has its query and its last snapshot, finished and in one
 * piece, so a read is a copy and nothing is locked or half-built while user
 * memory may fault. Unloading waits for calls under way and closes what is
 * open; the procfs layer sees to both.
 */
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "budget.h"
#include "compat/proc.h"
#include "filter.h"
#include "numbers.h"
#include "rows.h"
#include "snapshot.h"
#include "user_args.h"

struct reader {
	struct mutex mutex;
	struct lt_request request;
	struct lt_budget budget;
	struct lt_buffer out;
	struct lt_taker taker;		/* of what is in out */
	struct lt_resolver *resolver;	/* or NULL */
};

static const struct lt_query text_query = {
	.size = sizeof(struct lt_query),
	.view = LT_VIEW_TEXT,
	.sort = LT_SORT_BLOCKED,
	.limit = LT_TEXT_TASKS,
	.traces = LT_TRACES_WORST,
	.uid = LT_UID_ANY,
};

static struct lt *lt_of(struct file *file)
{
	return pde_data(file_inode(file));
}

static size_t pids_bytes(const struct lt_request *request)
{
	return request->pids ? request->query.n_pids * sizeof(*request->pids) : 0;
}

/* Where io_uring's workers are those of the kernel, one that reads has its user's credentials, but the first pid and cgroup namespaces. */
static bool for_another(void)
{
	return current->flags & PF_KTHREAD;
}

static int proc_open(struct inode *inode, struct file *file)
{
	struct reader *r;
	int err;

	if (for_another())
		return -EOPNOTSUPP;
	r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);
	if (!r)
		return -ENOMEM;
	lt_budget_open(&r->budget, lt_of(file), file);
	err = lt_budget_take(&r->budget, sizeof(*r));
	if (err) {
		lt_budget_close(&r->budget);
		kfree(r);
		return err;
	}
	mutex_init(&r->mutex);
	r->out.budget = &r->budget;
	r->request.query = text_query;
	file->private_data = r;
	return 0;
}

static int proc_release(struct inode *inode, struct file *file)
{
	struct reader *r = file->private_data;

	lt_resolver_free(lt_of(file), r->resolver);
	lt_buffer_free(&r->out);
	lt_taker_clear(&r->taker);
	lt_budget_give(&r->budget, pids_bytes(&r->request));
	kvfree(r->request.pids);
	lt_budget_give(&r->budget, sizeof(*r));
	lt_budget_close(&r->budget);
	kfree(r);
	return 0;
}

/* The old snapshot goes first: a reader holds one at a time. */
static int refresh(struct lt *lt, struct file *file, struct reader *r)
{
	struct lt_snapshot s;
	struct lt_viewer v;
	int err;

	lt_buffer_free(&r->out);
	lt_taker_clear(&r->taker);
	lt_taker_set(&r->taker);
	lt_viewer_init(&v, file);
	err = lt_snapshot_take(lt, &v, &r->request, &r->budget, &s);
	if (err)
		return err;
	if (r->request.query.view == LT_VIEW_RECORDS)
		err = lt_snapshot_assemble(&s, &r->out);
	else
		err = lt_text(lt, &v, &s, &r->out);
	lt_snapshot_free(&s);
	if (err)
		lt_buffer_free(&r->out);
	return err;
}

static ssize_t proc_read(struct file *file, char __user *to, size_t count, loff_t *pos)
{
	struct reader *r = file->private_data;
	ssize_t n;

	if (for_another())
		return -EOPNOTSUPP;
	if (mutex_lock_interruptible(&r->mutex))
		return -ERESTARTSYS;
	if (!*pos)
		n = refresh(lt_of(file), file, r);
	else	/* a descriptor may have been passed on, and a process may have become another's */
		n = !r->out.data || lt_taker_is_reader(&r->taker) ? 0 : -EACCES;
	if (!n)
		n = simple_read_from_buffer(to, count, pos, r->out.data, r->out.len);
	mutex_unlock(&r->mutex);
	return n;
}

static bool valid(const struct lt_query *q)
{
	return q->view <= LT_VIEW_RECORDS && q->sort < LT_SORT_NR && q->traces < LT_TRACES_NR &&
	       q->limit <= LT_MAX_LIMIT && !(q->flags & ~LT_Q_ALL);
}

static int set_query(struct reader *r, const void __user *from)
{
	struct lt_request new = {};
	int err;

	err = lt_copy_args(&new.query, sizeof(new.query),
			   offsetofend(struct lt_query, min_blocked_ns), from);
	if (err)
		return err;
	if (!valid(&new.query))
		return -EINVAL;
	if (new.query.n_pids > LT_MAX_PIDS)
		return -E2BIG;
	if (new.query.n_pids) {
		new.pids = vmemdup_user(u64_to_user_ptr(new.query.pids),
					new.query.n_pids * sizeof(u32));
		if (IS_ERR(new.pids))
			return PTR_ERR(new.pids);
		lt_sort_numbers(new.pids, new.query.n_pids);
	}
	if (!new.query.limit)
		new.query.limit = LT_TEXT_TASKS;

	if (mutex_lock_interruptible(&r->mutex)) {
		kvfree(new.pids);
		return -ERESTARTSYS;
	}
	err = lt_budget_take(&r->budget, pids_bytes(&new));
	if (!err) {
		swap(r->request, new);
		lt_budget_give(&r->budget, pids_bytes(&new));
	}
	mutex_unlock(&r->mutex);
	kvfree(new.pids);
	return err;
}

/* The first call makes the descriptor a resolver. */
static int become_resolver(struct lt *lt, struct reader *r, int event_fd)
{
	struct lt_resolver *resolver;
	int err = 0;

	if (mutex_lock_interruptible(&r->mutex))
		return -ERESTARTSYS;
	if (!r->resolver) {
		resolver = lt_resolver_new(lt, event_fd);
		if (IS_ERR(resolver))
			err = PTR_ERR(resolver);
		else
			r->resolver = resolver;
	}
	mutex_unlock(&r->mutex);
	return err;
}

static int take_misses(struct lt *lt, struct file *file, void __user *arg)
{
	struct lt_misses q;
	struct lt_miss *misses;
	int err;

	if (!lt_may_resolve(file))
		return -EPERM;
	err = lt_copy_args(&q, sizeof(q), offsetofend(struct lt_misses, spare), arg);
	if (err)
		return err;
	if (q.n > LT_MAX_MISSES || q.spare)
		return -EINVAL;
	err = become_resolver(lt, file->private_data, q.event_fd);
	if (err)
		return err;
	misses = kcalloc(LT_MAX_MISSES, sizeof(*misses), GFP_KERNEL_ACCOUNT);
	if (!misses)
		return -ENOMEM;
	q.n = lt_misses_take(lt, misses, q.n);
	if (copy_to_user(u64_to_user_ptr(q.misses), misses, q.n * sizeof(*misses)) ||
	    put_user(q.n, &((struct lt_misses __user *)arg)->n)) {
		err = -EFAULT;
		lt_lose_many(lt, LT_LOST_miss_full, q.n);
	}
	kfree(misses);
	return err;
}

static long proc_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case LT_IOC_QUERY:
		return set_query(file->private_data, (const void __user *)arg);
	case LT_IOC_TEACH:
		return lt_teach(lt_of(file), file, (const void __user *)arg);
	case LT_IOC_MISSES:
		return take_misses(lt_of(file), file, (void __user *)arg);
	case LT_IOC_REGS:
		return lt_registers(lt_of(file), file, (void __user *)arg);
	default:
		return -ENOTTY;
	}
}

static int obey(struct lt *lt, const struct lt_viewer *v, const char *command)
{
	size_t n = str_has_prefix(command, "filter");
	bool filters = n && (!command[n] || isspace(command[n]));

	if (!filters && strcmp(command, "reset"))
		return -EINVAL;
	if (!lt_viewer_may_reset(v))
		return -EPERM;
	return filters ? lt_filter_set(lt, command + n) : lt_reset(lt);
}

static ssize_t proc_write(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	struct lt_viewer v;
	char *text;
	int err;

	if (for_another())
		return -EOPNOTSUPP;
	lt_viewer_init(&v, file);
	if (!count || count > LT_MAX_COMMAND)
		return -EINVAL;
	text = memdup_user_nul(from, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	if (strlen(text) != count)
		err = -EINVAL;
	else
		err = obey(lt_of(file), &v, strim(text));
	kfree(text);
	return err ?: count;
}

static const struct proc_ops ops = {
	.proc_open	= proc_open,
	.proc_release	= proc_release,
	.proc_read	= proc_read,
	.proc_write	= proc_write,
	.proc_ioctl	= proc_ioctl,
#ifdef CONFIG_COMPAT
	.proc_compat_ioctl = proc_ioctl,	/* the structs are the same for 32 bits */
#endif
	.proc_lseek	= default_llseek,
};

int lt_proc_init(struct lt *lt)
{
	return proc_create_data("lattop", 0644, NULL, &ops, lt) ? 0 : -ENOMEM;
}

void lt_proc_exit(struct lt *lt)
{
	remove_proc_entry("lattop", NULL);
}
