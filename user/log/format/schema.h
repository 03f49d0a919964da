/* log/format/schema.h: the tables that schemas/gen.py makes; outside log/ use
 * log/format/event.h. */
#pragma once

#include <stdbool.h>

#include "log/format/event.h"

extern const struct event_desc schema_table[]; /* by id, ascending */
extern const unsigned schema_table_count;
/* By id: 1 + index in schema_table; 0: no such event. */
extern const uint16_t schema_index[SCHEMA_ID_MAX + 1];
/* What events open, close and keep, by index in schema_table. */
enum state_role { STATE_NONE, STATE_OPENS, STATE_CLOSES, STATE_KEEPS };
#define STATE_OF_MAX 2
struct schema_state {
	uint8_t role; /* enum state_role */
	uint8_t what; /* the same number for what belongs together */
	bool nests;
	uint8_t of_count;
	int8_t of[STATE_OF_MAX]; /* the fields that say which one; -1: event.thread */
};
extern const struct schema_state schema_state[];
/* By index in schema_table and field: which of a thread's counters a FIELD_COUNTER is. */
extern const uint8_t schema_counter[][EVENT_FIELDS_MAX];
