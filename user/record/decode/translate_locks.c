/*
 * Events of monitors and of parking threads.
 *
 * A stock JVM's programs read of which object a monitor is for each record. Of a patched JVM only
 * some records have it (inflate, enter, wait, and the first that BPF sees of a monitor); the others
 * have only the monitor's address. A thread that walks its chain at enter puts its record into the
 * ring after those that others put there meanwhile: the owner's exit may come before the enter that
 * it is about. A record of a monitor whose object no record has had is kept until one has, for
 * PENDING_MAX records at most; it keeps its time and its sequence number, by which readers put it
 * where it belongs.
 */
#include "record/decode/translate_locks.h"

#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/wire/wire_kinds.h"
#include "bpf/wire/wire_lock.h"
#include "bpf/wire/wire_stack.h"
#include "bpf/wire/wire_states.h"
#include "jvm-hooks/probes.h"
#include "log/format/event.h"
#include "record/decode/chains.h"
#include "record/identity/ids.h"

#define PENDING_MAX 4096

_Static_assert((int)WIRE_OWNER_UNMOUNTED == (int)OWNER_SOURCE_UNMOUNTED &&
		       (int)WIRE_OWNER_FIRST_READER == (int)OWNER_SOURCE_FIRST_READER,
	       "owner_source of events.json follows enum wire_owner_source");
_Static_assert(SPOOR_WAIT_NOTIFIED == (int)WAIT_END_NOTIFIED &&
		       SPOOR_WAIT_INTERRUPTED == (int)WAIT_END_INTERRUPTED,
	       "wait_end of events.json follows jvm-hooks/probes.h");
_Static_assert(SPOOR_PARK_UNKNOWN == (int)PARK_END_UNKNOWN &&
		       SPOOR_PARK_UNPARKED == (int)PARK_END_UNPARKED &&
		       SPOOR_PARK_SPURIOUS == (int)PARK_END_SPURIOUS,
	       "park_end of events.json follows jvm-hooks/probes.h");

union record {
	struct wire_head head;
	struct wire_lock lock;
	struct wire_fold fold;
};

struct translate_locks {
	struct translate_to *to;
	uint32_t pending;
	union record records[PENDING_MAX];
};

int translate_locks_new(struct translate_to *to, struct translate_locks **ret)
{
	struct translate_locks *x = malloc(sizeof(*x)); /* its records are not touched until used */

	if (!x)
		return -ENOMEM;
	x->to = to;
	x->pending = 0;
	*ret = x;
	return 0;
}

void translate_locks_free(struct translate_locks *x)
{
	free(x);
}

/* Counters of a thread that is not known are not counters of anybody. */
static void owner_put(struct translate_to *to, struct event *e, unsigned owner,
		      const struct wire_lock *r)
{
	e->v[owner].u = ids_thread(to->ids, r->owner_tid, r->head.time_ns);
	e->v[owner + 1].u = r->owner_source;
	if (e->v[owner].u)
		translate_counters(e, COUNTERS_OF_OWNER, &r->owner);
}

/* --- monitors ---------------------------------------------------------------------------- */

static void enter(struct translate_to *to, const struct wire_lock *r, uint32_t lock)
{
	struct event e;

	translate_event_begin(to, &e, EVENT_MONITOR_CONTENDED_ENTER, &r->head);
	e.v[MONITOR_CONTENDED_ENTER_LOCK].u = lock;
	translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
	owner_put(to, &e, MONITOR_CONTENDED_ENTER_OWNER, r);
	e.v[MONITOR_CONTENDED_ENTER_OWNER_DOING].u = r->owner_doing;
	e.v[MONITOR_CONTENDED_ENTER_OWNER_DOING_NS].u = r->owner_doing_ns;
	e.v[MONITOR_CONTENDED_ENTER_STACK].u = chains_number(to->chains, r->stack);
	e.v[MONITOR_CONTENDED_ENTER_OWNER_STACK].u = chains_number(to->chains, r->owner_stack);
	e.v[MONITOR_CONTENDED_ENTER_SEQUENCE].u = r->sequence;
	e.v[MONITOR_CONTENDED_ENTER_AFTER_WAIT].u = !!(r->head.flags & WIRE_AFTER_WAIT);
	e.v[MONITOR_CONTENDED_ENTER_CARRIER].u = ids_thread(to->ids, r->carrier, r->head.time_ns);
	e.v[MONITOR_CONTENDED_ENTER_OWNER_CARRIER].u =
		ids_thread(to->ids, r->owner_carrier, r->head.time_ns);
	e.v[MONITOR_CONTENDED_ENTER_PINNED].u = !!(r->head.flags & WIRE_PINNED);
	to->contended = true;
	translate_event_put(to, &e);
}

