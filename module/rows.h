/* SPDX-License-Identifier: GPL-2.0-only */
/* Learned rows by address space, and walks by them. */
#ifndef LATTOP_ROWS_H
#define LATTOP_ROWS_H

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

#include "row_step.h"
#include "shape.h"

struct lt;
struct lt_space;
struct mm_struct;
struct task_struct;

#ifdef CONFIG_MMU_NOTIFIER

/* row_spaces.c: process context */
int lt_rows_init(struct lt *lt);
void lt_rows_exit(struct lt *lt);
void lt_rows_reap(struct lt *lt);
u64 lt_rows_bytes(struct lt *lt);

/* rows.c: process context */
int lt_rows_teach(struct lt *lt, u16 owner, struct mm_struct *mm,
		  const struct lt_row *rows, u32 n_rows,
		  const struct lt_row_range *ranges, u32 n_ranges, s64 *patience_ns);

/* row_walk.c: in hooks for current's mm; else the caller holds a user of the mm (and RCU to find it) */
struct lt_space *lt_space_find(struct lt *lt, struct mm_struct *mm);

/*
 * Walks from *f up, innermost first, at most max frames. Sets LT_TR_COMPLETE,
 * or why not; *f is the frame it ended at.
 */
unsigned int lt_rows_walk(struct lt_space *space, struct lt_uframe *f, unsigned long *frames,
			  unsigned int max, u32 *flags, lt_read_word read, void *memory);

/* The same for current in a hook, with page faults disabled; *s: how it went. */
unsigned int lt_rows_walk_current(struct lt_space *space, struct lt_uframe *f,
				  unsigned long *frames, unsigned int max, u32 *flags,
				  struct lt_ushape *s);

#else /* the kernel cannot say when mappings go: no rows, frame pointers only */

static inline int lt_rows_init(struct lt *lt)
{
	return 0;
}

static inline void lt_rows_exit(struct lt *lt)
{
}

static inline void lt_rows_reap(struct lt *lt)
{
}

static inline u64 lt_rows_bytes(struct lt *lt)
{
	return 0;
}

static inline int lt_rows_teach(struct lt *lt, u16 owner, struct mm_struct *mm,
				const struct lt_row *rows, u32 n_rows,
				const struct lt_row_range *ranges, u32 n_ranges, s64 *patience_ns)
{
	return -EOPNOTSUPP;
}

static inline struct lt_space *lt_space_find(struct lt *lt, struct mm_struct *mm)
{
	return NULL;
}

static inline unsigned int lt_rows_walk(struct lt_space *space, struct lt_uframe *f, unsigned long *frames,
					unsigned int max, u32 *flags, lt_read_word read, void *memory)
{
	return 0;
}

static inline unsigned int lt_rows_walk_current(struct lt_space *space, struct lt_uframe *f,
						unsigned long *frames, unsigned int max, u32 *flags,
						struct lt_ushape *s)
{
	return 0;
}

#endif

/* In process context. It cannot end: the caller holds a user of the mm. */
static inline struct lt_space *lt_space_held(struct lt *lt, struct mm_struct *mm)
{
	struct lt_space *s;

	rcu_read_lock();
	s = lt_space_find(lt, mm);
	rcu_read_unlock();
	return s;
}

/* misses.c */
void lt_miss(struct lt *lt, struct task_struct *p, const struct lt_uframe *f);
bool lt_resolved(const struct lt *lt);
int lt_misses_init(struct lt *lt);
void lt_misses_exit(struct lt *lt);

struct lt_resolver;
struct lt_resolver *lt_resolver_new(struct lt *lt, int event_fd);
void lt_resolver_free(struct lt *lt, struct lt_resolver *r);
u32 lt_misses_take(struct lt *lt, struct lt_miss *to, u32 n);

/* teach.c */
struct file;
long lt_teach(struct lt *lt, struct file *file, const void __user *from);

/* registers.c */
long lt_registers(struct lt *lt, struct file *file, void __user *arg);

/* rewalk.c */
void lt_rewalk(struct lt *lt, struct task_struct *leader, struct mm_struct *mm);

#endif
