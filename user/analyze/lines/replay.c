/*
 * A patched JVM numbers the events of each monitor, and all park and unpark events, at the moment
 * of what they report; they are recorded later, so that their times and their positions in the log
 * are not in that order (394 of 113,211 pairs were not, by up to 4 ms). An event whose number is
 * not the next one is held back until those before it have come.
 *
 * - The first number. It is not known with which one a recording begins. The first events of a
 * queue are held back for START_NS, or until there are START_MAX, and then the least number is the
 * first.
 * - Folds. A window of folded releases has all numbers from first to last: exits of their own, and
 * counts in folds. It is whole when all its folds are there, and exits and counts fill it; then its
 * exits and folds are given on together.
 * - Gaps. Where events were lost, a number never comes. A gap is given up when a queue holds back
 * HELD_MAX events or FOLDS_MAX folds, or all of them TOTAL_MAX together, or when the event after
 * the gap has waited for GAP_NS of the log's time: that long, as folds are reported by the next
 * release of the monitor, and it may be held for a while. So no event waits for ever, and memory is
 * bounded. A gap is counted (apart, if the log ends within CUT_NS of it, or has begun within a
 * recording less than CUT_BEGIN_NS before: a thread that a busy machine keeps off its CPU between
 * taking a number and recording the event may have put it into the part before), and whoever gets
 * the events is told. What comes later all the same is counted, too, and nothing else.
 * - A log that begins within a recording. First come the events that were open then, with numbers
 * from before (replay_set_begin): these wait for the first event from after it, and what lies
 * between is no gap, nor is what START_NS of the log begin with lacks: the part before has it. Of
 * parks, what was open is all that mattered; of a monitor somebody else may have become the
 * owner, so those who get its events are notified of the missing numbers.
 * - A monitor that is deflated may be inflated again, and then counts anew. replay_restart handles
 * that; if this is lost, the numbers show it: they go back.
 */
#include "analyze/lines/replay.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/keymap.h"
#include "base/text/units.h"

#define START_NS (100 * NS_PER_MS)
#define START_MAX 8192
#define GAP_NS (60 * NS_PER_S)
#define CUT_NS (100 * NS_PER_MS)
#define CUT_BEGIN_NS NS_PER_S
#define HELD_MAX 65536
#define FOLDS_MAX 4096
#define TOTAL_MAX 131072
#define SKIPPED_MAX 4 /* gaps that are remembered, for what comes late */

struct held {
	struct replay_item item; /* first, so that an item is what it is in */
	struct event event;
	uint64_t since_ns;
	struct held *next_free;
};

struct item_list {
	struct replay_item **rows;
	uint32_t count, capacity;
};

struct range {
	uint64_t from, to; /* to is after it */
};

struct queue {
	uint64_t key;
	bool started;
	bool opening;          /* up to the first number from which on gaps count */
	uint64_t base;         /* the first number */
	uint64_t next;         /* number */
	uint64_t missing;      /* numbers right before it */
	struct item_list held; /* by number */
	struct item_list folds;
	struct range skipped[SKIPPED_MAX];
	unsigned skipped_at;
	struct replay_counts counts;
	/* While it holds something back. */
	uint64_t since_ns;
	uint32_t earlier, later; /* queues that began to wait; INDEX_NONE: none */
	bool waits;
};

/* Queues that wait for the same reason, by the time at which they began to. */
struct waiting {
	uint32_t first, last;
};

struct replay {
	struct replay_sink sink;
	struct keymap queue_map;
	struct queue *queues;
	uint32_t queues_capacity;
	struct waiting waiting[2]; /* by queue.started */
	struct held *free_held;
	uint32_t total;
	uint64_t now_ns, begin_ns;
	uint64_t due_ns; /* nothing has waited too long up to then */
};

/* By queue.started: for how long it may wait. */
static const uint64_t limits_ns[2] = {START_NS, GAP_NS};

struct replay *replay_new(const struct replay_sink *sink)
{
	struct replay *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->sink = *sink;
	for (int i = 0; i < 2; i++)
		r->waiting[i] = (struct waiting){INDEX_NONE, INDEX_NONE};
	return r;
}

void replay_set_begin(struct replay *r, uint64_t begin_ns)
{
	r->begin_ns = begin_ns;
	r->now_ns = begin_ns;
}

