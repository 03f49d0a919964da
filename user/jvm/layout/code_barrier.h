/* jvm/layout/code_barrier.h: where frames return to whose callers are in the heap. */
#pragma once

#include "jvm/layout/code_layout.h"

struct code_source;

/* Fills in barrier_low and barrier_high, if the JVM has virtual threads. l has its heaps, whose
 * CodeHeaps are at the addresses heaps. */
void code_barrier_find(const struct mem *m, const struct vmstructs *v, const struct code_source *s,
		       const uint64_t heaps[CODE_HEAPS_MAX], struct code_layout *l);
