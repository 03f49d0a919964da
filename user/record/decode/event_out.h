/* record/decode/event_out.h: an event that is made of a ring record, and where events go. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/format/event.h"

struct chains;
struct ids;
struct log_writer;
struct wire_counters;
struct wire_head;
struct wire_states;

/* Where everything goes; all are lent. */
struct translate_to {
	struct ids *ids;
	struct chains *chains;
	struct log_writer *w;
	bool contended; /* a thread has blocked on a lock that somebody owns */
	bool homeless;  /* of the event that has been begun: there is no room for its thread */
	uint32_t lost[SCHEMA_ID_MAX + 1]; /* events of such threads */
};

/* The event that a record of this wire kind becomes, and the least bytes that such a record has; 0:
 * none. */
uint16_t translate_event_of(unsigned kind);
size_t translate_size_of(unsigned kind);

void translate_event_begin(struct translate_to *to, struct event *e, uint16_t id,
			   const struct wire_head *h);
/* Writes it, unless its thread has no number. */
void translate_event_put(struct translate_to *to, const struct event *e);
/* Into the fields that the event has for the counters of its thread, or of one that it names. */
void translate_counters(struct event *e, enum counters_of of, const struct wire_counters *c);
/* The same, and why it was blocked. */
void translate_states(struct event *e, const struct wire_states *s);