static void items_free(struct item_list *list)
{
	for (uint32_t i = 0; i < list->count; i++)
		free((struct held *)list->rows[i]);
	free(list->rows);
}

void replay_free(struct replay *r)
{
	struct held *next;

	if (!r)
		return;
	for (uint32_t i = 0; i < r->queue_map.count; i++) {
		items_free(&r->queues[i].held);
		items_free(&r->queues[i].folds);
	}
	for (struct held *h = r->free_held; h; h = next) {
		next = h->next_free;
		free(h);
	}
	keymap_free(&r->queue_map);
	free(r->queues);
	free(r);
}

const uint8_t replay_fields[SCHEMA_ID_MAX + 1] = {
	[EVENT_MONITOR_CONTENDED_ENTER] = MONITOR_CONTENDED_ENTER_SEQUENCE,
	[EVENT_MONITOR_CONTENDED_ENTERED] = MONITOR_CONTENDED_ENTERED_SEQUENCE,
	[EVENT_MONITOR_CONTENDED_EXIT] = MONITOR_CONTENDED_EXIT_SEQUENCE,
	[EVENT_MONITOR_NOTIFY] = MONITOR_NOTIFY_SEQUENCE,
	[EVENT_MONITOR_FOLD] = MONITOR_FOLD_FIRST,
	[EVENT_PARK_BEGIN] = PARK_BEGIN_SEQUENCE,
	[EVENT_PARK_END] = PARK_END_SEQUENCE,
	[EVENT_UNPARK] = UNPARK_SEQUENCE,
};

static void wait_end(struct replay *r, struct queue *q)
{
	struct waiting *w = &r->waiting[q->started];

	if (!q->waits)
		return;
	q->waits = false;
	if (q->earlier == INDEX_NONE)
		w->first = q->later;
	else
		r->queues[q->earlier].later = q->later;
	if (q->later == INDEX_NONE)
		w->last = q->earlier;
	else
		r->queues[q->later].earlier = q->earlier;
}

static void wait_begin(struct replay *r, struct queue *q)
{
	struct waiting *w = &r->waiting[q->started];
	uint32_t self = (uint32_t)(q - r->queues);

	if (q->waits)
		return;
	q->waits = true;
	q->since_ns = r->now_ns;
	q->earlier = w->last;
	q->later = INDEX_NONE;
	if (w->last == INDEX_NONE)
		w->first = self;
	else
		r->queues[w->last].later = self;
	w->last = self;
	if (q->since_ns + limits_ns[q->started] < r->due_ns)
		r->due_ns = q->since_ns + limits_ns[q->started];
}

static void item_free(struct replay *r, struct replay_item *item)
{
	struct held *h = (struct held *)item;

	h->next_free = r->free_held;
	r->free_held = h;
	r->total--;
}

/* Frees count items from at on. */
static void items_remove(struct replay *r, struct item_list *list, uint32_t at, uint32_t count)
{
	if (!count)
		return;
	for (uint32_t i = at; i < at + count; i++)
		item_free(r, list->rows[i]);
	list->count -= count;
	memmove(&list->rows[at], &list->rows[at + count], (list->count - at) * sizeof(*list->rows));
}

