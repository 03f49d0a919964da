/*
 * HotSpot reports all pools at each collection. Those that are not the heap are known by their
 * names, and so are the generations: "G1 Old Gen", "PS Old Gen", "CMS Old Gen", "Tenured Gen",
 * "ZGC Old Generation"; "G1 Survivor Space", "PS Survivor Space", "Survivor Space". ZGC of one
 * generation and Shenandoah have a single pool, "ZHeap" and "Shenandoah" (JDK 17 to 25).
 */
#include "analyze/vm/heap_pool.h"

#include <stddef.h>
#include <string.h>

enum heap_pool heap_pool_of(const char *name)
{
	static const char *const others[] = {"Code", "Metaspace", "Compressed Class Space"};

	if (!name)
		return HEAP_POOL_NONE;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		if (!strncmp(name, others[i], strlen(others[i])))
			return HEAP_POOL_NONE;
	}
	if (strstr(name, "Survivor"))
		return HEAP_POOL_SURVIVOR;
	return strstr(name, "Old Gen") || strstr(name, "Tenured") ? HEAP_POOL_OLD : HEAP_POOL_OTHER;
}
