// SPDX-License-Identifier: GPL-2.0-only
/*
 * No user holds more than his share of a table (parameter user_share), so what
 * others do has room while he floods. Called wherever an object is made or
 * freed, in hooks too; a sleep for which there is an entry makes none, and
 * costs nothing here.
 *
 * An owner is a slot of a table: whose, and how many objects of each kind count
 * against him. A record has its owner's number from birth, and a pin on the
 * slot; an entry and a trace have the number of who made them, a waker that of who
 * pays for it. All may outlive
 * the record, so a slot changes hands only when it has no pin and nothing
 * counts against it. Only who has a pin, or an entry that counts, may charge: a
 * slot without these only gets emptier.
 *
 * Who is it: the real user id, as for RLIMIT_NPROC. So a setuid program is its
 * caller's. In a user namespace, where one user may have 65,536 ids, it is who
 * made the outermost one; where that was root (a container), the namespace's own
 * root. Not limited is real root with CAP_SYS_RESOURCE in the first user
 * namespace: the machine's services and the kernel's threads.
 *
 * Users beyond the slots that their hash leads to share one.
 *
 * owners_lock is a leaf, raw, taken when a slot gets its first pin; else there
 * are atomic counters alone, and no loop is longer than OWNER_PROBES.
 */
#include <linux/atomic.h>
#include <linux/cred.h>
#include <linux/jhash.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include <linux/vmalloc.h>

#include "lattop.h"
#include "owners.h"
#include "params.h"

enum { OWNER_PROBES = 16 };

struct lt_owner {
	u32 uid;		/* owners_lock, while it is unused */
	atomic_t pins;
	atomic_t held[LT_HELD_NR];
	struct mutex reading;	/* nothing: his readers wait for each other here */
} ____cacheline_aligned_in_smp;

static bool unlimited(const struct cred *cred)
{
	return cred->user_ns == &init_user_ns && uid_eq(cred->uid, GLOBAL_ROOT_UID) &&
	       cap_raised(cred->cap_permitted, CAP_SYS_RESOURCE);
}

static kuid_t whose(const struct cred *cred)
{
	struct user_namespace *ns = cred->user_ns;
	kuid_t root;

	if (ns == &init_user_ns)
		return cred->uid;
	while (ns->parent != &init_user_ns)
		ns = ns->parent;
	if (!uid_eq(ns->owner, GLOBAL_ROOT_UID))
		return ns->owner;
	root = make_kuid(ns, 0);
	return uid_valid(root) ? root : cred->uid;
}

static u16 place(const struct lt *lt, u32 uid, unsigned int probe)
{
	return 1 + (jhash_1word(uid, lt->owner_seed) + probe) % (LT_OWNERS - 1);
}

/* The slot that is his and has pins, with one more; or LT_NO_OWNER. */
static u16 find_pinned(struct lt *lt, u32 uid)
{
	unsigned int probe;

	for (probe = 0; probe < OWNER_PROBES; probe++) {
		u16 i = place(lt, uid, probe);
		struct lt_owner *o = &lt->owners[i];

		if (READ_ONCE(o->uid) != uid || !atomic_inc_not_zero(&o->pins))
			continue;
		if (READ_ONCE(o->uid) == uid)
			return i;
		lt_owner_put(lt, i);	/* it changed hands before we had a pin */
	}
	return LT_NO_OWNER;
}

static bool unused(const struct lt_owner *o)
{
	int what;

	if (atomic_read_acquire(&o->pins))
		return false;
	for (what = 0; what < LT_HELD_NR; what++)
		if (atomic_read(&o->held[what]))
			return false;
	return true;
}

/* owners_lock held. */
static u16 place_for(struct lt *lt, u32 uid)
{
	unsigned int probe;

	for (probe = 0; probe < OWNER_PROBES; probe++)
		if (lt->owners[place(lt, uid, probe)].uid == uid)
			return place(lt, uid, probe);
	for (probe = 0; probe < OWNER_PROBES; probe++) {
		u16 i = place(lt, uid, probe);

		if (!unused(&lt->owners[i]))
			continue;
		WRITE_ONCE(lt->owners[i].uid, uid);
		return i;
	}
	return place(lt, uid, 0);	/* shared */
}

