/*
 * Events of a patched JVM.
 *
 * Of which object a monitor is, some records tell (inflate, enter, wait, and the first that BPF
 * sees of a monitor); the others have only its address. A thread that walks its chain at enter puts
 * its record into the ring after those that others put there meanwhile: the owner's exit may come
 * before the enter that it is about. A record of a monitor of which none has told is kept until one
 * does, for PENDING_MAX records at most; it keeps its time and its sequence number, by which
 * readers put it where it belongs.
 */
#include "record/decode/translate_exact.h"

#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/wire/wire.h"
#include "bpf/wire/wire_exact.h"
#include "bpf/wire/wire_gc.h"
#include "jvm-hooks/probes.h"
#include "log/format/event.h"
#include "log/write/writer.h"
#include "record/decode/chains.h"
#include "record/decode/ids.h"

#define PENDING_MAX 4096

_Static_assert(SPOOR_WAIT_NOTIFIED == (int)WAIT_END_NOTIFIED &&
		       SPOOR_WAIT_INTERRUPTED == (int)WAIT_END_INTERRUPTED,
	       "wait_end of events.json follows jvm-hooks/probes.h");
_Static_assert(SPOOR_PARK_UNKNOWN == (int)PARK_END_UNKNOWN &&
		       SPOOR_PARK_UNPARKED == (int)PARK_END_UNPARKED &&
		       SPOOR_PARK_SPURIOUS == (int)PARK_END_SPURIOUS,
	       "park_end of events.json follows jvm-hooks/probes.h");
_Static_assert(SPOOR_PHASE_PAUSE == (int)GC_PHASE_KIND_PAUSE &&
		       SPOOR_PHASE_WORKER == (int)GC_PHASE_KIND_WORKER,
	       "gc_phase_kind of events.json follows jvm-hooks/probes.h");

union record {
	struct wire_head head;
	struct wire_exact exact;
	struct wire_fold fold;
};

struct translate_exact {
	struct translate_to *to;
	uint32_t pending;
	union record records[PENDING_MAX];
};

int translate_exact_new(struct translate_to *to, struct translate_exact **ret)
{
	struct translate_exact *x = malloc(sizeof(*x)); /* its records are not touched until used */

	if (!x)
		return -ENOMEM;
	x->to = to;
	x->pending = 0;
	*ret = x;
	return 0;
}

void translate_exact_free(struct translate_exact *x)
{
	free(x);
}

/* --- monitors ---------------------------------------------------------------------------- */

/* Enter and entered. */
static void entering(struct translate_to *to, const struct wire_exact *r, uint32_t lock)
{
	bool enter = r->head.kind == WIRE_EXACT_ENTER;
	struct event e;

	translate_event_begin(
		to, &e, enter ? EVENT_MONITOR_CONTENDED_ENTER : EVENT_MONITOR_CONTENDED_ENTERED,
		&r->head);
	e.v[MONITOR_CONTENDED_ENTER_LOCK].u = lock;
	translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
	e.v[MONITOR_CONTENDED_ENTER_OWNER].u = ids_thread(to->ids, r->owner_tid, r->head.time_ns);
	e.v[MONITOR_CONTENDED_ENTER_OWNER_SOURCE].u = r->owner_source;
	if (e.v[MONITOR_CONTENDED_ENTER_OWNER].u)
		translate_counters(&e, COUNTERS_OF_OWNER, &r->owner);
	if (enter) {
		e.v[MONITOR_CONTENDED_ENTER_OWNER_DOING].u = r->owner_doing;
		e.v[MONITOR_CONTENDED_ENTER_OWNER_DOING_NS].u = r->owner_doing_ns;
		e.v[MONITOR_CONTENDED_ENTER_STACK].u = chains_number(to->chains, r->stack);
		e.v[MONITOR_CONTENDED_ENTER_OWNER_STACK].u =
			chains_number(to->chains, r->owner_stack);
		e.v[MONITOR_CONTENDED_ENTER_SEQUENCE].u = r->sequence;
		e.v[MONITOR_CONTENDED_ENTER_AFTER_WAIT].u = !!(r->head.flags & WIRE_AFTER_WAIT);
	} else {
		e.v[MONITOR_CONTENDED_ENTERED_SEQUENCE].u = r->sequence;
		e.v[MONITOR_CONTENDED_ENTERED_AFTER_WAIT].u = !!(r->head.flags & WIRE_AFTER_WAIT);
	}
	to->contended = true;
	translate_event_put(to, &e);
}

