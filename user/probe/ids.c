/*
 * Which object is which?
 *
 * A monitor is told by its ObjectMonitor's address, as long as the slot of its weak handle and its
 * class stay the same: if either changes, the address has been used again for another inflation. An
 * object with an identity hash is told by (class, hash), over deflation and inflation.
 *
 * A blocker (an object that a thread parks on) has no monitor. It is told by (class, hash) where it
 * has a hash, else by (class, address). A collector that moves it while somebody is parked on it is
 * followed: the record of the park's end has its address before and after. One that moves while
 * nobody is parked gets a new number: the log calls such an identity "address".
 */
#include "probe/ids_parts.h"

#include <errno.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/wire.h"
#include "jvm/jvm.h"
#include "log/event.h"
#include "log/writer.h"

#define OTHERS_MAX 10000 /* locks in all, from which on no other object gets a number */

struct thread_id {
	uint32_t tid;
	uint32_t number;
	uint32_t ns_tid;
	uint64_t start_ns;
	uint64_t java_id;
	bool daemon, existed, seen;
	char name[256];
	UT_hash_handle hh;
};

struct string_id {
	uint32_t number;
	UT_hash_handle hh;
	char text[];
};

/* uthash leaves out an element that it has no memory for, and clears its hh.tbl. */
static bool kept(struct ids *ids, const UT_hash_handle *hh, void *element)
{
	if (hh->tbl)
		return true;
	ids->err = -ENOMEM;
	free(element);
	return false;
}

