/* record/decode/gc_names.h: what the names of HotSpot's collectors and VM operations mean. */
#pragma once

#include <stdint.h>

/* The kind of collections of a memory manager (GCMemoryManager's name), enum gc_kind of the schema;
 * GC_KIND_UNKNOWN: of none that is known. */
uint32_t gc_kind_of_manager(const char *name);
/* ... of the pauses of a VM operation, for collections in which no memory manager speaks. name has
 * no NUL after it. */
uint32_t gc_kind_of_operation(const char *name, uint32_t length);
