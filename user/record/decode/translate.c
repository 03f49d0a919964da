#include "record/decode/translate.h"

#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/wire/wire.h"
#include "bpf/wire/wire_exact.h"
#include "bpf/wire/wire_gc.h"
#include "bpf/wire/wire_lock.h"
#include "bpf/wire/wire_stack.h"
#include "bpf/wire/wire_states.h"
#include "bpf/wire/wire_thread.h"
#include "log/format/event.h"
#include "log/write/writer.h"
#include "record/decode/chains.h"
#include "record/decode/gc_names.h"
#include "record/decode/ids.h"
#include "record/decode/translate_exact.h"

struct translate {
	struct translate_to to;
	struct translate_exact *exact;
	uint32_t unknown[SCHEMA_ID_MAX + 1]; /* records that are of no use, by what they would be */
	bool refresh;
	/* The VM thread runs one operation at a time, nested ones inside it. */
	uint32_t operation[8];
	unsigned operation_depth;
	uint32_t operation_kind; /* the pauses of the one begun last, enum gc_kind */
	/* what the memory managers have said since gc_begin */
	uint32_t gc_kind, gc_collector;
};

_Static_assert((int)WIRE_LOST_RING == (int)LOST_PLACE_RING_BUFFER &&
		       (int)WIRE_LOST_MAP == (int)LOST_PLACE_MAP_FULL &&
		       (int)WIRE_LOST_READ == (int)LOST_PLACE_READ_FAILED,
	       "lost_place of events.json follows enum wire_place");
_Static_assert((int)WIRE_OWNER_UNRESOLVED == (int)OWNER_SOURCE_UNRESOLVED &&
		       (int)WIRE_OWNER_FIRST_READER == (int)OWNER_SOURCE_FIRST_READER,
	       "owner_source of events.json follows enum wire_owner_source");

int translate_new(struct ids *ids, struct chains *chains, struct log_writer *w,
		  struct translate **ret)
{
	struct translate *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->to = (struct translate_to){.ids = ids, .chains = chains, .w = w};
	err = translate_exact_new(&t->to, &t->exact);
	if (err) {
		free(t);
		return err;
	}
	*ret = t;
	return 0;
}

void translate_free(struct translate *t)
{
	if (!t)
		return;
	translate_exact_free(t->exact);
	free(t);
}

void translate_flush(struct translate *t, uint64_t before_ns)
{
	translate_exact_flush(t->exact, before_ns);
}

bool translate_wants_refresh(struct translate *t)
{
	bool was = t->refresh;

	t->refresh = false;
	return was;
}

bool translate_contended(struct translate *t)
{
	bool was = t->to.contended;

	t->to.contended = false;
	return was;
}

static void event_begin(struct translate *t, struct event *e, uint16_t id,
			const struct wire_head *h)
{
	translate_event_begin(&t->to, e, id, h);
}

/* Counters of a thread that is not known are not counters of anybody. */
static void owner_put(struct translate *t, struct event *e, unsigned owner,
		      const struct wire_lock *r)
{
	e->v[owner].u = ids_thread(t->to.ids, r->owner_tid, r->head.time_ns);
	e->v[owner + 1].u = r->owner_source;
	if (e->v[owner].u)
		translate_counters(e, COUNTERS_OF_OWNER, &r->owner);
}

static void thread(struct translate *t, const void *record)
{
	const struct wire_thread *r = record;

	ids_thread_seen(t->to.ids, r, r->head.flags & WIRE_EXISTED);
}

static void thread_java(struct translate *t, const void *record)
{
	const struct wire_thread_java *r = record;
	struct event e;

	ids_thread_java(t->to.ids, r);
	event_begin(t, &e, EVENT_THREAD_START, &r->head);
	translate_event_put(&t->to, &e);
}

/* The task's end is the event; the Java side's stop comes just before it. */
static void thread_stop(struct translate *t, const void *record)
{
	(void)t;
	(void)record;
}

static void sample(struct translate *t, const void *record)
{
	const struct wire_sample *r = record;
	struct event e;

	_Static_assert((int)THREAD_END_CPU_NS == (int)THREAD_SAMPLE_CPU_NS &&
			       (int)THREAD_END_BLOCKED_NS == (int)THREAD_SAMPLE_BLOCKED_NS,
		       "alike");
	event_begin(t, &e, r->head.kind == WIRE_THREAD_END ? EVENT_THREAD_END : EVENT_THREAD_SAMPLE,
		    &r->head);
	translate_states(&e, &r->self);
	translate_event_put(&t->to, &e);
	if (e.id == EVENT_THREAD_END)
		ids_thread_ended(t->to.ids, r->head.tid, r->head.time_ns);
}

