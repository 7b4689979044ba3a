/* SPDX-License-Identifier: GPL-2.0-only */
/* Which user a record, a trace or a row counts against, and how much of each table he may hold: owners.c. */
#ifndef LATTOP_OWNERS_H
#define LATTOP_OWNERS_H

#include <linux/types.h>
#include <linux/uidgid.h>

#include "uapi/lattop.h"

struct cred;
struct lt;
struct lt_pool;
struct task_struct;

enum {
	LT_NO_OWNER	= 0,	/* not limited: the administrator, the kernel's own, or user_share=100 */
};

/* Why there is none. */
enum lt_refused {
	LT_FULL,		/* the limit of all */
	LT_DRY,			/* none free at this moment */
	LT_USER,		/* the owner's share, of the limit or of what stands ready */
};

/* Hooks, too */
u16 lt_owner_get(struct lt *lt, const struct cred *cred);
u16 lt_owner_get_for(struct lt *lt, kuid_t uid);
u16 lt_owner_get_again(struct lt *lt, u16 owner);
void lt_owner_put(struct lt *lt, u16 owner);
bool lt_owner_is(const struct lt *lt, u16 owner, const struct cred *cred);
bool lt_owner_charge(struct lt *lt, u16 owner, enum lt_held what);
bool lt_owner_charge_many(struct lt *lt, u16 owner, enum lt_held what, unsigned int n);
void lt_owner_charge_anyway(struct lt *lt, u16 owner, enum lt_held what, unsigned int n);
void lt_owner_uncharge(struct lt *lt, u16 owner, enum lt_held what, unsigned int n);
void *lt_owner_take(struct lt *lt, struct lt_pool *pool, u16 owner, enum lt_held what,
		    enum lt_refused *why);
void lt_owner_give(struct lt *lt, struct lt_pool *pool, void *object, u16 owner,
		   enum lt_held what);
unsigned int lt_owner_holds(const struct lt *lt, u16 owner, enum lt_held what);
bool lt_owner_fits(const struct lt *lt, u16 owner, enum lt_held what, unsigned int more);
bool lt_owner_short(const struct lt *lt, u16 owner);
bool lt_owner_whose(const struct cred *cred, kuid_t *uid);

/* Process context */
u16 lt_owner_of(struct lt *lt, struct task_struct *p);
bool lt_owner_read(const struct lt *lt, u16 owner, kuid_t *uid, u32 *held);
int lt_owner_lock_reading(struct lt *lt, u16 owner);
void lt_owner_unlock_reading(struct lt *lt, u16 owner);
int lt_owners_init(struct lt *lt);
void lt_owners_exit(struct lt *lt);
u64 lt_owners_bytes(void);

#endif
