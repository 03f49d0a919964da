/* jvm/layout/vmstructs.h: HotSpot's description of itself: the exported gHotSpotVM* tables. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm/elf/libjvm.h"

struct mem;

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
/* The C++ type of a field as HotSpot spells it; NULL: no such field, or not in vmStructs. */
const char *vmstructs_field_type(const struct vmstructs *v, const char *type, const char *field);
int vmstructs_size(const struct vmstructs *v, const char *type, uint32_t *ret);
/* An int or long constant. -ENOENT. */
int vmstructs_constant(const struct vmstructs *v, const char *name, int64_t *ret);
