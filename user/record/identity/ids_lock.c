/*
 * Which object is which?
 *
 * A monitor is identified by its ObjectMonitor's address, as long as the slot of its weak handle
 * and its class stay the same: if either changes, the address has been used again for another
 * inflation. An object with an identity hash is identified by (class, hash), over deflation and
 * inflation. Where the monitor has no handle but the object's address (JDK 11), a collector that
 * moves the object is followed while somebody is blocked on the monitor, which then stays. What
 * else changes the address begins a new number: the log calls this identity, too, "address".
 *
 * A blocker (an object that a thread parks on) has no monitor. It is identified by (class, hash)
 * where it has a hash, else by (class, address). A collector that moves it while somebody is parked
 * on it is followed: the record of the park's end has its address before and after. One that moves
 * while nobody is parked gets a new number: the log calls such an identity "address".
 *
 * Several keys may lead to one lock: so what the log has of it is kept apart, for as long as a key
 * leads there. Where there is no room for another key, one goes that has not been used for long and
 * on which nobody is blocked; if its object comes again, that is a new lock with a new number.
 */
#include "record/identity/ids_locks.h"

#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/wire/wire_kinds.h"
#include "bpf/wire/wire_lock.h"
#include "log/format/event.h"
#include "log/write/writer.h"

#define OTHERS_MAX 10000 /* locks in all, from which on no other object gets a number */

/* --- keeping ----------------------------------------------------------------------------- */

static void info_drop(struct ids *ids, struct lock_info *info)
{
	if (!info || --info->refs)
		return;
	log_forget(ids->w, EVENT_LOCK, info->number);
	store_remove(ids->infos, info);
}

static bool forget_lock(void *ctx, void *entry)
{
	struct lock_id *l = entry;
	struct ids *ids = ctx;

	if (l->blocked)
		return false;
	info_drop(ids, l->info);
	ids_count_forgotten(ids, MEMORY_LOCK);
	return true;
}

static bool forget_hash(void *ctx, void *entry)
{
	struct hash_id *h = entry;

	info_drop(ctx, h->info);
	return true;
}

int ids_locks_new(struct ids *ids)
{
	struct store_options o = {.key_bytes = sizeof(struct lock_key),
				  .entry_bytes = sizeof(struct lock_id),
				  .budget = ids_budget(ids, MEMORY_LOCKS),
				  .forget = forget_lock,
				  .ctx = ids};
	int err = store_new(&o, &ids->locks);

	o.key_bytes = sizeof(struct hash_key);
	o.entry_bytes = sizeof(struct hash_id);
	o.budget = ids_budget(ids, MEMORY_HASHES);
	o.forget = forget_hash;
	if (!err)
		err = store_new(&o, &ids->hashes);
	o.key_bytes = sizeof(uint32_t);
	o.entry_bytes = sizeof(struct lock_info);
	o.budget = NULL; /* there are never more than keys */
	o.forget = NULL;
	return err ? err : store_new(&o, &ids->infos);
}

void ids_locks_free(struct ids *ids)
{
	store_free(ids->locks);
	store_free(ids->hashes);
	store_free(ids->infos);
}

static void lock_write(struct ids *ids, const struct lock_info *l, uint32_t tid, uint64_t time_ns)
{
	struct event e = {.id = EVENT_LOCK, .time_ns = time_ns};

	e.thread = ids_thread(ids, tid, time_ns);
	e.v[LOCK_LOCK].u = l->number;
	e.v[LOCK_GROUP].u = l->group;
	e.v[LOCK_CLASS].u = l->class;
	e.v[LOCK_IDENTITY].u = l->identity;
	e.v[LOCK_ADDRESS].u = l->address;
	e.v[LOCK_HASH].u = l->hash;
	log_write(ids->w, &e);
}

uint32_t ids_lock_shared(struct ids *ids, uint64_t time_ns)
{
	struct lock_info shared = {.group = LOCK_GROUP_OTHER, .identity = LOCK_IDENTITY_UNKNOWN};

	if (ids->err)
		return 0;
	ids_count_shared(ids, MEMORY_LOCK);
	if (!ids->lock_shared) {
		shared.number = ids->lock_shared = ++ids->lock_count;
		lock_write(ids, &shared, 0, time_ns);
	}
	return ids->lock_shared;
}

