/* analyze/contention/numbered.h: events with sequence numbers, of a patched JVM: replayed in their
 * order, and from there into the same cells as all others. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/contention/monitors.h"
#include "analyze/lines/replay.h"
#include "analyze/lines/timeline.h"

struct numbered;
struct log_names;

/* NULL: no memory. Both are lent until numbered_free; names may be NULL. */
struct numbered *numbered_new(struct cells *cells, const struct log_names *names);
void numbered_free(struct numbered *x);
void numbered_set_begin(struct numbered *x, uint64_t begin_ns); /* as replay_set_begin() */

/* It is now_ns in the log. 0 or -ENOMEM, as all of these. */
int numbered_pass(struct numbered *x, uint64_t now_ns);
/* Whether it is one of those that numbered_add is for: an event with a number. */
static inline bool exact_takes(const struct event *e)
{
	/* The lock is the first field of all monitor events. */
	return replay_number(e) && (replay_is_park(e) || e->v[MONITOR_CONTENDED_ENTER_LOCK].u);
}
/* note: of a notify, the call chain of the target's wait() on this monitor; else 0. */
int numbered_add(struct numbered *x, const struct event *e, uint64_t note);
/* An owner_stack event. */
void numbered_show(struct numbered *x, const struct event *e);
/* The monitor is gone. */
int numbered_deflate(struct numbered *x, uint64_t lock);
/* No more events: all are replayed, and what has ended is in the cells. */
int numbered_finish(struct numbered *x, uint64_t end_ns);

/* After numbered_finish. The line of a lock by index; NULL: after the last. */
struct timeline *numbered_line(const struct numbered *x, uint32_t index, uint64_t *ret_lock);
int numbered_each_open(const struct numbered *x,
		       int (*on)(void *context, uint64_t lock, uint64_t since_ns,
				 const struct blocked *who),
		       void *context);
/* Of a thread that is still blocked, as far as is known. */
uint64_t numbered_holder(const struct numbered *x, uint64_t lock, const struct blocked *who);
struct replay_counts numbered_counts(const struct numbered *x, uint64_t key);
struct monitors_folds numbered_folds(const struct numbered *x);
