/*
 * Locks of a patched JVM.
 *
 * A patched JVM's objects all have a hash, which its probes report: (class, hash) is the identity
 * of monitors and blockers alike. A monitor's number is found by its address between the records
 * that have its object, until it is deflated. What is inflated and deflated and nothing else is
 * forgotten then: a program can do that a million times a second.
 */
#include "record/identity/ids_locks.h"

#include <linux/types.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/wire/wire_kinds.h"
#include "bpf/wire/wire_lock.h"
#include "log/format/event.h"
#include "log/write/writer.h"

/* Objects of one class that get a number each. */
#define BLOCKERS_MAX 1000
#define SHARED_MAX 65536

/* It is a lock that somebody has used: its identity outlives its deflation. */
static uint32_t lock_use(struct ids *ids, struct lock_id *l)
{
	struct hash_id *h = NULL;

	if (l->info && !l->used)
		h = ids_hash_find(ids, l->info->class, l->info->hash);
	l->used = true;
	if (h)
		h->used = true;
	return l->info ? l->info->number : 0;
}

/* Whether the number that is known is the right one. */
static bool monitor_is_still(const struct lock_id *l, const struct class_id *c,
			     const struct wire_lock *r)
{
	if (!l->info)
		return false;
	if (!r->klass) /* whatever it was last */
		return true;
	return !l->gone && l->klass == r->klass &&
	       (!r->hash || (l->info->hash == r->hash && ids_class_is_still(l, c)));
}

uint32_t ids_monitor_numbered(struct ids *ids, const struct wire_lock *r)
{
	bool use = r->head.kind != WIRE_MONITOR_INFLATE && r->head.kind != WIRE_MONITOR_DEFLATE;
	const struct class_id *c = ids_class_find(ids, r->klass);
	struct hash_id *h = c ? ids_hash_find(ids, c->number, r->hash) : NULL;
	struct lock_facts f = {c ? c->number : 0, LOCK_GROUP_MONITOR, LOCK_IDENTITY_MONITOR};
	uint32_t number;
	struct lock_id *l;

	if (!r->object)
		return 0;
	l = ids_lock_get(ids, (struct lock_key){r->object, 0});
	if (!l)
		return ids_lock_shared(ids, r->head.time_ns);
	ids_thread_at(ids, &r->head, l);
	if (monitor_is_still(l, c, r))
		return use ? lock_use(ids, l) : l->info->number;
	/* Another object's; or the one of which nothing was known, but its hash now is. */
	if (l->gone || (l->klass && l->klass != r->klass) ||
	    (l->info && l->info->hash && l->info->hash != r->hash) || h)
		ids_lock_clear(ids, l);
	l->gone = false;
	l->klass = r->klass;
	number = ids_lock_update(ids, l, r, &f);
	return use && l->info ? lock_use(ids, l) : number;
}

uint32_t ids_monitor_known(struct ids *ids, uint64_t monitor, const struct wire_head *h)
{
	struct lock_id *l = ids_lock_find(ids, (struct lock_key){monitor, 0});

	if (!l || l->gone || !l->info)
		return 0;
	if (h)
		ids_thread_at(ids, h, l);
	return lock_use(ids, l);
}

uint32_t ids_monitor_forget(struct ids *ids, uint64_t monitor)
{
	struct lock_id *l = ids_lock_find(ids, (struct lock_key){monitor, 0});
	uint32_t number = l && !l->gone && l->info ? l->info->number : 0;
	struct hash_id *h;

	if (!number)
		return 0;
	l->gone = true;
	if (l->used)
		return number;
	h = ids_hash_find(ids, l->info->class, l->info->hash);
	if (h && !h->used)
		ids_hash_remove(ids, h);
	ids_lock_remove(ids, l);
	return number;
}

static void note(struct ids *ids, uint64_t time_ns, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void note(struct ids *ids, uint64_t time_ns, const char *format, ...)
{
	struct event e = {.id = EVENT_NOTE, .time_ns = time_ns};
	char text[WIRE_CLASS_NAME_MAX + 128];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	e.v[NOTE_LEVEL].u = NOTE_LEVEL_INFO;
	e.v[NOTE_TEXT].s = text;
	log_write(ids->w, &e);
}

/*
 * How many objects of a class get a number each. Each costs a definition in the log and memory
 * here. Locks and synchronizers are worth it, as they are shared: there are many only where each
 * of many objects has one. What else threads park on may be made for one wait, and is of no use to
 * anybody then (a queue's node, a task that is waited for: 20,000 a second were seen).
 */
static uint32_t blockers_max(const struct class_id *c)
{
	static const char *const shared[] = {
		"java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject",
		"java.util.concurrent.locks.AbstractQueuedLongSynchronizer$ConditionObject",
		"java.util.concurrent.locks.StampedLock",
	};

	if (c->flags & WIRE_CLASS_AOS)
		return SHARED_MAX;
	for (size_t i = 0; i < sizeof(shared) / sizeof(*shared); i++)
		if (!strcmp(c->name, shared[i]))
			return SHARED_MAX;
	return BLOCKERS_MAX;
}

/* Whether one more object of a class gets a number of its own; counts it. */
static bool blocker_take(struct ids *ids, struct class_id *c, const struct wire_lock *r)
{
	uint32_t max = blockers_max(c);

	if (ids_hash_find(ids, c->number, r->hash)) /* it has one, as a monitor */
		return true;
	if (c->blockers < max) {
		c->blockers++;
		return true;
	}
	if (c->blockers == max) {
		c->blockers++;
		note(ids, r->head.time_ns,
		     "threads have parked on %u objects of class %s: all further ones share one "
		     "lock number, as if they were one",
		     max, c->name);
	}
	return false;
}

/* It is known, and nothing of it is new. */
static bool blocker_is_still(const struct lock_id *l, const struct class_id *c, uint32_t group)
{
	return l && l->info && l->info->group >= group && ids_class_is_still(l, c);
}

uint32_t ids_blocker_numbered(struct ids *ids, const struct wire_lock *r)
{
	struct class_id *c = ids_class_find(ids, r->klass);
	struct wire_lock lock = *r;
	struct lock_key key = {r->hash, r->klass};
	struct lock_facts f = {.class = c ? c->number : 0, .identity = LOCK_IDENTITY_UNKNOWN};
	struct lock_id *l;
	uint32_t number;

	if (!r->klass)
		return 0;
	f.group = ids_blocker_group(c, &lock);
	l = ids_lock_find(ids, key);
	if (!blocker_is_still(l, c, f.group)) {
		if ((!l || !ids_class_is_still(l, c)) &&
		    (!r->hash || !c || !blocker_take(ids, c, r))) {
			key.address = 0;
			lock.hash = 0;
		}
		l = ids_lock_get(ids, key);
	}
	if (!l)
		return ids_lock_shared(ids, r->head.time_ns);
	ids_thread_at(ids, &r->head, l);
	if (blocker_is_still(l, c, f.group))
		return l->info->number;
	number = ids_lock_update(ids, l, &lock, &f);
	return l->info ? lock_use(ids, l) : number;
}
