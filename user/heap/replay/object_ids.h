/* heap/replay/object_ids.h: numbers that a later ring of a log gives to classes, methods or sites.
 */
#pragma once

#include <stdint.h>
#include <stdlib.h>

#include "base/tables/keymap.h"

struct object_ids {
	struct keymap map; /* by number */
	uint32_t *rows;    /* by map: the row of object_names */
	uint32_t capacity;
};

static inline void object_ids_free(struct object_ids *ids)
{
	keymap_free(&ids->map);
	free(ids->rows);
	*ids = (struct object_ids){0};
}

/* A number that was another row's is this one's. 0 or -ENOMEM. */
static inline int object_ids_set(struct object_ids *ids, uint64_t id, uint32_t row)
{
	uint32_t i;
	int err = keymap_add_row(&ids->map, (struct keymap_key){.a = id}, &ids->rows,
				 &ids->capacity, sizeof(*ids->rows), &i);

	if (!err)
		ids->rows[i] = row;
	return err;
}

/* INDEX_NONE: not known. */
static inline uint32_t object_ids_row(const struct object_ids *ids, uint64_t id)
{
	uint32_t i = keymap_find_number(&ids->map, id);

	return i == INDEX_NONE ? i : ids->rows[i];
}
