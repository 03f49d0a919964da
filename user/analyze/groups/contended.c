#include "analyze/groups/contended.h"

#include <stddef.h>

#include "log/format/event.h"
#include "log/read/names.h"

bool lock_is_contended(const struct log_names *names, uint64_t lock, bool monitor)
{
	const struct log_lock *l = log_names_lock(names, lock);

	return monitor || (l && (l->group == LOCK_GROUP_MONITOR || l->group == LOCK_GROUP_JUC));
}
