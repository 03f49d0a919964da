/*
 * Serial reserves the young generation, at its largest, at the begin of the heap, and Parallel at
 * its end (JDK 17, GenCollectedHeap::allocate, ParallelScavengeHeap::initialize). Within it, what a
 * collection has seen is a survivor. Regions of G1 change what they are: of those that collections
 * have filled a log does not say whether they are of survivors; an object of more than half a
 * region is humongous.
 */
#include "heap/snapshot/heap_spaces.h"

#include "heap/replay/object_replay.h"

const char *heap_space_name(enum heap_space space)
{
	static const char *const names[SPACE_COUNT] = {
		[SPACE_EDEN] = "eden",
		[SPACE_SURVIVOR] = "survivors",
		[SPACE_OLD] = "old",
		[SPACE_SURVIVED] = "survivors or old",
		[SPACE_HUMONGOUS] = "humongous",
		[SPACE_UNKNOWN] = "(unknown)",
	};

	return names[space];
}

enum heap_space heap_space_of(const struct heap_spaces *s, uint64_t base, uint32_t collections,
			      const struct object_found *f)
{
	bool is_new = f->birth >= collections && !f->age; /* of a part before: it has an age */
	uint64_t at = f->address - base, old_bytes = s->heap_bytes - s->young_bytes;

	switch (s->collector) {
	case HEAP_SERIAL:
		if (at >= s->young_bytes)
			return SPACE_OLD;
		break;
	case HEAP_PARALLEL:
		if (s->heap_bytes > s->young_bytes && at < old_bytes)
			return SPACE_OLD;
		break;
	case HEAP_G1:
		if (f->bytes > s->region_bytes / 2)
			return SPACE_HUMONGOUS;
		return is_new ? SPACE_EDEN : SPACE_SURVIVED;
	default:
		return SPACE_UNKNOWN;
	}
	return is_new ? SPACE_EDEN : SPACE_SURVIVOR;
}
