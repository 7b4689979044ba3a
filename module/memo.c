// SPDX-License-Identifier: GPL-2.0-only
/*
 * Remembered traces. A task mostly sleeps where it slept before, and to see that
 * costs a load and a compare a frame, where a walk costs hundreds of
 * instructions: each task keeps the shapes of the last few stacks it slept on,
 * and a sleep on a stack of such a shape belongs to the same entry. With wakers=1
 * the same goes for where it wakes others, and the trace of that. This makes
 * them, memo.h compares. Called by account.c and wakers.c in hooks with the task's
 * shard lock held.
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
 *   address that a tracer has replaced, off the task's own stack, with a step by
 *   bp that is no plain one, or on a kernel that does not say where __schedule
 *   is;
 * - user code that is not unwound by rows, signal frames, a return address of 0,
 *   a stack cut at user_depth, one of more than 512 KiB or LT_SHAPE_USER frames.
 *   The kernel part may be remembered all the same;
 * - what has no room in a memo.
 *
 * A word that a walk reads and no step goes by (most saved bps) is not among
 * them: if that alone is paged out, a walk would end there, and a match does not.
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
#include <linux/string.h>

#include "lattop.h"
#include "memo.h"
#include "params.h"

enum {
	MEMO_BYTES	= 512,
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
	slots += lt_memo_kernel_slots(m) + m->n_user;
	pointers += m->kernel.n_pointers + m->n_user_pointers;
	return slots * sizeof(u16) + pointers * sizeof(struct lt_pointer) <= DATA_BYTES;
}

/* How many bytes of stack above sp are looked at for these. */
static u32 reach(const u16 *slot, unsigned int n_slots,
		 const struct lt_pointer *p, unsigned int n_pointers)
{
	u32 bytes = 0;

	for (; n_slots--; slot++)
		bytes = max_t(u32, bytes, (*slot + 1) * sizeof(u64));
	for (; n_pointers--; p++)
		if (p->slot != LT_SLOT_BP)
			bytes = max_t(u32, bytes, (p->slot + 1) * sizeof(u64));
	return bytes;
}

/* The kernel part of what c walked: slots to *slot, pointers to m->data. */
static bool kernel_part(struct lt_memo *m, const struct lt_capture *c, u16 *slot)
{
	const struct lt_kshape *s = &c->kernel;
	struct lt_memo_kernel *k = &m->kernel;
	unsigned int i, first = c->first, end = first + c->nr_kernel;

	/* frame 0 has no slot: it is pc, which is compared */
	if (!s->known || !first || first - 1 > LT_MEMO_LEADS || end > s->n_slots ||
	    first > s->first_from_top)
		return false;
	k->pc = s->from.pc;
	k->generation = s->generation;
	k->n_lead = first - 1;
	for (i = 1; i < first; i++)
		k->lead[i - 1] = c->frames[i];
	k->n_below = min_t(unsigned int, end, s->first_from_top) - first;
	k->n_above = c->nr_kernel - k->n_below;
	if (!room_for(m, 0, s->n_pointers))
		return false;
	k->n_pointers = s->n_pointers;
	copy_pointers(m->data, s->pointer, s->n_pointers);
	copy_slots(slot, &s->slot[1], end - 1);
	k->room = reach(slot, end - 1, s->pointer, s->n_pointers);
	k->more_room = THREAD_SIZE - k->room;
	if (s->depth) {
		k->room = s->depth;
		k->more_room = 0;
	}
	return true;
}

/* The same from a memo of the same kernel stack. */
static void kernel_part_of(struct lt_memo *m, const struct lt_memo *from, u16 *slot)
{
	m->kernel = from->kernel;
	copy_pointers(m->data, from->data, from->kernel.n_pointers);
	copy_slots(slot, lt_memo_slots(from), lt_memo_kernel_slots(from));
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
	m->n_user_pointers = s->n_pointers;
	copy_slots(slot + lt_memo_kernel_slots(m), &s->slot[1], n);
	copy_pointers(&m->data[m->kernel.n_pointers], s->pointer, s->n_pointers);
	m->user_reach = reach(&s->slot[1], n, s->pointer, s->n_pointers);
	return true;
}

/* Is m of the same entry or trace as by, and of no use any more beside it? */
static bool superseded(const struct lt_memo *m, const struct lt_memo *by)
{
	return m->entry == by->entry && m->trace == by->trace &&
	       (!m->whole || m->kernel.generation != by->kernel.generation ||
		m->generation != by->generation);
}