static void entered(struct translate_to *to, const struct wire_lock *r, uint32_t lock)
{
	struct event e;

	translate_event_begin(to, &e, EVENT_MONITOR_CONTENDED_ENTERED, &r->head);
	e.v[MONITOR_CONTENDED_ENTERED_LOCK].u = lock;
	translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
	owner_put(to, &e, MONITOR_CONTENDED_ENTERED_OWNER, r);
	e.v[MONITOR_CONTENDED_ENTERED_SEQUENCE].u = r->sequence;
	e.v[MONITOR_CONTENDED_ENTERED_AFTER_WAIT].u = !!(r->head.flags & WIRE_AFTER_WAIT);
	to->contended = true;
	translate_event_put(to, &e);
}

static void owner_seen(struct translate_to *to, const struct wire_lock *r, uint32_t lock)
{
	struct event e;

	translate_event_begin(to, &e, EVENT_MONITOR_OWNER_SEEN, &r->head);
	e.v[MONITOR_OWNER_SEEN_LOCK].u = lock;
	translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
	owner_put(to, &e, MONITOR_OWNER_SEEN_OWNER, r);
	e.v[MONITOR_OWNER_SEEN_OWNER_DOING].u = r->owner_doing;
	e.v[MONITOR_OWNER_SEEN_OWNER_DOING_NS].u = r->owner_doing_ns;
	e.v[MONITOR_OWNER_SEEN_OWNER_STACK].u = chains_number(to->chains, r->owner_stack);
	e.v[MONITOR_OWNER_SEEN_OWNER_CARRIER].u =
		ids_thread(to->ids, r->owner_carrier, r->head.time_ns);
	translate_event_put(to, &e);
}

static void exited(struct translate_to *to, const struct wire_lock *r, uint32_t lock)
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

static void wait_begin(struct translate_to *to, const struct wire_lock *r, uint32_t lock)
{
	struct event e;

	translate_event_begin(to, &e, EVENT_MONITOR_WAIT_BEGIN, &r->head);
	e.v[MONITOR_WAIT_BEGIN_LOCK].u = lock;
	e.v[MONITOR_WAIT_BEGIN_TIMEOUT_MS].u = r->time;
	translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
	e.v[MONITOR_WAIT_BEGIN_STACK].u = chains_number(to->chains, r->stack);
	e.v[MONITOR_WAIT_BEGIN_CARRIER].u = ids_thread(to->ids, r->carrier, r->head.time_ns);
	e.v[MONITOR_WAIT_BEGIN_PINNED].u = !!(r->head.flags & WIRE_PINNED);
	translate_event_put(to, &e);
}

static bool ends_unseen(const struct wire_head *h)
{
	return h->tid & WIRE_VIRTUAL && h->flags & WIRE_NO_END;
}

/* In place of both begins, which would never end. */
static void virtual_block(struct translate_to *to, const struct wire_lock *r, uint32_t lock)
{
	bool enter = r->head.kind == WIRE_MONITOR_ENTER;
	struct event e;

	translate_event_begin(to, &e, EVENT_VIRTUAL_BLOCK, &r->head);
	e.v[VIRTUAL_BLOCK_LOCK].u = lock;
	e.v[VIRTUAL_BLOCK_REASON].u = enter ? BLOCKED_REASON_LOCK : BLOCKED_REASON_WAIT;
	e.v[VIRTUAL_BLOCK_STACK].u = chains_number(to->chains, r->stack);
	e.v[VIRTUAL_BLOCK_CARRIER].u = ids_thread(to->ids, r->carrier, r->head.time_ns);
	if (enter) {
		e.v[VIRTUAL_BLOCK_OWNER].u = ids_thread(to->ids, r->owner_tid, r->head.time_ns);
		e.v[VIRTUAL_BLOCK_OWNER_SOURCE].u = r->owner_source;
		e.v[VIRTUAL_BLOCK_OWNER_STACK].u = chains_number(to->chains, r->owner_stack);
		e.v[VIRTUAL_BLOCK_OWNER_CARRIER].u =
			ids_thread(to->ids, r->owner_carrier, r->head.time_ns);
	}
	translate_event_put(to, &e);
}

