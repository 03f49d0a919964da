/* log/read/range.h: the events of a stretch of time, as a log that was begun there would have
 * them. */
#pragma once

#include <stdint.h>

struct event;
struct log_order;
struct log_range;

/*
 * Of the events of o, lent until log_range_free: all definitions, and others from from_ns to to_ns.
 * The log's end comes out also if it is before from_ns: then there is nothing in the range.
 * Before the first of these comes what was open then, with the times at which it began.
 */
int log_range_new(struct log_order *o, uint64_t from_ns, uint64_t to_ns, struct log_range **ret);
int log_range_next(struct log_range *r, const struct event **ret); /* as log_reader_next */
void log_range_free(struct log_range *r);                          /* accepts NULL */
