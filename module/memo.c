// SPDX-License-Identifier: GPL-2.0-only
/*
 * Remembered traces. A task mostly sleeps where it slept before, and to see that
 * costs a load and a compare a frame, where a walk costs hundreds of
 * instructions: each task keeps the shapes of the last few stacks it slept on,
 * and a sleep on a stack of such a shape belongs to the same entry. Called by
 * account.c in hooks with the task's shard lock held.
 *
 * Why a match is a proof, not a guess. A walk is a chain of states (pc, sp, bp);
 * the unwind tables say for each pc how the next state comes from this one and
 * from words of the stack whose places follow from this one. A shape holds, for
 * the walk it was taken from, every word that became a pc, and every word (or
 * register) that was a bp which some step went by. By induction from the same
 * pc at the same place, if all these words are what they were (addresses of the
 * stack: relative to it), so is every state, and the walk would give the same
 * frames. Where the walkers cannot vouch for that they say so (known = false)
 * and the stack is walked at each sleep:
 *
 * - a kernel stack with an interrupt's registers in its midst, with a return
 *   address that a tracer has replaced, or off the task's own stack;
 * - user code that is not unwound by rows, signal frames, a user stack of more
 *   than 512 KiB. The kernel part may be remembered all the same.
 *
 * What the tables say about a pc does not change while the code is there:
 * rows of an address space that are dropped or replaced change its generation,
 * modules that come or go that of the kernel's code.
 *
 * kernel:  sp                   alloca in do_syscall_64      top
 *          | lead | below .. .. |~~~~ random gap ~~~~| above |
 *            slots up from sp                          slots down from top
 */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "arch_x86.h"
#include "compat/task.h"
#include "lattop.h"
#include "params.h"
#include "rows.h"
#include "shape.h"

enum {
	MEMO_BYTES	= 512,
	LEADS		= 4,
};

struct lt_memo {
	struct lt_entry *entry;			/* t's, of t's present program or an earlier one */
	u64 generation;				/* of the rows; if whole */
	u32 kernel_generation;
	u32 depth;				/* lt_kshape */
	u32 reach;				/* bytes of kernel stack above sp that are looked at */
	bool whole;				/* the user part is known, too, or there is none */
	u8 n_lead, n_below, n_above, n_user;	/* slots, in this order */
	u8 n_kernel_pointers, n_user_pointers;
	unsigned long pc;
	unsigned long lead[LEADS];	/* the frames that the trace leaves out */
	struct lt_pointer data[];		/* kernel's, user's; then the slots */
};

enum {
	DATA_BYTES	= MEMO_BYTES - sizeof(struct lt_memo),
};

/* A CPU's: the memo that is being made, before it gets its place. */
struct lt_memo_draft {
	union {
		struct lt_memo m;
		u8 room[MEMO_BYTES];
	};
	u16 slot[DATA_BYTES / sizeof(u16)];
};

static_assert(LT_SHAPE_KERNEL * sizeof(u16) <= DATA_BYTES);

/* How far above sp a slot can be, in bytes. */
#define USER_REACH (((unsigned long)LT_SLOT_BP + 1) * sizeof(u64))

static const u16 *slots_of(const struct lt_memo *m)
{
	return (const u16 *)&m->data[m->n_kernel_pointers + m->n_user_pointers];
}

const struct lt_trace *lt_memo_trace(const struct lt_memo *m)
{
	return m->entry->trace;
}

static __always_inline unsigned long word_at(unsigned long address)
{
	return READ_ONCE_NOCHECK(*(unsigned long *)address);
}

/* Is the kernel stack from *at up that which m was taken from? */
static __always_inline bool same_kernel(const struct lt_memo *m, const unsigned long *frames,
					const struct lt_kframe *at)
{
	unsigned long sp = at->sp, top = lt_arch_stack_top(current), room = top - sp;
	const u16 *slot = slots_of(m);
	unsigned int i;

	if (room < m->reach || room > THREAD_SIZE || (m->depth && room != m->depth))
		return false;
	for (i = 0; i < m->n_lead; i++)
		if (word_at(sp + *slot++ * sizeof(long)) != m->lead[i])
			return false;
	for (i = 0; i < m->n_below; i++)
		if (word_at(sp + *slot++ * sizeof(long)) != *frames++)
			return false;
	for (i = 0; i < m->n_above; i++)
		if (word_at(top - *slot++ * sizeof(long)) != *frames++)
			return false;
	for (i = 0; i < m->n_kernel_pointers; i++) {
		const struct lt_pointer *p = &m->data[i];
		unsigned long value = p->slot == LT_SLOT_BP ? at->bp : word_at(sp + p->slot * sizeof(long));

		if (value != (p->from_top ? top : sp) + p->distance)
			return false;
	}
	return true;
}

