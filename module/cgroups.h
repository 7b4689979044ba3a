/* SPDX-License-Identifier: GPL-2.0-only */
/* In which cgroup a task is, or was when it exited. */
#ifndef LATTOP_CGROUPS_H
#define LATTOP_CGROUPS_H

#include "buffer.h"
#include "lattop.h"

/* A cgroup (version 2) that some record is of. lt->mutex. */
struct lt_cgroup {
	struct rb_node node;	/* lt->cgroups, by id */
	u64 id;
	unsigned int users;	/* records */
	u32 snap_index;		/* its path among a snapshot's strings */
	u64 snap_seq;
	char path[];		/* from the root */
};

/* Hooks: p, whose record is t, has run for the last time. */
void lt_cgroup_left(struct lt *lt, struct lt_task *t, struct task_struct *p);

/* Process context, lt->mutex held. */
void lt_cgroups_name_left(struct lt *lt);
struct lt_cgroup *lt_cgroup_of(struct lt *lt, struct lt_task *t);
void lt_cgroup_share(struct lt *lt, struct lt_task *to, struct lt_task *from);
void lt_cgroup_forget(struct lt *lt, struct lt_task *t);

/* What of all this the reader is shown. */
u64 lt_cgroup_readers_root_id(void);
char *lt_cgroup_readers_root(void);
void lt_cgroup_path_from(const char *root, const char *path, struct lt_buffer *out);

#endif
