/* log/schema.h: the tables that schemas/gen.py makes; outside log/ use log/event.h. */
#pragma once

#include "log/event.h"

extern const struct event_desc schema_table[]; /* by id, ascending */
extern const unsigned schema_table_count;
/* By id: 1 + index in schema_table; 0: no such event. */
extern const uint16_t schema_place[SCHEMA_ID_MAX + 1];
/* By index in schema_table and field: which of a thread's counters a FIELD_COUNTER is. */
extern const uint8_t schema_counter[][EVENT_FIELDS_MAX];
