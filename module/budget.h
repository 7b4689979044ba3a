/* SPDX-License-Identifier: GPL-2.0-only */
/* What an open descriptor holds, on whose account: budget.c. */
#ifndef LATTOP_BUDGET_H
#define LATTOP_BUDGET_H

#include <linux/types.h>

struct file;
struct lt;

struct lt_budget {
	struct lt *lt;
	u16 owner;	/* the opener, pinned */
	bool limited;	/* he does not see all */
	bool hurry;	/* nothing may wait for memory: lt->mutex is held */
};

void lt_budget_open(struct lt_budget *b, struct lt *lt, struct file *file);
void lt_budget_close(struct lt_budget *b);
int lt_budget_take(struct lt_budget *b, size_t bytes);
void lt_budget_give(struct lt_budget *b, size_t bytes);

#endif
