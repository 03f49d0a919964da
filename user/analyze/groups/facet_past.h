/* analyze/groups/facet_past.h: when collections were, and which span each thread was in. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/tables/keymap.h"

struct event;

/* A thread is in a span since then. */
struct span_change {
	uint64_t since_ns;
	uint32_t span; /* as in struct facets */
};

#define FACET_SPAN_DEPTH 64 /* as spans.c has it: spans within more than these are in no sum */

struct span_past {
	struct span_change *changes;
	uint32_t count, capacity;
	uint32_t open[FACET_SPAN_DEPTH];
	uint32_t depth;
};

struct gc_pause {
	uint64_t from_ns, to_ns; /* to_ns 0: it goes on */
};

/* All zero at the start. What it keeps grows by 16 bytes for each collection and each end of a
 * span: findings about a blocked time can come long after it. */
struct facet_past {
	struct gc_pause *pauses; /* in order, none overlaps another */
	uint32_t pause_count, pauses_capacity;
	struct keymap names;   /* of spans, by the string's number */
	struct keymap threads; /* those that have been in spans */
	struct span_past *spans;
	uint32_t spans_capacity;
	uint64_t now_ns;
};

/* Events in time order; those of other kinds are ignored. 0 or -ENOMEM. */
int facet_past_add(struct facet_past *p, const struct event *e);
/* What was open is not known from then on. 0 or -ENOMEM. */
int facet_past_hole(struct facet_past *p, uint64_t from_ns);
void facet_past_free(struct facet_past *p);

/* Whether a collection was under way, and up to when that does not change; UINT64_MAX: up to now,
 * at least. */
bool facet_past_gc(const struct facet_past *p, uint64_t ns, uint64_t *ret_until_ns);
/* The span that a thread was in, as in struct facets. */
unsigned facet_past_span(const struct facet_past *p, uint64_t thread, uint64_t ns);
/* The number of the string that is the name of a span, of one with a name of its own. */
uint64_t facet_past_name(const struct facet_past *p, unsigned span);
