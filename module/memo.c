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
#include "row_space.h"
#include "shape.h"

enum {
	MEMO_BYTES	= 512,
	LEADS		= 4,
};

struct lt_memo {
	struct lt_entry *entry;
	const unsigned long *frames;		/* of its trace */
	unsigned long pc;			/* where the kernel stack was walked from */
	unsigned long user_pc;			/* 0: there are no user frames */
	u32 exec_id;
	s32 syscall;
	u32 kernel_generation;
	u32 room, more_room;			/* bytes from sp to the top: at least, and how many more */
	u8 n_lead, n_below, n_above, n_user;	/* slots, in this order */
	u8 n_kernel_pointers, n_user_pointers;
	bool no_user;				/* LT_TR_NO_USER */
	bool whole;				/* the user part is known, too, or there is none */
	const struct mm_struct *mm;		/* if there are user frames: its rows' space, and generation */
	struct lt_space *space;
	u64 generation;
	unsigned long lead[LEADS];		/* the frames that the trace leaves out */
	struct lt_pointer data[];		/* kernel's, user's; then the slots */
};

enum { DATA_BYTES = MEMO_BYTES - sizeof(struct lt_memo) };

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

static __always_inline const u16 *slots_of(const struct lt_memo *m)
{
	return (const u16 *)&m->data[m->n_kernel_pointers + m->n_user_pointers];
}

const struct lt_trace *lt_memo_trace(const struct lt_memo *m)
{
	return m->entry->trace;
}

/* Of current's own kernel stack, whatever KASAN thinks of that place. */
static __always_inline unsigned long word_at(unsigned long address)
{
#ifdef CONFIG_KASAN
	return READ_ONCE_NOCHECK(*(unsigned long *)address);
#else
	return READ_ONCE(*(unsigned long *)address);
#endif
}

/*
 * Is the kernel stack from *at up that which m was taken from? Most often it
 * is: differences are gathered, and looked at once.
 */
static __always_inline bool same_kernel(const struct lt_memo *m, const struct lt_kframe *at,
					unsigned long top)
{
	const unsigned long *frames = m->frames;
	const struct lt_pointer *p = m->data;
	const u16 *slot = slots_of(m);
	unsigned long sp = at->sp, different;
	unsigned int n;

	if (top - sp - m->room > m->more_room)
		return false;
	different = 0;
	for (n = 0; n < m->n_lead; n++)
		different |= word_at(sp + *slot++ * sizeof(long)) ^ m->lead[n];
	for (n = m->n_below; n >= 2; n -= 2, slot += 2, frames += 2) {
		different |= word_at(sp + slot[0] * sizeof(long)) ^ frames[0];
		different |= word_at(sp + slot[1] * sizeof(long)) ^ frames[1];
	}
	if (n)
		different |= word_at(sp + *slot++ * sizeof(long)) ^ *frames++;
	for (n = m->n_above; n; n--)
		different |= word_at(top - *slot++ * sizeof(long)) ^ *frames++;
	for (n = m->n_kernel_pointers; n; n--, p++) {
		unsigned long value = likely(p->slot != LT_SLOT_BP) ?
				      word_at(sp + p->slot * sizeof(long)) : at->bp;

		different |= value ^ ((p->from_top ? top : sp) + p->distance);
	}
	return !different;
}

