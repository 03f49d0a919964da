/* report/protobuf/string_table.h: texts that messages name by their number. */
#pragma once

#include <stdint.h>

#include "base/tables/keymap.h"

struct text_set;

/* All zero: an empty one. */
struct string_table {
	struct text_set *texts;
	struct keymap map; /* by address: equal texts have one */
	const char **rows; /* map.count of them, all UTF-8 */
	uint32_t capacity;
};

/* The number of a text; a new one is the last. 0 or -ENOMEM. */
int string_table_add(struct string_table *t, const char *text, uint32_t *ret);
void string_table_free(struct string_table *t);