static void exited(struct translate_to *to, const struct wire_exact *r, uint32_t lock)
{
	bool resolves = r->head.flags & WIRE_RESOLVES;
	struct event e;

	translate_event_begin(to, &e, EVENT_MONITOR_CONTENDED_EXIT, &r->head);
	e.v[MONITOR_CONTENDED_EXIT_LOCK].u = lock;
	translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
	e.v[MONITOR_CONTENDED_EXIT_STACK].u = chains_number(to->chains, r->stack);
	e.v[MONITOR_CONTENDED_EXIT_SEQUENCE].u = r->sequence;
	e.v[MONITOR_CONTENDED_EXIT_HELD_NS].u = r->time;
	e.v[MONITOR_CONTENDED_EXIT_IN_WAIT].u = !!(r->head.flags & WIRE_IN_WAIT);
	e.v[MONITOR_CONTENDED_EXIT_FORWARD].u = resolves ? 0 : r->forward;
	e.v[MONITOR_CONTENDED_EXIT_RESOLVES].u = resolves ? r->forward : 0;
	translate_event_put(to, &e);
}

static void wait_begin(struct translate_to *to, const struct wire_exact *r, uint32_t lock)
{
	struct event e;

	translate_event_begin(to, &e, EVENT_MONITOR_WAIT_BEGIN, &r->head);
	e.v[MONITOR_WAIT_BEGIN_LOCK].u = lock;
	e.v[MONITOR_WAIT_BEGIN_TIMEOUT_MS].u = r->time;
	translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
	e.v[MONITOR_WAIT_BEGIN_STACK].u = chains_number(to->chains, r->stack);
	translate_event_put(to, &e);
}

static void wait_end(struct translate_to *to, const struct wire_exact *r, uint32_t lock)
{
	struct event e;

	translate_event_begin(to, &e, EVENT_MONITOR_WAIT_END, &r->head);
	e.v[MONITOR_WAIT_END_LOCK].u = lock;
	translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
	e.v[MONITOR_WAIT_END_HOW].u = r->how < WAIT_END_COUNT ? r->how : WAIT_END_UNKNOWN;
	translate_event_put(to, &e);
}

static void notify(struct translate_to *to, const struct wire_exact *r, uint32_t lock)
{
	struct event e;

	translate_event_begin(to, &e, EVENT_MONITOR_NOTIFY, &r->head);
	e.v[MONITOR_NOTIFY_LOCK].u = lock;
	e.v[MONITOR_NOTIFY_ALL].u = !!(r->head.flags & WIRE_NOTIFY_ALL);
	translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
	e.v[MONITOR_NOTIFY_SEQUENCE].u = r->sequence;
	e.v[MONITOR_NOTIFY_TARGET].u = ids_thread(to->ids, r->target, r->head.time_ns);
	translate_event_put(to, &e);
}

static void inflate(struct translate_to *to, const struct wire_exact *r, uint32_t lock)
{
	struct event e;

	translate_event_begin(to, &e, EVENT_MONITOR_INFLATE, &r->head);
	e.v[MONITOR_INFLATE_LOCK].u = lock;
	e.v[MONITOR_INFLATE_CAUSE].u =
		r->how < INFLATE_CAUSE_COUNT ? r->how : INFLATE_CAUSE_VM_INTERNAL;
	translate_event_put(to, &e);
}

