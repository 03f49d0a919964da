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
 * is untouched. In a log of an older spoor the blocked time is not split by reason: all of it is
 * STATE_OTHER.
 */
bool states_of(const struct event *e, struct states *ret);
/*
 * What has been added between the two, and by what the times before are to be corrected.
 *
 * A count steps back where what it had counted was found to be something else: a thread that was
 * seen on a CPU at a moment had been running, for all that was known, and the hypervisor's word
 * that it had not comes when the CPU is back (likewise throttled and runnable, paused and other).
 * Then the one count falls, and the other grows by more than the time between. That much is a move:
 * it is taken from what the other has grown by, so that the states add up to the time between, and
 * it belongs to the time before, where it is to be put from one state to the other. When it was
 * cannot be known: it is taken to have been as late as it can have been.
 *
 * Counts that step back without such a growth have begun anew: nothing was added, nothing moved.
 */
struct state_move {
	enum state from, to;
	uint64_t ns;
};
struct state_step {
	struct states states;
	struct state_move moves[STATE_COUNT];
	uint32_t move_count;
};
struct state_step states_step(const struct states *from, const struct states *to);
/* states_step().states */
struct states states_since(const struct states *from, const struct states *to);
/* Both saturate: no state's time is ever more than the sum. */
void states_add(struct states *to, const struct states *more);
uint64_t states_sum(const struct states *s);
/* The state of a thread that is blocked for this reason (enum blocked_reason, or a newer one). */
enum state state_of_reason(uint64_t reason);
