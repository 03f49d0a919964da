/*
 * Events before a hole are not sorted with those after it: what is after a missing part begins
 * with events of long ago, those that are open. So the order begins anew with each run.
 */
#include "session/hole_order.h"

#include "base/text/units.h"
#include "log/format/event.h"
#include "log/read/order.h"
#include "log/read/range.h"

/* Events of different CPUs are that much out of order at most; later ones are counted and reported.
 */
#define ORDER_WINDOW_NS NS_PER_S

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void end(struct hole_order *s)
{
	s->late += s->order ? log_order_late(s->order) : 0;
	log_range_free(s->range);
	log_order_free(s->order);
	s->range = NULL;
	s->order = NULL;
}

static int begin(struct hole_order *s)
{
	/* Within the limits, all that comes is: also what was open after a hole. */
	uint64_t from_ns = s->last_ns && s->last_ns >= s->from_ns ? 0 : s->from_ns;
	int err = log_order_new(s->reader, ORDER_WINDOW_NS, &s->order);

	return err ? err : log_range_new(s->order, from_ns, s->to_ns, &s->range);
}

/* false: the hole is outside of the limits. */
static bool find_hole(struct hole_order *s)
{
	struct log_reader_stats stats;

	log_reader_stats(s->reader, &stats);
	s->hole_from_ns = later(s->last_ns, s->from_ns);
	s->last_ns = later(s->last_ns, stats.hole_end_ns);
	s->hole_to_ns = s->last_ns < s->to_ns ? s->last_ns : s->to_ns;
	return s->hole_from_ns <= s->hole_to_ns;
}

int hole_order_next(struct hole_order *s, const struct event **ret)
{
	int err = s->range ? 0 : begin(s);

	while (!err && (err = log_range_next(s->range, ret)) == LOG_READER_HOLE) {
		bool found = find_hole(s);

		end(s);
		err = begin(s);
		if (!err && found)
			return LOG_READER_HOLE;
	}
	/* Definitions come before their time: they are no sign of where the events are. */
	if (err == 1 && !schema_is_definition((*ret)->id))
		s->last_ns = later(s->last_ns, (*ret)->time_ns);
	return err;
}

void hole_order_free(struct hole_order *s)
{
	end(s);
}