struct hash_id *ids_hash_find(struct ids *ids, uint32_t class, uint32_t hash)
{
	struct hash_key key = {class, hash};

	return class && hash ? store_find(ids->hashes, &key) : NULL;
}

void ids_hash_remove(struct ids *ids, struct hash_id *h)
{
	info_drop(ids, h->info);
	store_remove(ids->hashes, h);
}

static void hash_keep(struct ids *ids, struct lock_info *info)
{
	struct hash_key key = {info->class, info->hash};
	struct hash_id *h;
	void *entry;
	int err;

	if (!info->class || !info->hash || ids_hash_find(ids, info->class, info->hash))
		return;
	err = store_add(ids->hashes, &key, &entry);
	if (err == -ENOMEM)
		ids->err = err;
	if (err)
		return;
	h = entry;
	h->info = info;
	info->refs++;
}

struct lock_id *ids_lock_find(struct ids *ids, struct lock_key key)
{
	return store_find(ids->locks, &key);
}

struct lock_id *ids_lock_get(struct ids *ids, struct lock_key key)
{
	struct lock_id *l = store_find(ids->locks, &key);
	void *entry;
	int err;

	if (l)
		return l;
	err = store_add(ids->locks, &key, &entry);
	if (err == -ENOMEM)
		ids->err = err;
	return err ? NULL : entry;
}

void ids_lock_clear(struct ids *ids, struct lock_id *l)
{
	info_drop(ids, l->info);
	l->info = NULL;
	l->used = false;
}

void ids_lock_remove(struct ids *ids, struct lock_id *l)
{
	ids_lock_clear(ids, l);
	if (!l->blocked)
		store_remove(ids->locks, l);
}

/* --- what is known of a lock ------------------------------------------------------------- */

/* NULL: no memory. */
static struct lock_info *info_new(struct ids *ids, uint64_t address)
{
	uint32_t number = ids->lock_count + 1;
	struct lock_info *info;
	void *entry;
	int err = store_add(ids->infos, &number, &entry);

	if (err) {
		ids->err = err;
		return NULL;
	}
	ids->lock_count = number;
	info = entry;
	info->address = address;
	return info;
}

uint32_t ids_lock_update(struct ids *ids, struct lock_id *l, const struct wire_lock *r,
			 const struct lock_facts *f)
{
	struct hash_id *h = ids_hash_find(ids, f->class, r->hash);
	struct lock_info *info = l->info, was;
	bool fresh = false;

	if (!info || (f->class && info->class && info->class != f->class)) {
		fresh = !h;
		info = h ? h->info : info_new(ids, r->object);
		if (!info)
			return 0;
		info->refs++;
		info_drop(ids, l->info);
		l->info = info;
	}
	was = *info;
	if (f->class)
		info->class = f->class;
	if (f->group > info->group)
		info->group = f->group;
	if (r->hash)
		info->hash = r->hash;
	info->identity = info->hash ? LOCK_IDENTITY_HASH : f->identity;
	if (fresh || memcmp(&was, info, sizeof(was))) {
		lock_write(ids, info, r->head.tid, r->head.time_ns);
		hash_keep(ids, info);
	}
	return info->number;
}

bool ids_class_is_still(const struct lock_id *l, const struct class_id *c)
{
	return l->info && l->info->class && (!c || l->info->class == c->number);
}

uint32_t ids_monitor(struct ids *ids, const struct wire_lock *r)
{
	bool moves = r->head.flags & WIRE_HANDLE_MOVES;
	const struct class_id *c;
	struct lock_id *l;

	if (!r->object)
		return 0;
	l = ids_lock_get(ids, (struct lock_key){r->object, 0});
	if (!l)
		return ids_lock_shared(ids, r->head.time_ns);
	if (moves && l->blocked)
		l->handle = r->handle;
	ids_thread_at(ids, &r->head, l);
	c = ids_class_find(ids, r->klass);
	/* The common case: nothing is new. */
	if (l->info && l->handle == r->handle && l->klass == r->klass && l->info->hash == r->hash &&
	    ids_class_is_still(l, c))
		return l->info->number;
	if (l->handle != r->handle || l->klass != r->klass)
		ids_lock_clear(ids, l);
	l->handle = r->handle;
	l->klass = r->klass;
	return ids_lock_update(
		ids, l, r,
		&(struct lock_facts){c ? c->number : 0, LOCK_GROUP_MONITOR,
				     moves ? LOCK_IDENTITY_ADDRESS : LOCK_IDENTITY_MONITOR});
}

