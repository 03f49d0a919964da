/* report/chrome/chrome_state.h: what the parts of a timeline share. */
#pragma once

#include "analyze/tracks/track.h"
#include "base/tables/keymap.h"
#include "log/format/event.h"
#include "log/read/reader.h"
#include "report/chrome/chrome.h"
#include "report/chrome/chrome_group.h"
#include "report/chrome/chrome_out.h"
#include "report/model/label.h"

struct stacks;

#define CHROME_CHAINS 8192 /* that are kept as text; a power of two */

/* Places of tracks among the others. */
enum chrome_sort {
	CHROME_SORT_MARKS,
	CHROME_SORT_PAUSES,
	CHROME_SORT_COLLECTIONS,
	CHROME_SORT_PHASES,
	CHROME_SORT_WORKERS,
	CHROME_SORT_SAFEPOINTS,
	CHROME_SORT_OPERATIONS,
	CHROME_SORT_THREADS = 100,
};

/* That a thread has been woken, or sent for a lock. */
struct chrome_wake {
	uint32_t by; /* 0: nobody */
	uint64_t time_ns;
	uint64_t sequence;
};

struct chrome_thread {
	uint32_t thread, holes; /* holes: that there had been when it was last used */
	uint64_t track;
	uint64_t sort;
	bool hidden;                        /* not wanted */
	bool again;                         /* its kernel thread id was another thread's before */
	bool named;                         /* its track */
	struct chrome_wake unpark;          /* the first since it has parked last */
	struct chrome_group *spans, *names; /* NULL: none yet */
	bool sampled;
	struct states sample; /* the last one */
};

struct chrome_lock {
	uint32_t holes;  /* as of a thread */
	uint64_t holder; /* last seen; 0: nobody, or not known */
	struct chrome_wake release;
};

struct chrome_chain {
	uint64_t stack; /* 0: none */
	char *json;
};

#define CHROME_CPU_FIELDS 8

struct chrome_cpu {
	uint32_t holes;
	bool sampled;
	uint64_t time_ns;
	uint64_t v[CHROME_CPU_FIELDS]; /* as in cpu_sample, after cpu */
};

struct chrome_safepoint {
	bool begun, ended, measured;
	uint64_t begin_ns, end_ns;
	uint64_t operation; /* a string; 0: not known */
	struct event measure;
};

struct chrome {
	struct chrome_options options; /* from_ns and until_ns as times of events */
	bool limited;                  /* there was an until_ns: the end need not be in it */
	struct chrome_out out;
	const struct log_names *names;
	const json_t *header;
	struct labels *labels;
	struct stacks *stacks;
	struct chrome_chain chains[CHROME_CHAINS];
	uint64_t now_ns;
	uint64_t hole_ns; /* the end of the last hole; 0: there was none */
	uint32_t holes;
	uint64_t next_track, next_flow;
	struct chrome_facts facts;
	bool off_cpu; /* the log reports threads off their CPUs */

	struct tracks *tracks;
	struct keymap thread_map, track_map;
	struct segments threads; /* struct chrome_thread */
	struct keymap lock_map;
	struct chrome_lock *locks;
	uint32_t locks_capacity;

	struct chrome_group *groups, *used; /* all of them; those used since the last hole */
	struct keymap group_map;     /* by what they are found by; of collections, by their ids */
	struct chrome_group **found;
	uint32_t found_capacity;
	struct chrome_group *pauses, *operations, *safepoints;
	struct chrome_safepoint safepoint;

	uint64_t batch_ns, window_ns; /* when threads were sampled last, and before that */
	bool batch_begun;
	bool closing; /* the samples that end a window are coming */
	struct states batch;
	struct keymap cpu_map;
	struct chrome_cpu *cpus;
	uint32_t cpus_capacity;

	uint64_t marks; /* the track; 0: none yet */
	struct keymap lost_stages;
	uint64_t *lost; /* counts */
	uint64_t lost_events;
	uint32_t lost_capacity;
	struct log_reader_stats stats;
};