static void let_go(struct lt *lt, const struct lt_memo *m)
{
	if (!m->entry)
		lt_trace_put(lt, m->trace);
}

/*
 * Where a memo is to stand among t's: in place of one that it supersedes, in a free
 * place, or in that of the one used longest ago. What stood there is let go.
 */
static struct lt_memo *place_for(struct lt *lt, struct lt_task *t, enum lt_memo_kind kind,
				 const struct lt_memo *m)
{
	struct lt_memo **memos = t->memo[kind];
	unsigned int i = 0;
	enum lt_refused why;

	while (i < LT_MEMOS - 1 && memos[i] && !superseded(memos[i], m))
		i++;
	if (memos[i]) {
		let_go(lt, memos[i]);
	} else {
		memos[i] = lt_owner_take(lt, &lt->memo_pool, t->owner, LT_HELD_memos, &why);
		if (!memos[i]) {
			if (!i--)	/* none free: walking goes on */
				return NULL;
			let_go(lt, memos[i]);
		}
	}
	lt_memo_to_front(t, kind, i);
	return memos[0];
}

/*
 * current, whose record is t, sleeps in e, or wakes somebody where e is NULL, on the
 * stack that c was captured from; tr: that one's trace, with a reference of the caller's.
 * kernel: the memo that its kernel frames come from, if they were not walked.
 */
void lt_memo_learn(struct lt *lt, struct lt_task *t, struct lt_entry *e, struct lt_trace *tr,
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
	m->trace = tr;
	m->frames = tr->frames;
	m->exec_id = (u32)t->exec_id;
	m->syscall = c->syscall;
	m->no_user = c->flags & LT_TR_NO_USER;
	m->user_frames = m->frames + m->kernel.n_below + m->kernel.n_above + 1;
	m->user_pointers = offsetof(struct lt_memo, data[m->kernel.n_pointers]);
	m->slots = offsetof(struct lt_memo, data[m->kernel.n_pointers + m->n_user_pointers]);
	m->user_slots = m->slots + lt_memo_kernel_slots(m) * sizeof(u16);
	copy_slots((u16 *)lt_memo_slots(m), d->slot, lt_memo_kernel_slots(m) + m->n_user);
	to = place_for(lt, t, e ? LT_MEMO_SLEEP : LT_MEMO_WAKER, m);
	if (!to)
		return;
	memcpy(to, d->room, MEMO_BYTES);
	if (!e)
		atomic_inc(&tr->refs);	/* let_go(); it is not the first */
}

/* m matched, and the walk from *at up found another trace. Where m matches no more, the stack or its rows have changed meanwhile: no proof. */
void lt_memo_refuted(struct lt *lt, struct lt_task *t, enum lt_memo_kind kind, const struct lt_kframe *at,
		     const struct lt_memo *m, const struct lt_trace *walked)
{
	const struct lt_memo *kernel;

	if (!(walked->flags & (LT_TR_MISS | LT_TR_USER_FAULT)) && lt_memo_find(lt, t, kind, at, &kernel) == m)
		lt_lose(lt, LT_LOST_memo_wrong);
}

/* How many t has. */
unsigned int lt_memos(const struct lt_task *t)
{
	unsigned int kind, i, n = 0;

	for (kind = 0; kind < LT_MEMO_KINDS; kind++)
		for (i = 0; i < LT_MEMOS && t->memo[kind][i]; i++)
			n++;
	return n;
}

void lt_memos_forget(struct lt *lt, struct lt_task *t)
{
	unsigned int kind, i;

	for (kind = 0; kind < LT_MEMO_KINDS; kind++) {
		for (i = 0; i < LT_MEMOS && t->memo[kind][i]; i++) {
			let_go(lt, t->memo[kind][i]);
			lt_owner_give(lt, &lt->memo_pool, t->memo[kind][i], t->owner, LT_HELD_memos);
			t->memo[kind][i] = NULL;
		}
	}
}

/* Code of a module that comes may lie where another's lay; what a frame of it looks like is then not what it was. */
static int on_module(struct notifier_block *nb, unsigned long event, void *module)
{
	struct lt *lt = container_of(nb, struct lt, module_notifier);

	if (event == MODULE_STATE_COMING || event == MODULE_STATE_GOING)
		atomic_inc(&lt->kernel_generation);
	return NOTIFY_DONE;
}

u64 lt_memo_drafts_bytes(void)
{
	return num_possible_cpus() * sizeof(struct lt_memo_draft);
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
