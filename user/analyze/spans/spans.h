/* analyze/spans/spans.h: what the application has marked: how often, how long, doing what, and
 * who held it up meanwhile. */
#pragma once

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "analyze/spans/quantiles.h"
#include "analyze/threads/states.h"
#include "analyze/time_buckets.h"

struct event;
struct log_names;
struct span_ended;
struct spans;

struct spans_options {
	const struct log_names *names; /* lent until spans_free; knows a span's name before its end
					*/
	unsigned top;                  /* how many of the slowest are kept, and of those open */
	const char *pattern;           /* fnmatch(3): only spans of these names; NULL: all */
	/* A span is the time from a thread's name to its next one, and not what was marked. With an
	 * expression, only of names that it matches; what its groups match is the span's name. */
	bool by_thread_name;
	const regex_t *thread_name; /* lent; NULL: all */
	/* Called for each span that counts, when it has ended; NULL: nobody. 0, or an error that
	 * spans_add() returns. */
	int (*ended)(void *context, const struct span_ended *e);
	void *context;
};

/* Time in which a span's thread was blocked on a lock. */
struct span_blocker {
	uint64_t lock;
	uint64_t holder;       /* as in struct cell */
	uint64_t holder_stack; /* where it was; 0: not known. Of a name: one of them */
	uint64_t ns;
};

#define SPAN_BLOCKERS_MAX 24

struct span_blockers {
	struct span_blocker by[SPAN_BLOCKERS_MAX];
	uint32_t count;
	uint64_t rest_ns; /* of those that found no room */
};

/* All spans of a name. Of spans within spans of the same name, both are counted. */
struct span_name {
	char *text;
	uint32_t row; /* after spans_finish: its index in spans_by_name() */
	struct quantiles times;
	struct time_buckets buckets;
	uint64_t total_ns, self_ns; /* self: without the spans within */
	struct states states, self;
	struct span_blockers blockers;
};

struct span {
	uint64_t thread;
	const char *name;
	const char *within; /* the span around it; NULL: none */
	uint64_t begin_ns;
	uint64_t ns;          /* up to the log's end, if it had not ended by then; there ... */
	struct states states; /* ... nothing is known of these */
	struct span_blockers blockers;
};

/* Who held the span up may become known later. */
struct span_ended {
	const struct span_name *name; /* lent until spans_free */
	const struct span *span;
	uint64_t self_ns;
	const struct states *self;
};

struct spans_facts {
	uint64_t count;         /* spans that have begun and ended, of all names */
	uint64_t other_names;   /* of these: of names that were not asked for */
	uint64_t begin_missing; /* ends without a begin: begun before the recording, or lost */
	uint64_t open;          /* begins without an end */
	uint64_t too_deep;      /* not counted: within too many others */
	uint64_t no_room;       /* not counted: of too many different names */
	uint64_t error_ns;      /* by which the states of spans differ from their lengths, in sum */
	uint64_t late_ns;       /* of lock waits that were reported when their span was forgotten */
};

/* NULL: no memory. */
struct spans *spans_new(const struct spans_options *o);
void spans_free(struct spans *s);

/* Events in time order; those of other kinds are ignored. 0 or -ENOMEM. */
int spans_add(struct spans *s, const struct event *e);
/*
 * waiter was blocked on lock from from_ns to to_ns, while holder held it, at holder_stack. In any
 * order, and also some time after the end of the span that it belongs to.
 */
void spans_charge(struct spans *s, uint64_t waiter, uint64_t lock, uint64_t from_ns, uint64_t to_ns,
		  uint64_t holder, uint64_t holder_stack);
/*
 * Parts of the recording are missing from from_ns to to_ns: what is open is reported as open. A
 * begin from before to_ns that comes now is that of a span that is still open at to_ns: it counts
 * with its whole time, but who held it up in the hole is not known. 0 or -ENOMEM.
 */
int spans_hole(struct spans *s, uint64_t from_ns, uint64_t to_ns);
/* No more of either. 0 or -ENOMEM. */
int spans_finish(struct spans *s, uint64_t end_ns);

/* After spans_finish, lent until spans_free: by total time; the slowest first; those that were open
 * at the end, the oldest first. */
const struct span_name *const *spans_by_name(const struct spans *s, uint32_t *ret_count);
const struct span *const *spans_slowest(const struct spans *s, uint32_t *ret_count);
const struct span *const *spans_open(const struct spans *s, uint32_t *ret_count);
struct spans_facts spans_facts(const struct spans *s);
