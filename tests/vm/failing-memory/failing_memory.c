// SPDX-License-Identifier: GPL-2.0-only
/*
 * One in so many of the allocations fails that a workqueue's worker makes for a
 * module: the kernel's own fault injection chooses by task or by cache, and such a
 * worker is a thread that works for others, too, whose caches are everybody's.
 * What is asked for by a function of the module, or by one that it called, has the
 * module's code in its stack. Loaded by tests/vm/cases/fault-worker-allocations-fail.
 *
 *	insmod failing_memory.ko from=ADDRESS to=ADDRESS one_in=N
 *	rmmod failing_memory		says in the kernel log how many failed, and for which functions
 */
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/stacktrace.h>

#define FRAMES 32
#define PLACES 32

static unsigned long from, to;
module_param(from, ulong, 0444);
MODULE_PARM_DESC(from, "where the module's code begins");
module_param(to, ulong, 0444);
MODULE_PARM_DESC(to, "where it ends");

static unsigned int one_in = 10;
module_param(one_in, uint, 0444);
MODULE_PARM_DESC(one_in, "of so many allocations one fails (default 10)");

/* By return address in the module; the last one is for all that came too late for one of their own. */
static struct place {
	atomic_long_t address;
	atomic_t asked, failed;
} places[PLACES];

static struct place *place_of(unsigned long address)
{
	int i;

	for (i = 0; i < PLACES - 1; i++) {
		long was = atomic_long_cmpxchg(&places[i].address, 0, address);

		if (!was || was == address)
			break;
	}
	return &places[i];
}

/* In a kprobe: preemption is off. */
static bool is_to_fail(gfp_t gfp)
{
	unsigned long frames[FRAMES];
	unsigned int i, n;
	struct place *place;

	if (!(current->flags & PF_WQ_WORKER) || gfp & __GFP_NOFAIL)
		return false;
	n = stack_trace_save(frames, FRAMES, 0);
	for (i = 0; i < n && (frames[i] < from || frames[i] >= to); i++)
		;
	if (i == n)
		return false;
	place = place_of(frames[i]);
	if (hash_32(atomic_inc_return(&place->asked), 32) % one_in)
		return false;
	atomic_inc(&place->failed);
	return true;
}

static noinline int no_memory(void)
{
	return -ENOMEM;
}

static noinline void *no_pointer(void)
{
	return NULL;
}

/* Of both functions the flags are the second argument. */
static int fail_by(struct pt_regs *regs, void *instead)
{
	if (!is_to_fail((__force gfp_t)regs->si))
		return 0;
	regs->ip = (unsigned long)instead;
	return 1;
}

/* int should_failslab(struct kmem_cache *, gfp_t): what kmalloc and kmem_cache_alloc ask first */
static int before_slab(struct kprobe *kp, struct pt_regs *regs)
{
	return fail_by(regs, no_memory);
}

/* void *kvmalloc_node(size_t, gfp_t, int) */
static int before_kvmalloc(struct kprobe *kp, struct pt_regs *regs)
{
	return fail_by(regs, no_pointer);
}

static struct kprobe of_slab = { .symbol_name = "should_failslab", .pre_handler = before_slab };
static struct kprobe of_kvmalloc = { .symbol_name = "kvmalloc_node", .pre_handler = before_kvmalloc };
static struct kprobe *probes[] = { &of_slab, &of_kvmalloc };

static int __init failing_memory_init(void)
{
	if (!one_in || from >= to)
		return -EINVAL;
	return register_kprobes(probes, ARRAY_SIZE(probes));
}

static void __exit failing_memory_exit(void)
{
	struct place *p;

	unregister_kprobes(probes, ARRAY_SIZE(probes));
	for (p = places; p < places + PLACES; p++)
		if (atomic_read(&p->asked))
			pr_info("failing_memory: %d of %d failed for %pS\n", atomic_read(&p->failed),
				atomic_read(&p->asked), (void *)atomic_long_read(&p->address));
}

module_init(failing_memory_init);
module_exit(failing_memory_exit);
MODULE_DESCRIPTION("Allocations of a module's worker that fail, for tests");
MODULE_LICENSE("GPL");
