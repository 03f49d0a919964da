/* What spoor objects calls things by. */
#include "log/read/names.h"
#include "report/model/sections/commands/objects_report.h"

const char *const objects_by_names[OBJECTS_BY_COUNT] = {
	[OBJECTS_BY_CLASS] = "class",           [OBJECTS_BY_SITE] = "site",
	[OBJECTS_BY_CHAIN] = "chain",           [OBJECTS_BY_METHOD] = "method",
	[OBJECTS_BY_THREAD] = "thread",         [OBJECTS_BY_TIER] = "tier",
	[OBJECTS_BY_COLLECTION] = "collection", [OBJECTS_BY_TLAB] = "tlab",
	[OBJECTS_BY_LENGTH] = "length",         [OBJECTS_BY_SPAN] = "span",
	[OBJECTS_BY_SECOND] = "second",
};

const char *objects_thread_name(const struct log_names *names, int64_t java_tid)
{
	unsigned count = names && java_tid ? log_names_count(names, LOG_NAMES_THREAD) : 0;

	for (unsigned i = count; i-- > 0;) {
		const struct log_thread *t =
			log_names_thread(names, log_names_id(names, LOG_NAMES_THREAD, i));

		if (t && t->java_id == (uint64_t)java_tid)
			return *t->name ? t->name : "(unknown)";
	}
	return "(unknown)";
}