/* Is the user stack from *f up? Page faults are disabled here: memory that is not there is not the same. */
static __always_inline bool same_user(const struct lt_memo *m, const unsigned long *frames,
				      const struct lt_uframe *f)
{
	const struct lt_pointer *p = &m->data[m->n_kernel_pointers];
	const u16 *slot = slots_of(m) + m->n_lead + m->n_below + m->n_above;
	unsigned long sp = f->sp;
	bool same = false;
	unsigned int i;
	u64 word;

	if (sp & 7 || !lt_arch_user_room(&sp, USER_REACH))
		return false;
	pagefault_disable();
	if (!lt_arch_open_user())
		goto out;
	for (i = 0; i < m->n_user; i++) {
		unsafe_get_user(word, (u64 __user *)sp + slot[i], close);
		if (word != frames[i])
			goto close;
	}
	for (i = 0; i < m->n_user_pointers; i++, p++) {
		if (p->slot == LT_SLOT_BP)
			word = f->bp;
		else
			unsafe_get_user(word, (u64 __user *)sp + p->slot, close);
		if (word != sp + p->distance)
			goto close;
	}
	same = true;
close:
	lt_arch_close_user();
out:
	pagefault_enable();
	return same;
}

static void to_front(struct lt_task *t, unsigned int i)
{
	struct lt_memo *m = t->memo[i];

	for (; i; i--)
		t->memo[i] = t->memo[i - 1];
	t->memo[0] = m;
}

/*
 * The entry that current's sleep belongs to; NULL: it has to be walked, its user
 * stack at least if *kernel is one with the same kernel stack.
 */
struct lt_entry *lt_memo_find(struct lt *lt, struct lt_task *t, const struct lt_kframe *at,
			      const struct lt_memo **kernel)
{
	u32 flags = 0, generation = READ_ONCE(lt->kernel_generation);
	bool user = !lt_compat_no_user(current) && !current->in_execve;
	struct lt_uframe f;
	int syscall = -1;
	unsigned int i;

	*kernel = NULL;
	if (!t->memo[0])
		return NULL;
	if (user) {
		lt_arch_user_frame(current, &f, &flags);
		syscall = lt_arch_syscall(current);
		if (unlikely(flags))	/* LT_TR_COMPAT */
			return NULL;
	}
	for (i = 0; i < LT_MEMOS && t->memo[i]; i++) {
		struct lt_memo *m = t->memo[i];
		const struct lt_trace *tr = m->entry->trace;
		const unsigned long *frames = tr->frames;

		if (m->pc != at->pc || tr->syscall != syscall ||
		    user == !!(tr->flags & LT_TR_NO_USER) || m->entry->exec_id != t->exec_id ||
		    m->kernel_generation != generation || !same_kernel(m, frames, at))
			continue;
		*kernel = m;
		if (!m->whole)
			continue;
		if (tr->nr_user) {
			frames += tr->nr_kernel;
			if (frames[0] != f.pc || m->generation != lt_rows_generation(lt, current->mm) ||
			    !same_user(m, frames + 1, &f))
				continue;
		}
		if (i)
			to_front(t, i);
		return m->entry;
	}
	return NULL;
}

/* --- learning --- */

static bool room_for(const struct lt_memo *m, unsigned int slots, unsigned int pointers)
{
	slots += m->n_lead + m->n_below + m->n_above + m->n_user;
	pointers += m->n_kernel_pointers + m->n_user_pointers;
	return slots * sizeof(u16) + pointers * sizeof(struct lt_pointer) <= DATA_BYTES;
}

/* The kernel part of what c walked: slots to *slot, pointers to m->data. */
static bool kernel_part(struct lt_memo *m, const struct lt_capture *c, u16 *slot)
{
	const struct lt_kshape *s = &c->kernel;
	unsigned int i, first = c->first, end = first + c->nr_kernel;

	/* frame 0 has no slot: it is pc, and m->pc is compared */
	if (!s->known || !first || first - 1 > LEADS || end > s->n_slots)
		return false;
	m->pc = s->from.pc;
	m->depth = s->depth;
	m->n_lead = first - 1;
	for (i = 1; i < end; i++) {
		unsigned int above = i >= s->first_from_top;

		*slot++ = s->slot[i];
		if (i < first)
			m->lead[i - 1] = c->frames[i];
		else if (above)
			m->n_above++;
		else
			m->n_below++;
		if (i < first && above)
			return false;
		m->reach = max_t(u32, m->reach, (s->slot[i] + 1) * sizeof(long));
	}
	if (!room_for(m, 0, s->n_pointers))
		return false;
	m->n_kernel_pointers = s->n_pointers;
	memcpy(m->data, s->pointer, s->n_pointers * sizeof(s->pointer[0]));
	for (i = 0; i < s->n_pointers; i++)
		if (s->pointer[i].slot != LT_SLOT_BP)
			m->reach = max_t(u32, m->reach, (s->pointer[i].slot + 1) * sizeof(long));
	return true;
}