static void wait_end(struct translate_to *to, const struct wire_lock *r, uint32_t lock)
{
	struct event e;

	translate_event_begin(to, &e, EVENT_MONITOR_WAIT_END, &r->head);
	e.v[MONITOR_WAIT_END_LOCK].u = lock;
	translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
	e.v[MONITOR_WAIT_END_HOW].u = r->how < WAIT_END_COUNT ? r->how : WAIT_END_UNKNOWN;
	translate_event_put(to, &e);
}

static void notify(struct translate_to *to, const struct wire_lock *r, uint32_t lock)
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

static void inflate(struct translate_to *to, const struct wire_lock *r, uint32_t lock)
{
	struct event e;

	translate_event_begin(to, &e, EVENT_MONITOR_INFLATE, &r->head);
	e.v[MONITOR_INFLATE_LOCK].u = lock;
	e.v[MONITOR_INFLATE_CAUSE].u =
		r->how < INFLATE_CAUSE_COUNT ? r->how : INFLATE_CAUSE_VM_INTERNAL;
	translate_event_put(to, &e);
}

static void deflate(struct translate_to *to, const struct wire_lock *r, uint32_t lock)
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
	case WIRE_MONITOR_ENTER:
		if (ends_unseen(&r->head))
			virtual_block(to, &r->lock, lock);
		else
			enter(to, &r->lock, lock);
		break;
	case WIRE_MONITOR_ENTERED:
		entered(to, &r->lock, lock);
		break;
	case WIRE_MONITOR_OWNER_SEEN:
		owner_seen(to, &r->lock, lock);
		break;
	case WIRE_MONITOR_EXIT:
		exited(to, &r->lock, lock);
		break;
	case WIRE_MONITOR_WAIT_BEGIN:
		if (ends_unseen(&r->head))
			virtual_block(to, &r->lock, lock);
		else
			wait_begin(to, &r->lock, lock);
		break;
	case WIRE_MONITOR_WAIT_END:
		wait_end(to, &r->lock, lock);
		break;
	case WIRE_MONITOR_NOTIFY:
		notify(to, &r->lock, lock);
		break;
	case WIRE_MONITOR_INFLATE:
		inflate(to, &r->lock, lock);
		break;
	case WIRE_MONITOR_FOLD:
		fold(to, &r->fold, lock);
		break;
	}
}

/* --- which object a patched JVM's record is of ------------------------------------------- */

static uint64_t monitor_of(const union record *r)
{
	return r->head.kind == WIRE_MONITOR_FOLD ? r->fold.object : r->lock.object;
}

/* Writes the records of a monitor that have waited for its lock number. */
static void release(struct translate_locks *x, uint64_t monitor, uint32_t lock)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < x->pending; i++) {
		union record *r = &x->records[i];

		if (monitor_of(r) == monitor)
			write_monitor(x->to, r, lock);
		else if (kept++ != i)
			memcpy(&x->records[kept - 1], r, translate_size_of(r->head.kind));
	}
	x->pending = kept;
}

/* The lock of a record without the object, of which no other record has it. */
static uint32_t lock_unknown(struct translate_locks *x, const union record *r)
{
	struct wire_lock nothing = {.head = r->head, .object = monitor_of(r)};

	return ids_monitor_numbered(x->to->ids, &nothing);
}

void translate_locks_flush(struct translate_locks *x, uint64_t before_ns)
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
static void deflated(struct translate_locks *x, const struct wire_lock *r)
{
	struct ids *ids = x->to->ids;
	uint32_t lock;

	for (uint32_t i = 0; i < x->pending; i++)
		if (monitor_of(&x->records[i]) == r->object) {
			ids_monitor_numbered(ids, r);
			release(x, r->object, ids_monitor_known(ids, r->object, NULL));
			break;
		}
	lock = ids_monitor_forget(ids, r->object);
	if (lock)
		deflate(x->to, r, lock);
}

