/* SPDX-License-Identifier: GPL-2.0-only */
/* A consistent copy of what one reader asked for. */
#ifndef LATTOP_SNAPSHOT_H
#define LATTOP_SNAPSHOT_H

#include "buffer.h"
#include "lattop.h"
#include "security.h"

/* Those of a snapshot, of what is chosen, and of a task's copies. */
enum { LT_SNAPSHOT_BUFFERS = LT_SEC_NR + 6 };

/* A checked query; pids in ascending order, NULL for all. */
struct lt_request {
	struct lt_query query;
	u32 *pids;
	size_t room[LT_SNAPSHOT_BUFFERS];	/* bytes that its last snapshot had */
};

/* A task record, and who it is in the first pid namespace. */
struct lt_taken {
	struct lt_task_rec rec;
	u32 pid;
	u64 start_ns;
};

struct lt_snapshot {
	struct lt_header header;
	struct lt_buffer taken;			/* struct lt_taken[] */
	struct lt_buffer wakers;		/* struct lt_waker_rec[] */
	struct lt_buffer users;			/* struct lt_user_rec[] */
	char *cgroup_root;			/* while it is taken */
	struct lt_buffer section[LT_SEC_NR];	/* LT_SEC_TASKS stays empty until assembled */
};

int lt_snapshot_take(struct lt *lt, const struct lt_viewer *v, struct lt_request *r,
		     struct lt_budget *budget, struct lt_snapshot *s);

/* assemble.c */
extern const u32 lt_record_bytes[LT_SEC_NR];

void lt_snapshot_sort(struct lt_snapshot *s, u32 sort_by, u32 limit);
int lt_snapshot_assemble(struct lt_snapshot *s, struct lt_buffer *out);
void lt_snapshot_free(struct lt_snapshot *s);

/* select.c: a record chosen for a snapshot */
struct lt_chosen {
	struct lt_task *task;
	u32 pid, tgid;		/* in the reader's pid namespace */
	u64 key;
};

int lt_select(struct lt *lt, const struct lt_viewer *v, const struct lt_request *r, u64 now,
	      struct lt_buffer *chosen, u32 *matched);
u64 lt_sort_key(const struct lt_task_rec *rec, u32 sort);

/* users.c */
void lt_users_add(struct lt *lt, const struct lt_viewer *v, struct lt_snapshot *s);

/* text.c */
int lt_text(struct lt *lt, const struct lt_viewer *v, const struct lt_snapshot *s,
	    struct lt_buffer *out);

#endif