/* With a pin, for whom lt_owner_whose has said; INVALID_UID: for nobody. */
u16 lt_owner_get_for(struct lt *lt, kuid_t kuid)
{
	u32 uid = __kuid_val(kuid);
	unsigned long flags;
	u16 i;

	if (!lt->user_share || !uid_valid(kuid))
		return LT_NO_OWNER;
	i = find_pinned(lt, uid);
	if (i)
		return i;
	raw_spin_lock_irqsave(&lt->owners_lock, flags);
	i = place_for(lt, uid);
	smp_mb__before_atomic();	/* who finds a pin finds whose it is */
	atomic_inc(&lt->owners[i].pins);
	raw_spin_unlock_irqrestore(&lt->owners_lock, flags);
	return i;
}

/* The same. The caller sees to it that cred stays. */
u16 lt_owner_get(struct lt *lt, const struct cred *cred)
{
	if (!lt->user_share || unlimited(cred))
		return LT_NO_OWNER;
	return lt_owner_get_for(lt, whose(cred));
}

/* Another pin, where the caller has or borrows one. */
u16 lt_owner_get_again(struct lt *lt, u16 owner)
{
	if (owner)
		atomic_inc(&lt->owners[owner].pins);
	return owner;
}

u16 lt_owner_of(struct lt *lt, struct task_struct *p)
{
	u16 owner;

	rcu_read_lock();
	owner = lt_owner_get(lt, __task_cred(p));
	rcu_read_unlock();
	return owner;
}

void lt_owner_put(struct lt *lt, u16 owner)
{
	if (!owner)
		return;
	smp_mb__before_atomic();	/* unused() */
	atomic_dec(&lt->owners[owner].pins);
}

/* Would cred get this owner? Yes, where it shares one, may come as no. The caller has a pin. */
bool lt_owner_is(const struct lt *lt, u16 owner, const struct cred *cred)
{
	if (!lt->user_share || unlimited(cred))
		return owner == LT_NO_OWNER;
	return owner && lt->owners[owner].uid == __kuid_val(whose(cred));
}

/* All of them, or none. */
bool lt_owner_charge_many(struct lt *lt, u16 owner, enum lt_held what, unsigned int n)
{
	atomic_t *held = &lt->owners[owner].held[what];

	if (!owner)
		return true;
	if (atomic_add_return(n, held) <= (int)lt->owner_max[what])
		return true;
	atomic_sub(n, held);
	return false;
}

bool lt_owner_charge(struct lt *lt, u16 owner, enum lt_held what)
{
	return lt_owner_charge_many(lt, owner, what, 1);
}

/* What is there already, and changes hands. */
void lt_owner_charge_anyway(struct lt *lt, u16 owner, enum lt_held what, unsigned int n)
{
	if (owner)
		atomic_add(n, &lt->owners[owner].held[what]);
}

void lt_owner_uncharge(struct lt *lt, u16 owner, enum lt_held what, unsigned int n)
{
	if (owner)
		atomic_sub(n, &lt->owners[owner].held[what]);
}

/* An object for owner, charged. NULL: *why. */
void *lt_owner_take(struct lt *lt, struct lt_pool *pool, u16 owner, enum lt_held what,
		    enum lt_refused *why)
{
	void *object;

	*why = LT_USER;
	if (!lt_owner_charge(lt, owner, what))
		return NULL;
	object = lt_pool_take(pool, owner, why);
	if (!object)
		lt_owner_uncharge(lt, owner, what, 1);
	return object;
}

void lt_owner_give(struct lt *lt, struct lt_pool *pool, void *object, u16 owner, enum lt_held what)
{
	lt_pool_give(pool, object);
	lt_owner_uncharge(lt, owner, what, 1);
}

unsigned int lt_owner_holds(const struct lt *lt, u16 owner, enum lt_held what)
{
	return owner ? atomic_read(&lt->owners[owner].held[what]) : 0;
}

bool lt_owner_fits(const struct lt *lt, u16 owner, enum lt_held what, unsigned int more)
{
	return !owner || lt_owner_holds(lt, owner, what) + more <= lt->owner_max[what];
}