/* The same from a memo of the same kernel stack. */
static void kernel_part_of(struct lt_memo *m, const struct lt_memo *from, u16 *slot)
{
	unsigned int n = from->n_lead + from->n_below + from->n_above;

	m->pc = from->pc;
	m->depth = from->depth;
	m->reach = from->reach;
	m->n_lead = from->n_lead;
	m->n_below = from->n_below;
	m->n_above = from->n_above;
	m->n_kernel_pointers = from->n_kernel_pointers;
	memcpy(m->lead, from->lead, sizeof(m->lead));
	memcpy(m->data, from->data, from->n_kernel_pointers * sizeof(m->data[0]));
	memcpy(slot, slots_of(from), n * sizeof(*slot));
}

/* Behind the kernel part; false: not known, or there is no room for it. */
static bool user_part(struct lt_memo *m, const struct lt_capture *c, u16 *slot)
{
	const struct lt_ushape *s = &c->user;
	unsigned int n = s->n_slots - 1;	/* frame 0 has no slot */

	if (c->flags & LT_TR_NO_USER)
		return true;
	if (!s->known)
		return false;
	if (!s->n_slots)
		return true;	/* user_depth=0 */
	if (!room_for(m, n, s->n_pointers))
		return false;
	m->generation = s->generation;
	m->n_user = n;
	memcpy(slot + m->n_lead + m->n_below + m->n_above, &s->slot[1], n * sizeof(*slot));
	memcpy(&m->data[m->n_kernel_pointers], s->pointer, s->n_pointers * sizeof(s->pointer[0]));
	m->n_user_pointers = s->n_pointers;
	return true;
}

/* Where e's memo is to stand: in its old place, a free one, or that of the one used longest ago. */
static struct lt_memo *place_for(struct lt *lt, struct lt_task *t, const struct lt_entry *e)
{
	unsigned int i = 0;
	bool full;

	while (i < LT_MEMOS - 1 && t->memo[i] && t->memo[i]->entry != e)
		i++;
	if (!t->memo[i]) {
		t->memo[i] = lt_pool_take(&lt->memo_pool, &full);
		if (!t->memo[i] && !i--)	/* none free: walking goes on */
			return NULL;
	}
	to_front(t, i);
	return t->memo[0];
}

/*
 * current sleeps in e, on the stack that c was captured from; kernel: the memo
 * that its kernel frames come from, if they were not walked.
 */
void lt_memo_learn(struct lt *lt, struct lt_task *t, struct lt_entry *e,
		   const struct lt_capture *c, const struct lt_memo *kernel)
{
	struct lt_memo_draft *d = this_cpu_ptr(lt->drafts);
	struct lt_memo *m = &d->m, *to;

	memset(m, 0, sizeof(*m));
	if (kernel)
		kernel_part_of(m, kernel, d->slot);
	else if (!kernel_part(m, c, d->slot))
		return;
	m->whole = user_part(m, c, d->slot);
	if (kernel && !m->whole)
		return;		/* nothing is known that was not */
	m->entry = e;
	m->kernel_generation = READ_ONCE(lt->kernel_generation);
	memcpy((u16 *)slots_of(m), d->slot,
	       (m->n_lead + m->n_below + m->n_above + m->n_user) * sizeof(u16));
	to = place_for(lt, t, e);
	if (to)
		memcpy(to, d->room, MEMO_BYTES);
}

void lt_memos_forget(struct lt *lt, struct lt_task *t)
{
	unsigned int i;

	for (i = 0; i < LT_MEMOS && t->memo[i]; i++) {
		lt_pool_give(&lt->memo_pool, t->memo[i]);
		t->memo[i] = NULL;
	}
}

/* Code of a module that comes may lie where another's lay; what a frame of it looks like is then not what it was. */
static int on_module(struct notifier_block *nb, unsigned long event, void *module)
{
	struct lt *lt = container_of(nb, struct lt, module_notifier);

	if (event == MODULE_STATE_COMING || event == MODULE_STATE_GOING)
		WRITE_ONCE(lt->kernel_generation, lt->kernel_generation + 1);
	return NOTIFY_DONE;
}

int lt_memos_init(struct lt *lt)
{
	int err;

	lt->recheck = lt_params.recheck;
	lt->drafts = alloc_percpu(struct lt_memo_draft);
	if (!lt->drafts)
		return -ENOMEM;
	err = lt_pool_init(&lt->memo_pool, "lattop_memo", MEMO_BYTES, lt_params.max_memos,
			   min(lt_params.reserve, lt_params.max_memos), &lt->kick);
	if (err)
		goto free;
	lt->module_notifier.notifier_call = on_module;
	err = register_module_notifier(&lt->module_notifier);
	if (!err)
		return 0;
	lt_pool_exit(&lt->memo_pool);
free:
	free_percpu(lt->drafts);
	return err;
}

void lt_memos_exit(struct lt *lt)
{
	unregister_module_notifier(&lt->module_notifier);
	lt_pool_exit(&lt->memo_pool);
	free_percpu(lt->drafts);
}