/* How many have smaller numbers, or the same: mostly all. */
static uint32_t index_of(const struct item_list *list, uint64_t number)
{
	uint32_t low = 0, high = list->count;

	if (!high || list->rows[high - 1]->number <= number)
		return high;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (list->rows[middle]->number <= number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A copy, in the order of the numbers. */
static int hold(struct replay *r, struct item_list *list, const struct replay_item *item)
{
	struct held *h = r->free_held;
	uint32_t at;
	int err = array_grow(&list->rows, &list->capacity, list->count, sizeof(*list->rows));

	if (err)
		return err;
	if (h)
		r->free_held = h->next_free;
	else
		h = malloc(sizeof(*h));
	if (!h)
		return -ENOMEM;
	h->item = *item;
	h->event = *item->event;
	h->item.event = &h->event;
	h->since_ns = r->now_ns;
	at = index_of(list, item->number);
	memmove(&list->rows[at + 1], &list->rows[at], (list->count - at) * sizeof(*list->rows));
	list->rows[at] = &h->item;
	list->count++;
	r->total++;
	return 0;
}

static int emit(struct replay *r, struct queue *q, const struct replay_item *item)
{
	uint64_t missing = q->missing;

	q->missing = 0;
	q->next = item->number + 1;
	q->counts.numbers++;
	return r->sink.event(r->sink.context, q->key, item, missing);
}

/* All that are held back and have their turn. They are removed together: the front of a long list
 * is not moved for each of them. */
static int emit_held(struct replay *r, struct queue *q)
{
	uint32_t done = 0;
	int err = 0;

	while (!err && done < q->held.count && q->held.rows[done]->number <= q->next) {
		if (q->held.rows[done]->number == q->next)
			err = emit(r, q, q->held.rows[done]);
		else
			q->counts.late++;
		done++;
	}
	items_remove(r, &q->held, 0, done);
	return err;
}

static uint64_t fold_last(const struct replay_item *fold)
{
	return fold->event->v[MONITOR_FOLD_LAST].u;
}

/*
 * The window that has the next number, as far as it is there: its folds are the first of the list,
 * as windows do not overlap. ret_parts: all folds are there. false: there is none.
 */
static bool window_find(const struct queue *q, struct replay_window *ret, bool *ret_parts)
{
	struct replay_item **folds = q->folds.rows;
	struct replay_window w = {.next = q->next, .missing = q->missing, .folds = folds};
	uint64_t counted = 0, size;

	if (!q->folds.count || folds[0]->number > q->next)
		return false;
	w.first = folds[0]->number;
	w.last = fold_last(folds[0]);
	while (w.fold_count < q->folds.count && folds[w.fold_count]->number == w.first &&
	       fold_last(folds[w.fold_count]) == w.last)
		counted += folds[w.fold_count++]->event->v[MONITOR_FOLD_COUNT].u;
	while (w.exit_count < q->held.count && q->held.rows[w.exit_count]->number <= w.last)
		w.exit_count++;
	counted += w.exit_count;
	size = w.last - w.next + 1;
	w.holes = size > counted ? size - counted : 0;
	w.exits = q->held.rows;
	*ret = w;
	*ret_parts = w.fold_count >= folds[0]->event->v[MONITOR_FOLD_PARTS].u;
	return true;
}

static int emit_window(struct replay *r, struct queue *q, const struct replay_window *w)
{
	int err = r->sink.window(r->sink.context, q->key, w);

	q->counts.numbers += w->last - w->next + 1 - w->holes;
	q->next = w->last + 1;
	q->missing = 0;
	items_remove(r, &q->held, 0, w->exit_count);
	items_remove(r, &q->folds, 0, w->fold_count);
	return err;
}

/* Folds whose numbers have been given up, or that a hostile log has twice. */
static void folds_drop(struct replay *r, struct queue *q)
{
	while (q->folds.count && fold_last(q->folds.rows[0]) < q->next) {
		items_remove(r, &q->folds, 0, 1);
		q->counts.late++;
	}
}

/* Up to the next gap. */
static int advance(struct replay *r, struct queue *q)
{
	struct replay_window w;
	bool parts;
	int err;

	do {
		err = emit_held(r, q);
		folds_drop(r, q);
		if (err || !window_find(q, &w, &parts) || !parts || w.holes)
			break;
		err = emit_window(r, q, &w);
	} while (!err);
	wait_end(r, q);
	if (q->held.count || q->folds.count)
		wait_begin(r, q);
	return err;
}

static void remember(struct queue *q, uint64_t from, uint64_t to)
{
	q->skipped[q->skipped_at++ % SKIPPED_MAX] = (struct range){from, to};
}

static bool was_skipped(const struct queue *q, uint64_t number)
{
	for (int i = 0; i < SKIPPED_MAX; i++) {
		if (number >= q->skipped[i].from && number < q->skipped[i].to)
			return true;
	}
	return false;
}

/* Since when the event after the gap is there. */
static uint64_t waits_since(const struct queue *q)
{
	const struct held *exit = q->held.count ? (struct held *)q->held.rows[0] : NULL,
			  *fold = q->folds.count ? (struct held *)q->folds.rows[0] : NULL;

	if (exit && (!fold || exit->since_ns < fold->since_ns))
		return exit->since_ns;
	return fold ? fold->since_ns : UINT64_MAX; /* callers have seen one of them */
}

/* What is next will not come. cut: it is before the begin or after the end of the log. */
static int give_up(struct replay *r, struct queue *q, bool cut)
{
	uint64_t from = q->next, to = UINT64_MAX, missing;
	struct replay_window w;
	bool parts;
	int err = 0;

	if (window_find(q, &w, &parts)) {
		missing = w.holes;
		remember(q, w.next, w.last + 1);
		err = emit_window(r, q, &w);
	} else {
		if (q->held.count)
			to = q->held.rows[0]->number;
		if (q->folds.count && q->folds.rows[0]->number < to)
			to = q->folds.rows[0]->number;
		missing = to - from;
		remember(q, from, to);
		q->next = to;
		if (!q->opening || q->key != REPLAY_PARK)
			q->missing += missing;
	}
	if (!q->opening) {
		q->counts.gaps += missing && !cut;
		*(cut ? &q->counts.cut : &q->counts.missing) += missing;
	}
	return err ? err : advance(r, q);
}

/* Whether what is missing may have been recorded before the log begins, or after it ends. */
static bool is_cut(const struct replay *r, const struct queue *q, bool end)
{
	uint64_t since_ns = waits_since(q);

	return (r->begin_ns && since_ns <= r->begin_ns + CUT_BEGIN_NS) ||
	       (end && r->now_ns - since_ns <= CUT_NS);
}

static int flush(struct replay *r, struct queue *q, bool end)
{
	int err = 0;

	while (!err && (q->held.count || q->folds.count))
		err = give_up(r, q, is_cut(r, q, end));
	return err;
}

static bool is_before(const struct replay *r, const struct held *h)
{
	return h->event.time_ns < r->begin_ns;
}

/* The numbers from which on gaps count: those after what was open before the log began, and after
 * its first events. */
static uint64_t gaps_from(const struct replay *r, const struct queue *q)
{
	bool any = false; /* from after the begin */
	uint64_t from = 0;

	for (uint32_t i = 0; i < q->held.count; i++) {
		const struct held *h = (struct held *)q->held.rows[i];

		if (h->event.time_ns < r->begin_ns + START_NS || !any)
			from = h->item.number;
		any |= !is_before(r, h);
	}
	return from;
}

static int start(struct replay *r, struct queue *q)
{
	uint64_t from = r->begin_ns ? gaps_from(r, q) : 0;
	int err;

	wait_end(r, q);
	q->started = true;
	q->opening = true;
	q->next = q->held.count ? q->held.rows[0]->number : UINT64_MAX;
	if (q->folds.count && q->folds.rows[0]->number < q->next)
		q->next = q->folds.rows[0]->number;
	q->base = q->next;
	err = advance(r, q);
	while (!err && q->next < from && (q->held.count || q->folds.count))
		err = give_up(r, q, true);
	q->opening = false;
	return err;
}

static int restart(struct replay *r, struct queue *q, bool end)
{
	int err = q->started ? 0 : start(r, q);

	if (!err)
		err = flush(r, q, end);
	q->started = false;
	q->missing = 0;
	memset(q->skipped, 0, sizeof(q->skipped));
	return err;
}

/* Time or room is short: the gap is given up, and those after it that are as old. */
static int release(struct replay *r, struct queue *q)
{
	int err;

	if (!q->started)
		return start(r, q);
	do {
		err = give_up(r, q, is_cut(r, q, false));
	} while (!err && q->held.count && r->now_ns - waits_since(q) > GAP_NS);
	return err;
}

static int make_room(struct replay *r, struct queue *q)
{
	int err = 0;

	while (!err && (q->held.count > HELD_MAX || q->folds.count > FOLDS_MAX))
		err = release(r, q);
	while (!err && r->total > TOTAL_MAX) {
		uint32_t first = r->waiting[1].first;

		if (first == INDEX_NONE)
			first = r->waiting[0].first;
		err = release(r, &r->queues[first]);
	}
	return err;
}

static int queue_of(struct replay *r, uint64_t key, struct queue **ret)
{
	uint32_t index, known = r->queue_map.count;
	int err = keymap_add_row(&r->queue_map, (struct keymap_key){.a = key}, &r->queues,
				 &r->queues_capacity, sizeof(*r->queues), &index);

	if (err)
		return err;
	*ret = &r->queues[index];
	if (index == known)
		(*ret)->key = key;
	return 0;
}

static int add_started(struct replay *r, struct queue *q, const struct replay_item *item)
{
	bool fold = item->event->id == EVENT_MONITOR_FOLD;
	int err;

	if (!fold && item->number == q->next) {
		err = emit(r, q, item);
		return err || (!q->held.count && !q->folds.count) ? err : advance(r, q);
	}
	if ((fold ? fold_last(item) : item->number) < q->next) {
		q->counts.late++;
		return 0;
	}
	err = hold(r, fold ? &q->folds : &q->held, item);
	if (err)
		return err;
	if (q->folds.count)
		return advance(r, q);
	wait_begin(r, q);
	return 0;
}

/* It has been there before, or is far before the first one: it is not late. */
static bool goes_back(const struct queue *q, uint64_t number)
{
	if (number < q->base)
		return q->base - number > START_MAX;
	return number < q->next && !was_skipped(q, number);
}

static int add(struct replay *r, uint64_t key, const struct event *e, uint64_t note)
{
	struct replay_item item = {.event = e, .number = replay_number(e), .note = note};
	bool fold = e->id == EVENT_MONITOR_FOLD;
	struct queue *q;
	int err = queue_of(r, key, &q);

	if (err || (fold && fold_last(&item) < item.number))
		return err;
	if (q->started && !fold && goes_back(q, item.number))
		err = restart(r, q, false);
	if (err)
		return err;
	if (q->started) {
		err = add_started(r, q, &item);
	} else {
		err = hold(r, fold ? &q->folds : &q->held, &item);
		if (err)
			return err;
		/* So many that were open are no log of this recorder: no room is kept for them. */
		if (e->time_ns >= r->begin_ns || r->total > TOTAL_MAX / 2)
			wait_begin(r, q);
		if (q->held.count + q->folds.count >= START_MAX)
			err = start(r, q);
	}
	return err ? err : make_room(r, q);
}

int replay_add(struct replay *r, uint64_t key, const struct event *e, uint64_t note)
{
	uint32_t index = keymap_find_number(&r->queue_map, key);
	struct queue *q = index == INDEX_NONE ? NULL : &r->queues[index];
	struct replay_item item;

	if (!q || !q->started || replay_number(e) != q->next || q->held.count || q->folds.count ||
	    e->id == EVENT_MONITOR_FOLD)
		return add(r, key, e, note);
	/* Mostly it is the next one, and nothing waits for it. */
	item = (struct replay_item){e, q->next, note};
	return emit(r, q, &item);
}

/* When the first one will have waited for too long. */
static uint64_t due_find(const struct replay *r)
{
	uint64_t due_ns = UINT64_MAX;

	for (int i = 0; i < 2; i++) {
		uint32_t first = r->waiting[i].first;

		if (first != INDEX_NONE && r->queues[first].since_ns + limits_ns[i] < due_ns)
			due_ns = r->queues[first].since_ns + limits_ns[i];
	}
	return due_ns;
}

static int release_due(struct replay *r)
{
	int err = 0;

	for (int i = 0; i < 2; i++) {
		while (!err && r->waiting[i].first != INDEX_NONE &&
		       r->now_ns - r->queues[r->waiting[i].first].since_ns > limits_ns[i])
			err = release(r, &r->queues[r->waiting[i].first]);
	}
	r->due_ns = due_find(r);
	return err;
}

int replay_pass(struct replay *r, uint64_t now_ns)
{
	r->now_ns = now_ns > r->begin_ns ? now_ns : r->begin_ns;
	return r->now_ns > r->due_ns ? release_due(r) : 0;
}

int replay_restart(struct replay *r, uint64_t key)
{
	uint32_t index = keymap_find(&r->queue_map, (struct keymap_key){.a = key});

	return index == INDEX_NONE ? 0 : restart(r, &r->queues[index], false);
}

int replay_finish(struct replay *r)
{
	int err = 0;

	for (uint32_t i = 0; i < r->queue_map.count && !err; i++)
		err = restart(r, &r->queues[i], true);
	return err;
}

struct replay_counts replay_counts(const struct replay *r, uint64_t key)
{
	uint32_t index = keymap_find(&r->queue_map, (struct keymap_key){.a = key});

	return index == INDEX_NONE ? (struct replay_counts){0} : r->queues[index].counts;
}
