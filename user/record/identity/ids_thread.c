/*
 * A thread that has ended is forgotten LINGER_NS later, and not at once: it may still be named as
 * the owner of a lock, or as the one who was unparked, by a record of another CPU. A thread that
 * lives is never forgotten, as its counters are those of one thread: one for which there is no room
 * has no number, and its events are lost and counted (translate.c). Nobody says when a virtual
 * thread ends: it is forgotten when there is no room, unless it waits for something just now. Seen
 * again, it gets another number.
 */
#include "record/identity/ids_locks.h"

#include <errno.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/units.h"
#include "base/text/utf.h"
#include "bpf/wire/wire_kinds.h"
#include "bpf/wire/wire_thread.h"
#include "jvm/jvm.h"
#include "log/format/event.h"
#include "log/write/writer.h"

#define VIRTUAL_NAME "VirtualThread[#%u]" /* as VirtualThread.toString() */
#define LINGER_NS (2 * NS_PER_S)
#define ENDED_AT_ONCE 4 /* are forgotten for each one that comes */

struct ns_tid {
	uint32_t ns_tid;
	uint32_t tid;
};

static void leave(struct thread_id *t)
{
	if (t->at)
		t->at->blocked--;
	t->at = NULL;
	t->at_number = 0;
}

/* What it has, and the log of it. */
static void thread_drop(struct ids *ids, struct thread_id *t)
{
	leave(t);
	if (t->number)
		log_forget(ids->w, EVENT_THREAD, t->number);
	ids_text_drop(ids, MEMORY_THREADS, t->name);
	t->name = NULL;
	if (ids->last == t)
		ids->last = NULL;
}

static bool forget_thread(void *ctx, void *entry)
{
	struct thread_id *t = entry;
	struct ids *ids = ctx;

	if (!(t->ended || (t->tid & WIRE_VIRTUAL && !t->at)) || t == ids->last)
		return false;
	thread_drop(ids, t);
	return true;
}

static bool forget_ns_tid(void *ctx, void *entry)
{
	(void)ctx;
	(void)entry;
	return true;
}

int ids_threads_new(struct ids *ids)
{
	struct store_options o = {.key_bytes = sizeof(uint32_t),
				  .entry_bytes = sizeof(struct thread_id),
				  .budget = ids_budget(ids, MEMORY_THREADS),
				  .forget = forget_thread,
				  .ctx = ids};
	int err = store_new(&o, &ids->threads);

	o.entry_bytes = sizeof(struct ns_tid);
	o.forget = forget_ns_tid;
	if (!err)
		err = store_new(&o, &ids->by_ns_tid);
	o.entry_bytes = sizeof(struct ended);
	return err ? err : store_new(&o, &ids->ended);
}

void ids_threads_free(struct ids *ids)
{
	struct thread_id *t = NULL;

	while (ids->threads && (t = store_next(ids->threads, t)))
		ids_text_drop(ids, MEMORY_THREADS, t->name);
	store_free(ids->threads);
	store_free(ids->by_ns_tid);
	store_free(ids->ended);
}

static void thread_write(struct ids *ids, const struct thread_id *t, const char *name,
			 uint64_t time_ns)
{
	struct event e = {.id = EVENT_THREAD, .thread = t->number, .time_ns = time_ns};

	e.v[THREAD_TID].u = t->tid & WIRE_VIRTUAL ? 0 : t->tid;
	e.v[THREAD_VIRTUAL].u = !!(t->tid & WIRE_VIRTUAL);
	e.v[THREAD_NS_TID].u = t->ns_tid;
	e.v[THREAD_START_NS].u = t->start_ns;
	e.v[THREAD_JAVA_ID].u = t->java_id;
	e.v[THREAD_NAME].s = name ? name : "";
	e.v[THREAD_DAEMON].u = t->daemon;
	e.v[THREAD_EXISTED].u = t->existed;
	log_write(ids->w, &e);
}

static void name_set(struct ids *ids, struct thread_id *t, const char *name)
{
	if (t->name && !strcmp(t->name, name))
		return;
	ids_text_drop(ids, MEMORY_THREADS, t->name);
	t->name = NULL;
	t->name = ids_text_keep(ids, ids->threads, MEMORY_THREADS, name);
}

