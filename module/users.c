// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which user holds how much of what he may hold a share of, for a snapshot.
 * Called by snapshot.c in process context; the counters move while they are read.
 * Who does not see all tasks sees himself, where he is who opened the descriptor, too.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/uidgid.h>

#include "lattop.h"
#include "owners.h"
#include "snapshot.h"

static bool is_reader(const struct lt_viewer *v, kuid_t uid)
{
	kuid_t reader, opener;

	return lt_owner_whose(current_cred(), &reader) && uid_eq(reader, uid) &&
	       lt_owner_whose(v->file->f_cred, &opener) && uid_eq(opener, uid);
}

void lt_users_add(struct lt *lt, const struct lt_viewer *v, struct lt_snapshot *s)
{
	struct lt_user_rec rec = {};
	kuid_t uid;
	u16 i;

	if (lt->user_share)
		memcpy(s->header.share, lt->owner_max, sizeof(lt->owner_max));
	for (i = LT_NO_OWNER + 1; i < LT_OWNERS; i++) {
		if (!lt_owner_read(lt, i, &uid, rec.held) || !(v->all || is_reader(v, uid)))
			continue;
		rec.uid = from_kuid_munged(current_user_ns(), uid);
		lt_buffer_add(&s->users, &rec, sizeof(rec));
	}
}
