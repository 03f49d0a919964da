/* base/text/json_put.h: JSON of which nothing is left out in silence where there is no memory. */
#pragma once

#include <jansson.h>

/*
 * Both take value. Without memory, or of a value that is NULL for lack of it, *to is freed and
 * becomes NULL, which later calls, and json_pack() as part of something larger, pass on: one look
 * at the whole is enough.
 */
static inline void json_put(json_t **to, const char *key, json_t *value)
{
	if (!json_object_set_new(*to, key, value))
		return;
	json_decref(*to);
	*to = NULL;
}

static inline void json_add(json_t **to, json_t *value)
{
	if (!json_array_append_new(*to, value))
		return;
	json_decref(*to);
	*to = NULL;
}
