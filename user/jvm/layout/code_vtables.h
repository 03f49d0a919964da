/* jvm/layout/code_vtables.h: the vtables by which an nmethod is known among blobs, and a
 * Method. */
#pragma once

#include "jvm/layout/code_layout.h"

/* From vmStructs: where the addresses of code_layout are read, offsets but for the first three. */
struct code_source {
	uint64_t heaps, interpreter, call_stub; /* of pointers */
	uint32_t array_length, array_data;      /* GrowableArray */
	uint32_t heap_memory, heap_segmap, heap_segment_shift;
	uint32_t space_low_boundary, space_high_boundary, space_low, space_high;
	uint32_t block_length;
	uint32_t queue_buffer, queue_limit;
	uint32_t klass_methods, methods_length, methods_data;
};

/* Whether vmStructs has enough to find them. */
bool code_vtables_possible(const struct vmstructs *v);

/*
 * Fills in nmethod_vtable, if there is an nmethod, and the vtables of Method. l has its heaps;
 * heaps: the addresses of the CodeHeaps. -EAGAIN: Method has a second one that cannot be found yet.
 * -ENOMEM.
 */
int code_vtables_find(const struct mem *m, const struct vmstructs *v, const struct code_source *s,
		      const uint64_t heaps[CODE_HEAPS_MAX], struct code_layout *l);
