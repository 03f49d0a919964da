/* heap/replay/heap_lives.h: what came, stayed and went between two collections, by group. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "heap/replay/object_lifetimes.h"

#define HEAP_LIVES_POINTS 16
/* Collections that objects have survived: 0, 1, 2, 3 to 4, 5 to 8, 9 to 16, more. */
#define HEAP_LIVES_AGES 7
/* Objects that have survived so many collections count as growth. */
#define HEAP_LIVES_OLD 2

struct heap_lives_sum {
	uint64_t objects, bytes;
};

struct heap_lives {
	struct heap_lives_sum of[LIFETIME_CLASS_COUNT];
	/* Alive at the one end or the other, and old. */
	struct heap_lives_sum old_from, old_to;
	uint64_t curve
		[HEAP_LIVES_POINTS]; /* bytes of old ones; points from the one end to the other */
	/* Of those that died in the interval, by what they had survived. */
	struct heap_lives_sum age[HEAP_LIVES_AGES];
	uint64_t survived; /* collections, of all of these in sum */
	/* Of those whose birth has a time: from it to the begin of the collection that has found
	 * them dead, in sum: at least and at most, as a birth is between two collections. */
	uint64_t timed, least_us, most_us;
};

/* When moments are; ns are CLOCK_MONOTONIC, 0: not known. */
struct heap_lives_times {
	uint64_t *begin_ns, *end_ns; /* by moment, of its collection */
	uint32_t count;              /* moments */
	bool *untimed; /* by kind: objects of it may be older than the log */
};

/* from is below to. */
struct heap_lives_interval {
	uint32_t from, to;
	const struct heap_lives_times *times; /* NULL: nothing is timed */
};

/* "3 to 4". Static. */
const char *heap_lives_age_name(unsigned age);
/* Adds to the groups, which are zero at first. group: by kind. */
void heap_lives_add(const struct object_lifetimes *l, const uint32_t *group,
		    const struct heap_lives_interval *interval, struct heap_lives *groups);

enum heap_lives_trend { HEAP_LIVES_FLAT, HEAP_LIVES_GROWS, HEAP_LIVES_GREW, HEAP_LIVES_SHRINKS };

/* What the curve does: it grows if its last third has at least half of what its growth would give a
 * third; it grew if it did so before; flat: by less than a tenth. */
enum heap_lives_trend heap_lives_trend(const struct heap_lives *g);
