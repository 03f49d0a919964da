/* log/read/order.h: puts the events of a log into the order of their times, with bounded memory. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct event;
struct log_order;
struct log_reader;

/*
 * Reads from r, lent until log_order_free, and sorts by (time, offset in the file) within a window:
 * an event comes out when the newest one read is window_ns younger. An event that comes later than
 * that is returned at once, counted by log_order_late, if it is no definition: these keep the times
 * at which they were made, in each part of a log that has them again.
 */
int log_order_new(struct log_reader *r, uint64_t window_ns, struct log_order **ret);
/* It holds at most so many bytes of events, and a block more; then they come out before that. */
#define ORDER_HELD_MAX (128ul << 20)
void log_order_set_max(struct log_order *o, size_t bytes);
int log_order_next(struct log_order *o, const struct event **ret); /* as log_reader_next */
uint64_t log_order_late(const struct log_order *o);
void log_order_free(struct log_order *o);
