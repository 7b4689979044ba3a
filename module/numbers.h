/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers in ascending order: the pids of a query (proc.c sorts, select.c asks),
 * the user ids of a filter (filter.c, whose hooks ask).
 */
#ifndef LATTOP_NUMBERS_H
#define LATTOP_NUMBERS_H

#include <linux/bsearch.h>
#include <linux/sort.h>
#include <linux/types.h>

static inline int lt_by_number(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

static inline void lt_sort_numbers(u32 *numbers, size_t n)
{
	sort(numbers, n, sizeof(*numbers), lt_by_number, NULL);
}

static __always_inline bool lt_has_number(const u32 *numbers, size_t n, u32 number)
{
	return __inline_bsearch(&number, numbers, n, sizeof(number), lt_by_number);
}

#endif
