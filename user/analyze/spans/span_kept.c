#include "analyze/spans/span_kept.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/tables/keymap.h"

bool span_is_slower(const struct span *a, const struct span *b)
{
	if (a->ns != b->ns)
		return a->ns > b->ns;
	return a->begin_ns != b->begin_ns ? a->begin_ns < b->begin_ns : a->thread < b->thread;
}

void blockers_add(struct span_blockers *b, const struct span_blocker *more)
{
	uint32_t i = 0;

	while (i < b->count && (b->by[i].lock != more->lock || b->by[i].holder != more->holder ||
				b->by[i].holder_stack != more->holder_stack))
		i++;
	if (i < b->count)
		b->by[i].ns += more->ns;
	else if (i < SPAN_BLOCKERS_MAX)
		b->by[b->count++] = *more;
	else
		b->rest_ns += more->ns;
}

static struct kept *kept_of(struct span *span)
{
	_Static_assert(offsetof(struct kept, span) == 0, "a span in the heap is a kept one");

	return (struct kept *)span;
}

static void release(struct kept *k)
{
	if (--k->users)
		return;
	if (k->was_blocked && k->span.begin_ns + k->span.ns > k->thread->forgotten_ns)
		k->thread->forgotten_ns = k->span.begin_ns + k->span.ns;
	if (k->newer)
		k->newer->older = k->older;
	else
		k->thread->latest = k->older;
	if (k->older)
		k->older->newer = k->newer;
	free(k);
}

/* --- the slowest: a heap, in which no span is slower than those below it ------------------- */

static void sift_down(struct kept_spans *k, uint32_t at, struct span *span)
{
	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child + 1 < k->slowest_count &&
		    span_is_slower(k->slowest[child], k->slowest[child + 1]))
			child++;
		if (child >= k->slowest_count || !span_is_slower(span, k->slowest[child]))
			break;
		k->slowest[at] = k->slowest[child];
		at = child;
	}
	k->slowest[at] = span;
}

static void sift_up(struct kept_spans *k, uint32_t at, struct span *span)
{
	while (at && span_is_slower(k->slowest[(at - 1) / 2], span)) {
		k->slowest[at] = k->slowest[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	k->slowest[at] = span;
}

static int slowest_add(struct kept_spans *k, struct kept *span)
{
	int err;

	if (k->slowest_count < k->top) {
		err = array_grow(&k->slowest, &k->slowest_capacity, k->slowest_count,
				 sizeof(struct span *));
		if (err)
			return err;
		span->users++;
		sift_up(k, k->slowest_count++, &span->span);
		return 0;
	}
	if (!k->top || !span_is_slower(&span->span, k->slowest[0]))
		return 0;
	span->users++;
	release(kept_of(k->slowest[0]));
	sift_down(k, 0, &span->span);
	return 0;
}

/* --- the latest ---------------------------------------------------------------------------- */

static void recent_add(struct kept_spans *k, struct kept *span)
{
	uint32_t at = (k->recent_first + k->recent_count) % SPANS_RECENT_MAX;

	span->users++;
	if (k->recent_count < SPANS_RECENT_MAX) {
		k->recent_count++;
	} else {
		release(k->recent[at]);
		k->recent_first = (k->recent_first + 1) % SPANS_RECENT_MAX;
	}
	k->recent[at] = span;
}

int kept_add(struct kept_spans *k, struct kept *span)
{
	int err;

	span->users = 1; /* this function */
	span->newer = NULL;
	span->older = span->thread->latest;
	if (span->older)
		span->older->newer = span;
	span->thread->latest = span;
	if (span->was_blocked)
		recent_add(k, span);
	err = slowest_add(k, span);
	release(span);
	return err;
}

void kept_free_all(struct kept_spans *k)
{
	for (uint32_t i = 0; i < k->recent_count; i++)
		release(k->recent[(k->recent_first + i) % SPANS_RECENT_MAX]);
	for (uint32_t i = 0; i < k->slowest_count; i++)
		release(kept_of(k->slowest[i]));
	free(k->slowest);
	*k = (struct kept_spans){0};
}