int ids_new(struct log_writer *w, struct ids **ret)
{
	struct ids *ids = calloc(1, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	ids->w = w;
	*ret = ids;
	return 0;
}

#define FREE_ALL(type, head)                                                                       \
	do {                                                                                       \
		struct type *e, *next;                                                             \
		HASH_ITER (hh, head, e, next) {                                                    \
			HASH_DEL(head, e);                                                         \
			free(e);                                                                   \
		}                                                                                  \
	} while (0)

void ids_free(struct ids *ids)
{
	struct class_id *c, *next;

	if (!ids)
		return;
	HASH_ITER (hh, ids->classes, c, next) {
		HASH_DEL(ids->classes, c);
		free(c->name);
		free(c);
	}
	FREE_ALL(thread_id, ids->threads);
	FREE_ALL(lock_id, ids->locks);
	FREE_ALL(hash_id, ids->hashes);
	FREE_ALL(string_id, ids->strings);
	free(ids);
}

int ids_error(const struct ids *ids)
{
	return ids->err;
}

/* --- text from the target: to valid UTF-8, with dots ------------------------------------- */

/* Bytes of the well-formed UTF-8 sequence at s; 0: it is not one (modified UTF-8 has some of
 * these). */
static unsigned utf8_length(const unsigned char *s, uint32_t left)
{
	unsigned n = s[0] < 0x80                   ? 1
		     : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
		     : (s[0] & 0xf0) == 0xe0       ? 3
		     : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
						   : 0;

	if (!n || n > left || !s[0])
		return 0;
	for (unsigned i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
		return 0;
	return n;
}

static void text_clean(char *to, size_t size, const char *from, uint32_t length, bool dots)
{
	size_t n = 0;

	for (uint32_t i = 0; i < length;) {
		unsigned step = utf8_length((const unsigned char *)from + i, length - i);

		if (n + (step ? step : 1) >= size)
			break;
		if (!step) {
			to[n++] = '?';
			i++;
			continue;
		}
		memcpy(to + n, from + i, step);
		if (dots && to[n] == '/')
			to[n] = '.';
		n += step;
		i += step;
	}
	to[n] = 0;
}

/* --- threads ----------------------------------------------------------------------------- */

static void thread_write(struct ids *ids, const struct thread_id *t, uint64_t time_ns)
{
	struct event e = {.id = EVENT_THREAD, .thread = t->number, .time_ns = time_ns};

	e.v[THREAD_TID].u = t->tid;
	e.v[THREAD_NS_TID].u = t->ns_tid;
	e.v[THREAD_START_NS].u = t->start_ns;
	e.v[THREAD_JAVA_ID].u = t->java_id;
	e.v[THREAD_NAME].s = t->name;
	e.v[THREAD_DAEMON].u = t->daemon;
	e.v[THREAD_EXISTED].u = t->existed;
	log_write(ids->w, &e);
}

static struct thread_id *thread_get(struct ids *ids, uint32_t tid)
{
	struct thread_id *t;

	HASH_FIND(hh, ids->threads, &tid, sizeof(tid), t);
	if (t)
		return t;
	t = calloc(1, sizeof(*t));
	if (!t) {
		ids->err = -ENOMEM;
		return NULL;
	}
	t->tid = tid;
	t->number = ++ids->thread_count;
	HASH_ADD(hh, ids->threads, tid, sizeof(tid), t);
	return kept(ids, &t->hh, t) ? t : NULL;
}

uint32_t ids_thread(struct ids *ids, uint32_t tid, uint64_t time_ns)
{
	struct thread_id *t;

	if (!tid)
		return 0;
	t = thread_get(ids, tid);
	if (!t)
		return 0;
	if (!t->seen) {
		t->seen = true;
		if (!t->name[0])
			snprintf(t->name, sizeof(t->name), "thread %u", tid);
		thread_write(ids, t, time_ns);
	}
	return t->number;
}

void ids_thread_seen(struct ids *ids, const struct wire_thread *r, bool existed)
{
	struct thread_id *t = thread_get(ids, r->head.tid);

	if (!t)
		return;
	if (t->start_ns && t->start_ns != r->start_ns) { /* the kernel has used the tid again */
		memset(&t->ns_tid, 0,
		       offsetof(struct thread_id, hh) - offsetof(struct thread_id, ns_tid));
		t->number = ++ids->thread_count;
	}
	t->seen = true;
	t->existed = existed;
	t->start_ns = r->start_ns;
	t->ns_tid = r->ns_tid;
	if (!t->java_id)
		text_clean(t->name, sizeof(t->name), r->comm,
			   (uint32_t)strnlen(r->comm, sizeof(r->comm)), false);
	thread_write(ids, t, r->head.time_ns);
}

void ids_thread_java(struct ids *ids, const struct wire_thread_java *r)
{
	struct thread_id *t = thread_get(ids, r->head.tid);

	if (!t)
		return;
	t->seen = true;
	t->java_id = r->java_id;
	t->daemon = r->head.flags & WIRE_DAEMON;
	t->ns_tid = r->ns_tid;
	text_clean(t->name, sizeof(t->name), r->name, r->name_length, false);
	thread_write(ids, t, r->head.time_ns);
}

void ids_thread_known(struct ids *ids, const struct jvm_thread *known, uint64_t time_ns)
{
	struct thread_id *t, *next;

	if (!known->name[0] || !known->java_id)
		return;
	HASH_FIND(hh, ids->threads, &known->ns_tid, sizeof(known->ns_tid), t);
	if (!t || t->ns_tid != known->ns_tid) {
		/* In a pid namespace: the kernel's tid is another. */
		HASH_ITER (hh, ids->threads, t, next)
			if (t->ns_tid == known->ns_tid)
				break;
	}
	if (!t || (t->java_id == known->java_id && !strcmp(t->name, known->name)))
		return;
	t->java_id = known->java_id;
	t->daemon = known->daemon;
	snprintf(t->name, sizeof(t->name), "%s", known->name);
	thread_write(ids, t, time_ns);
}

/* --- classes ----------------------------------------------------------------------------- */

bool ids_class(struct ids *ids, const struct wire_class *r)
{
	struct event e = {.id = EVENT_CLASS, .time_ns = r->head.time_ns};
	char name[WIRE_CLASS_NAME_MAX + 4];
	struct class_id *c;

	text_clean(name, sizeof(name) - 4, r->name, r->name_length, true);
	if (r->head.flags & WIRE_NAME_CUT)
		strcat(name, "...");
	HASH_FIND(hh, ids->classes, &r->klass, sizeof(r->klass), c);
	if (c && c->name && !strcmp(c->name, name)) {
		c->flags = r->head.flags;
		return false;
	}
	if (!c) {
		c = calloc(1, sizeof(*c));
		if (!c)
			goto nomem;
		c->klass = r->klass;
		HASH_ADD(hh, ids->classes, klass, sizeof(c->klass), c);
		if (!kept(ids, &c->hh, c))
			return false;
	}
	free(c->name);
	c->name = strdup(name);
	if (!c->name)
		goto nomem;
	c->flags = r->head.flags;
	c->number = ++ids->class_count;
	e.thread = ids_thread(ids, r->head.tid, r->head.time_ns);
	e.v[CLASS_CLASS].u = c->number;
	e.v[CLASS_NAME].s = c->name;
	log_write(ids->w, &e);
	return !strncmp(name, "java.util.concurrent.", 21);
nomem:
	ids->err = -ENOMEM;
	return false;
}

struct class_id *ids_class_find(struct ids *ids, uint64_t klass)
{
	struct class_id *c = NULL;

	if (klass)
		HASH_FIND(hh, ids->classes, &klass, sizeof(klass), c);
	return c && c->name ? c : NULL;
}

/* --- locks ------------------------------------------------------------------------------- */

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

struct hash_id *ids_hash_find(struct ids *ids, uint32_t class, uint32_t hash)
{
	struct hash_key key = {class, hash};
	struct hash_id *h = NULL;

	if (class && hash)
		HASH_FIND(hh, ids->hashes, &key, sizeof(key), h);
	return h;
}

static void hash_keep(struct ids *ids, const struct lock_info *l)
{
	struct hash_id *h;

	if (!l->class || !l->hash || ids_hash_find(ids, l->class, l->hash))
		return;
	h = calloc(1, sizeof(*h));
	if (!h) {
		ids->err = -ENOMEM;
		return;
	}
	h->key = (struct hash_key){l->class, l->hash};
	h->info = *l;
	HASH_ADD(hh, ids->hashes, key, sizeof(h->key), h);
	kept(ids, &h->hh, h);
}

struct lock_id *ids_lock_get(struct ids *ids, struct lock_key key)
{
	struct lock_id *l;

	HASH_FIND(hh, ids->locks, &key, sizeof(key), l);
	if (l)
		return l;
	l = calloc(1, sizeof(*l));
	if (!l) {
		ids->err = -ENOMEM;
		return NULL;
	}
	l->key = key;
	HASH_ADD(hh, ids->locks, key, sizeof(key), l);
	return kept(ids, &l->hh, l) ? l : NULL;
}

/* Brings what is known of a lock up to date with a record, and writes it when it changed. */
uint32_t ids_lock_update(struct ids *ids, struct lock_id *l, const struct wire_lock *r,
			 uint32_t class, uint32_t group, uint32_t identity)
{
	struct hash_id *h = ids_hash_find(ids, class, r->hash);
	struct lock_info was = l->info;

	if (!l->info.number || (class && l->info.class && l->info.class != class)) {
		if (h)
			l->info = h->info;
		else
			l->info = (struct lock_info){.number = ++ids->lock_count,
						     .address = r->object};
	}
	if (class)
		l->info.class = class;
	if (group > l->info.group)
		l->info.group = group;
	if (r->hash)
		l->info.hash = r->hash;
	l->info.identity = l->info.hash ? LOCK_IDENTITY_HASH : identity;
	if (memcmp(&was, &l->info, sizeof(was))) {
		if (!h || memcmp(&h->info, &l->info, sizeof(was)))
			lock_write(ids, &l->info, r->head.tid, r->head.time_ns);
		hash_keep(ids, &l->info);
	}
	return l->info.number;
}

/* A class is unloaded, and its address used again: what is known of a lock of it is of another. */
bool ids_class_is_still(const struct lock_id *l, const struct class_id *c)
{
	return l->info.class && (!c || l->info.class == c->number);
}

uint32_t ids_monitor(struct ids *ids, const struct wire_lock *r)
{
	const struct class_id *c;
	struct lock_id *l;

	if (!r->object)
		return 0;
	l = ids_lock_get(ids, (struct lock_key){r->object, 0});
	if (!l)
		return 0;
	c = ids_class_find(ids, r->klass);
	/* The common case: nothing is new. */
	if (l->info.number && l->handle == r->handle && l->klass == r->klass &&
	    l->info.hash == r->hash && ids_class_is_still(l, c))
		return l->info.number;
	if (l->handle != r->handle || l->klass != r->klass)
		memset(&l->info, 0, sizeof(l->info));
	l->handle = r->handle;
	l->klass = r->klass;
	return ids_lock_update(ids, l, r, c ? c->number : 0, LOCK_GROUP_MONITOR,
			       LOCK_IDENTITY_MONITOR);
}

/*
 * Locks of java.util.concurrent, as told from everything else that threads park on: the owner field
 * was set, or the class is one of the locks. Semaphores, latches, conditions, queues and pools are
 * "other".
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
 * What is no lock (a task that is waited for, a latch, a queue) is told by its class alone, unless
 * it has a hash: there may be a new object for each request, and a number for each would fill the
 * log and our memory (seen: 161,945 in 8 s, two thirds of the log).
 */
static bool told_by_class(const struct ids *ids, const struct class_id *c, uint32_t group,
			  uint32_t hash)
{
	if (group != LOCK_GROUP_OTHER)
		return false;
	if (c && c->flags & WIRE_CLASS_AOS)
		return !strcmp(c->name, "java.util.concurrent.CountDownLatch$Sync");
	return !hash || ids->lock_count > OTHERS_MAX;
}

uint32_t ids_blocker(struct ids *ids, const struct wire_lock *r)
{
	const struct class_id *c = ids_class_find(ids, r->klass);
	uint32_t group = ids_blocker_group(c, r), number;
	struct lock_id *l, *moved;
	struct wire_lock any;

	if (!r->object)
		return 0;
	l = ids_lock_get(
		ids,
		(struct lock_key){told_by_class(ids, c, group, r->hash) ? 0 : r->object, r->klass});
	if (!l)
		return 0;
	if (!l->key.address) {
		if (l->info.number && ids_class_is_still(l, c))
			return l->info.number;
		any = *r;
		any.object = 0;
		any.hash = 0;
		return ids_lock_update(ids, l, &any, c ? c->number : 0, group,
				       LOCK_IDENTITY_UNKNOWN);
	}
	if (l->info.number && l->info.hash == r->hash && l->info.group >= group &&
	    ids_class_is_still(l, c))
		number = l->info.number;
	else
		number =
			ids_lock_update(ids, l, r, c ? c->number : 0, group, LOCK_IDENTITY_ADDRESS);
	if (r->head.kind == WIRE_PARK_END && r->handle && r->handle != r->object) {
		moved = ids_lock_get(ids, (struct lock_key){r->handle, r->klass});
		if (moved && moved->info.number != number)
			moved->info = l->info;
	}
	return number;
}

/* --- strings ----------------------------------------------------------------------------- */

uint32_t ids_string(struct ids *ids, const char *text, uint32_t length, uint64_t time_ns)
{
	struct event e = {.id = EVENT_STRING, .time_ns = time_ns};
	char clean[WIRE_NAME_MAX + 1];
	struct string_id *s;
	size_t size;

	if (!length)
		return 0;
	text_clean(clean, sizeof(clean), text, length < WIRE_NAME_MAX ? length : WIRE_NAME_MAX,
		   false);
	size = strlen(clean);
	HASH_FIND(hh, ids->strings, clean, size, s);
	if (s)
		return s->number;
	s = calloc(1, sizeof(*s) + size + 1);
	if (!s) {
		ids->err = -ENOMEM;
		return 0;
	}
	memcpy(s->text, clean, size + 1);
	s->number = ++ids->string_count;
	HASH_ADD_KEYPTR(hh, ids->strings, s->text, size, s);
	if (!kept(ids, &s->hh, s))
		return 0;
	e.v[STRING_STRING].u = s->number;
	e.v[STRING_TEXT].s = s->text;
	log_write(ids->w, &e);
	return s->number;
}
