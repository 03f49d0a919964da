#include <linux/types.h>

#include "record/decode/losses.h"

#include "base/text/units.h"
#include "bpf/wire/wire_stack.h"
#include "log/write/writer.h"
#include "record/decode/chains.h"
#include "record/decode/event_out.h"
#include "record/decode/translate.h"

static void write_one(struct log_writer *w, uint16_t event, uint64_t stage, uint64_t count)
{
	struct event e = {.id = EVENT_LOST, .time_ns = clock_mono_ns()};

	e.v[LOST_EVENT_ID].u = event;
	e.v[LOST_PLACE].u = stage;
	e.v[LOST_COUNT].u = count;
	log_write(w, &e);
}

static void write_changed(struct losses *l, uint64_t *was, uint16_t event, uint64_t stage,
			  uint64_t count, struct log_writer *w)
{
	l->total += count;
	if (count != *was)
		write_one(w, event, stage, count);
	*was = count;
}

void losses_write_lost(struct losses *l, const uint64_t now[LOSSES_KEYS], const struct translate *t,
		       struct log_writer *w)
{
	l->total = 0;
	l->ring = 0;
	for (unsigned i = 0; i < LOSSES_KEYS; i++) {
		if (i % WIRE_LOSS_STAGE_COUNT == WIRE_LOST_RING)
			l->ring += now[i];
		write_changed(l, &l->lost[i], translate_event_of(i / WIRE_LOSS_STAGE_COUNT),
			      i % WIRE_LOSS_STAGE_COUNT, now[i], w);
	}
	for (uint16_t i = 0; i <= SCHEMA_ID_MAX; i++) {
		write_changed(l, &l->memory[i], i, LOST_PLACE_MEMORY, translate_lost(t, i), w);
		write_changed(l, &l->unknown[i], i, LOST_PLACE_RECORDER, translate_unknown(t, i),
			      w);
	}
}

void losses_write_walks(struct losses *l, uint64_t now[WALK_RESULT_COUNT], const struct chains *c,
			struct log_writer *w)
{
	now[WALK_RESULT_TOO_OFTEN] = now[WIRE_WALK_TOO_OFTEN];
	now[WALK_RESULT_IN_HEAP] = now[WIRE_WALK_IN_HEAP];
	now[WALK_RESULT_ASTRAY] = chains_bad_return_pc(c);
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
