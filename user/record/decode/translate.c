#include "record/decode/translate.h"

#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/wire/wire_kinds.h"
#include "bpf/wire/wire_profile.h"
#include "bpf/wire/wire_stack.h"
#include "jvm/native_symbols.h"
#include "log/format/event.h"
#include "record/decode/chains.h"
#include "record/decode/translate_locks.h"
#include "record/decode/translate_vm.h"
#include "record/identity/ids.h"

struct translate {
	struct translate_to to;
	struct translate_locks *locks;
	struct translate_vm vm;
	struct native_symbols *symbols;      /* NULL: nobody has asked for names */
	uint32_t unknown[SCHEMA_ID_MAX + 1]; /* records that are of no use, by what they would be */
	bool refresh;
};

_Static_assert((int)WIRE_LOST_RING == (int)LOST_PLACE_RING_BUFFER &&
		       (int)WIRE_LOST_MAP == (int)LOST_PLACE_MAP_FULL &&
		       (int)WIRE_LOST_READ == (int)LOST_PLACE_READ_FAILED,
	       "lost_place of events.json follows enum wire_loss_stage");

int translate_new(struct ids *ids, struct chains *chains, struct log_writer *w,
		  struct translate **ret)
{
	struct translate *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->to = (struct translate_to){.ids = ids, .chains = chains, .w = w};
	t->vm.to = &t->to;
	err = translate_locks_new(&t->to, &t->locks);
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
	translate_locks_free(t->locks);
	free(t);
}

void translate_name_by(struct translate *t, struct native_symbols *symbols)
{
	t->symbols = symbols;
}

