#include "log/read/range.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/tables/array.h"
#include "log/format/event.h"
#include "log/read/order.h"
#include "log/state/carried.h"

struct log_range {
	struct log_order *order;
	uint64_t from_ns, to_ns;
	bool all;                /* the range has no begin and no end */
	struct carried_definitions *carry; /* until the range begins */
	struct carried_definitions
		*past;           /* from then on, until open is handed out: it owns their texts */
	struct event *open;      /* what was open at the begin of the range */
	uint32_t open_count, open_capacity, open_next;
	const struct event *held; /* the first one in the range, after these */
};

int log_range_new(struct log_order *o, uint64_t from_ns, uint64_t to_ns, struct log_range **ret)
{
	struct log_range *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->order = o;
	r->from_ns = from_ns;
	r->to_ns = to_ns;
	r->all = !from_ns && to_ns == UINT64_MAX;
	err = from_ns ? carried_new(NULL, &r->carry) : 0;
	if (err) {
		log_range_free(r);
		return err;
	}
	*ret = r;
	return 0;
}

void log_range_free(struct log_range *r)
{
	if (!r)
		return;
	carried_free(r->carry);
	carried_free(r->past);
	free(r->open);
	free(r);
}

static int pass(void *ctx, const struct event *e)
{
	(void)ctx;
	(void)e;
	return 0; /* definitions are handed out when they come */
}

static int keep(void *ctx, const struct event *e)
{
	struct log_range *r = ctx;
	int err;

	if (schema_is_definition(e->id))
		return 0;
	err = array_grow(&r->open, &r->open_capacity, r->open_count, sizeof(*r->open));
	if (!err)
		r->open[r->open_count++] = *e;
	return err;
}

/* The range begins: from now on nothing needs to be known of what was before. */
static int begin(struct log_range *r)
{
	r->past = r->carry;
	r->carry = NULL;
	return carried_open(r->past, keep, r);
}

static int __attribute__((noinline)) next(struct log_range *r, const struct event **ret)
{
	const struct event *e;
	int err;

	for (;;) {
		if (r->open_next < r->open_count) {
			*ret = &r->open[r->open_next++];
			return 1;
		}
		carried_free(r->past);
		r->past = NULL;
		if (r->held) {
			*ret = r->held;
			r->held = NULL;
			return 1;
		}
		err = log_order_next(r->order, &e);
		if (err != 1)
			return err;
		if (r->carry && e->time_ns >= r->from_ns && !schema_is_definition(e->id)) {
			err = begin(r);
			if (err)
				return err;
			r->held = e->time_ns <= r->to_ns ? e : NULL;
			continue;
		}
		if (r->carry) {
			err = carried_event(r->carry, e, pass, NULL);
			if (err)
				return err;
		}
		if (schema_is_definition(e->id) || (r->carry && e->id == EVENT_END) ||
		    (!r->carry && e->time_ns >= r->from_ns && e->time_ns <= r->to_ns)) {
			*ret = e;
			return 1;
		}
	}
}

int log_range_next(struct log_range *r, const struct event **ret)
{
	return r->all ? log_order_next(r->order, ret) : next(r, ret);
}
