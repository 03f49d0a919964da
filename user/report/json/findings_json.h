/* report/json/findings_json.h: findings as an array of objects. */
#pragma once

#include <jansson.h>
#include <stdint.h>

struct findings;

/* A new reference. Rows of a single column without a key are values, not objects. Numbers beyond
 * those of JSON are the largest one. NULL: no memory, for f or for this. */
json_t *findings_to_json(const struct findings *f);
/* One row of it. */
json_t *findings_row_json(const struct findings *f, uint32_t row);
/* The same, and frees f. */
json_t *findings_take_json(struct findings *f);