static void deflate(struct translate_to *to, const struct wire_exact *r, uint32_t lock)
{
	struct event e;

	translate_event_begin(to, &e, EVENT_MONITOR_DEFLATE, &r->head);
	e.v[MONITOR_DEFLATE_LOCK].u = lock;
	translate_event_put(to, &e);
}

static void fold(struct translate_to *to, const struct wire_fold *r, uint32_t lock)
{
	struct event e;

	translate_event_begin(to, &e, EVENT_MONITOR_FOLD, &r->head);
	e.v[MONITOR_FOLD_LOCK].u = lock;
	e.v[MONITOR_FOLD_FIRST].u = r->first;
	e.v[MONITOR_FOLD_LAST].u = r->last;
	e.v[MONITOR_FOLD_PARTS].u = r->parts;
	e.v[MONITOR_FOLD_OWNER].u = ids_thread(to->ids, r->owner_tid, r->head.time_ns);
	e.v[MONITOR_FOLD_LIKE].u = r->like;
	e.v[MONITOR_FOLD_COUNT].u = r->count;
	e.v[MONITOR_FOLD_HELD_NS].u = r->held_ns;
	translate_event_put(to, &e);
}

static void write_monitor(struct translate_to *to, const union record *r, uint32_t lock)
{
	switch (r->head.kind) {
	case WIRE_EXACT_ENTER:
	case WIRE_EXACT_ENTERED:
		entering(to, &r->exact, lock);
		break;
	case WIRE_EXACT_EXIT:
		exited(to, &r->exact, lock);
		break;
	case WIRE_EXACT_WAIT_BEGIN:
		wait_begin(to, &r->exact, lock);
		break;
	case WIRE_EXACT_WAIT_END:
		wait_end(to, &r->exact, lock);
		break;
	case WIRE_EXACT_NOTIFY:
		notify(to, &r->exact, lock);
		break;
	case WIRE_EXACT_INFLATE:
		inflate(to, &r->exact, lock);
		break;
	case WIRE_EXACT_FOLD:
		fold(to, &r->fold, lock);
		break;
	}
}

/* --- which object it is ------------------------------------------------------------------ */

static uint64_t monitor_of(const union record *r)
{
	return r->head.kind == WIRE_EXACT_FOLD ? r->fold.object : r->exact.object;
}

static size_t size_of(const union record *r)
{
	switch (r->head.kind) {
	case WIRE_EXACT_FOLD:
		return sizeof(r->fold);
	case WIRE_EXACT_ENTER:
	case WIRE_EXACT_ENTERED:
		return sizeof(r->exact);
	default:
		return WIRE_EXACT_SHORT;
	}
}

/* Writes the records of a monitor that have waited for its lock number. */
static void release(struct translate_exact *x, uint64_t monitor, uint32_t lock)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < x->pending; i++) {
		union record *r = &x->records[i];

		if (monitor_of(r) == monitor)
			write_monitor(x->to, r, lock);
		else if (kept++ != i)
			memcpy(&x->records[kept - 1], r, size_of(r));
	}
	x->pending = kept;
}

/* The lock of a record that does not tell it, and of which none has told. */
static uint32_t lock_unknown(struct translate_exact *x, const union record *r)
{
	struct wire_exact nothing = {.head = r->head, .object = monitor_of(r)};

	return ids_monitor_exact(x->to->ids, &nothing);
}

void translate_exact_flush(struct translate_exact *x, uint64_t before_ns)
{
	/* What is released with the first may be younger: all of a monitor stays in order. */
	for (uint32_t i = 0; i < x->pending;) {
		const union record *r = &x->records[i];

		if (r->head.time_ns >= before_ns)
			i++;
		else
			release(x, monitor_of(r), lock_unknown(x, r));
	}
}

