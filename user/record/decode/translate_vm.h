/* record/decode/translate_vm.h: records of collections, safepoints and VM operations, to events. */
#pragma once

#include <stdint.h>

#include "record/decode/event_out.h"

/* All zero at the start, but for `to`, which is lent. */
struct translate_vm {
	struct translate_to *to;
	/* The VM thread runs one operation at a time, nested ones inside it. */
	uint32_t operation[8];
	unsigned operation_depth;
	uint32_t operation_kind; /* the pauses of the one begun last, enum gc_kind */
	/* what the memory managers have said since gc_begin */
	uint32_t gc_kind, gc_collector;
};

/* A record of one of these kinds, of its full length. */
void translate_vm_record(struct translate_vm *v, const void *record);
