/*
 * --max-memory is of the process as a whole. What it takes when it keeps nothing is MEMORY_FIXED:
 * the program, the ring buffer (which the kernel counts as this process's while it is mapped),
 * 2 MB of blocks on their way and their compression. The rest is divided here. What each entry
 * costs in the log's writer, which keeps it for the parts that follow, is not taken from a budget,
 * as there are never more entries there than here: it is left free. (Bytes of an entry here, with
 * its buckets, and there: lock 108 and 76, thread 100 and 90, name 44 and 50, frame 60 and 84,
 * where texts are counted in both.)
 */
#include "probe/memory.h"

#include <stdio.h>

#include "base/units.h"
#include "log/event.h"
#include "log/writer.h"

static const struct {
	uint8_t pct;
} shares[MEMORY_PART_COUNT] = {
	[MEMORY_LOCKS] = {20}, [MEMORY_HASHES] = {4},  [MEMORY_THREADS] = {5},
	[MEMORY_NAMES] = {5},  [MEMORY_CHAINS] = {10}, [MEMORY_METHODS] = {8},
	[MEMORY_CARRY] = {6},
};
/* Together 58: 20 * 76 / 108 + 5 + 6 + 10 * 84 / 60 = 39 in the writer. Open events: 23 MB at most,
 * if each of 32,768 threads has two; MEMORY_FIXED has room for a quarter of that. */

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
		 "were "
		 "not used for long are forgotten; one that comes again has a new number",
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

		if (m->forgotten[i] + m->shared[i] == m->told[i])
			continue;
		m->told[i] = m->forgotten[i] + m->shared[i];
		e.v[MEMORY_BOUND_KIND].u = i;
		e.v[MEMORY_BOUND_FORGOTTEN].u = m->forgotten[i];
		e.v[MEMORY_BOUND_SHARED].u = m->shared[i];
		log_write(w, &e);
	}
}
