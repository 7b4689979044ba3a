// SPDX-License-Identifier: GPL-2.0-only
/*
 * What depends on the architecture, x86-64: the walk up the kernel stack, with
 * its shape (shape.h), and up the user stack by frame pointer. Called by
 * capture.c. A port replaces this file.
 */
#ifndef CONFIG_X86_64
#error "lattop knows x86-64 only: a port gives this file's functions for its architecture"
#endif

#include <linux/ptrace.h>
#include <linux/uaccess.h>
#include <asm/unwind.h>

#include "arch_x86.h"
#include "lattop.h"

enum {
	/* A frame pointer further than this from sp is not one: main stacks are 8 MiB by default. */
	FP_REACH_BYTES	= 16 << 20,
};

struct frame {
	unsigned long next, ret;
};

/* Page faults are disabled: memory that is not there is an error, not a wait. */
static bool read_frame(unsigned long fp, bool compat, struct frame *f)
{
	if (compat) {
		u32 next, ret;

		if (__get_user(next, (u32 __user *)fp) || __get_user(ret, (u32 __user *)fp + 1))
			return false;
		f->next = next;
		f->ret = ret;
		return true;
	}
	return !__get_user(f->next, (unsigned long __user *)fp) &&
	       !__get_user(f->ret, (unsigned long __user *)fp + 1);
}

/*
 * current's user stack by frame pointer, innermost first. Hook context, page
 * faults disabled. Frames of code built without frame pointers are missed,
 * which is why such a trace is never called complete.
 */
unsigned int lt_arch_stack_user(unsigned long *frames, unsigned int max, u32 *flags)
{
	struct pt_regs *regs = task_pt_regs(current);
	bool compat = !user_64bit_mode(regs);
	unsigned long sp = regs->sp, fp = regs->bp;
	unsigned long word = compat ? sizeof(u32) : sizeof(u64);
	unsigned int n = 0;
	struct frame f;

	*flags |= LT_TR_FP | (compat ? LT_TR_COMPAT : 0);
	if (!max)
		return 0;
	frames[n++] = regs->ip;

	while (fp >= sp && fp - sp < FP_REACH_BYTES && !(fp & (word - 1)) &&
	       fp < TASK_SIZE_MAX - 2 * word) {
		if (!read_frame(fp, compat, &f)) {
			*flags |= LT_TR_USER_FAULT;
			break;
		}
		if (f.ret < PAGE_SIZE || f.ret >= TASK_SIZE_MAX)
			break;
		if (n == max) {
			*flags |= LT_TR_USER_CUT;
			break;
		}
		frames[n++] = f.ret;
		if (f.next <= fp)
			break;
		fp = f.next;
	}
	return n;
}

/* More frames than are kept: of interrupts, which may come in anywhere on a stack. */
enum { BEYOND = 512 };

/*
 * came_in: walks up to where an interrupt came in, however many frames are kept of
 * that, and whether it was in the kernel, where that is found; NULL: all the way.
 */
static unsigned int frames_from(struct task_struct *p, struct pt_regs *regs,
				unsigned long *frames, unsigned int max, bool *came_in)
{
	unsigned int n = 0, steps = came_in ? max + BEYOND : max;
	struct unwind_state state;

	for (unwind_start(&state, p, regs, NULL); !unwind_done(&state) && steps--;
	     unwind_next_frame(&state)) {
		unsigned long addr = unwind_get_return_address(&state);

		if (came_in) {
			struct pt_regs *entry = unwind_get_entry_regs(&state, NULL);

			/* the stack of a system call ends at registers, too: user mode's */
			if (entry) {
				*came_in = !user_mode(entry);
				break;
			}
		}
		if (!addr)
			break;
		if (n < max)
			frames[n++] = addr;
	}
	return n;
}

/* The unwinder takes a step from registers it is given: their own frame comes first. */
static unsigned int frames_at(const struct lt_kframe *at, unsigned long *frames, unsigned int max,
			      bool *came_in)
{
	struct pt_regs regs = { .ip = at->pc, .sp = at->sp, .bp = at->bp, .cs = __KERNEL_CS };

	frames[0] = at->pc;
	return 1 + frames_from(current, &regs, frames + 1, max - 1, came_in);
}

#ifdef CONFIG_UNWINDER_ORC

/* What a shape is taken with, from one step of the walk to the next. */
struct sketch {
	struct lt_kshape *s;
	bool known;		/* so far */
	unsigned long sp, bp;	/* of the frame stepped from */
	unsigned long source;	/* words from here on may have given bp, */
	bool live;		/* or the register itself did */
};

static bool add_pointer(struct lt_kshape *s, unsigned long slot, bool from_top, long distance)
{
	struct lt_pointer *p = &s->pointer[s->n_pointers];

	if (s->n_pointers == LT_SHAPE_POINTERS)
		return false;
	p->slot = slot;
	p->from_top = from_top;
	p->distance = distance;
	s->n_pointers++;
	return true;
}

/*
 * The step went by bp. Which word that was loaded from is not told; it is among
 * those of the frames since bp last changed that hold its value.
 */
static bool add_source(struct sketch *k, bool from_top)
{
	unsigned long at, start = k->s->from.sp;
	long distance = k->bp - (from_top ? lt_arch_stack_top(current) : start);
	unsigned int before = k->s->n_pointers;

	if (k->live && !add_pointer(k->s, LT_SLOT_BP, from_top, distance))
		return false;
	for (at = k->source; at < k->sp; at += sizeof(long))
		if (lt_arch_stack_word(at) == k->bp &&
		    !add_pointer(k->s, (at - start) / sizeof(long), from_top, distance))
			return false;
	return k->s->n_pointers > before;
}

