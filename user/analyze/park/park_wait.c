#include "analyze/park/park_wait.h"

#include "analyze/lines/reason_history.h"

/* More of it are put together when they are charged. */
#define NEAR 8

/* The time of the one that is waited for, while it is itself blocked on a lock, or on none. */
static int add(struct hold_slices *slices, const struct park_wait *w, const struct blocked_on *on,
	       uint64_t begin_ns, const struct split *split)
{
	struct hold_slice slice = {
		.hold = w->by, .begin_ns = begin_ns, .split = *split, .first = !slices->count};

	hold_blocked_on(&slice.hold, on);
	for (uint32_t i = slices->count; i > 0 && i + NEAR > slices->count; i--) {
		const struct hold *near = &slices->rows[i - 1].hold;

		if (near->blocked_on == on->lock && near->stack == slice.hold.stack) {
			split_add(&slices->rows[i - 1].split, split);
			return 0;
		}
	}
	return hold_slices_add(slices, &slice);
}

/* Up to done_ns, cut at the moments at which the one that is waited for emitted an event of its
 * own. */
static int add_done(struct hold_slices *slices, const struct park_wait *w,
		    const struct reason_history *reasons, uint64_t done_ns)
{
	const struct reason_moment *before = NULL, *d = NULL;
	uint64_t at_ns = w->since_ns;
	struct blocked_on on;
	struct counters since = {0};
	struct split split;
	int err = 0;

	if (reasons && holder_is_thread(w->by.holder)) {
		before = reasons_before(reasons, w->by.holder, at_ns);
		d = reasons_after(reasons, w->by.holder, at_ns);
	}
	if (before && before->ns == at_ns)
		since = before->its;
	on = reason_blocked_on(before, w->lock);
	for (; d && d->ns <= done_ns && !err; d = reasons_next(reasons, w->by.holder, d)) {
		split = split_of(d->ns - at_ns, &since, &d->its);
		if (d->ns > at_ns)
			err = add(slices, w, &on, at_ns, &split);
		at_ns = d->ns;
		since = d->its;
		on = reason_blocked_on(d, w->lock);
	}
	split = (struct split){.unknown_ns = done_ns - at_ns};
	return err || done_ns == at_ns ? err : add(slices, w, &on, at_ns, &split);
}

int park_wait_charge(struct cells *cells, struct hold_slices *slices, const struct park_wait *w)
{
	struct hold_slice rest = {.hold.holder = HOLDER_HAND_OVER};
	uint64_t done_ns = w->done_ns < w->until_ns ? w->done_ns : w->until_ns;
	int err = 0;

	if (done_ns > w->since_ns)
		err = add_done(slices, w, cells->reasons, done_ns);
	else
		done_ns = w->since_ns;
	rest.begin_ns = done_ns;
	rest.first = !slices->count;
	rest.split.unknown_ns = w->until_ns - done_ns;
	if (!err && rest.split.unknown_ns)
		err = hold_slices_add(slices, &rest);
	hold_slices_hold(slices, w->by.holder);
	if (!err)
		err = hold_slices_charge(slices, cells, w->lock, &w->who, w->since_ns, w->until_ns);
	slices->count = 0;
	return err;
}
