/* log/format/event.h: one event of the log in memory; ids, fields and names come from
 * schemas/events.json */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "log/schema_gen.h" /* made by schemas/gen.py: enum event_id, field indices, value enums */

enum field_type {
	FIELD_UINT,
	FIELD_BOOL,
	FIELD_STR,     /* text, in .s */
	FIELD_ENUM,    /* index into field_desc.enum_names */
	FIELD_THREAD,  /* number of a thread, defined by a thread event; 0: none */
	FIELD_CLASS,   /* number of a class, defined by a class event; 0: not known */
	FIELD_LOCK,    /* number of a lock, defined by a lock event; 0: none */
	FIELD_STRING,  /* number of a string, defined by a string event; 0: not known */
	FIELD_METHOD,  /* number of a method, defined by a method event; 0: none */
	FIELD_STACK,   /* number of a call chain, defined by a stack event; 0: none */
	FIELD_COUNTER, /* cumulative count of a thread; stored as a difference, absolute in memory
			*/
	FIELD_TYPE_COUNT,
};

struct field_desc {
	const char *name;
	enum field_type type;
	const char *unit;              /* NULL: none */
	const char *const *enum_names; /* FIELD_ENUM only */
	unsigned enum_count;
	int of; /* FIELD_COUNTER: index of the thread field it belongs to; -1: event.thread */
	const char *counter; /* FIELD_COUNTER: which count of that thread ("cpu_ns"); else NULL */
};

struct event_desc {
	uint16_t id;
	const char *name;
	const struct field_desc *fields;
	unsigned field_count;
};

union field_value {
	uint64_t u;
	const char *s;
};

/* A plain value. Strings are lent: by the caller until log_write returns, by the reader until it is
 * closed. */
struct event {
	uint16_t id;
	uint16_t field_count; /* as stored; those after them are 0, false or "" */
	uint32_t thread;      /* number of the thread it happened in; 0: none */
	uint64_t time_ns;     /* CLOCK_MONOTONIC */
	union field_value v[EVENT_FIELDS_MAX];
};

/* Where events have the counters of their own thread, and of threads that their fields name: 1 +
 * the index of the field, by event, enum counters_of and enum counter; 0: it does not have it. */
extern const uint8_t schema_counter_field[SCHEMA_ID_MAX + 1][COUNTERS_OF_COUNT][COUNTER_COUNT];

/* The row of it for an event that a log has. */
static inline const uint8_t *event_counter_fields(const struct event *e, enum counters_of of)
{
	return schema_counter_field[e->id <= SCHEMA_ID_MAX ? e->id : 0][of];
}

/* A counter of the event; 0: it has none. */
static inline uint64_t event_counter(const struct event *e, enum counters_of of,
				     enum counter counter)
{
	const uint8_t field = event_counter_fields(e, of)[counter];

	return field ? e->v[field - 1].u : 0;
}

/* NULL: no such id in this version. The result is static. */
const struct event_desc *schema_event(unsigned id);
const struct event_desc *schema_event_by_name(const char *name);
/* All events in the order of their ids; *ret_count is their number. */
const struct event_desc *schema_events(unsigned *ret_count);

/* Whether it says what a number stands for. */
static inline bool schema_is_definition(unsigned id)
{
	return id == EVENT_THREAD || id == EVENT_CLASS || id == EVENT_LOCK || id == EVENT_STRING ||
	       id == EVENT_METHOD || id == EVENT_STACK;
}
