/* tests/unit/analyze/analyze_events.h: events about locks, made from what matters of them. */
#pragma once

#include <stdint.h>

#include "log/format/event.h"

struct times {
	uint64_t cpu, stolen, runnable;
};

static inline void set_times(struct event *e, unsigned first, struct times t)
{
	e->v[first].u = t.cpu;
	e->v[first + 1].u = t.stolen;
	e->v[first + 2].u = t.runnable;
}

static inline struct event enter(uint64_t ns, uint32_t thread, uint64_t lock, uint64_t owner,
				 uint64_t source, struct times owners)
{
	struct event e = {.id = EVENT_MONITOR_CONTENDED_ENTER, .time_ns = ns, .thread = thread};

	e.v[MONITOR_CONTENDED_ENTER_LOCK].u = lock;
	e.v[MONITOR_CONTENDED_ENTER_OWNER].u = owner;
	e.v[MONITOR_CONTENDED_ENTER_OWNER_SOURCE].u = source;
	set_times(&e, MONITOR_CONTENDED_ENTER_OWNER_CPU_NS, owners);
	return e;
}

static inline struct event entered(uint64_t ns, uint32_t thread, uint64_t lock, struct times own,
				   uint64_t owner, struct times owners)
{
	struct event e = {.id = EVENT_MONITOR_CONTENDED_ENTERED, .time_ns = ns, .thread = thread};

	e.v[MONITOR_CONTENDED_ENTERED_LOCK].u = lock;
	e.v[MONITOR_CONTENDED_ENTERED_OWNER].u = owner;
	set_times(&e, MONITOR_CONTENDED_ENTERED_CPU_NS, own);
	set_times(&e, MONITOR_CONTENDED_ENTERED_OWNER_CPU_NS, owners);
	return e;
}

/* exit, wait begin, wait end, notify: lock, own counters. */
static inline struct event own(uint16_t id, uint64_t ns, uint32_t thread, uint64_t lock,
			       struct times own)
{
	static const unsigned first[] = {
		[EVENT_MONITOR_CONTENDED_EXIT] = MONITOR_CONTENDED_EXIT_CPU_NS,
		[EVENT_MONITOR_WAIT_BEGIN] = MONITOR_WAIT_BEGIN_CPU_NS,
		[EVENT_MONITOR_WAIT_END] = MONITOR_WAIT_END_CPU_NS,
		[EVENT_MONITOR_NOTIFY] = MONITOR_NOTIFY_CPU_NS,
	};
	struct event e = {.id = id, .time_ns = ns, .thread = thread};

	e.v[0].u = lock;
	set_times(&e, first[id], own);
	return e;
}

static inline struct event park(uint64_t ns, uint32_t thread, uint64_t lock, uint64_t owner,
				uint64_t source, struct times owners)
{
	struct event e = {.id = EVENT_PARK_BEGIN, .time_ns = ns, .thread = thread};

	e.v[PARK_BEGIN_LOCK].u = lock;
	e.v[PARK_BEGIN_OWNER].u = owner;
	e.v[PARK_BEGIN_OWNER_SOURCE].u = source;
	set_times(&e, PARK_BEGIN_OWNER_CPU_NS, owners);
	return e;
}

static inline struct event parked(uint64_t ns, uint32_t thread, uint64_t lock, struct times own,
				  uint64_t owner, struct times owners)
{
	struct event e = {.id = EVENT_PARK_END, .time_ns = ns, .thread = thread};

	e.v[PARK_END_LOCK].u = lock;
	e.v[PARK_END_OWNER].u = owner;
	set_times(&e, PARK_END_CPU_NS, own);
	set_times(&e, PARK_END_OWNER_CPU_NS, owners);
	return e;
}

static inline struct event unpark(uint64_t ns, uint32_t thread, uint64_t target, struct times own)
{
	struct event e = {.id = EVENT_UNPARK, .time_ns = ns, .thread = thread};

	e.v[UNPARK_TARGET].u = target;
	set_times(&e, UNPARK_CPU_NS, own);
	return e;
}

static inline struct event owner_seen(uint64_t ns, uint32_t thread, uint64_t lock, uint64_t owner,
				      uint64_t source, struct times owners)
{
	struct event e = {.id = EVENT_MONITOR_OWNER_SEEN, .time_ns = ns, .thread = thread};

	e.v[MONITOR_OWNER_SEEN_LOCK].u = lock;
	e.v[MONITOR_OWNER_SEEN_OWNER].u = owner;
	e.v[MONITOR_OWNER_SEEN_OWNER_SOURCE].u = source;
	set_times(&e, MONITOR_OWNER_SEEN_OWNER_CPU_NS, owners);
	return e;
}

static inline struct event owner_at(uint64_t ns, uint32_t thread, uint64_t waiter, uint64_t stack,
				    uint64_t source)
{
	struct event e = {.id = EVENT_OWNER_STACK, .time_ns = ns, .thread = thread};

	e.v[OWNER_STACK_WAITER].u = waiter;
	e.v[OWNER_STACK_STACK].u = stack;
	e.v[OWNER_STACK_SOURCE].u = source;
	return e;
}

/* Where an event's fields for call chains are: the thread's own, its owner's; 0: it has none. */
static inline unsigned stack_field(uint16_t id)
{
	static const unsigned fields[] = {
		[EVENT_MONITOR_CONTENDED_ENTER] = MONITOR_CONTENDED_ENTER_STACK,
		[EVENT_MONITOR_CONTENDED_EXIT] = MONITOR_CONTENDED_EXIT_STACK,
		[EVENT_MONITOR_WAIT_BEGIN] = MONITOR_WAIT_BEGIN_STACK,
		[EVENT_PARK_BEGIN] = PARK_BEGIN_STACK,
		[EVENT_UNPARK] = UNPARK_STACK,
	};

	return id < sizeof(fields) / sizeof(*fields) ? fields[id] : 0;
}

static inline unsigned owner_stack_field(uint16_t id)
{
	return id == EVENT_MONITOR_CONTENDED_ENTER ? MONITOR_CONTENDED_ENTER_OWNER_STACK
	       : id == EVENT_MONITOR_OWNER_SEEN    ? MONITOR_OWNER_SEEN_OWNER_STACK
	       : id == EVENT_PARK_BEGIN            ? PARK_BEGIN_OWNER_STACK
						   : 0;
}

/* The event with call chains; those for which it has no field are ignored. */
static inline struct event at_stacks(struct event e, uint64_t stack, uint64_t owner_stack)
{
	if (stack_field(e.id))
		e.v[stack_field(e.id)].u = stack;
	if (owner_stack_field(e.id))
		e.v[owner_stack_field(e.id)].u = owner_stack;
	return e;
}
