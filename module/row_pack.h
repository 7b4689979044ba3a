/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A row as the module keeps it: two words, 16 bytes. Pure: rows.c and the unit
 * tests compile this same file.
 *
 *	      63         38 37        12 11   4 3     0
 *	key   | pc                            | exact |	exact: 1 bit, pc: the 63 above
 *	how   | cfa_offset | bp_offset  | kind | flags |
 *
 * Offsets have 26 bits and a sign; lt_row_valid() allows 25.
 */
#ifndef LATTOP_ROW_PACK_H
#define LATTOP_ROW_PACK_H

#include "row_step.h"

enum {
	LT_PACK_FLAGS	= LT_ROW_FLAGS & ~LT_ROW_EXACT,	/* that one is in the key */
	LT_PACK_KIND	= 4,
	LT_PACK_BP	= 12,
	LT_PACK_CFA	= 38,
	LT_PACK_BITS	= 26,
};

static LT_ROW_INLINE __u64 lt_row_key(__u64 pc, __u32 exact)
{
	return pc << 1 | (exact ? 1 : 0);
}

static inline __u64 lt_row_pack(const struct lt_row *r)
{
	__u64 cfa = (__u64)(__s64)r->cfa_offset, bp = (__u64)(__s64)r->bp_offset;

	return cfa << LT_PACK_CFA | (bp & ((1ULL << LT_PACK_BITS) - 1)) << LT_PACK_BP |
	       (__u64)r->kind << LT_PACK_KIND | (r->flags & LT_PACK_FLAGS);
}

/* All of *r but its pc and LT_ROW_EXACT, which are in the key. */
static LT_ROW_INLINE void lt_row_unpack(__u64 how, struct lt_row *r)
{
	r->cfa_offset = (__s32)((__s64)how >> LT_PACK_CFA);
	r->bp_offset = (__s32)((__s64)(how << LT_PACK_BITS) >> LT_PACK_CFA);
	r->kind = how >> LT_PACK_KIND & 0xff;
	r->flags = how & LT_PACK_FLAGS;
}

#endif
