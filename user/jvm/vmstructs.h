/* jvm/vmstructs.h: HotSpot's description of itself: the exported gHotSpotVM* tables. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mem;

/* The exported symbols that lead to the tables; the order of vmstructs_symbol_names. */
enum vmsym {
	VMSYM_STRUCTS,
	VMSYM_STRUCT_STRIDE,
	VMSYM_STRUCT_TYPE,
	VMSYM_STRUCT_FIELD,
	VMSYM_STRUCT_TYPE_STRING,
	VMSYM_STRUCT_IS_STATIC,
	VMSYM_STRUCT_OFFSET,
	VMSYM_STRUCT_ADDRESS,
	VMSYM_TYPES,
	VMSYM_TYPE_STRIDE,
	VMSYM_TYPE_NAME,
	VMSYM_TYPE_SIZE,
	VMSYM_INTS,
	VMSYM_INT_STRIDE,
	VMSYM_INT_NAME,
	VMSYM_INT_VALUE,
	VMSYM_LONGS,
	VMSYM_LONG_STRIDE,
	VMSYM_LONG_NAME,
	VMSYM_LONG_VALUE,
	VMSYM_COUNT,
};

extern const char *const vmstructs_symbol_names[VMSYM_COUNT];

struct vmstructs;

/*
 * Reads the tables; symbols are addresses in the target. -EAGAIN: the loader has not relocated them
 * yet. -EPROTO: they are not of a shape that this knows. A table that is being relocated may be
 * read in part.
 */
int vmstructs_load(const struct mem *m, const uint64_t symbols[VMSYM_COUNT],
		   struct vmstructs **ret);
void vmstructs_free(struct vmstructs *v);

/* The offset of an instance field; -ENOENT; -EPROTO: outside of its type. */
int vmstructs_offset(const struct vmstructs *v, const char *type, const char *field, uint32_t *ret);
/* The address of a static field; -ENOENT. */
int vmstructs_address(const struct vmstructs *v, const char *type, const char *field,
		      uint64_t *ret);
/* The C++ type of a field as HotSpot spells it; NULL: no such field, or not told. */
const char *vmstructs_field_type(const struct vmstructs *v, const char *type, const char *field);
int vmstructs_size(const struct vmstructs *v, const char *type, uint32_t *ret);
/* An int or long constant. -ENOENT. */
int vmstructs_constant(const struct vmstructs *v, const char *name, int64_t *ret);
