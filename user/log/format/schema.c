#include "log/format/schema.h"

#include <stddef.h>
#include <string.h>

_Static_assert(EVENT_FIELDS_MAX <= 32, "fields of an event fit a bit mask");

const struct event_desc *schema_event(unsigned id)
{
	if (id > SCHEMA_ID_MAX || !schema_index[id])
		return NULL;
	return &schema_table[schema_index[id] - 1];
}

const struct event_desc *schema_event_by_name(const char *name)
{
	unsigned i;

	for (i = 0; i < schema_table_count; i++)
		if (!strcmp(schema_table[i].name, name))
			return &schema_table[i];
	return NULL;
}

const struct event_desc *schema_events(unsigned *ret_count)
{
	*ret_count = schema_table_count;
	return schema_table;
}