static void off_cpu(struct translate *t, const void *record)
{
	const struct wire_off_cpu *r = record;
	struct event e;

	event_begin(t, &e, EVENT_OFF_CPU, &r->head);
	e.v[OFF_CPU_REASON].u = r->reason;
	e.v[OFF_CPU_OFF_NS].u = r->off_ns;
	e.v[OFF_CPU_CPU_WAIT_NS].u = r->cpu_wait_ns;
	e.v[OFF_CPU_THROTTLED_PART_NS].u = r->throttled_ns;
	translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
	translate_event_put(&t->to, &e);
}

static void theft(struct translate *t, const void *record)
{
	const struct wire_theft *r = record;
	struct event e;

	event_begin(t, &e, EVENT_THEFT, &r->head);
	e.v[THEFT_CPU].u = r->cpu;
	e.v[THEFT_TAKEN_NS].u = r->taken_ns;
	e.v[THEFT_TURN_NS].u = r->turn_ns;
	translate_event_put(&t->to, &e);
}

/* Begins of spans, and renamings. */
static void span(struct translate *t, const void *record)
{
	const struct wire_span *r = record;
	struct event e;

	_Static_assert((int)SPAN_BEGIN_NAME == (int)THREAD_RENAME_NAME &&
			       (int)SPAN_BEGIN_CPU_NS == (int)THREAD_RENAME_CPU_NS,
		       "alike");
	event_begin(t, &e, r->head.kind == WIRE_SPAN_BEGIN ? EVENT_SPAN_BEGIN : EVENT_THREAD_RENAME,
		    &r->head);
	e.v[SPAN_BEGIN_NAME].u = ids_string(t->to.ids, r->name, r->name_length, r->head.time_ns);
	translate_states(&e, &r->self);
	translate_event_put(&t->to, &e);
}

static void span_end(struct translate *t, const void *record)
{
	const struct wire_span *r = record;
	struct event e;

	event_begin(t, &e, EVENT_SPAN_END, &r->head);
	translate_states(&e, &r->self);
	translate_event_put(&t->to, &e);
}

static void class(struct translate *t, const void *record)
{
	if (ids_class(t->to.ids, record))
		t->refresh = true;
}

static void monitor_enter(struct translate *t, const void *record)
{
	const struct wire_lock *r = record;
	struct event e;

	_Static_assert((int)MONITOR_CONTENDED_ENTER_OWNER == (int)MONITOR_CONTENDED_ENTERED_OWNER &&
			       (int)MONITOR_CONTENDED_ENTER_OWNER_CPU_NS ==
				       (int)MONITOR_CONTENDED_ENTERED_OWNER_CPU_NS,
		       "alike");
	event_begin(t, &e,
		    r->head.kind == WIRE_MONITOR_ENTER ? EVENT_MONITOR_CONTENDED_ENTER
						       : EVENT_MONITOR_CONTENDED_ENTERED,
		    &r->head);
	e.v[MONITOR_CONTENDED_ENTER_LOCK].u = ids_monitor(t->to.ids, r);
	t->to.contended = true;
	if (e.id == EVENT_MONITOR_CONTENDED_ENTERED) {
		translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
		owner_put(t, &e, MONITOR_CONTENDED_ENTERED_OWNER, r);
	} else {
		translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
		owner_put(t, &e, MONITOR_CONTENDED_ENTER_OWNER, r);
		e.v[MONITOR_CONTENDED_ENTER_OWNER_DOING].u = r->owner_doing;
		e.v[MONITOR_CONTENDED_ENTER_OWNER_DOING_NS].u = r->owner_doing_ns;
		e.v[MONITOR_CONTENDED_ENTER_STACK].u = chains_number(t->to.chains, r->stack);
		e.v[MONITOR_CONTENDED_ENTER_OWNER_STACK].u =
			chains_number(t->to.chains, r->owner_stack);
	}
	translate_event_put(&t->to, &e);
}

