/* SPDX-License-Identifier: GPL-2.0-only */
/* Who sees what. */
#ifndef LATTOP_SECURITY_H
#define LATTOP_SECURITY_H

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/types.h>
#include <linux/user_namespace.h>

#include "lattop.h"

struct file;
struct lt_task;
struct mm_struct;
struct pid_namespace;

/* A task as a reader is shown it. */
struct lt_sight {
	u32 pid, tgid;		/* in the reader's pid namespace */
	u64 exec_id;		/* of the program it runs now, or ran last */
	struct lt_creds creds;	/* that it is shown by; whether it is dumpable is not among them */
	char comm[LT_COMM_BYTES];	/* "" in an execve */
};

/* A reader: the process that reads now, on a descriptor that somebody opened. */
struct lt_viewer {
	struct file *file;
	struct pid_namespace *pid_ns;	/* of the process that reads */
	bool all;			/* need not be asked task by task */
};

/* Whose a task is, for a viewer to be compared with. Hooks, too. */
static inline void lt_creds_read(struct lt_creds *c, const struct cred *cred)
{
	c->uid = cred->uid;
	c->euid = cred->euid;
	c->suid = cred->suid;
	c->gid = cred->gid;
	c->egid = cred->egid;
	c->sgid = cred->sgid;
	c->privileged = !cap_isclear(cred->cap_permitted) || cred->user_ns != &init_user_ns;
}

/* The same user and group in every way. */
static inline bool lt_creds_same_ids(const struct lt_creds *a, const struct lt_creds *b)
{
	return uid_eq(a->uid, b->uid) && uid_eq(a->euid, b->euid) && uid_eq(a->suid, b->suid) &&
	       gid_eq(a->gid, b->gid) && gid_eq(a->egid, b->egid) && gid_eq(a->sgid, b->sgid);
}

/* Who may see one by its ids may see the other, and nobody needs more. */
static inline bool lt_creds_same_owner(const struct lt_creds *a, const struct lt_creds *b)
{
	return !a->privileged && !b->privileged && lt_creds_same_ids(a, b);
}

/* Who took a snapshot: read on in it may only who sees what he saw. */
struct lt_taker {
	const struct cred *cred;	/* NULL: nobody */
	struct pid_namespace *pid_ns;
	u64 cgroup_root;		/* id of the cgroup that his paths are seen from */
};

void lt_taker_set(struct lt_taker *taker);
void lt_taker_clear(struct lt_taker *taker);
bool lt_taker_is_reader(const struct lt_taker *taker);

void lt_viewer_init(struct lt_viewer *v, struct file *file);
bool lt_viewer_sees(const struct lt_viewer *v, const struct lt_task *t, struct lt_sight *sight);
struct mm_struct *lt_viewer_mm(const struct lt_viewer *v, u32 pid, u64 start_ns, u32 exec_id, s64 *patience_ns);
bool lt_viewer_may_reset(const struct lt_viewer *v);
bool lt_may_resolve(struct file *file);

#endif
