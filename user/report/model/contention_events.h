/* report/model/contention_events.h: contentions one by one, for the formats that have them so. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct blocked_interval;
struct blocked_list;
struct log_names;
struct session_log;
struct stacks;

/* All lent. */
struct contention_events {
	const struct blocked_list *list; /* without an error in it */
	const struct log_names *names;
	const struct stacks *stacks;
	const struct session_log *log; /* its header, its analysis */
	bool exact;                    /* a patched JVM has reported who held the locks */
};

/* Whether it is a contention, not mere parking. */
bool contention_event_counts(const struct contention_events *in, const struct blocked_interval *i);
/* "recorded" by a patched JVM, "inferred", "hand-over", "unknown". */
const char *contention_owner_is(const struct contention_events *in, uint64_t owner);

/*
 * The frame that a blocked thread's chain is about, or a holder's, as stacks_waiter_method() and
 * stacks_holder_method() say: its stack number; 0: not known, or no method's.
 */
uint64_t contention_waiter_frame(const struct contention_events *in, uint64_t stack);
uint64_t contention_holder_frame(const struct contention_events *in, uint64_t stack);