static void monitor_owner_seen(struct translate *t, const void *record)
{
	const struct wire_lock *r = record;
	struct event e;

	event_begin(t, &e, EVENT_MONITOR_OWNER_SEEN, &r->head);
	e.v[MONITOR_OWNER_SEEN_LOCK].u = ids_monitor(t->to.ids, r);
	translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
	owner_put(t, &e, MONITOR_OWNER_SEEN_OWNER, r);
	e.v[MONITOR_OWNER_SEEN_OWNER_DOING].u = r->owner_doing;
	e.v[MONITOR_OWNER_SEEN_OWNER_DOING_NS].u = r->owner_doing_ns;
	e.v[MONITOR_OWNER_SEEN_OWNER_STACK].u = chains_number(t->to.chains, r->owner_stack);
	translate_event_put(&t->to, &e);
}

static void monitor_exit(struct translate *t, const void *record)
{
	const struct wire_lock *r = record;
	struct event e;

	_Static_assert((int)MONITOR_CONTENDED_EXIT_CPU_NS == (int)MONITOR_WAIT_END_CPU_NS, "alike");
	event_begin(t, &e,
		    r->head.kind == WIRE_MONITOR_EXIT ? EVENT_MONITOR_CONTENDED_EXIT
						      : EVENT_MONITOR_WAIT_END,
		    &r->head);
	e.v[MONITOR_CONTENDED_EXIT_LOCK].u = ids_monitor(t->to.ids, r);
	translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
	if (e.id == EVENT_MONITOR_CONTENDED_EXIT)
		e.v[MONITOR_CONTENDED_EXIT_STACK].u = chains_number(t->to.chains, r->stack);
	translate_event_put(&t->to, &e);
}

static void monitor_wait(struct translate *t, const void *record)
{
	const struct wire_lock *r = record;
	struct event e;

	event_begin(t, &e, EVENT_MONITOR_WAIT_BEGIN, &r->head);
	e.v[MONITOR_WAIT_BEGIN_LOCK].u = ids_monitor(t->to.ids, r);
	e.v[MONITOR_WAIT_BEGIN_TIMEOUT_MS].u = r->time;
	translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
	e.v[MONITOR_WAIT_BEGIN_STACK].u = chains_number(t->to.chains, r->stack);
	translate_event_put(&t->to, &e);
}

static void monitor_notify(struct translate *t, const void *record)
{
	const struct wire_lock *r = record;
	struct event e;

	event_begin(t, &e, EVENT_MONITOR_NOTIFY, &r->head);
	e.v[MONITOR_NOTIFY_LOCK].u = ids_monitor(t->to.ids, r);
	e.v[MONITOR_NOTIFY_ALL].u = !!(r->head.flags & WIRE_NOTIFY_ALL);
	translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
	translate_event_put(&t->to, &e);
}

static void park_begin(struct translate *t, const void *record)
{
	const struct wire_lock *r = record;
	struct event e;

	event_begin(t, &e, EVENT_PARK_BEGIN, &r->head);
	e.v[PARK_BEGIN_LOCK].u = ids_blocker(t->to.ids, r);
	e.v[PARK_BEGIN_READERS].u = r->readers;
	e.v[PARK_BEGIN_ABSOLUTE].u = !!(r->head.flags & WIRE_ABSOLUTE);
	e.v[PARK_BEGIN_TIME].u = r->time;
	translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
	owner_put(t, &e, PARK_BEGIN_OWNER, r);
	e.v[PARK_BEGIN_OWNER_DOING].u = r->owner_doing;
	e.v[PARK_BEGIN_OWNER_DOING_NS].u = r->owner_doing_ns;
	e.v[PARK_BEGIN_STACK].u = chains_number(t->to.chains, r->stack);
	e.v[PARK_BEGIN_OWNER_STACK].u = chains_number(t->to.chains, r->owner_stack);
	t->to.contended |= r->owner_tid != 0;
	translate_event_put(&t->to, &e);
}

static void park_end(struct translate *t, const void *record)
{
	const struct wire_lock *r = record;
	struct event e;

	event_begin(t, &e, EVENT_PARK_END, &r->head);
	e.v[PARK_END_LOCK].u = ids_blocker(t->to.ids, r);
	translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
	owner_put(t, &e, PARK_END_OWNER, r);
	translate_event_put(&t->to, &e);
}

static void unpark(struct translate *t, const void *record)
{
	const struct wire_unpark *r = record;
	struct event e;

	event_begin(t, &e, EVENT_UNPARK, &r->head);
	e.v[UNPARK_TARGET].u = ids_thread(t->to.ids, r->target_tid, r->head.time_ns);
	translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
	e.v[UNPARK_STACK].u = chains_number(t->to.chains, r->stack);
	translate_event_put(&t->to, &e);
}

