/* analyze/contention/exact.h: events with sequence numbers, of a patched JVM: replayed in their
 * order, and from there into the same cells as all others. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/contention/monitors.h"
#include "analyze/lines/replay.h"
#include "analyze/lines/timeline.h"

struct exact;
struct log_names;

/* NULL: no memory. Both are lent until exact_free; names may be NULL. */
struct exact *exact_new(struct cells *cells, const struct log_names *names);
void exact_free(struct exact *x);
void exact_set_begin(struct exact *x, uint64_t begin_ns); /* as replay_set_begin() */

/* It is now_ns in the log. 0 or -ENOMEM, as all of these. */
int exact_pass(struct exact *x, uint64_t now_ns);
/* Whether it is one of those that exact_add is for: an event with a number. */
static inline bool exact_takes(const struct event *e)
{
	/* The lock is the first field of all monitor events. */
	return replay_number(e) && (replay_is_park(e) || e->v[MONITOR_CONTENDED_ENTER_LOCK].u);
}
/* note: of a notify, the call chain of the target's wait() on this monitor; else 0. */
int exact_add(struct exact *x, const struct event *e, uint64_t note);
/* An owner_stack event. */
void exact_show(struct exact *x, const struct event *e);
/* The monitor is gone. */
int exact_deflate(struct exact *x, uint64_t lock);
/* No more events: all are replayed, and what has ended is in the cells. */
int exact_finish(struct exact *x, uint64_t end_ns);

/* After exact_finish. The line of a lock by place, NULL: behind the last. */
struct timeline *exact_line(const struct exact *x, uint32_t place, uint64_t *ret_lock);
int exact_each_open(const struct exact *x,
		    int (*on)(void *context, uint64_t lock, uint64_t since_ns,
			      const struct blocked *who),
		    void *context);
/* Of a thread that is still blocked, as far as is known. */
uint64_t exact_holder(const struct exact *x, uint64_t lock, const struct blocked *who);
struct replay_counts exact_counts(const struct exact *x, uint64_t key);
struct monitors_folds exact_folds(const struct exact *x);