/* A monitor of which the log knows nothing is not worth a lock number now. */
static void deflated(struct translate_exact *x, const struct wire_exact *r)
{
	struct ids *ids = x->to->ids;
	uint32_t lock;

	for (uint32_t i = 0; i < x->pending; i++)
		if (monitor_of(&x->records[i]) == r->object) {
			ids_monitor_exact(ids, r);
			release(x, r->object, ids_monitor_known(ids, r->object, NULL));
			break;
		}
	lock = ids_monitor_forget(ids, r->object);
	if (lock)
		deflate(x->to, r, lock);
}

static void monitor(struct translate_exact *x, const union record *r)
{
	bool tells = r->head.kind != WIRE_EXACT_FOLD && r->exact.klass;
	uint32_t lock = tells ? ids_monitor_exact(x->to->ids, &r->exact)
			      : ids_monitor_known(x->to->ids, monitor_of(r), &r->head);

	if (tells && x->pending)
		release(x, monitor_of(r), lock);
	if (!lock) {
		if (x->pending == PENDING_MAX)
			translate_exact_flush(x, UINT64_MAX);
		memcpy(&x->records[x->pending++], r, size_of(r));
		return;
	}
	write_monitor(x->to, r, lock);
}

/* --- park and unpark --------------------------------------------------------------------- */

static void park_begin(struct translate_to *to, const struct wire_exact *r)
{
	struct event e;

	translate_event_begin(to, &e, EVENT_PARK_BEGIN, &r->head);
	e.v[PARK_BEGIN_LOCK].u = ids_blocker_exact(to->ids, r);
	e.v[PARK_BEGIN_READERS].u = r->readers;
	e.v[PARK_BEGIN_ABSOLUTE].u = !!(r->head.flags & WIRE_ABSOLUTE);
	e.v[PARK_BEGIN_TIME].u = r->time;
	translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
	e.v[PARK_BEGIN_OWNER].u = ids_thread(to->ids, r->owner_tid, r->head.time_ns);
	e.v[PARK_BEGIN_OWNER_SOURCE].u = r->owner_source;
	if (e.v[PARK_BEGIN_OWNER].u)
		translate_counters(&e, COUNTERS_OF_OWNER, &r->owner);
	e.v[PARK_BEGIN_OWNER_DOING].u = r->owner_doing;
	e.v[PARK_BEGIN_OWNER_DOING_NS].u = r->owner_doing_ns;
	e.v[PARK_BEGIN_STACK].u = chains_number(to->chains, r->stack);
	e.v[PARK_BEGIN_OWNER_STACK].u = chains_number(to->chains, r->owner_stack);
	e.v[PARK_BEGIN_SEQUENCE].u = r->sequence;
	to->contended |= r->owner_tid != 0;
	translate_event_put(to, &e);
}

static void park_end(struct translate_to *to, const struct wire_exact *r)
{
	struct event e;

	translate_event_begin(to, &e, EVENT_PARK_END, &r->head);
	e.v[PARK_END_LOCK].u = ids_blocker_exact(to->ids, r);
	translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
	e.v[PARK_END_OWNER].u = ids_thread(to->ids, r->owner_tid, r->head.time_ns);
	e.v[PARK_END_OWNER_SOURCE].u = r->owner_source;
	if (e.v[PARK_END_OWNER].u)
		translate_counters(&e, COUNTERS_OF_OWNER, &r->owner);
	e.v[PARK_END_SEQUENCE].u = r->sequence;
	e.v[PARK_END_HOW].u = r->how < PARK_END_COUNT ? r->how : PARK_END_UNKNOWN;
	e.v[PARK_END_BY].u = r->forward;
	translate_event_put(to, &e);
}

static void unpark(struct translate_to *to, const struct wire_exact *r)
{
	struct event e;

	translate_event_begin(to, &e, EVENT_UNPARK, &r->head);
	e.v[UNPARK_TARGET].u = ids_thread(to->ids, r->target, r->head.time_ns);
	translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
	e.v[UNPARK_STACK].u = chains_number(to->chains, r->stack);
	e.v[UNPARK_SEQUENCE].u = r->sequence;
	translate_event_put(to, &e);
}