static void owner_stack(struct translate *t, const void *record)
{
	const struct wire_owner_stack *r = record;
	struct event e;

	event_begin(t, &e, EVENT_OWNER_STACK, &r->head);
	e.v[OWNER_STACK_WAITER].u = ids_thread(t->to.ids, r->waiter_tid, r->head.time_ns);
	e.v[OWNER_STACK_STACK].u = chains_number(t->to.chains, r->stack);
	e.v[OWNER_STACK_SOURCE].u = r->source;
	translate_event_put(&t->to, &e);
}

static void plain(struct translate *t, const void *record)
{
	const struct wire_head *r = record;
	struct event e;

	event_begin(t, &e, translate_event_of(r->kind), r);
	translate_event_put(&t->to, &e);
}

static uint32_t operation_now(const struct translate *t)
{
	return t->operation_depth ? t->operation[t->operation_depth - 1] : 0;
}

static void gc_begin(struct translate *t, const void *record)
{
	const struct wire_head *r = record;
	struct event e;

	t->gc_kind = t->operation_depth ? t->operation_kind : GC_KIND_UNKNOWN;
	t->gc_collector = 0;
	event_begin(t, &e, EVENT_GC_BEGIN, r);
	e.v[GC_BEGIN_OPERATION].u = operation_now(t);
	translate_event_put(&t->to, &e);
}

static void gc_end(struct translate *t, const void *record)
{
	const struct wire_head *r = record;
	struct event e;

	event_begin(t, &e, EVENT_GC_END, r);
	e.v[GC_END_OPERATION].u = operation_now(t);
	e.v[GC_END_KIND].u = t->gc_kind;
	e.v[GC_END_COLLECTOR].u = t->gc_collector;
	translate_event_put(&t->to, &e);
}

static void gc_pool(struct translate *t, const void *record)
{
	const struct wire_pool *r = record;
	char manager[WIRE_NAME_MAX] = "";
	uint32_t kind;
	struct event e;

	event_begin(t, &e, EVENT_GC_POOL, &r->head);
	e.v[GC_POOL_MOMENT].u =
		r->head.flags & WIRE_POOL_AFTER ? GC_MOMENT_AFTER : GC_MOMENT_BEFORE;
	e.v[GC_POOL_MANAGER].u =
		ids_string(t->to.ids, r->manager, r->manager_length, r->head.time_ns);
	e.v[GC_POOL_POOL].u = ids_string(t->to.ids, r->pool, r->pool_length, r->head.time_ns);
	e.v[GC_POOL_USED_BYTES].u = r->used;
	e.v[GC_POOL_COMMITTED_BYTES].u = r->committed;
	e.v[GC_POOL_MAX_BYTES].u = r->max;
	translate_event_put(&t->to, &e);

	memcpy(manager, r->manager,
	       r->manager_length < WIRE_NAME_MAX ? r->manager_length : WIRE_NAME_MAX - 1);
	kind = gc_kind_of_manager(manager);
	/* A young collection that fails goes on as a full one in the same pause: the full one names
	 * it. */
	if (!t->gc_collector || kind == GC_KIND_FULL) {
		t->gc_collector = (uint32_t)e.v[GC_POOL_MANAGER].u;
		if (kind != GC_KIND_UNKNOWN)
			t->gc_kind = kind;
	}
}

static void vmop(struct translate *t, const void *record)
{
	const struct wire_vmop *r = record;
	struct event e;
	uint32_t name;

	_Static_assert((int)VM_OPERATION_BEGIN_MODE == (int)VM_OPERATION_REQUEST_MODE &&
			       (int)VM_OPERATION_BEGIN_MODE == (int)VM_OPERATION_END_MODE,
		       "alike");
	name = ids_string(t->to.ids, r->name, r->name_length, r->head.time_ns);
	event_begin(t, &e, translate_event_of(r->head.kind), &r->head);
	e.v[VM_OPERATION_BEGIN_OPERATION].u = name;
	e.v[VM_OPERATION_BEGIN_MODE].u = r->mode;
	translate_event_put(&t->to, &e);
	if (r->head.kind == WIRE_VMOP_BEGIN) {
		if (t->operation_depth < sizeof(t->operation) / sizeof(*t->operation))
			t->operation[t->operation_depth++] = name;
		t->operation_kind = gc_kind_of_operation(r->name, r->name_length);
	} else if (r->head.kind == WIRE_VMOP_END && t->operation_depth) {
		t->operation_depth--;
	}
}