static void ns_tid_set(struct ids *ids, struct thread_id *t, uint32_t ns_tid)
{
	struct ns_tid *n = store_find(ids->by_ns_tid, &ns_tid);
	void *entry;

	t->ns_tid = ns_tid;
	if (!n && ns_tid != t->tid && !store_add(ids->by_ns_tid, &ns_tid, &entry))
		n = entry;
	if (n)
		n->tid = t->tid;
}

/* Those that ended long ago. */
static void forget_ended(struct ids *ids, uint64_t now_ns)
{
	for (int i = 0; i < ENDED_AT_ONCE && ids->ended_first != ids->ended_next; i++) {
		struct ended *e = store_find(ids->ended, &ids->ended_first);
		struct thread_id *t;

		if (e && e->time_ns + LINGER_NS > now_ns)
			return;
		ids->ended_first++;
		t = e ? store_find(ids->threads, &e->tid) : NULL;
		if (t && t->ended && t->number == e->number) {
			thread_drop(ids, t);
			store_remove(ids->threads, t);
		}
		if (e)
			store_remove(ids->ended, e);
	}
}

/* NULL: there is none yet, and (make) no room for one. */
static struct thread_id *thread_find(struct ids *ids, uint32_t tid, bool make)
{
	struct thread_id *t;

	if (ids->last && ids->last->tid == tid)
		return ids->last;
	t = store_find(ids->threads, &tid);
	if (!t && make) {
		t = ids_add(ids, ids->threads, &tid, MEMORY_THREAD);
		if (t)
			t->number = ++ids->thread_count;
		if (t && tid & WIRE_VIRTUAL) {
			t->java_id = tid & ~WIRE_VIRTUAL;
			t->daemon = true; /* all are */
		}
	}
	ids->last = t;
	return t;
}

void ids_thread_ended(struct ids *ids, uint32_t tid, uint64_t time_ns)
{
	struct thread_id *t = thread_find(ids, tid, false);
	struct ended *e;
	void *entry;

	if (!t || t->ended)
		return;
	leave(t);
	t->ended = true;
	if (store_add(ids->ended, &ids->ended_next, &entry))
		return; /* it goes when there is no room for another thread */
	e = entry;
	e->tid = tid;
	e->number = t->number;
	e->time_ns = time_ns;
	ids->ended_next++;
}

void ids_thread_at(struct ids *ids, const struct wire_head *h, struct lock_id *l)
{
	struct thread_id *t = thread_find(ids, h->tid, false);

	if (!t)
		return;
	if (h->tid & WIRE_VIRTUAL && h->flags & WIRE_NO_END) {
		leave(t);
		return;
	}
	switch (h->kind) {
	case WIRE_MONITOR_ENTER:
	case WIRE_MONITOR_WAIT_BEGIN:
	case WIRE_PARK_BEGIN:
		l->blocked++;
		leave(t);
		t->at = l;
		break;
	case WIRE_MONITOR_OWNER_SEEN: /* by whoever was on the CPU */
	case WIRE_WAIT_SUM:           /* of waits that are over */
		break;
	default:
		/* Its end, or something that a blocked thread does not do. */
		leave(t);
	}
}

void ids_thread_parks(struct ids *ids, uint32_t tid, uint32_t number)
{
	struct thread_id *t = thread_find(ids, tid, false);

	if (t && t->at)
		t->at_number = number;
}

uint32_t ids_thread_parks_on(struct ids *ids, uint32_t tid, const struct lock_id *l)
{
	const struct thread_id *t = thread_find(ids, tid, false);

	return t && t->at == l ? t->at_number : 0;
}

uint32_t ids_thread(struct ids *ids, uint32_t tid, uint64_t time_ns)
{
	struct thread_id *t;
	char name[32];

	if (!tid)
		return 0;
	t = thread_find(ids, tid, true);
	if (!t)
		return 0;
	if (!t->seen) {
		t->seen = true;
		if (!t->name) {
			snprintf(name, sizeof(name),
				 tid & WIRE_VIRTUAL ? VIRTUAL_NAME : "thread %u",
				 tid & ~WIRE_VIRTUAL);
			name_set(ids, t, name);
		}
		thread_write(ids, t, t->name, time_ns);
	}
	return t->number;
}

