#include <linux/types.h>

#include "record/decode/losses.h"

#include "base/units.h"
#include "bpf/wire/wire_stack.h"
#include "log/write/writer.h"
#include "record/decode/chains.h"
#include "record/decode/translate.h"

static void write_one(struct log_writer *w, uint16_t event, uint64_t place, uint64_t count)
{
	struct event e = {.id = EVENT_LOST, .time_ns = clock_mono_ns()};

	e.v[LOST_EVENT_ID].u = event;
	e.v[LOST_PLACE].u = place;
	e.v[LOST_COUNT].u = count;
	log_write(w, &e);
}

void losses_write_lost(struct losses *l, const uint64_t now[LOSSES_KEYS], const struct translate *t,
		       struct log_writer *w)
{
	uint64_t count;

	l->total = 0;
	l->ring = 0;
	for (unsigned i = 0; i < LOSSES_KEYS; i++) {
		l->total += now[i];
		if (i % WIRE_PLACE_COUNT == WIRE_LOST_RING)
			l->ring += now[i];
		if (now[i] != l->lost[i])
			write_one(w, translate_event_of(i / WIRE_PLACE_COUNT), i % WIRE_PLACE_COUNT,
				  now[i]);
		l->lost[i] = now[i];
	}
	for (uint16_t i = 0; i <= SCHEMA_ID_MAX; i++) {
		count = translate_lost(t, i);
		l->total += count;
		if (count != l->memory[i])
			write_one(w, i, LOST_PLACE_MEMORY, count);
		l->memory[i] = count;
	}
}

void losses_write_walks(struct losses *l, uint64_t now[WALK_RESULT_COUNT], const struct chains *c,
			struct log_writer *w)
{
	/* It came later than those that user space counts. */
	now[WALK_RESULT_TOO_OFTEN] = now[WIRE_WALK_TOO_OFTEN];
	now[WALK_RESULT_ASTRAY] = chains_astray(c);
	now[WALK_RESULT_UNRESOLVED] = chains_unresolved(c);
	for (unsigned i = 0; i < WALK_RESULT_COUNT; i++) {
		struct event e = {.id = EVENT_STACK_WALK, .time_ns = clock_mono_ns()};

		if (now[i] == l->walks[i])
			continue;
		l->walks[i] = now[i];
		e.v[STACK_WALK_RESULT].u = i;
		e.v[STACK_WALK_COUNT].u = now[i];
		log_write(w, &e);
	}
}
