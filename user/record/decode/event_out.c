#include "record/decode/event_out.h"

#include <linux/types.h>
#include <string.h>

#include "bpf/wire/wire_kinds.h"
#include "log/write/writer.h"
#include "record/identity/ids.h"

static const struct kind {
	size_t size; /* at least */
	uint16_t event;
} kinds[WIRE_KIND_COUNT] = {
#define KIND(name, size, event) [WIRE_##name] = {size, event},
	WIRE_KINDS(KIND)
#undef KIND
};

uint16_t translate_event_of(unsigned kind)
{
	return kind < WIRE_KIND_COUNT ? kinds[kind].event : 0;
}

size_t translate_size_of(unsigned kind)
{
	return kind < WIRE_KIND_COUNT ? kinds[kind].size : 0;
}

void translate_event_begin(struct translate_to *to, struct event *e, uint16_t id,
			   const struct wire_head *h)
{
	memset(e, 0, sizeof(*e));
	e->id = id;
	e->time_ns = h->time_ns;
	e->thread = ids_thread(to->ids, h->tid, h->time_ns);
	to->homeless = h->tid && !e->thread;
}

void translate_event_put(struct translate_to *to, const struct event *e)
{
	if (!to->homeless)
		log_write(to->w, e);
	else if (e->id <= SCHEMA_ID_MAX)
		to->lost[e->id]++;
}

static void put(struct event *e, const uint8_t *fields, enum counter counter, uint64_t value)
{
	if (fields[counter])
		e->v[fields[counter] - 1].u = value;
}

void translate_counters(struct event *e, enum counters_of of, const struct wire_counters *c)
{
	const uint8_t *fields = event_counter_fields(e, of);

	put(e, fields, COUNTER_CPU_NS, c->cpu_ns);
	put(e, fields, COUNTER_STOLEN_NS, c->stolen_ns);
	put(e, fields, COUNTER_RUNNABLE_NS, c->runnable_ns);
	put(e, fields, COUNTER_THROTTLED_NS, c->throttled_ns);
}

_Static_assert((int)COUNTER_PAUSE_NS - (int)COUNTER_LOCK_NS == WIRE_REASON_COUNT - 2 &&
		       (int)BLOCKED_REASON_COUNT == WIRE_REASON_COUNT &&
		       (int)BLOCKED_REASON_IO == WIRE_BLOCKED_IO,
	       "reasons are in the order of the wire");

void translate_states(struct event *e, const struct wire_states *s)
{
	const uint8_t *fields = event_counter_fields(e, COUNTERS_OF_THREAD);

	translate_counters(e, COUNTERS_OF_THREAD, &s->counters);
	put(e, fields, COUNTER_BLOCKED_NS, s->blocked_ns);
	for (int i = WIRE_BLOCKED_OTHER + 1; i < WIRE_REASON_COUNT; i++)
		put(e, fields, (enum counter)(COUNTER_LOCK_NS + i - 1), s->reason_ns[i]);
}