/* Is the user stack from regs up? Page faults are disabled here: memory that is not there is not the same. */
static __always_inline bool same_user(const struct lt_memo *m, unsigned long sp, unsigned long bp)
{
	const unsigned long *frames = m->frames + m->n_below + m->n_above + 1;
	const struct lt_pointer *p = &m->data[m->n_kernel_pointers];
	const u16 *slot = slots_of(m) + m->n_lead + m->n_below + m->n_above;
	u64 different = 0, a, b;
	unsigned int n;

	if (sp & 7 || !lt_arch_user_room(&sp, USER_REACH))
		return false;
	pagefault_disable();
	if (unlikely(!lt_arch_open_user())) {
		pagefault_enable();
		return false;
	}
	for (n = m->n_user; n >= 2; n -= 2, slot += 2, frames += 2) {
		unsafe_get_user(a, (u64 __user *)sp + slot[0], fault);
		unsafe_get_user(b, (u64 __user *)sp + slot[1], fault);
		different |= (a ^ frames[0]) | (b ^ frames[1]);
	}
	if (n) {
		unsafe_get_user(a, (u64 __user *)sp + *slot++, fault);
		different |= a ^ *frames++;
	}
	for (n = m->n_user_pointers; n; n--, p++) {
		a = bp;
		if (p->slot != LT_SLOT_BP)
			unsafe_get_user(a, (u64 __user *)sp + p->slot, fault);
		different |= a ^ (sp + p->distance);
	}
	lt_arch_close_user();
	pagefault_enable();
	return !different;
fault:
	lt_arch_close_user();
	pagefault_enable();
	return false;
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
	bool no_user = lt_compat_no_user(current) || current->in_execve;
	struct pt_regs *regs = task_pt_regs(current);
	int syscall = no_user ? -1 : lt_arch_syscall(current);
	unsigned long top = lt_arch_stack_top(current);
	struct lt_memo *m;
	unsigned int i;

	for (i = 0; i < LT_MEMOS && (m = t->memo[i]); i++) {
		if (m->pc != at->pc || m->syscall != syscall || m->no_user != no_user ||
		    m->exec_id != t->exec_id ||
		    m->kernel_generation != READ_ONCE(lt->kernel_generation) ||
		    !same_kernel(m, at, top))
			continue;
		if (m->user_pc) {
			if (m->user_pc == instruction_pointer(regs) && m->mm == current->mm &&
			    m->generation == lt_space_generation(m->space) &&
			    lt_arch_64bit(regs) &&
			    same_user(m, user_stack_pointer(regs), frame_pointer(regs)))
				goto found;
		} else if (m->whole && (no_user || lt_arch_64bit(regs))) {
			goto found;
		}
		*kernel = m;
	}
	return NULL;
found:
	if (i)
		to_front(t, i);
	return m->entry;
}

/* --- learning --- */

/* Not memcpy: what it thinks of sizes it would print, and hooks may not. */
static void copy_slots(u16 *to, const u16 *from, unsigned int n)
{
	while (n--)
		*to++ = *from++;
}

static void copy_pointers(struct lt_pointer *to, const struct lt_pointer *from, unsigned int n)
{
	while (n--)
		*to++ = *from++;
}

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
		m->room = max_t(u32, m->room, (s->slot[i] + 1) * sizeof(long));
	}
	if (!room_for(m, 0, s->n_pointers))
		return false;
	m->n_kernel_pointers = s->n_pointers;
	copy_pointers(m->data, s->pointer, s->n_pointers);
	for (i = 0; i < s->n_pointers; i++)
		if (s->pointer[i].slot != LT_SLOT_BP)
			m->room = max_t(u32, m->room, (s->pointer[i].slot + 1) * sizeof(long));
	m->more_room = THREAD_SIZE - m->room;
	if (s->depth) {
		m->room = s->depth;
		m->more_room = 0;
	}
	return true;
}

/* The same from a memo of the same kernel stack. */
static void kernel_part_of(struct lt_memo *m, const struct lt_memo *from, u16 *slot)
{
	unsigned int n = from->n_lead + from->n_below + from->n_above;

	m->pc = from->pc;
	m->room = from->room;
	m->more_room = from->more_room;
	m->n_lead = from->n_lead;
	m->n_below = from->n_below;
	m->n_above = from->n_above;
	m->n_kernel_pointers = from->n_kernel_pointers;
	memcpy(m->lead, from->lead, sizeof(m->lead));
	copy_pointers(m->data, from->data, from->n_kernel_pointers);
	copy_slots(slot, slots_of(from), n);
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
	m->mm = current->mm;
	m->space = s->space;
	m->generation = s->generation;
	m->user_pc = c->frames[c->first + c->nr_kernel];
	m->n_user = n;
	copy_slots(slot + m->n_lead + m->n_below + m->n_above, &s->slot[1], n);
	copy_pointers(&m->data[m->n_kernel_pointers], s->pointer, s->n_pointers);
	m->n_user_pointers = s->n_pointers;
	return true;
}

/* Where e's memo is to stand: in place of one that knows less of it, in a free place, or in that of the one used longest ago. */
static struct lt_memo *place_for(struct lt *lt, struct lt_task *t, const struct lt_entry *e)
{
	unsigned int i = 0;
	bool full;

	while (i < LT_MEMOS - 1 && t->memo[i] && (t->memo[i]->entry != e || t->memo[i]->whole))
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
	m->frames = e->trace->frames;
	m->exec_id = e->exec_id;
	m->syscall = c->syscall;
	m->no_user = c->flags & LT_TR_NO_USER;
	m->kernel_generation = READ_ONCE(lt->kernel_generation);
	copy_slots((u16 *)slots_of(m), d->slot, m->n_lead + m->n_below + m->n_above + m->n_user);
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
