/* SPDX-License-Identifier: GPL-2.0-only */
/* The log2 histogram of sleep lengths. Pure: also compiled in user space. */
#ifndef LATTOP_HIST_H
#define LATTOP_HIST_H

#include "uapi/lattop.h"

/* Bucket i holds 2^i <= ns < 2^(i+1); bucket 0 also 0, the last all longer ones. */
static inline unsigned int lt_hist_bucket(unsigned long long ns)
{
	unsigned int log2 = ns ? 63 - __builtin_clzll(ns) : 0;

	return log2 < LT_HIST_BUCKETS ? log2 : LT_HIST_BUCKETS - 1;
}

#endif
