/* analyze/park/park_numbered.h: park and unpark events with sequence numbers, in the order of
 * these: who held the java.util.concurrent lock on which a thread was parked. */
#pragma once

#include <stdint.h>

#include "log/format/event.h"

struct blocked;
struct cells;
struct log_names;
struct park_numbered;
struct timelines;

/*
 * Time blocked on locks is charged through timelines, which are those over cells, and all other
 * waiting to the cells; names say of which class a blocker is. Names come when their events do: a
 * lock's may be defined later than its first use. All are lent until park_numbered_free. NULL: no
 * memory.
 */
struct park_numbered *park_numbered_new(struct cells *cells, struct timelines *lines,
					const struct log_names *names);
void park_numbered_free(struct park_numbered *p);

/*
 * Events 20 to 22 that carry a sequence, without those that are lost, in the order of their
 * numbers; their times may run backwards a little. missing: how many numbers are missing right
 * before this event. 0 or -ENOMEM.
 */
int park_numbered_add(struct park_numbered *p, const struct event *e, uint64_t missing);
/* An owner_stack event. It has no number: it counts for what is known of the lock by now. */
void park_numbered_show(struct park_numbered *p, const struct event *e);
/* No more events; end_ns is the time of the log's last one. 0 or -ENOMEM. timelines_finish comes
 * after this. */
int park_numbered_finish(struct park_numbered *p, uint64_t end_ns);
/* Then: threads that are still parked on what is no lock; those that are on a lock, the timelines
 * tell. */
int park_numbered_each_open(const struct park_numbered *p,
			    int (*on)(void *context, uint64_t lock, uint64_t since_ns,
				      const struct blocked *who),
			    void *context);
