// SPDX-License-Identifier: GPL-2.0-only
/*
 * LT_IOC_TEACH: rows from a resolver, checked and handed to rows.c. Called by
 * proc.c in process context. A resolver is trusted with what it says about
 * code, not with the kernel: everything is checked before anything is taken,
 * and a wrong row can only end a walk or show a wrong frame.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat/mm.h"
#include "lattop.h"
#include "rows.h"
#include "security.h"
#include "try_lock.h"
#include "user_args.h"

struct lesson {
	struct lt_teach teach;
	struct lt_row *rows;
	struct lt_row_range *ranges;
};

static bool in_ranges(const struct lesson *l, u64 pc)
{
	u32 i;

	for (i = 0; i < l->teach.n_ranges; i++)
		if (pc >= l->ranges[i].start && pc <= l->ranges[i].end)
			return true;	/* a return address may be just behind the last call */
	return false;
}

static bool valid(const struct lesson *l)
{
	u32 i;

	for (i = 0; i < l->teach.n_ranges; i++)
		if (l->ranges[i].start >= l->ranges[i].end || l->ranges[i].end > TASK_SIZE_MAX)
			return false;
	for (i = 0; i < l->teach.n_rows; i++)
		if (!l->rows[i].pc || !lt_row_valid(&l->rows[i]) || !in_ranges(l, l->rows[i].pc))
			return false;
	return true;
}

static int read_lesson(struct lesson *l, const void __user *from)
{
	struct lt_teach *t = &l->teach;
	int err;

	err = lt_copy_args(t, sizeof(*t), offsetofend(struct lt_teach, ranges), from);
	if (err)
		return err;
	if (!t->n_rows || !t->n_ranges || t->spare)
		return -EINVAL;
	if (t->n_rows > LT_MAX_TEACH_ROWS || t->n_ranges > LT_MAX_TEACH_RANGES)
		return -E2BIG;
	l->rows = vmemdup_user(u64_to_user_ptr(t->rows), t->n_rows * sizeof(*l->rows));
	if (IS_ERR(l->rows))
		return PTR_ERR(l->rows);
	l->ranges = vmemdup_user(u64_to_user_ptr(t->ranges), t->n_ranges * sizeof(*l->ranges));
	if (IS_ERR(l->ranges)) {
		kvfree(l->rows);
		return PTR_ERR(l->ranges);
	}
	if (valid(l))
		return 0;
	kvfree(l->ranges);
	kvfree(l->rows);
	return -EINVAL;
}

static struct task_struct *find_task(const struct lt_teach *t)
{
	struct task_struct *p = lt_get_task(t->pid);

	if (!p || p->start_boottime == t->start_ns)
		return p;
	put_task_struct(p);
	return NULL;
}

/* The rows go to p's address space if the program is still the one they are for. */
static int teach(struct lt *lt, struct task_struct *p, const struct lesson *l)
{
	s64 patience_ns = LT_PATIENCE_NS;
	struct mm_struct *mm = NULL;
	u16 owner = LT_NO_OWNER;
	int err;

	if (!lt_lock_exec(p, &patience_ns))
		return -EAGAIN;
	if ((u32)p->self_exec_id == l->teach.exec_id)
		mm = get_task_mm(p);
	if (mm)
		owner = lt_owner_of(lt, p);	/* whose it is now: an exec would make it another's, and not this mm */
	up_read(&p->signal->exec_update_lock);
	if (!mm)
		return -ESTALE;
	err = lt_rows_teach(lt, owner, mm, l->rows, l->teach.n_rows, l->ranges, l->teach.n_ranges,
			    &patience_ns);
	if (!err)
		lt_rewalk(lt, p, mm);
	lt_owner_put(lt, owner);
	lt_compat_mmput(mm);
	return err;
}

long lt_teach(struct lt *lt, struct file *file, const void __user *from)
{
	struct task_struct *p;
	struct lesson l;
	int err;

	if (!lt_may_resolve(file))
		return -EPERM;
	err = read_lesson(&l, from);
	if (err)
		return err;
	p = find_task(&l.teach);
	err = -ESRCH;
	if (p) {
		err = teach(lt, p, &l);
		put_task_struct(p);
	}
	kvfree(l.ranges);
	kvfree(l.rows);
	return err;
}
