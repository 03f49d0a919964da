/* record/session/objects_resync.h: how far object events are in being switched off and on again. */
#pragma once

#include <stdint.h>

enum objects_resync_state {
	RESYNC_NONE, /* the events are on, and there is nothing to be done yet */
	RESYNC_OFF,  /* the switch is lowered; the ring goes on until the JVM has seen it */
	RESYNC_AWAY, /* the JVM has no ring; next_ns is awaited */
	RESYNC_RING, /* the switch is raised; the JVM has no ring yet */
	RESYNC_WALK, /* there is a ring, into which the heap is being written */
};

struct objects_resync {
	enum objects_resync_state state;
	uint64_t next_ns, pause_ns;       /* not again before; how long after the next time */
	uint64_t look_ns, look_pause_ns;  /* the next look for a ring */
	uint64_t gaps;                    /* collector_gaps of the rings before this one */
	uint64_t times, stood_ns;         /* that they were on again; the JVM's threads, for that */
};
