/*
 * The names depend on the JDK's version and collector, and no name has two meanings: one table has
 * those of all versions, with the releases that have them. A name that is in no table is of unknown
 * kind, and a log says so.
 */
#include "record/decode/gc_names.h"

#include <stddef.h>
#include <string.h>

#include "log/format/event.h"

uint32_t gc_kind_of_manager(const char *name)
{
	static const struct {
		const char *name;
		uint32_t kind;
	} managers[] = {
		{"Copy", GC_KIND_YOUNG}, /* from here on: 8 to 25 */
		{"MarkSweepCompact", GC_KIND_FULL},
		{"PS Scavenge", GC_KIND_YOUNG},
		{"PS MarkSweep", GC_KIND_FULL},
		{"G1 Young Generation", GC_KIND_YOUNG},
		{"G1 Old Generation", GC_KIND_FULL},
		{"G1 Concurrent GC", GC_KIND_CONCURRENT_PAUSE}, /* 20 to 25 (JDK-8297247) */
		{"ParNew", GC_KIND_YOUNG},                      /* up to 13 (JEP 363) */
		{"ConcurrentMarkSweep", GC_KIND_FULL},          /* up to 13 */
	};

	for (size_t i = 0; i < sizeof(managers) / sizeof(*managers); i++)
		if (!strcmp(name, managers[i].name))
			return managers[i].kind;
	return GC_KIND_UNKNOWN;
}

uint32_t gc_kind_of_operation(const char *name, uint32_t length)
{
	static const struct {
		const char *prefix;
		uint32_t kind;
	} operations[] = {
		{"G1Pause", GC_KIND_CONCURRENT_PAUSE},          /* Remark, Cleanup; 16 to 25 */
		{"G1Concurrent", GC_KIND_CONCURRENT_PAUSE},     /* both; up to 15, not in 11 */
		{"CGC_Operation", GC_KIND_CONCURRENT_PAUSE},    /* both; 11 */
		{"CMS_Initial_Mark", GC_KIND_CONCURRENT_PAUSE}, /* up to 13 (JEP 363) */
		{"CMS_Final_Remark", GC_KIND_CONCURRENT_PAUSE}, /* likewise */
		{"ZOperation", GC_KIND_CONCURRENT_PAUSE},       /* all of ZGC; 11 */
		{"ZMark", GC_KIND_CONCURRENT_PAUSE},     /* young and old alike, from 21 on */
		{"ZRelocate", GC_KIND_CONCURRENT_PAUSE}, /* likewise */
		{"XMark", GC_KIND_CONCURRENT_PAUSE},     /* ZGC of one generation; 21 to 23 */
		{"XRelocate", GC_KIND_CONCURRENT_PAUSE}, /* likewise */
		{"ShenandoahInit", GC_KIND_CONCURRENT_PAUSE},
		{"ShenandoahFinal", GC_KIND_CONCURRENT_PAUSE},
		{"ShenandoahFull", GC_KIND_FULL},
		{"ShenandoahDegenerated", GC_KIND_FULL},
		/* With spaces, JDK 17 has "Shenandoah Init Update References" and the like. */
		{"Shenandoah Init", GC_KIND_CONCURRENT_PAUSE},
		{"Shenandoah Final", GC_KIND_CONCURRENT_PAUSE},
		{"Shenandoah Full", GC_KIND_FULL},
		{"Shenandoah Degenerated", GC_KIND_FULL},
	};

	for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++) {
		size_t n = strlen(operations[i].prefix);

		if (length >= n && !memcmp(name, operations[i].prefix, n))
			return operations[i].kind;
	}
	return GC_KIND_UNKNOWN;
}