/*
 * Locks of java.util.concurrent, as distinguished from everything else that threads park on: the
 * owner field was set, or the class is one of the locks. Semaphores, latches, conditions, queues
 * and pools are "other".
 */
uint32_t ids_blocker_group(const struct class_id *c, const struct wire_lock *r)
{
	static const char prefix[] = "java.util.concurrent.locks.";

	if (r->owner_tid)
		return LOCK_GROUP_JUC;
	if (!c || strncmp(c->name, prefix, sizeof(prefix) - 1))
		return LOCK_GROUP_OTHER;
	if (c->flags & WIRE_CLASS_AOS || !strcmp(c->name + sizeof(prefix) - 1, "StampedLock"))
		return LOCK_GROUP_JUC;
	return LOCK_GROUP_OTHER;
}

/*
 * What is no lock (a task that is waited for, a latch, a queue) is identified by its class alone,
 * unless it has a hash: there may be a new object for each request, and a number for each would
 * fill the log and our memory (seen: 161,945 in 8 s, two thirds of the log).
 */
static bool known_by_class(const struct ids *ids, const struct class_id *c, uint32_t group,
			   uint32_t hash)
{
	if (group != LOCK_GROUP_OTHER)
		return false;
	if (c && c->flags & WIRE_CLASS_AOS)
		return !strcmp(c->name, "java.util.concurrent.CountDownLatch$Sync");
	return !hash || ids->lock_count > OTHERS_MAX;
}

/* The collector has moved it while somebody was parked on it. */
static void follow(struct ids *ids, const struct lock_id *l, const struct wire_lock *r)
{
	struct lock_id *moved = ids_lock_get(ids, (struct lock_key){r->handle, r->klass});

	if (!moved || !l->info || moved->info == l->info)
		return;
	l->info->refs++;
	info_drop(ids, moved->info);
	moved->info = l->info;
}

uint32_t ids_blocker(struct ids *ids, const struct wire_lock *r)
{
	const struct class_id *c = ids_class_find(ids, r->klass);
	struct lock_facts f = {c ? c->number : 0, ids_blocker_group(c, r), LOCK_IDENTITY_ADDRESS};
	bool any = known_by_class(ids, c, f.group, r->hash);
	struct wire_lock like = *r;
	struct lock_id *l;
	uint32_t number, began = 0;

	if (!r->object)
		return 0;
	l = ids_lock_get(ids, (struct lock_key){any ? 0 : r->object, r->klass});
	if (!l)
		return ids_lock_shared(ids, r->head.time_ns);
	if (r->head.kind == WIRE_PARK_END)
		began = ids_thread_parks_on(ids, r->head.tid, l);
	ids_thread_at(ids, &r->head, l);
	if (any) {
		if (ids_class_is_still(l, c))
			return l->info->number;
		like.object = 0;
		like.hash = 0;
		f.identity = LOCK_IDENTITY_UNKNOWN;
		return ids_lock_update(ids, l, &like, &f);
	}
	if (l->info && l->info->hash == r->hash && l->info->group >= f.group &&
	    ids_class_is_still(l, c))
		number = l->info->number;
	else
		number = ids_lock_update(ids, l, r, &f);
	if (r->head.kind == WIRE_PARK_END && r->handle && r->handle != r->object)
		follow(ids, l, r);
	if (r->head.kind == WIRE_PARK_BEGIN)
		ids_thread_parks(ids, r->head.tid, number);
	/* Another thread's end may have shown meanwhile that it is one with another lock. */
	return began ? began : number;
}
