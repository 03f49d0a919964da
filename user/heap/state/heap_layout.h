/* heap/state/heap_layout.h: how much room objects take in the heap of the JVM that had them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct heap_type;
struct heap_types;

struct heap_layout {
	unsigned header_bytes;       /* of an instance: 8, 12 or 16 */
	unsigned array_header_bytes; /* before elements of up to 4 bytes */
	unsigned reference_bytes;    /* 4 or 8 */
	unsigned alignment;
	bool packs_supers; /* fields fill gaps of superclasses, as from JDK 15 on */
	uint32_t compared; /* types whose size was compared with distances between objects */
	uint32_t agree;    /* ... and is exactly the least distance */
	uint32_t taken;    /* ... and was taken from the distance, as fields would be too many */
};

/* Sets the bytes and class_bytes of all types. address_bits: all addresses, or-ed. */
void heap_layout_infer(struct heap_layout *ret, struct heap_types *types, uint64_t address_bits);
/* Of one object. */
uint64_t heap_layout_bytes(const struct heap_layout *l, const struct heap_type *t, uint32_t length);