static void exact(struct translate *t, const void *record)
{
	translate_exact_record(t->exact, record);
}

/* Those that are missing are not for the log as they are: see translate_record(), recorder.c. */
static void (*const handlers[WIRE_KIND_COUNT])(struct translate *, const void *) = {
	[WIRE_THREAD] = thread,
	[WIRE_THREAD_JAVA] = thread_java,
	[WIRE_THREAD_STOP] = thread_stop,
	[WIRE_THREAD_END] = sample,
	[WIRE_THREAD_SAMPLE] = sample,
	[WIRE_CLASS] = class,
	[WIRE_MONITOR_ENTER] = monitor_enter,
	[WIRE_MONITOR_ENTERED] = monitor_enter,
	[WIRE_MONITOR_OWNER_SEEN] = monitor_owner_seen,
	[WIRE_PARK_BEGIN] = park_begin,
	[WIRE_PARK_END] = park_end,
	[WIRE_MONITOR_EXIT] = monitor_exit,
	[WIRE_MONITOR_WAIT_BEGIN] = monitor_wait,
	[WIRE_MONITOR_WAIT_END] = monitor_exit,
	[WIRE_MONITOR_NOTIFY] = monitor_notify,
	[WIRE_UNPARK] = unpark,
	[WIRE_GC_BEGIN] = gc_begin,
	[WIRE_GC_END] = gc_end,
	[WIRE_GC_POOL] = gc_pool,
	[WIRE_SAFEPOINT_BEGIN] = plain,
	[WIRE_SAFEPOINT_END] = plain,
	[WIRE_VMOP_REQUEST] = vmop,
	[WIRE_VMOP_BEGIN] = vmop,
	[WIRE_VMOP_END] = vmop,
	[WIRE_OWNER_STACK] = owner_stack,
	[WIRE_EXACT_ENTER] = exact,
	[WIRE_EXACT_ENTERED] = exact,
	[WIRE_EXACT_PARK_BEGIN] = exact,
	[WIRE_EXACT_PARK_END] = exact,
	[WIRE_EXACT_INFLATE] = exact,
	[WIRE_EXACT_DEFLATE] = exact,
	[WIRE_EXACT_EXIT] = exact,
	[WIRE_EXACT_WAIT_BEGIN] = exact,
	[WIRE_EXACT_WAIT_END] = exact,
	[WIRE_EXACT_NOTIFY] = exact,
	[WIRE_EXACT_UNPARK] = exact,
	[WIRE_EXACT_FOLD] = exact,
	[WIRE_COLLECTION_BEGIN] = exact,
	[WIRE_COLLECTION_END] = exact,
	[WIRE_PHASE_BEGIN] = exact,
	[WIRE_PHASE_END] = exact,
	[WIRE_SAFEPOINT] = exact,
	[WIRE_OFF_CPU] = off_cpu,
	[WIRE_THEFT] = theft,
	[WIRE_SPAN_BEGIN] = span,
	[WIRE_SPAN_END] = span_end,
	[WIRE_RENAME] = span,
};

static const struct kind {
	size_t size; /* at least */
	uint16_t event;
} kinds[] = {
#define KIND(name, size, event) [WIRE_##name] = {size, event},
#include "bpf/wire/kinds.def"
#undef KIND
};

void translate_record(struct translate *t, const void *record, size_t size)
{
	const struct wire_head *h = record;

	if (size >= sizeof(*h) && h->kind == WIRE_STACK && chains_add(t->to.chains, record, size))
		return;
	if (size < sizeof(*h) || h->kind >= WIRE_KIND_COUNT || !handlers[h->kind] ||
	    size < kinds[h->kind].size) {
		t->unknown[size < sizeof(*h) ? 0 : translate_event_of(h->kind)]++;
		return;
	}
	handlers[h->kind](t, record);
}

uint32_t translate_lost(const struct translate *t, uint16_t event)
{
	return event <= SCHEMA_ID_MAX ? t->to.lost[event] : 0;
}

uint32_t translate_unknown(const struct translate *t, uint16_t event)
{
	return event <= SCHEMA_ID_MAX ? t->unknown[event] : 0;
}

uint16_t translate_event_of(unsigned kind)
{
	return kind < WIRE_KIND_COUNT ? kinds[kind].event : 0;
}
