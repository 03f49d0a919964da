/* base/tables/segments.h: an array that grows and whose elements never move. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SEGMENTS_FIRST_BITS 4
#define SEGMENTS_MAX (31 - SEGMENTS_FIRST_BITS)

/* All zero at the start. The first segment has 16 elements, each other one twice as many as the one
 * before: so an index says in which segment it is, and the directory never grows. */
struct segments {
	char *all[SEGMENTS_MAX];
};

struct segment_position {
	unsigned segment;
	uint32_t at, count; /* of the segment's elements */
};

static inline struct segment_position segments_find(uint32_t index)
{
	uint32_t n = index + (1u << SEGMENTS_FIRST_BITS);
	unsigned bits = 31u - (unsigned)__builtin_clz(n);

	return (struct segment_position){bits - SEGMENTS_FIRST_BITS, n - (1u << bits), 1u << bits};
}

/* The element, of size bytes, which is the same in all calls; there must have been a
 * segments_reserve. It is lent until segments_free. */
static inline void *segments_at(const struct segments *s, uint32_t index, size_t size)
{
	struct segment_position p = segments_find(index);

	return s->all[p.segment] + p.at * size;
}

/* Room for the element after the first count elements; what is new is zero. 0 or -ENOMEM, and then
 * nothing has changed. */
int segments_reserve(struct segments *s, uint32_t count, size_t size);
void segments_free(struct segments *s);