/*
 * The walk came to state, frame n, which returns to addr. other came there from
 * the same place, but with a bp greater by a word: if the step went by bp,
 * so much further is where it is now. False: it cannot be vouched for.
 */
static bool note_step(struct sketch *k, const struct unwind_state *state,
		      const struct unwind_state *other, unsigned int n, unsigned long addr)
{
	unsigned long top = lt_arch_stack_top(current), slot = state->sp - sizeof(long);
	bool from_top = n >= k->s->first_from_top;

	if (state->error || state->regs || n >= LT_SHAPE_KERNEL ||
	    state->stack_info.type != STACK_TYPE_TASK || slot < k->s->from.sp || slot >= top ||
	    lt_arch_stack_word(slot) != addr)	/* a tracer put its own there */
		return false;
	if (other->sp != state->sp) {
		if (other->sp != state->sp + sizeof(long) || from_top)
			return false;
		/* the first function of all: what lies above it lies where it does from the top */
		from_top = top - state->sp < 128;
		if (from_top)
			k->s->first_from_top = n;
		if (!add_source(k, from_top))
			return false;
	}
	if (state->bp != k->bp) {
		k->source = k->sp;
		k->live = false;
	}
	k->sp = state->sp;
	k->bp = state->bp;
	k->s->slot[n] = (from_top ? top - slot : slot - k->s->from.sp) / sizeof(long);
	k->s->n_slots = n + 1;
	return true;
}

/* Does how the walk ended, behind n frames, follow from what was noted? */
static bool note_end(struct sketch *k, const struct unwind_state *state, unsigned int n)
{
	if (state->error)
		return false;
	if (state->stack_info.type == STACK_TYPE_UNKNOWN)
		return true;
	/* user mode's registers, and those can only be at the top */
	if (!state->regs || !user_mode(state->regs) ||
	    (unsigned long)state->regs != lt_arch_stack_top(current))
		return false;
	if (k->s->first_from_top >= n)
		k->s->depth = lt_arch_stack_top(current) - k->s->from.sp;
	return true;
}

static void note_start(struct sketch *k, struct lt_kshape *s, const struct lt_kframe *at)
{
	s->from = *at;
	s->n_slots = 1;
	s->n_pointers = 0;
	s->depth = 0;
	s->first_from_top = LT_SHAPE_KERNEL;
	k->s = s;
	k->known = true;
	k->sp = at->sp;
	k->bp = at->bp;
	k->source = at->sp;
	k->live = true;
}

static void start_at(struct unwind_state *state, const struct lt_kframe *at, unsigned long bp)
{
	struct pt_regs regs = { .ip = at->pc, .sp = at->sp, .bp = bp, .cs = __KERNEL_CS };

	unwind_start(state, current, &regs, NULL);	/* and a step */
}

/* As unwind_next_frame, and *other with another bp, where that could matter. */
static void step(struct unwind_state *state, struct unwind_state *other)
{
	*other = *state;
	unwind_next_frame(state);
	if (other->bp < other->sp || other->bp >= lt_arch_stack_top(current)) {
		other->sp = state->sp;
		return;
	}
	other->bp += sizeof(long);
	other->error = true;	/* it was asked for: nothing to warn of */
	unwind_next_frame(other);
}

/* current's kernel stack from *at up, innermost first; *s, if it is wanted: how it went. */
unsigned int lt_arch_stack_kernel(const struct lt_kframe *at, unsigned long *frames,
				  unsigned int max, struct lt_kshape *s)
{
	struct unwind_state state, other;
	unsigned int n = 0;
	struct sketch k;

	if (!s)
		return frames_at(at, frames, max, NULL);
	note_start(&k, s, at);
	frames[n++] = at->pc;
	start_at(&state, at, at->bp);
	start_at(&other, at, at->bp + sizeof(long));
	while (!unwind_done(&state) && n < max) {
		unsigned long addr = unwind_get_return_address(&state);

		if (!addr)
			break;
		if (k.known)
			k.known = note_step(&k, &state, &other, n, addr);
		frames[n++] = addr;
		step(&state, &other);
	}
	s->known = k.known && (n == max || note_end(&k, &state, n));
	return n;
}

#else /* the kernel's other unwinders are cheap: no shape is taken */

unsigned int lt_arch_stack_kernel(const struct lt_kframe *at, unsigned long *frames,
				  unsigned int max, struct lt_kshape *s)
{
	if (s)
		s->known = false;
	return frames_at(at, frames, max, NULL);
}

#endif

/*
 * The same of an interrupt that current is in, up to where it came in; *came_in
 * says whether that was found, in the kernel: user mode is where a walk ends anyway.
 */
unsigned int lt_arch_stack_interrupt(const struct lt_kframe *at, unsigned long *frames,
				     unsigned int max, bool *came_in)
{
#ifdef CONFIG_UNWINDER_GUESS	/* which does not say where that is: what lies beyond is another's */
	max = 1;
#endif
	return frames_at(at, frames, max, came_in);
}

/* The same of p, which is asleep, off every CPU, and cannot leave meanwhile. */
unsigned int lt_arch_stack_asleep(struct task_struct *p, unsigned long *frames, unsigned int max)
{
	return frames_from(p, NULL, frames, max, NULL);
}