/* --- collections and safepoints ---------------------------------------------------------- */

static void collection(struct translate_to *to, const struct wire_collection *r)
{
	struct event e;

	translate_event_begin(to, &e,
			      r->head.kind == WIRE_COLLECTION_BEGIN ? EVENT_COLLECTION_BEGIN
								    : EVENT_COLLECTION_END,
			      &r->head);
	e.v[COLLECTION_BEGIN_GC].u = r->gc;
	if (r->head.kind == WIRE_COLLECTION_BEGIN) {
		e.v[COLLECTION_BEGIN_COLLECTOR].u =
			ids_string(to->ids, r->collector, r->collector_length, r->head.time_ns);
		e.v[COLLECTION_BEGIN_CAUSE].u =
			ids_string(to->ids, r->cause, r->cause_length, r->head.time_ns);
	}
	translate_event_put(to, &e);
}

static void phase(struct translate_to *to, const struct wire_phase *r)
{
	struct event e;

	_Static_assert((int)GC_PHASE_BEGIN_KIND == (int)GC_PHASE_END_KIND &&
			       (int)COLLECTION_BEGIN_GC == (int)COLLECTION_END_GC,
		       "alike");
	translate_event_begin(to, &e,
			      r->head.kind == WIRE_PHASE_BEGIN ? EVENT_GC_PHASE_BEGIN
							       : EVENT_GC_PHASE_END,
			      &r->head);
	e.v[GC_PHASE_BEGIN_GC].u = r->gc;
	e.v[GC_PHASE_BEGIN_PHASE].u = ids_string(to->ids, r->name, r->name_length, r->head.time_ns);
	e.v[GC_PHASE_BEGIN_LEVEL].u = r->level;
	e.v[GC_PHASE_BEGIN_KIND].u = r->kind < GC_PHASE_KIND_COUNT ? r->kind : GC_PHASE_KIND_PAUSE;
	translate_event_put(to, &e);
}

static void safepoint(struct translate_to *to, const struct wire_safepoint *r)
{
	struct event e;

	translate_event_begin(to, &e, EVENT_SAFEPOINT, &r->head);
	e.v[SAFEPOINT_OPERATION].u = ids_string(to->ids, r->name, r->name_length, r->head.time_ns);
	e.v[SAFEPOINT_REQUESTER].u = ids_thread(to->ids, r->requester, r->head.time_ns);
	e.v[SAFEPOINT_REACH_NS].u = r->reach_ns;
	e.v[SAFEPOINT_CLEANUP_NS].u = r->cleanup_ns;
	e.v[SAFEPOINT_OPERATION_NS].u = r->operation_ns;
	e.v[SAFEPOINT_THREADS].u = r->threads;
	e.v[SAFEPOINT_RUNNING].u = r->running;
	translate_event_put(to, &e);
}

void translate_exact_record(struct translate_exact *x, const void *record)
{
	switch (((const struct wire_head *)record)->kind) {
	case WIRE_EXACT_PARK_BEGIN:
		park_begin(x->to, record);
		break;
	case WIRE_EXACT_PARK_END:
		park_end(x->to, record);
		break;
	case WIRE_EXACT_UNPARK:
		unpark(x->to, record);
		break;
	case WIRE_COLLECTION_BEGIN:
	case WIRE_COLLECTION_END:
		collection(x->to, record);
		break;
	case WIRE_PHASE_BEGIN:
	case WIRE_PHASE_END:
		phase(x->to, record);
		break;
	case WIRE_SAFEPOINT:
		safepoint(x->to, record);
		break;
	case WIRE_EXACT_DEFLATE:
		deflated(x, record);
		break;
	default:
		monitor(x, record);
	}
}
