/* heap/replay/object_lifetimes.h: how many objects were born between which collections, and died
 * by which. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/tables/keymap.h"

#define LIFETIME_ALIVE UINT32_MAX
/* Rows that are kept by default; with more, kinds of few bytes are put together as kind 0. */
#define LIFETIME_ROWS_MAX (1u << 22)

/*
 * Moment m is the end of the mth collection, moment 0 the begin of the log. birth: the moment
 * before; death: the moment at which objects were found dead, so that an object lives at moments
 * above birth and below death.
 */
struct object_lifetime {
	uint32_t kind; /* of object_names; 0: others */
	uint32_t birth, death;
	uint64_t objects, bytes;
};

struct object_lifetimes {
	struct object_lifetime *rows; /* by death */
	uint32_t count, capacity, rows_max;
	struct keymap open; /* of the collection that is applied: kind and birth */
	struct object_lifetime *open_rows;
	uint32_t open_capacity, last; /* last: 1 + the row of the object before */
	uint32_t *recent;             /* by kind: 1 + its row that came last; 0: none */
	uint32_t recent_capacity;
	uint8_t *folded;              /* by kind: is part of others */
	uint32_t folded_count, folded_kinds;
};

/* All zero but for rows_max at the start. */
void object_lifetimes_free(struct object_lifetimes *l);
/* An object of the moment that is closed next. 0 or -ENOMEM. */
int object_lifetimes_add(struct object_lifetimes *l, uint32_t kind, uint32_t birth, uint64_t bytes);
/* The same. death may be LIFETIME_ALIVE, after which nothing is added. */
int object_lifetimes_close(struct object_lifetimes *l, uint32_t death);

/* Of an interval from a moment to a later one. */
enum lifetime_class {
	LIFETIME_PERMANENT, /* alive at both */
	LIFETIME_DIED,      /* alive at the first only */
	LIFETIME_BORN,      /* alive at the second only */
	LIFETIME_TEMPORARY, /* born and dead between */
	LIFETIME_CLASS_COUNT,
	LIFETIME_OUTSIDE = LIFETIME_CLASS_COUNT,
};
enum lifetime_class object_lifetime_class(const struct object_lifetime *l, uint32_t from,
					  uint32_t to);
static inline bool object_lifetime_alive(const struct object_lifetime *l, uint32_t moment)
{
	return l->birth < moment && l->death > moment;
}
