/* analyze/tracks/lanes.h: puts slices side by side where they overlap, so that in each lane they
 * nest. */
#pragma once

#include <stdint.h>

#define LANES_MAX 16
#define LANES_NONE UINT32_MAX

struct lane_slice {
	uint64_t begin_ns, end_ns;
	uint32_t item;   /* the caller's */
	uint32_t lane;   /* LANES_NONE: there is no room for it in any */
	uint32_t parent; /* the slice that it is in; LANES_NONE: none */
};

/*
 * Sorts them: by begin, those that enclose others first, equal ones by item; and sets lane and
 * parent, which is an index of the sorted array before the slice's own.
 */
void lanes_pack(struct lane_slice *slices, uint32_t count);