static void patched_monitor(struct translate_locks *x, const union record *r)
{
	bool names_lock = r->head.kind != WIRE_MONITOR_FOLD && r->lock.klass;
	uint32_t lock = names_lock ? ids_monitor_numbered(x->to->ids, &r->lock)
				   : ids_monitor_known(x->to->ids, monitor_of(r), &r->head);

	if (names_lock && x->pending)
		release(x, monitor_of(r), lock);
	if (!lock) {
		if (x->pending == PENDING_MAX)
			translate_locks_flush(x, UINT64_MAX);
		memcpy(&x->records[x->pending++], r, translate_size_of(r->head.kind));
		return;
	}
	write_monitor(x->to, r, lock);
}

/* --- park and unpark --------------------------------------------------------------------- */

static uint32_t blocker(struct ids *ids, const struct wire_lock *r)
{
	return r->sequence ? ids_blocker_numbered(ids, r) : ids_blocker(ids, r);
}

static void park_begin(struct translate_to *to, const struct wire_lock *r)
{
	struct event e;

	translate_event_begin(to, &e, EVENT_PARK_BEGIN, &r->head);
	e.v[PARK_BEGIN_LOCK].u = blocker(to->ids, r);
	e.v[PARK_BEGIN_READERS].u = r->readers;
	e.v[PARK_BEGIN_ABSOLUTE].u = !!(r->head.flags & WIRE_ABSOLUTE);
	e.v[PARK_BEGIN_TIME].u = r->time;
	translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
	owner_put(to, &e, PARK_BEGIN_OWNER, r);
	e.v[PARK_BEGIN_OWNER_DOING].u = r->owner_doing;
	e.v[PARK_BEGIN_OWNER_DOING_NS].u = r->owner_doing_ns;
	e.v[PARK_BEGIN_STACK].u = chains_number(to->chains, r->stack);
	e.v[PARK_BEGIN_OWNER_STACK].u = chains_number(to->chains, r->owner_stack);
	e.v[PARK_BEGIN_SEQUENCE].u = r->sequence;
	e.v[r->head.flags & WIRE_UNMOUNTS ? PARK_BEGIN_UNMOUNTED_FROM : PARK_BEGIN_CARRIER].u =
		ids_thread(to->ids, r->carrier, r->head.time_ns);
	to->contended |= r->owner_tid != 0;
	translate_event_put(to, &e);
}

static void park_end(struct translate_to *to, const struct wire_lock *r)
{
	struct event e;

	translate_event_begin(to, &e, EVENT_PARK_END, &r->head);
	e.v[PARK_END_LOCK].u = blocker(to->ids, r);
	translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
	owner_put(to, &e, PARK_END_OWNER, r);
	e.v[PARK_END_SEQUENCE].u = r->sequence;
	e.v[PARK_END_HOW].u = r->how < PARK_END_COUNT ? r->how : PARK_END_UNKNOWN;
	e.v[PARK_END_BY].u = r->forward;
	translate_event_put(to, &e);
}

static void unpark(struct translate_to *to, const struct wire_lock *r)
{
	struct event e;

	translate_event_begin(to, &e, EVENT_UNPARK, &r->head);
	e.v[UNPARK_TARGET].u = ids_thread(to->ids, r->target, r->head.time_ns);
	translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
	e.v[UNPARK_STACK].u = chains_number(to->chains, r->stack);
	e.v[UNPARK_SEQUENCE].u = r->sequence;
	translate_event_put(to, &e);
}

/* The sum's lock: that of a record of one of its waits. */
static uint32_t sum_lock(struct translate_to *to, const struct wire_wait_sum *r)
{
	struct wire_lock like = {.head = r->head,
				 .object = r->object,
				 .handle = r->handle,
				 .klass = r->klass,
				 .hash = r->hash};

	like.head.kind = WIRE_WAIT_SUM;
	return r->what == WIRE_BLOCKED_PARK ? ids_blocker(to->ids, &like)
					    : ids_monitor(to->ids, &like);
}

