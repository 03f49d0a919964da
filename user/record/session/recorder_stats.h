/* record/session/recorder_stats.h: what a recording has cost, lost and found. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "log/write/writer.h"
#include "jvm/flag/flag_hold.h"

struct recorder_stats {
	uint64_t elapsed_ns;
	uint64_t lost;
	uint64_t lost_ring;        /* of these, for want of room in the ring buffer */
	uint64_t given_up;         /* numbers, for want of room within max_memory */
	uint64_t passed_over;      /* triggers that came too soon after another one to get a file */
	bool objects;
	uint64_t object_bytes;      /* of object events, before they were compressed */
	uint64_t object_lost_bytes, object_refused; /* for want of room; what made no sense */
	bool object_moves_lost;     /* from then on the heap was not known, */
	bool objects_incomplete;    /* and is not yet; */
	uint64_t objects_again, objects_again_ns; /* times that they were switched anew; pauses */
	uint64_t object_wait_ns;    /* of threads, for room in the ring */
	uint64_t objects_found, objects_pause_ns; /* of the switch, if there was one */
	uint64_t object_graphs, object_graph_ns;  /* collections with pointers; time of that */
	bool object_graphs_lost;                  /* the JVM has given them up */
	struct flag_hold_end flag; /* at the end */
	struct log_writer_stats log;
};
