/* analyze/registry/facts.h: how many events of which kind a log has, what was lost, its notes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "log/format/event.h"

struct analysis_lost {
	uint64_t event_id; /* 0: cannot be known */
	uint64_t stage;    /* enum lost_place */
	uint64_t count;
	uint64_t before; /* not counted: lost before the begin */
};

struct analysis_note {
	uint64_t level; /* enum note_level */
	char *text;
};

#define ANALYSIS_WALKS_MAX 64
#define ANALYSIS_BOUNDED_MAX 16

/* What the recorder could not keep in memory. */
struct analysis_bounded {
	uint64_t forgotten, shared;
};

/* A time of which there are no events. */
struct analysis_hole {
	uint64_t from_ns, to_ns;
};

/* What is to be known of the events as such. */
struct analysis_facts {
	uint64_t events;
	uint64_t events_by_id[SCHEMA_ID_MAX + 1];
	uint64_t walks[ANALYSIS_WALKS_MAX]; /* of stacks, by enum walk_result or a newer one */
	struct analysis_bounded bounded[ANALYSIS_BOUNDED_MAX]; /* by enum bounded or a newer one */
	uint64_t samples, spins; /* of running threads; those that spun for a monitor */
	uint64_t first_ns, last_ns;       /* times of the first and the last event; 0: none */
	bool ended;                       /* there was an end event */
	uint64_t end_reason;              /* enum end_reason */
	const struct analysis_lost *lost; /* first those with a count that is not zero ... */
	uint32_t lost_count;
	uint32_t lost_all; /* ... then those of which events were lost before the begin only */
	const struct analysis_note *notes;
	uint32_t note_count;
	const struct analysis_hole *holes; /* in order */
	uint32_t hole_count;
	uint64_t missing_ns; /* in holes */
};

/* All but events, times and holes, which the engine counts; pointers are lent until the row's
 * free(). */
void facts_get(const void *self, struct analysis_facts *ret);
/* Whether this note is there already: it is noted again after a hole. */
bool facts_is_noted(const void *self, const struct event *e);