static bool scarce(const struct lt *lt, u16 owner, enum lt_held what)
{
	return lt_scarce(lt_owner_holds(lt, owner, what), lt->owner_max[what]);
}

/*
 * Little is left of his share of what the living need: his past makes room for it. Not of wakers: for
 * those its own wakers do, and nobody loses his name (exited.c).
 */
bool lt_owner_short(const struct lt *lt, u16 owner)
{
	return scarce(lt, owner, LT_HELD_tasks) || scarce(lt, owner, LT_HELD_entries) ||
	       scarce(lt, owner, LT_HELD_traces);
}

/* Who counts for what this one makes; false where he is not limited. */
bool lt_owner_whose(const struct cred *cred, kuid_t *uid)
{
	if (unlimited(cred))
		return false;
	*uid = whose(cred);
	return true;
}

/* Whose slot it is, and all that he holds as of now: false when that is nothing. */
bool lt_owner_read(const struct lt *lt, u16 owner, kuid_t *uid, u32 *held)
{
	const struct lt_owner *o = &lt->owners[owner];
	bool any = false;
	int what;

	*uid = KUIDT_INIT(READ_ONCE(o->uid));
	if (!uid_valid(*uid))
		return false;
	for (what = 0; what < LT_HELD_NR; what++) {
		held[what] = atomic_read(&o->held[what]);
		any |= held[what];
	}
	return any && READ_ONCE(o->uid) == __kuid_val(*uid);	/* it changed hands meanwhile */
}

/*
 * Of all whose descriptors are this user's, one goes on: others wait for one of them at most, however many
 * threads he has. The caller has a pin. -EINTR: it may not go on
 */
int lt_owner_lock_reading(struct lt *lt, u16 owner)
{
	return owner ? mutex_lock_interruptible(&lt->owners[owner].reading) : 0;
}

void lt_owner_unlock_reading(struct lt *lt, u16 owner)
{
	if (owner)
		mutex_unlock(&lt->owners[owner].reading);
}

/* With what each pool has. */
u64 lt_owners_bytes(void)
{
	return LT_OWNERS * (sizeof(struct lt_owner) + (4 + LT_TRACE_CLASSES) * sizeof(atomic_t));
}

int lt_owners_init(struct lt *lt)
{
	const unsigned int limits[LT_HELD_NR] = {
		[LT_HELD_tasks] = lt_params.max_tasks,
		[LT_HELD_entries] = lt_params.max_entries,
		[LT_HELD_traces] = lt_params.max_traces,
		[LT_HELD_memos] = lt_params.max_memos,
		[LT_HELD_wakers] = lt_params.wakers ? lt_params.max_wakers : 0,
		[LT_HELD_exited] = lt_params.retain_exited,
		[LT_HELD_exited_procs] = lt_params.retain_exited,
		[LT_HELD_rows] = lt_params.max_rows,
		[LT_HELD_misses] = LT_MAX_MISSES,
		[LT_HELD_snapshot_kib] = lt_params.max_snapshot_mib << 10,
	};
	int i;

	BUILD_BUG_ON((int)LT_HELD_NR > (int)LT_HELD_SLOTS);
	/* 0: nobody is limited */
	lt->user_share = lt_params.user_share < 100 ? lt_params.user_share : 0;
	for (i = 0; i < LT_HELD_NR; i++)
		lt->owner_max[i] = limits[i] ? max_t(u64, (u64)limits[i] * lt->user_share / 100, 1) : 0;
	lt->owner_seed = get_random_u32();
	raw_spin_lock_init(&lt->owners_lock);
	lt->owners = vzalloc(sizeof(*lt->owners) * LT_OWNERS);
	if (!lt->owners)
		return -ENOMEM;
	for (i = 0; i < LT_OWNERS; i++) {
		lt->owners[i].uid = __kuid_val(INVALID_UID);
		mutex_init(&lt->owners[i].reading);
	}
	return 0;
}

/* Everything has been given back. */
void lt_owners_exit(struct lt *lt)
{
	int i;

	for (i = 0; i < LT_OWNERS; i++)
		WARN_ON_ONCE(!unused(&lt->owners[i]));
	vfree(lt->owners);
}
