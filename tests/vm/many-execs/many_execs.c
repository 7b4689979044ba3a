// SPDX-License-Identifier: GPL-2.0-only
/*
 * So many execs more than a process made are counted as its: what would take it days
 * of execs. Loaded by tests/vm/cases/security-many-execs.
 *
 *	echo N > /sys/module/many_execs/parameters/more		of the process that writes
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched.h>

/* As begin_new_exec() counts: current's alone. */
static int add_execs(const char *value, const struct kernel_param *kp)
{
	u64 more;
	int err = kstrtoull(value, 0, &more);

	if (!err)
		WRITE_ONCE(current->self_exec_id, current->self_exec_id + more);
	return err;
}

static const struct kernel_param_ops more_ops = { .set = add_execs };
module_param_cb(more, &more_ops, NULL, 0200);
MODULE_PARM_DESC(more, "execs that the process which writes this is to have made besides");

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Counts execs that nobody made");
