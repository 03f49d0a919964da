/* session/hole_order.h: the events of a log in their order, from one hole in it to the next. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "log/read/reader.h"

struct log_order;
struct log_range;

/* All zero at first, but reader and the limits. */
struct hole_order {
	struct log_reader *reader;         /* opened to report holes; lent until hole_order_free */
	uint64_t from_ns, to_ns;           /* 0, UINT64_MAX: no limits; see log/read/range.h */
	uint64_t hole_from_ns, hole_to_ns; /* the hole reported last, within the limits */
	uint64_t late;                     /* events that came too late to be put in order */

	struct log_order *order;
	struct log_range *range;
	uint64_t last_ns; /* of the events so far, without definitions */
};

/*
 * As log_range_next(). LOG_READER_HOLE: hole_from_ns to hole_to_ns is missing between the events
 * before and those after; first of these come those that were open then, with the times at which
 * they began.
 */
int hole_order_next(struct hole_order *s, const struct event **ret);
void hole_order_free(struct hole_order *s);
