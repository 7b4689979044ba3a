// SPDX-License-Identifier: GPL-2.0-only
/*
 * In which cgroup (version 2) a task is, or was when it exited. snapshot.c asks
 * tasks that live, so hooks pay nothing for it. A task's last switch takes a
 * reference to its cgroup, and the worker turns that into a path, within a
 * second where no reader holds lt->mutex: by the time that somebody reads, the
 * container may be gone, and its cgroup is not to be kept from going. A path is
 * kept once, while a record is of it.
 */
#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/limits.h>
#include <linux/nsproxy.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "cgroups.h"
#include "tasks.h"

/*
 * Under the shard lock. p has a reference to its cgroup itself, so one more can
 * be had; taking it is a per-CPU count.
 */
void lt_cgroup_left(struct lt *lt, struct lt_task *t, struct task_struct *p)
{
	struct cgroup *cgroup;

	if (READ_ONCE(t->left_cgroup))
		return;		/* of a life before this one: not named yet */
	rcu_read_lock();
	cgroup = task_dfl_cgroup(p);
	if (cgroup_id(cgroup) != READ_ONCE(t->cgroup_id)) {
		css_get(&cgroup->self);
		WRITE_ONCE(t->left_cgroup, cgroup);
		llist_add(&t->left_node, &lt->left_cgroups);
	}
	rcu_read_unlock();
}

static size_t bytes_of(const struct lt_cgroup *c)
{
	return struct_size(c, path, strlen(c->path) + 1);
}

/*
 * Into PATH_MAX bytes. Of too long a path some kernels say so, some its length, and
 * some cut it: one that fills them may be cut.
 */
static bool get_path(struct cgroup *cgroup, char *path)
{
	int n = cgroup_path(cgroup, path, PATH_MAX);

	return n >= 0 && n < PATH_MAX - 1;
}

static struct lt_cgroup *new_cgroup(struct cgroup *cgroup)
{
	char *path = kmalloc(PATH_MAX, GFP_KERNEL);
	struct lt_cgroup *c = NULL;

	if (path && get_path(cgroup, path))
		c = kzalloc(struct_size(c, path, strlen(path) + 1), GFP_KERNEL);
	if (c) {
		c->id = cgroup_id(cgroup);
		strcpy(c->path, path);
	}
	kfree(path);
	return c;
}

/* NULL when there is no memory for it, or its path is too long. */
static struct lt_cgroup *find_or_add(struct lt *lt, struct cgroup *cgroup)
{
	struct rb_node **link = &lt->cgroups.rb_node, *parent = NULL;
	u64 id = cgroup_id(cgroup);
	struct lt_cgroup *c;

	while (*link) {
		parent = *link;
		c = rb_entry(parent, struct lt_cgroup, node);
		if (c->id == id)
			return c;
		link = id < c->id ? &parent->rb_left : &parent->rb_right;
	}
	c = new_cgroup(cgroup);
	if (!c)
		return NULL;
	rb_link_node(&c->node, parent, link);
	rb_insert_color(&c->node, &lt->cgroups);
	lt->cgroup_bytes += bytes_of(c);
	return c;
}

/* c may be NULL. */
static void set(struct lt *lt, struct lt_task *t, struct lt_cgroup *c)
{
	struct lt_cgroup *old = t->cgroup;

	if (c)
		c->users++;
	t->cgroup = c;
	WRITE_ONCE(t->cgroup_id, c ? c->id : 0);
	if (!old || --old->users)
		return;
	rb_erase(&old->node, &lt->cgroups);
	lt->cgroup_bytes -= bytes_of(old);
	kfree(old);
}

/* Not known, where it cannot be named. The caller's reference to cgroup is used up. */
static void set_named(struct lt *lt, struct lt_task *t, struct cgroup *cgroup)
{
	set(lt, t, find_or_add(lt, cgroup));
	cgroup_put(cgroup);
}

/* Those that tasks have left by exiting. */
void lt_cgroups_name_left(struct lt *lt)
{
	struct llist_node *list = llist_del_all(&lt->left_cgroups);
	struct lt_task *t, *next;

	llist_for_each_entry_safe(t, next, list, left_node) {
		set_named(lt, t, t->left_cgroup);
		smp_store_release(&t->left_cgroup, NULL);	/* a hook may list t again */
		cond_resched();
	}
}

/* t's task has exited, or merged into another's record. */
void lt_cgroup_forget(struct lt *lt, struct lt_task *t)
{
	if (READ_ONCE(t->left_cgroup))
		lt_cgroups_name_left(lt);
	set(lt, t, NULL);
}

static void ask_task(struct lt *lt, struct lt_task *t)
{
	struct cgroup *cgroup = NULL;
	struct task_struct *p;

	rcu_read_lock();
	p = lt_task_alive(t->pid, t->start_ns);
	if (p) {
		cgroup = task_dfl_cgroup(p);
		if (cgroup_id(cgroup) == t->cgroup_id || !css_tryget(&cgroup->self))
			cgroup = NULL;
	}
	rcu_read_unlock();
	if (cgroup)
		set_named(lt, t, cgroup);
}

/* Where t's task is now, or was when it exited; NULL: not known. */
struct lt_cgroup *lt_cgroup_of(struct lt *lt, struct lt_task *t)
{
	if (READ_ONCE(t->left_cgroup))
		lt_cgroups_name_left(lt);
	else if (t->kind == LT_KIND_TASK && !READ_ONCE(t->exited))
		ask_task(lt, t);
	return t->cgroup;
}

/* to stands for from, too, from now on. */
void lt_cgroup_share(struct lt *lt, struct lt_task *to, struct lt_task *from)
{
	struct lt_cgroup *c = lt_cgroup_of(lt, from);

	if (c)
		set(lt, to, c);
}

static struct cgroup *readers_root(void)
{
	return current->nsproxy->cgroup_ns->root_cset->dfl_cgrp;
}

/* Where the reader's cgroup namespace begins: who has the same one is shown the same paths. */
u64 lt_cgroup_readers_root_id(void)
{
	return cgroup_id(readers_root());
}

/*
 * Its path: kfree() it. "" where that is not known, and then he is shown none.
 * NULL when there is no memory.
 */
char *lt_cgroup_readers_root(void)
{
	char *path = kmalloc(PATH_MAX, GFP_KERNEL_ACCOUNT);

	if (path && !get_path(readers_root(), path))
		path[0] = '\0';
	return path;
}

/* Adds path as it is seen from root: what is not below begins with /.., as in /proc/PID/cgroup. */
void lt_cgroup_path_from(const char *root, const char *path, struct lt_buffer *out)
{
	size_t i, common = 0;

	root += !strcmp(root, "/");
	path += !strcmp(path, "/");
	for (i = 0; root[i] && root[i] == path[i]; i++)
		if ((!root[i + 1] || root[i + 1] == '/') && (!path[i + 1] || path[i + 1] == '/'))
			common = i + 1;
	for (i = common; root[i]; i++)
		if (root[i] == '/')
			lt_buffer_add(out, "/..", 3);
	if (!root[common] && !path[common])
		lt_buffer_add(out, "/", 1);
	lt_buffer_add(out, path + common, strlen(path + common) + 1);
}