static void wait_sum(struct translate_to *to, const struct wire_wait_sum *r)
{
	struct event e;

	translate_event_begin(to, &e, EVENT_WAIT_SUM, &r->head);
	e.v[WAIT_SUM_LOCK].u = sum_lock(to, r);
	e.v[WAIT_SUM_REASON].u = r->what < BLOCKED_REASON_COUNT ? r->what : BLOCKED_REASON_OTHER;
	e.v[WAIT_SUM_COUNT].u = r->count;
	e.v[WAIT_SUM_OFF_NS].u = r->off_ns;
	e.v[WAIT_SUM_CPU_WAIT_NS].u = r->runnable_ns;
	e.v[WAIT_SUM_LONGEST_NS].u = r->longest_ns;
	e.v[WAIT_SUM_BEGIN_NS].u =
		r->first_ns < r->head.time_ns ? r->head.time_ns - r->first_ns : 0;
	e.v[WAIT_SUM_STACK].u = chains_number(to->chains, r->stack);
	translate_event_put(to, &e);
}

/* The records of its begin and of its end. false: there is no such wait. */
static bool wait_split(const struct wire_wait *r, struct wire_lock *begin, struct wire_lock *end)
{
	static const struct {
		uint16_t begin, end;
	} kinds[WIRE_REASON_COUNT] = {
		[WIRE_BLOCKED_LOCK] = {WIRE_MONITOR_ENTER, WIRE_MONITOR_ENTERED},
		[WIRE_BLOCKED_WAIT] = {WIRE_MONITOR_WAIT_BEGIN, WIRE_MONITOR_WAIT_END},
		[WIRE_BLOCKED_PARK] = {WIRE_PARK_BEGIN, WIRE_PARK_END},
	};

	if (r->what >= WIRE_REASON_COUNT || !kinds[r->what].begin)
		return false;
	*begin = r->begin;
	begin->head.kind = kinds[r->what].begin;
	*end = (struct wire_lock){.head = {.kind = kinds[r->what].end,
					   .flags = r->begin.head.flags & WIRE_HANDLE_MOVES,
					   .tid = r->begin.head.tid,
					   .time_ns = r->end_ns},
				  .self = r->end_self,
				  .object = r->begin.object,
				  .handle = r->begin.handle,
				  .klass = r->begin.klass,
				  .hash = r->begin.hash,
				  .owner = r->end_owner,
				  .owner_tid = r->end_owner_tid,
				  .owner_source = r->end_owner_source};
	return true;
}

static void owner_stack(struct translate_to *to, const struct wire_owner_stack *r)
{
	struct event e;

	translate_event_begin(to, &e, EVENT_OWNER_STACK, &r->head);
	e.v[OWNER_STACK_WAITER].u = ids_thread(to->ids, r->waiter_tid, r->head.time_ns);
	e.v[OWNER_STACK_STACK].u = chains_number(to->chains, r->stack);
	e.v[OWNER_STACK_SOURCE].u = r->source;
	translate_event_put(to, &e);
}

static void lock_record(struct translate_locks *x, const void *record)
{
	const struct wire_lock *r = record;

	switch (r->head.kind) {
	case WIRE_PARK_BEGIN:
		park_begin(x->to, r);
		break;
	case WIRE_PARK_END:
		park_end(x->to, r);
		break;
	case WIRE_UNPARK:
		unpark(x->to, r);
		break;
	case WIRE_WAIT_SUM:
		wait_sum(x->to, record);
		break;
	case WIRE_OWNER_STACK:
		owner_stack(x->to, record);
		break;
	case WIRE_MONITOR_DEFLATE:
		deflated(x, r);
		break;
	case WIRE_MONITOR_INFLATE:
	case WIRE_MONITOR_FOLD: /* only a patched JVM's */
		patched_monitor(x, record);
		break;
	default:
		if (r->sequence)
			patched_monitor(x, record);
		else
			write_monitor(x->to, record, ids_monitor(x->to->ids, r));
	}
}

static void wait(struct translate_locks *x, const struct wire_wait *r)
{
	struct wire_lock begin, end;

	if (!wait_split(r, &begin, &end))
		return;
	lock_record(x, &begin);
	lock_record(x, &end);
}

void translate_locks_record(struct translate_locks *x, const void *record)
{
	const struct wire_head *h = record;

	if (h->kind == WIRE_WAIT)
		wait(x, record);
	else
		lock_record(x, record);
}
