/* report/model/sections/heap.h: how full the heap was before and after collections. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct log_names;
struct pauses;

/* Means over the collections of one collector and kind; code cache and metaspace are left out.
 * False: not known. */
bool heap_around_gc(const struct pauses *p, const struct log_names *names, uint64_t collector,
		    uint64_t kind, uint64_t *ret_before_bytes, uint64_t *ret_after_bytes);
