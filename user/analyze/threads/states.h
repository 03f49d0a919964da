/* analyze/threads/states.h: what a thread does at a moment, and its time split by that. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct event;

/* A thread is in exactly one of these: its times add up to the time since it was first seen. */
enum state {
	STATE_RUNNING,
	STATE_STOLEN,    /* on a CPU that the hypervisor had given to somebody else */
	STATE_RUNNABLE,  /* waiting for a CPU, but not: */
	STATE_THROTTLED, /* its cgroup has used up its quota */
	STATE_LOCK,      /* blocked on a contended monitor */
	STATE_WAIT,      /* ... in Object.wait */
	STATE_PARK,
	STATE_SLEEP, /* ... in Thread.sleep */
	STATE_IO,    /* ... uninterruptibly, or as a Java thread in native code */
	STATE_PAUSE, /* ... as a Java thread, by a safepoint */
	STATE_OTHER, /* ... for any other reason, or none that is known */
	STATE_COUNT,
};

struct states {
	uint64_t ns[STATE_COUNT];
};

/* "running", ...: as in JSON. Static. */
const char *state_name(enum state state);

/*
 * The thread's states, cumulative since it was first seen, of the events that carry them all
 * (thread_sample, thread_end, span_begin, span_end, thread_rename). false: not such an event; *ret
 * is untouched. In a log of an older spoor the blocked time is not told apart: all of it is
 * STATE_OTHER.
 */
bool states_of(const struct event *e, struct states *ret);
/* What has been added between the two; nothing where a count has stepped back. */
struct states states_since(const struct states *from, const struct states *to);
/* Both saturate: no state's time is ever more than the sum. */
void states_add(struct states *to, const struct states *more);
uint64_t states_sum(const struct states *s);
/* The state of a thread that is blocked for this reason (enum blocked_reason, or a newer one). */
enum state state_of_reason(uint64_t reason);
