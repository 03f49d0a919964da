/* heap/replay/object_sums.h: what a replay has counted: of all, of threads, of collections. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct object_thread {
	uint64_t stream;
	int64_t java_tid; /* 0: no Java thread */
	uint32_t tid;     /* in the JVM's pid namespace */
	uint64_t count, bytes; /* that are chosen: all, unless there is an object_choice */
	uint64_t all_bytes;
	bool has_vm_bytes; /* the thread has ended, or the JVM in good order */
	uint64_t vm_bytes; /* what the JVM counts itself */
	bool gap;          /* events of it were lost */
};

struct object_collection {
	uint64_t id, begin_ns, end_ns;
	char collector[32], cause[64];
	bool all;      /* of the whole heap */
	bool kept;     /* some of what it looked at stayed where it was */
	bool untraced; /* moves are not reported, and nothing is known of the heap after it */
	bool incomplete; /* events were lost: after it, objects may be missing (object_losses.c) */
	uint64_t survived, survived_bytes;
	uint64_t first, first_bytes; /* of these, those that no collection has found before */
	/* All that is in the heap, whether it will be found alive or not. */
	uint64_t before, before_bytes, after, after_bytes;
	uint64_t graph_bytes; /* of who refers to whom at its end; 0: that was not recorded whole */
};

enum object_end {
	OBJECT_END_NONE,
	OBJECT_END_ENDED,
	OBJECT_END_KILLED,
	OBJECT_END_LEFT,
	OBJECT_END_OFF, /* switched off in good order; the JVM goes on */
	OBJECT_END_COUNT
};

struct object_sums {
	uint64_t count, bytes;         /* that are chosen */
	uint64_t left_out, left_out_bytes;
	uint64_t at_edge, at_edge_bytes; /* nobody knows on which side of a limit of time */
	uint64_t carried, carried_bytes; /* were in the heap when this part of the log began */
	bool begin_unknown;              /* the log is a part whose begin lacks the heap */
	uint64_t found, found_bytes;   /* were in the heap already: SPOOR_TIER_HEAP */
	uint64_t unknown_class;        /* of these: neither class nor size are known */
	uint64_t no_place;             /* of these: the address is not known */
	uint64_t chains, chains_wrong; /* TLABs that were reported whole; that did not close */
	uint64_t moves, unknown_moves, over, checked, checked_wrong;
	uint64_t gaps, gap_bytes, holes; /* lost in the JVM; missing in the log */
	uint64_t lost_bytes; /* in the JVM, as the recorder reports: gaps that are not told, too */
	uint64_t incomplete; /* collections */
	bool incomplete_now; /* the heap of the moment at which the replay has ended */
	uint64_t rings_again;   /* times that events were switched on anew, as moves were lost */
	uint64_t unrecorded_ns; /* until the heap had been walked then */
	uint64_t uncertain;  /* objects that count as dead, of which a move may have been lost */
	uint64_t bad_words;
	uint64_t waits, wait_ns, lost_names, refused; /* as the recorder reports */
	enum object_end end;
	bool has_ring, heap_given_up;
	unsigned heap_shift;
	uint64_t heap_bytes;
	uint64_t begin_ns;                  /* of the first words, CLOCK_MONOTONIC; 0: not known */
	uint64_t live, live_bytes;          /* now */
	uint64_t map_bytes, map_bytes_most; /* memory for where objects are */
	uint64_t forgotten; /* objects that are not known to be in the heap any more: of before a
			       collection without moves, or of before a further ring */
};
