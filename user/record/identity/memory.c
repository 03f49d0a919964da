/*
 * --max-memory is of the process as a whole. What it takes when it keeps nothing is MEMORY_FIXED:
 * the program, the ring buffer (which the kernel counts as this process's while it is mapped),
 * 2 MB of blocks on their way and their compression, the open events of 8,192 threads. The rest is
 * divided here.
 *
 * What an entry costs elsewhere is not taken from a budget, as there are never more of it than
 * entries here, but is left free: what is known of a lock, for each key that leads to it; and what
 * the log's writer keeps for the parts that follow. Bytes of an entry with its buckets, and of what
 * comes with it: a lock's key 60 and 44 + 76, its hash 44 and 44 + 76, thread 100 and 100, name 44
 * and 50 (texts are counted in both), frame 60 and 84. So 43 of 100 parts are divided, and 55 come
 * with them.
 */
#include "record/identity/memory.h"

#include <stdio.h>

#include "base/text/units.h"
#include "log/format/event.h"
#include "log/write/writer.h"

static const struct {
	uint8_t pct;
} shares[MEMORY_PART_COUNT] = {
	[MEMORY_LOCKS] = {12}, [MEMORY_HASHES] = {4},  [MEMORY_THREADS] = {4}, [MEMORY_NAMES] = {4},
	[MEMORY_CHAINS] = {8}, [MEMORY_METHODS] = {6}, [MEMORY_CARRY] = {5},
};

_Static_assert((int)MEMORY_METHOD == (int)BOUNDED_METHOD &&
		       (int)MEMORY_KIND_COUNT == (int)BOUNDED_COUNT,
	       "bounded of events.json follows enum memory_kind");

void memory_divide(struct memory *m, uint64_t max, uint64_t other)
{
	uint64_t fixed = MEMORY_FIXED + other;
	/* Never nothing: so that a recording works, if it is larger than was asked for. */
	uint64_t rest = max > fixed + (MEMORY_LEAST - MEMORY_FIXED) ? max - fixed
								    : MEMORY_LEAST - MEMORY_FIXED;

	*m = (struct memory){.max = max};
	for (unsigned i = 0; i < MEMORY_PART_COUNT; i++)
		m->part[i].max = rest / 100 * shares[i].pct;
}

static void write_note(const struct memory *m, struct log_writer *w, uint64_t time_ns)
{
	struct event e = {.id = EVENT_NOTE, .time_ns = time_ns};
	char text[256], max[UNITS_TEXT_MAX];

	snprintf(text, sizeof(text),
		 "the recorder has reached --max-memory (%s): locks, names and call chains that "
		 "were not used for long are forgotten; one that comes again has a new number",
		 size_format(m->max, max));
	e.v[NOTE_LEVEL].u = NOTE_LEVEL_WARNING;
	e.v[NOTE_TEXT].s = text;
	log_write(w, &e);
}

uint64_t memory_given_up(const struct memory *m)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < MEMORY_KIND_COUNT; i++)
		all += m->forgotten[i] + m->shared[i];
	return all;
}

void memory_write(struct memory *m, struct log_writer *w, uint64_t time_ns)
{
	if (!m->noted && memory_given_up(m)) {
		m->noted = true;
		write_note(m, w, time_ns);
	}
	for (unsigned i = 0; i < MEMORY_KIND_COUNT; i++) {
		struct event e = {.id = EVENT_MEMORY_BOUND, .time_ns = time_ns};

		if (m->forgotten[i] + m->shared[i] == m->reported[i])
			continue;
		m->reported[i] = m->forgotten[i] + m->shared[i];
		e.v[MEMORY_BOUND_KIND].u = i;
		e.v[MEMORY_BOUND_FORGOTTEN].u = m->forgotten[i];
		e.v[MEMORY_BOUND_SHARED].u = m->shared[i];
		log_write(w, &e);
	}
}
