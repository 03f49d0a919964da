#include "analyze/park/park_family.h"

#include <stddef.h>
#include <string.h>

#define CONCURRENT "java.util.concurrent."
#define LOCKS CONCURRENT "locks."

static const struct {
	const char *prefix;
	enum park_family family;
} families[] = {
	{LOCKS "ReentrantLock$", PARK_FAMILY_EXCLUSIVE},
	{LOCKS "ReentrantReadWriteLock$", PARK_FAMILY_READ_WRITE},
	{LOCKS "StampedLock", PARK_FAMILY_READ_WRITE},
	{LOCKS "AbstractQueuedSynchronizer$ConditionObject", PARK_FAMILY_CONDITION},
	{LOCKS "AbstractQueuedLongSynchronizer$ConditionObject", PARK_FAMILY_CONDITION},
	{CONCURRENT "ThreadPoolExecutor$Worker", PARK_FAMILY_EXCLUSIVE},
	{CONCURRENT, PARK_FAMILY_EVENT},
};

enum park_family park_family_of(const char *class)
{
	for (size_t i = 0; class && i < sizeof(families) / sizeof(*families); i++) {
		if (!strncmp(class, families[i].prefix, strlen(families[i].prefix)))
			return families[i].family;
	}
	return PARK_FAMILY_OTHER;
}
