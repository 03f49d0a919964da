#include "analyze/tracks/lanes.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	const struct lane_slice *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return (x->item > y->item) - (x->item < y->item);
}

/* The innermost slice of a lane that has not ended by ns. */
static uint32_t open_at(const struct lane_slice *slices, uint32_t innermost, uint64_t ns)
{
	while (innermost != LANES_NONE && slices[innermost].end_ns <= ns)
		innermost = slices[innermost].parent;
	return innermost;
}

void lanes_pack(struct lane_slice *slices, uint32_t count)
{
	uint32_t innermost[LANES_MAX];

	qsort(slices, count, sizeof(*slices), compare);
	for (int i = 0; i < LANES_MAX; i++)
		innermost[i] = LANES_NONE;
	for (uint32_t i = 0; i < count; i++) {
		struct lane_slice *s = &slices[i];

		s->lane = s->parent = LANES_NONE;
		for (uint32_t lane = 0; lane < LANES_MAX; lane++) {
			uint32_t open = open_at(slices, innermost[lane], s->begin_ns);

			if (open != LANES_NONE && slices[open].end_ns < s->end_ns)
				continue;
			s->lane = lane;
			s->parent = open;
			innermost[lane] = i;
			break;
		}
	}
}
