/* record/objects/object_drain.h: takes the events of a ring, and writes them into a log. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct log_writer;
struct object_drain;
struct object_ring;

struct object_drain_stats {
	uint64_t word_bytes, names; /* written */
	uint64_t refused;           /* slots and names that made no sense */
	uint64_t lost_bytes, gaps;  /* as the JVM says */
	uint64_t collector_gaps;    /* slots before which moves were lost, as their words say */
	uint64_t waits, wait_ns;
	uint64_t found, pause_ns; /* of the last switch; 0: there was none */
	uint64_t graphs, graphs_lost, graph_ns;
};

enum object_drain_end {
	OBJECT_DRAIN_GOES_ON,
	OBJECT_DRAIN_ENDED,
	OBJECT_DRAIN_KILLED,
	OBJECT_DRAIN_LEFT,
	OBJECT_DRAIN_OFF /* the JVM goes on, and has written all until it was switched off */
};

/* Ring and writer are lent until object_drain_free. 0 or -ENOMEM. */
int object_drain_new(const struct object_ring *ring, struct log_writer *w,
		     struct object_drain **ret);
void object_drain_free(struct object_drain *d);
/* After object_drain_finish: a further ring of the same JVM, lent likewise, goes into the same log.
 * The one before is not looked at any more. 0 or -ENOMEM, which object_drain_error says as well. */
int object_drain_again(struct object_drain *d, const struct object_ring *ring);

/* Takes up to a part of what is there. true: there is more. */
bool object_drain_pass(struct object_drain *d, uint64_t now_ns);
/* Takes all that is there; killed: also what a JVM that is gone has not handed over. */
void object_drain_finish(struct object_drain *d, bool killed, uint64_t now_ns);
/* -ENOMEM of any call so far. */
int object_drain_error(const struct object_drain *d);
void object_drain_stats(const struct object_drain *d, struct object_drain_stats *ret);
