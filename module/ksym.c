// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of kernel functions for readers, looked up once: return address ->
 * function and offset. Addresses themselves never leave the kernel. Called by
 * snapshot.c under lt->mutex, in process context.
 *
 * Two red-black trees: by address (what a trace holds) and by function (what a
 * snapshot names once). When a module goes its addresses may come back as
 * something else, so both are emptied when one comes or goes, and when they hold MAX_KSYMS.
 */
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "lattop.h"

enum { MAX_KSYMS = 16384 };

struct ksym {
	struct rb_node node;		/* by address */
	unsigned long address;
	struct lt_kfunc *func;
	u32 offset;
};

static bool modules_changed;

static int module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	if (event == MODULE_STATE_GOING || event == MODULE_STATE_COMING)
		WRITE_ONCE(modules_changed, true);
	return NOTIFY_DONE;
}

static struct notifier_block module_nb = { .notifier_call = module_event };

static void forget(struct lt *lt)
{
	struct ksym *s, *next_s;
	struct lt_kfunc *f, *next_f;

	rbtree_postorder_for_each_entry_safe(s, next_s, &lt->ksyms, node)
		kfree(s);
	rbtree_postorder_for_each_entry_safe(f, next_f, &lt->kfuncs, node) {
		kfree(f->name);
		kfree(f->module);
		kfree(f);
	}
	lt->ksyms = RB_ROOT;
	lt->kfuncs = RB_ROOT;
	lt->nr_ksyms = 0;
	lt->ksym_bytes = 0;
}

/* "name+0x1c/0x80 [module]", as the kernel prints a return address, taken apart. */
static u32 take_apart(char *text, const char **name, const char **module)
{
	char *plus = strrchr(text, '+'), *open = strrchr(text, '['), *close;
	unsigned long offset = 0;

	*name = "?";
	*module = "";
	if (!plus || sscanf(plus, "+0x%lx", &offset) != 1)
		return 0;
	if (open && open > plus) {
		close = strpbrk(open, "] ");	/* a build id may follow the name */
		if (close)
			*close = 0;
		*module = open + 1;
	}
	*plus = 0;
	*name = text;
	return offset;
}

static struct lt_kfunc *kfunc(struct lt *lt, unsigned long start, const char *name,
			      const char *module)
{
	struct rb_node **link = &lt->kfuncs.rb_node, *parent = NULL;
	struct lt_kfunc *f;

	while (*link) {
		parent = *link;
		f = rb_entry(parent, struct lt_kfunc, node);
		if (start == f->start)
			return f;
		link = start < f->start ? &parent->rb_left : &parent->rb_right;
	}
	f = kzalloc(sizeof(*f), GFP_KERNEL);
	if (!f)
		return NULL;
	f->start = start;
	f->name = kstrdup(name, GFP_KERNEL);
	f->module = kstrdup(module, GFP_KERNEL);
	if (!f->name || !f->module) {
		kfree(f->name);
		kfree(f->module);
		kfree(f);
		return NULL;
	}
	rb_link_node(&f->node, parent, link);
	rb_insert_color(&f->node, &lt->kfuncs);
	lt->ksym_bytes += sizeof(*f) + strlen(name) + strlen(module) + 2;
	return f;
}

/* The function that addr returns into, and where in it; NULL without memory. */
struct lt_kfunc *lt_ksym(struct lt *lt, unsigned long addr, u32 *offset)
{
	struct rb_node **link = &lt->ksyms.rb_node, *parent = NULL;
	const char *name, *module;
	char text[KSYM_SYMBOL_LEN];
	struct ksym *s;

	while (*link) {
		parent = *link;
		s = rb_entry(parent, struct ksym, node);
		if (addr == s->address) {
			*offset = s->offset;
			return s->func;
		}
		link = addr < s->address ? &parent->rb_left : &parent->rb_right;
	}
	s = kmalloc(sizeof(*s), GFP_KERNEL);
	if (!s)
		return NULL;
	snprintf(text, sizeof(text), "%pB", (void *)addr);
	s->address = addr;
	s->offset = take_apart(text, &name, &module);
	s->func = kfunc(lt, *name == '?' ? 0 : addr - s->offset, name, module);
	if (!s->func) {
		kfree(s);
		return NULL;
	}
	rb_link_node(&s->node, parent, link);
	rb_insert_color(&s->node, &lt->ksyms);
	lt->nr_ksyms++;
	lt->ksym_bytes += sizeof(*s);
	*offset = s->offset;
	return s->func;
}

/* Between two snapshots: the pointers lt_ksym gave out end here. */
void lt_ksyms_trim(struct lt *lt)
{
	if (lt->nr_ksyms >= MAX_KSYMS || READ_ONCE(modules_changed)) {
		WRITE_ONCE(modules_changed, false);
		forget(lt);
	}
}

int lt_ksyms_init(struct lt *lt)
{
	lt->ksyms = RB_ROOT;
	lt->kfuncs = RB_ROOT;
	return register_module_notifier(&module_nb);
}

void lt_ksyms_exit(struct lt *lt)
{
	unregister_module_notifier(&module_nb);
	forget(lt);
}
