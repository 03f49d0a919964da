/* analyze/contention/monitors.h: monitor events of a patched JVM, in the order of their numbers:
 * every moment for which a thread was blocked goes to the thread that held the monitor then. */
#pragma once

#include <stdint.h>

#include "analyze/lines/replay.h"
#include "analyze/lines/timeline.h"

struct monitors;

/* NULL: no memory. Lines are lent until monitors_free. */
struct monitors *monitors_new(struct timelines *lines);
void monitors_free(struct monitors *m);

/* What replay gives on, of a lock: as in struct replay_sink. The note of a notify is the call chain
 * of the target's wait(), if it was in one on this monitor; else 0. 0 or -ENOMEM. */
int monitors_event(struct monitors *m, uint64_t lock, const struct replay_item *item,
		   uint64_t missing);
int monitors_window(struct monitors *m, uint64_t lock, const struct replay_window *w);

/* Who holds it, as far as is known by now: HOLDER_UNKNOWN, HOLDER_HAND_OVER or a thread. */
uint64_t monitors_holder(const struct monitors *m, uint64_t lock);
/* What folds say besides. */
struct monitors_folds {
	uint64_t excess_ns; /* held times without room: 0, unless the JVM contradicts itself */
	uint64_t undistinguished; /* releases by too many threads to be distinguished */
};
struct monitors_folds monitors_folds(const struct monitors *m);
