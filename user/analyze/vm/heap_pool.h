/* analyze/vm/heap_pool.h: what a memory pool is, by the name that HotSpot gives it. */
#pragma once

enum heap_pool {
	HEAP_POOL_NONE,     /* metaspace, compiled code: not the heap */
	HEAP_POOL_OTHER,    /* eden, and heaps of a single pool */
	HEAP_POOL_SURVIVOR, /* young objects that a collection has left */
	HEAP_POOL_OLD,
	HEAP_POOL_COUNT,
};

/* NULL: a name that the log does not have. */
enum heap_pool heap_pool_of(const char *name);