void translate_flush(struct translate *t, uint64_t before_ns)
{
	translate_locks_flush(t->locks, before_ns);
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

static void thread_virtual(struct translate *t, const void *record)
{
	ids_thread_virtual(t->to.ids, record);
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

_Static_assert((int)WIRE_MODE_SPIN == (int)SAMPLE_MODE_SPIN &&
		       (int)WIRE_VIA_FRAGMENT == (int)WALK_BEGIN_FRAGMENT,
	       "sample_mode and walk_begin of events.json follow wire_profile.h");

/* Two came later than those that user space counts. */
static uint32_t walk_result_of(uint32_t wire)
{
	if (wire == WIRE_WALK_TOO_OFTEN)
		return WALK_RESULT_TOO_OFTEN;
	if (wire == WIRE_WALK_IN_HEAP)
		return WALK_RESULT_IN_HEAP;
	return wire < WIRE_WALK_COUNT ? wire : WALK_RESULT_NO_CODE;
}

/* Of native code and of the kernel. 0: not known. */
static uint32_t symbol_of(struct translate *t, const struct wire_run_sample *r)
{
	const char *name = NULL;

	if (t->symbols &&
	    (r->mode == WIRE_MODE_NATIVE || r->mode == WIRE_MODE_VM || r->mode == WIRE_MODE_KERNEL))
		name = native_symbols_name(t->symbols, r->pc);
	return name ? ids_string(t->to.ids, name, (uint32_t)strlen(name), r->head.time_ns) : 0;
}

/* Their names, each in a line; up to the first of native code that has none. 0: there are none. */
static uint32_t callers_of(struct translate *t, const uint64_t *callers, uint32_t count,
			   uint64_t ns)
{
	char text[IDS_TEXT_MAX];
	size_t used = 0;

	for (uint32_t i = 0; i < count && t->symbols; i++) {
		const char *name = native_symbols_name(t->symbols, callers[i]);
		size_t length = name ? strlen(name) : 0;

		if (!length && (int64_t)callers[i] < 0)
			continue;
		if (!length || used + length + 1 > sizeof(text))
			break;
		for (size_t k = 0; k < length; k++)
			text[used++] = name[k] == '\n' ? ' ' : name[k];
		text[used++] = '\n';
	}
	return used ? ids_text(t->to.ids, text, (uint32_t)used - 1, ns) : 0;
}

void translate_sample(struct translate *t, const struct wire_run_sample *r, const uint64_t *callers,
		      uint32_t count)
{
	struct event e;

	event_begin(t, &e, EVENT_RUN_SAMPLE, &r->head);
	e.v[RUN_SAMPLE_STACK].u = chains_sampled(t->to.chains, r);
	e.v[RUN_SAMPLE_MODE].u = r->mode < SAMPLE_MODE_COUNT ? r->mode : 0;
	e.v[RUN_SAMPLE_VIA].u = r->via < WALK_BEGIN_COUNT ? r->via : 0;
	e.v[RUN_SAMPLE_RESULT].u = walk_result_of(r->result);
	e.v[RUN_SAMPLE_COMPILING].u = chains_compiling(t->to.chains, r);
	e.v[RUN_SAMPLE_SYMBOL].u = symbol_of(t, r);
	e.v[RUN_SAMPLE_CALLERS].u =
		e.v[RUN_SAMPLE_SYMBOL].u ? callers_of(t, callers, count, r->head.time_ns) : 0;
	translate_counters(&e, COUNTERS_OF_THREAD, &r->self);
	translate_event_put(&t->to, &e);
}

static void run_sample(struct translate *t, const void *record)
{
	translate_sample(t, record, NULL, 0);
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
	e.v[OFF_CPU_STACK].u = chains_number(t->to.chains, r->stack);
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

static void lock(struct translate *t, const void *record)
{
	translate_locks_record(t->locks, record);
}

static void vm(struct translate *t, const void *record)
{
	translate_vm_record(&t->vm, record);
}

/* Those that are missing are not for the log as they are: see translate_record(), recorder.c. */
static void (*const handlers[WIRE_KIND_COUNT])(struct translate *, const void *) = {
	[WIRE_THREAD] = thread,
	[WIRE_THREAD_JAVA] = thread_java,
	[WIRE_THREAD_VIRTUAL] = thread_virtual,
	[WIRE_THREAD_STOP] = thread_stop,
	[WIRE_THREAD_END] = sample,
	[WIRE_THREAD_SAMPLE] = sample,
	[WIRE_CLASS] = class,
	[WIRE_MONITOR_ENTER] = lock,
	[WIRE_MONITOR_ENTERED] = lock,
	[WIRE_MONITOR_OWNER_SEEN] = lock,
	[WIRE_MONITOR_EXIT] = lock,
	[WIRE_MONITOR_WAIT_BEGIN] = lock,
	[WIRE_MONITOR_WAIT_END] = lock,
	[WIRE_MONITOR_NOTIFY] = lock,
	[WIRE_MONITOR_INFLATE] = lock,
	[WIRE_MONITOR_DEFLATE] = lock,
	[WIRE_MONITOR_FOLD] = lock,
	[WIRE_PARK_BEGIN] = lock,
	[WIRE_PARK_END] = lock,
	[WIRE_UNPARK] = lock,
	[WIRE_WAIT] = lock,
	[WIRE_WAIT_SUM] = lock,
	[WIRE_OWNER_STACK] = lock,
	[WIRE_GC_BEGIN] = vm,
	[WIRE_GC_END] = vm,
	[WIRE_GC_POOL] = vm,
	[WIRE_SAFEPOINT_BEGIN] = vm,
	[WIRE_SAFEPOINT_END] = vm,
	[WIRE_VMOP_REQUEST] = vm,
	[WIRE_VMOP_BEGIN] = vm,
	[WIRE_VMOP_END] = vm,
	[WIRE_COLLECTION_BEGIN] = vm,
	[WIRE_COLLECTION_END] = vm,
	[WIRE_PHASE_BEGIN] = vm,
	[WIRE_PHASE_END] = vm,
	[WIRE_SAFEPOINT] = vm,
	[WIRE_RUN_SAMPLE] = run_sample,
	[WIRE_OFF_CPU] = off_cpu,
	[WIRE_THEFT] = theft,
	[WIRE_SPAN_BEGIN] = span,
	[WIRE_SPAN_END] = span_end,
	[WIRE_RENAME] = span,
};

void translate_record(struct translate *t, const void *record, size_t size)
{
	const struct wire_head *h = record;

	if (size >= sizeof(*h) && h->kind == WIRE_STACK && chains_add(t->to.chains, record, size))
		return;
	if (size < sizeof(*h) || h->kind >= WIRE_KIND_COUNT || !handlers[h->kind] ||
	    size < translate_size_of(h->kind)) {
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