void ids_thread_seen(struct ids *ids, const struct wire_thread *r, bool existed)
{
	struct thread_id *t;
	char name[64];

	forget_ended(ids, r->head.time_ns);
	t = thread_find(ids, r->head.tid, true);
	if (!t)
		return;
	if (t->start_ns && t->start_ns != r->start_ns) { /* the kernel has used the tid again */
		thread_drop(ids, t);
		memset(&t->number, 0, sizeof(*t) - offsetof(struct thread_id, number));
		t->number = ++ids->thread_count;
	}
	t->seen = true;
	t->existed = existed;
	t->start_ns = r->start_ns;
	ns_tid_set(ids, t, r->ns_tid);
	if (!t->java_id) {
		ids_text_clean(name, sizeof(name), r->comm,
			       (uint32_t)strnlen(r->comm, sizeof(r->comm)), false);
		name_set(ids, t, name);
		thread_write(ids, t, name, r->head.time_ns);
		return;
	}
	thread_write(ids, t, t->name, r->head.time_ns);
}

void ids_thread_java(struct ids *ids, const struct wire_thread_java *r)
{
	struct thread_id *t = thread_find(ids, r->head.tid, true);
	char name[2 * WIRE_NAME_MAX];

	if (!t)
		return;
	t->seen = true;
	t->java_id = r->java_id;
	t->daemon = r->head.flags & WIRE_DAEMON;
	ns_tid_set(ids, t, r->ns_tid);
	ids_text_clean(name, sizeof(name), r->name,
		       r->name_length < WIRE_NAME_MAX ? r->name_length : WIRE_NAME_MAX, false);
	name_set(ids, t, name);
	thread_write(ids, t, name, r->head.time_ns);
}

void ids_thread_virtual(struct ids *ids, const struct wire_thread_java *r)
{
	struct thread_id *t = thread_find(ids, r->head.tid, true);
	uint32_t length = r->name_length < WIRE_NAME_MAX ? r->name_length : WIRE_NAME_MAX;
	char name[3 * WIRE_NAME_MAX + 1];
	uint16_t units[WIRE_NAME_MAX / 2];

	if (!t || (!length && t->seen))
		return;
	if (!length) {
		snprintf(name, sizeof(name), VIRTUAL_NAME, t->tid & ~WIRE_VIRTUAL);
	} else if (r->head.flags & WIRE_NAME_UTF16) {
		memcpy(units, r->name, length & ~1u);
		utf16_to_utf8(units, length / 2, name, sizeof(name));
	} else {
		latin1_to_utf8((const uint8_t *)r->name, length, name, sizeof(name));
	}
	if (t->seen && t->name && !strcmp(t->name, name))
		return;
	t->seen = true;
	name_set(ids, t, name);
	thread_write(ids, t, name, r->head.time_ns);
}

/* By the thread's number in the JVM's pid namespace. */
static struct thread_id *thread_known(struct ids *ids, uint32_t ns_tid)
{
	struct thread_id *t = store_find(ids->threads, &ns_tid);
	struct ns_tid *n;

	if (t && t->ns_tid == ns_tid)
		return t;
	n = store_find(ids->by_ns_tid, &ns_tid);
	t = n ? store_find(ids->threads, &n->tid) : NULL;
	return t && t->ns_tid == ns_tid ? t : NULL;
}

void ids_thread_known(struct ids *ids, const struct jvm_thread *known, uint64_t time_ns)
{
	struct thread_id *t;

	if (!known->name[0] || !known->java_id)
		return;
	t = thread_known(ids, known->ns_tid);
	if (!t || (t->java_id == known->java_id && t->name && !strcmp(t->name, known->name)))
		return;
	t->java_id = known->java_id;
	t->daemon = known->daemon;
	name_set(ids, t, known->name);
	thread_write(ids, t, known->name, time_ns);
}
