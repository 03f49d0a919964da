#include "analyze/park/park_wait.h"

#include "analyze/lines/doing.h"

/* More of it are put together when they are charged. */
#define NEAR 8

/* The time of the one that is waited for, while it is itself blocked on a lock, or on none. */
static int add(struct parts *parts, const struct park_wait *w, uint64_t behind,
	       const struct split *split)
{
	struct part part = {.hold = w->by, .split = *split, .first = !parts->count};

	for (uint32_t i = parts->count; i > 0 && i + NEAR > parts->count; i--) {
		if (parts->rows[i - 1].hold.behind == behind) {
			split_add(&parts->rows[i - 1].split, split);
			return 0;
		}
	}
	part.hold.behind = behind;
	return parts_add(parts, &part);
}

static uint64_t behind_of(const struct park_wait *w, const struct doing *d)
{
	uint64_t lock = d ? doing_behind(d) : 0;

	return lock != w->lock ? lock : 0;
}

/* Up to done_ns, cut at the moments at which the one that is waited for told of itself. */
static int add_done(struct parts *parts, const struct park_wait *w, const struct doings *doings,
		    uint64_t done_ns)
{
	const struct doing *before = NULL, *d = NULL;
	uint64_t at_ns = w->since_ns, behind;
	struct counters since = {0};
	struct split split;
	int err = 0;

	if (doings && holder_is_thread(w->by.holder)) {
		before = doings_before(doings, w->by.holder, at_ns);
		d = doings_after(doings, w->by.holder, at_ns);
	}
	if (before && before->ns == at_ns)
		since = before->its;
	behind = behind_of(w, before);
	for (; d && d->ns <= done_ns && !err; d = doings_next(doings, w->by.holder, d)) {
		split = split_of(d->ns - at_ns, &since, &d->its);
		if (d->ns > at_ns)
			err = add(parts, w, behind, &split);
		at_ns = d->ns;
		since = d->its;
		behind = behind_of(w, d);
	}
	split = (struct split){.unknown_ns = done_ns - at_ns};
	return err || done_ns == at_ns ? err : add(parts, w, behind, &split);
}

int park_wait_charge(struct cells *cells, struct parts *parts, const struct park_wait *w)
{
	struct part rest = {.hold.holder = HOLDER_HAND_OVER};
	uint64_t done_ns = w->done_ns < w->until_ns ? w->done_ns : w->until_ns;
	int err = 0;

	if (done_ns > w->since_ns)
		err = add_done(parts, w, cells->doings, done_ns);
	else
		done_ns = w->since_ns;
	rest.first = !parts->count;
	rest.split.unknown_ns = w->until_ns - done_ns;
	if (!err && rest.split.unknown_ns)
		err = parts_add(parts, &rest);
	if (!err)
		err = parts_charge(parts, cells, w->lock, &w->who, w->since_ns, w->until_ns);
	parts->count = 0;
	return err;
}
