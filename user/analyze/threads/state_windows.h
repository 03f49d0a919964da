/* analyze/threads/state_windows.h: the states of threads, window by window. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/threads/states.h"

/* Times are those of events. */
struct state_options {
	uint64_t from_ns, to_ns; /* of what is looked at */
	uint64_t window_ns;      /* 0: no windows are wanted */
	uint64_t sample_ns;      /* how often threads were sampled; 0: as often as window_ns */
	bool from_begin;         /* from_ns is where the log begins: no sample is needed there */
	/* Not 0: an even number. If there would be more windows, they become twice as long. */
	uint32_t most;
};

/* What comes after so many windows is left out. All threads together have states in so many
 * windows (185 MB); beyond that the course is crowded. Fuzzers meet these bounds, too, and need not
 * write a hundred megabytes for it. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define COURSE_WINDOWS_MAX 2000
#define COURSE_ROWS_MAX (1u << 15)
#else
#define COURSE_WINDOWS_MAX 100000
#define COURSE_ROWS_MAX (1u << 21)
#endif

struct state_window {
	uint64_t from_ns, to_ns;
	/* No sample is there: what was added up over that end is shared out between this window and
	 * its neighbour. */
	bool rough_from, rough_to;
};

struct state_thread {
	uint32_t first; /* window of rows[0] */
	uint32_t count, capacity;
	struct states *rows;
	uint32_t pending; /* 1 + the index of its last pending interval, if that is still its own */
};

struct state_interval {
	uint32_t thread;
	uint64_t from_ns, to_ns;
	struct states states;
};

/* All zero but for the options at the start. */
struct state_windows {
	struct state_options options;
	struct state_window *windows; /* after state_windows_finish: without gaps, in order */
	uint32_t window_count;
	uint32_t windows_capacity;
	struct state_thread *threads; /* by the caller's numbers, thread_count of them */
	uint32_t thread_count, threads_capacity;
	uint64_t intervals; /* that were added and are in a window */
	uint64_t spread;    /* of them, those that reach over an end of one, and are shared out */

	bool full;    /* there would have been more windows */
	bool crowded; /* there would have been more rows: nothing is whole, nothing to be shown */
	uint32_t row_count; /* of all threads */

	bool begun, done;
	uint64_t last_moment_ns, end_ns;
	uint64_t next_ns; /* where the last window ought to end */
	struct state_interval *pending;
	uint32_t pending_count, pending_capacity;
};

/* All threads have been sampled at ns: before what ended then is added. 0 or -ENOMEM, as all. */
int state_windows_moment(struct state_windows *c, uint64_t ns);
/*
 * The states of a thread (a number, from 0 on, without large gaps) from one time to another. What
 * the step moves is moved in the windows before, from the last one back, as far as they have it.
 */
int state_windows_add(struct state_windows *c, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		      const struct state_step *step);
int state_windows_finish(struct state_windows *c);
void state_windows_free(struct state_windows *c);

/* A thread's states in a window; zeros where it has none. */
struct states state_windows_states(const struct state_windows *c, uint32_t thread, uint32_t window);
