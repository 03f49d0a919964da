/*
 * A line per lock: from one time to the next it was held by somebody, or by nobody. It is extended
 * as that becomes known, which for the holder is when it releases the lock. Intervals, threads that
 * are blocked from one time to another, are laid beside it: each may begin and end before, at or
 * after the line's end, and what is after is settled when the line gets there. Its slices are
 * what the line says of its time, so they add up to it exactly.
 *
 * Threads that are blocked cost nothing while the line grows, however many they are. An interval
 * mostly has but the last few runs, and these are looked at one by one. For one that goes back
 * further, all runs of one hold (holder, call site) become a list with cumulative sums
 * (history.c), so what it has of a hold is the difference of two of them, and it looks only at
 * holds that have ended after its beginning: these come first in a list of the holds in the order
 * of their last runs.
 *
 * The history goes back to the oldest open interval. When it gets long, every open interval takes
 * in what it has up to then, and the history begins anew: so memory is bounded, and the work for
 * many waiters is done once in RUNS_MAX runs. While nobody is blocked there is none but
 * the last run.
 *
 * Where a call chain comes later than the hold it belongs to (Object.wait() releases the monitor in
 * another method than the one that entered it), the slices name it by number. Intervals that have
 * ended wait for it, and are charged then; the first of too many, and those for which it never
 * comes, are charged with the chain that the hold has itself.
 */
#include "analyze/lines/timeline.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/lines/history.h"
#include "analyze/lines/reason_history.h"

#define RUNS_MAX 2048
#define WAITING_MAX 4096 /* intervals of one lock that wait for a call chain */

enum list { LIST_OPEN, LIST_ENDING, LIST_WAITING, LIST_COUNT };

struct interval {
	struct blocked who;
	struct timeline *line;
	uint64_t since_ns, until_ns;
	uint64_t taken_ns; /* up to here it is in slices */
	struct hold_slices slices;
	struct interval *next, *previous; /* of the line, or free */
	struct interval *next_of_thread;  /* open ones */
};

struct timeline {
	struct timelines *all;
	uint64_t lock;
	uint64_t end_ns;
	struct hold last; /* the hold before end_ns, since last_ns */
	uint64_t last_ns;
	struct history *history; /* NULL: no interval is open or ending */
	struct interval *first[LIST_COUNT], *latest[LIST_COUNT];
	uint32_t count[LIST_COUNT];
	struct forward *forwards;
	struct timeline_counts counts;
};

struct thread_open {
	struct interval *first;
};

struct timelines {
	struct cells *cells;
	struct keymap line_map;
	struct segments lines; /* struct timeline */
	struct keymap thread_map;
	struct thread_open *threads;
	uint32_t threads_capacity;
	struct interval *free_intervals; /* their slices have room already */
	struct history *free_histories;
};

static struct timeline *line_at(const struct timelines *all, uint32_t index)
{
	return segments_at(&all->lines, index, sizeof(struct timeline));
}

struct timelines *timelines_new(struct cells *cells)
{
	struct timelines *all = calloc(1, sizeof(*all));

	if (all)
		all->cells = cells;
	return all;
}

static void intervals_free(struct interval *i)
{
	struct interval *next;

	for (; i; i = next) {
		next = i->next;
		free(i->slices.rows);
		free(i);
	}
}

static void histories_free(struct history *h)
{
	struct history *next;

	for (; h; h = next) {
		next = h->next;
		history_free(h);
		free(h);
	}
}

static void line_free(struct timeline *line)
{
	struct forward *next;

	for (int i = 0; i < LIST_COUNT; i++)
		intervals_free(line->first[i]);
	for (struct forward *f = line->forwards; f; f = next) {
		next = f->next;
		free(f);
	}
	histories_free(line->history);
}

void timelines_free(struct timelines *all)
{
	if (!all)
		return;
	for (uint32_t i = 0; i < all->line_map.count; i++)
		line_free(line_at(all, i));
	segments_free(&all->lines);
	keymap_free(&all->line_map);
	free(all->threads);
	keymap_free(&all->thread_map);
	intervals_free(all->free_intervals);
	histories_free(all->free_histories);
	free(all);
}

int timeline_part(struct timelines *all, uint64_t lock, uint64_t slice, uint64_t from_ns,
		  struct timeline **ret)
{
	struct keymap_key key = {.a = lock, .b = slice};
	uint32_t known = all->line_map.count, index;
	int err = keymap_add_segment_row(&all->line_map, key, &all->lines, sizeof(struct timeline),
					 &index);

	if (err)
		return err;
	*ret = line_at(all, index);
	if (index == known)
		**ret = (struct timeline){
			.all = all, .lock = lock, .end_ns = from_ns, .last_ns = from_ns};
	return 0;
}

int timeline_of(struct timelines *all, uint64_t lock, uint64_t from_ns, struct timeline **ret)
{
	uint32_t index = keymap_find_number(&all->line_map, lock);

	if (index == INDEX_NONE)
		return timeline_part(all, lock, 0, from_ns, ret);
	*ret = line_at(all, index);
	return 0;
}

struct timeline *timelines_get(const struct timelines *all, uint32_t index, uint64_t *ret_lock)
{
	if (index >= all->line_map.count)
		return NULL;
	*ret_lock = line_at(all, index)->lock;
	return line_at(all, index);
}

struct timeline_counts *timeline_counts(struct timeline *line)
{
	return &line->counts;
}

uint64_t timeline_end(const struct timeline *line)
{
	return line->end_ns;
}

static void list_add(struct interval *i, enum list list)
{
	struct timeline *line = i->line;

	i->next = NULL;
	i->previous = line->latest[list];
	if (i->previous)
		i->previous->next = i;
	else
		line->first[list] = i;
	line->latest[list] = i;
	line->count[list]++;
}

static void list_remove(struct interval *i, enum list list)
{
	struct timeline *line = i->line;

	if (i->previous)
		i->previous->next = i->next;
	else
		line->first[list] = i->next;
	if (i->next)
		i->next->previous = i->previous;
	else
		line->latest[list] = i->previous;
	line->count[list]--;
}

static void forward_drop(struct timeline *line, struct forward *f)
{
	if (!f || --f->users)
		return;
	if (f->previous)
		f->previous->next = f->next;
	else
		line->forwards = f->next;
	if (f->next)
		f->next->previous = f->previous;
	free(f);
}

static int forward_add(struct timeline *line, uint64_t number, struct forward **ret)
{
	struct forward *f = line->forwards;

	while (f && f->number != number)
		f = f->next;
	if (!f) {
		f = calloc(1, sizeof(*f));
		if (!f)
			return -ENOMEM;
		f->number = number;
		f->next = line->forwards;
		if (f->next)
			f->next->previous = f;
		line->forwards = f;
	}
	f->users++;
	*ret = f;
	return 0;
}

static void slots_drop(struct timeline *line)
{
	const struct history *h = line->history;

	for (uint32_t i = 0; line->forwards && i < h->slot_count; i++)
		forward_drop(line, h->slots[i].forward);
}

static int slot_of_hold(struct timeline *line, const struct hold *hold, uint32_t *ret)
{
	struct history *h = line->history;
	bool new;
	int err = history_slot(h, hold, ret, &new);

	if (!err && new && hold->forward)
		err = forward_add(line, hold->forward, &h->slots[*ret].forward);
	return err;
}

/* It has the last run: somebody may have blocked in it, who is reported late. */
static int history_begin(struct timeline *line)
{
	struct timelines *all = line->all;
	struct history *h = all->free_histories;
	uint32_t slot;
	int err = 0;

	if (h)
		all->free_histories = h->next;
	else
		h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	h->next = NULL;
	line->history = h;
	if (line->end_ns == line->last_ns)
		return 0;
	line->last.forward = 0;
	err = slot_of_hold(line, &line->last, &slot);
	return err ? err : history_push(h, slot, line->last_ns, line->end_ns);
}

/* Nobody needs the history any more. */
static void history_end(struct timeline *line)
{
	struct history *h = line->history;
	uint32_t i, slot;

	if (!h || line->count[LIST_OPEN] || line->count[LIST_ENDING])
		return;
	if (h->count) {
		i = h->count - 1;
		slot = h->runs[i].slot;
		while (i > 0 && h->runs[i - 1].slot == slot)
			i--;
		line->last = h->slots[slot].hold;
		line->last_ns = h->runs[i].from_ns;
	}
	slots_drop(line);
	history_clear(h, true);
	h->next = line->all->free_histories;
	line->all->free_histories = h;
	line->history = NULL;
}

/* What is before the history. */
static int take_lost(struct interval *i, uint64_t to_ns, bool first)
{
	const struct hold_slice lost = {.hold.holder = HOLDER_UNKNOWN,
					.begin_ns = i->taken_ns,
					.split.unknown_ns = to_ns - i->taken_ns,
					.first = first};

	i->taken_ns = to_ns;
	return hold_slices_add(&i->slices, &lost);
}

/* Up to the end of the line, or of the interval if that is earlier. */
static int take_in(struct interval *i)
{
	const struct timeline *line = i->line;
	struct history *h = line->history;
	uint64_t to_ns = i->until_ns < line->end_ns ? i->until_ns : line->end_ns;
	uint64_t start_ns = h->count ? h->runs[0].from_ns : line->end_ns;
	bool first = i->taken_ns == i->since_ns;
	int err = 0;

	if (to_ns <= i->taken_ns)
		return 0;
	if (i->taken_ns < start_ns) {
		err = take_lost(i, start_ns < to_ns ? start_ns : to_ns, first);
		first = false;
	}
	if (!err && i->taken_ns < to_ns)
		err = history_take(h, i->taken_ns, to_ns, first, &i->slices);
	i->taken_ns = to_ns;
	return err;
}

static int history_restart(struct timeline *line)
{
	int err = 0;

	for (int list = LIST_OPEN; list <= LIST_ENDING; list++) {
		for (struct interval *i = line->first[list]; i && !err; i = i->next)
			err = take_in(i);
	}
	if (err)
		return err;
	slots_drop(line);
	history_clear(line->history, false);
	return 0;
}

/* Off all lists. */
static void interval_drop(struct interval *i)
{
	struct timelines *all = i->line->all;

	for (uint32_t k = 0; i->line->forwards && k < i->slices.count; k++)
		forward_drop(i->line, i->slices.rows[k].forward);
	i->slices.count = 0;
	i->slices.last[0] = i->slices.last[1] = 0;
	i->next = all->free_intervals;
	all->free_intervals = i;
}

/* Takes the chains that have come. all: and does without the others. Whether some are left. */
static bool resolve(struct interval *i, bool all)
{
	bool left = false, unnamed = false;

	for (uint32_t k = 0; i->line->forwards && k < i->slices.count; k++) {
		struct hold_slice *p = &i->slices.rows[k];

		if (!p->forward)
			continue;
		if (!p->forward->named && !all) {
			left = true;
			continue;
		}
		if (p->forward->named) {
			p->hold.stack = p->forward->stack;
			p->hold.from = p->forward->from;
		}
		unnamed |= !p->forward->named;
		forward_drop(i->line, p->forward);
		p->forward = NULL;
	}
	i->line->counts.unnamed += unnamed;
	return left;
}

/* Off all lists, with all chains. */
static int interval_charge(struct interval *i)
{
	int err = hold_slices_charge(&i->slices, i->line->all->cells, i->line->lock, &i->who,
				     i->since_ns, i->until_ns);

	interval_drop(i);
	return err;
}

/* It has ended, and so far the line is known. */
static int settle(struct interval *i)
{
	struct timeline *line = i->line;
	int err = take_in(i);

	list_remove(i, LIST_ENDING);
	if (err) {
		interval_drop(i);
		return err;
	}
	if (!resolve(i, false))
		return interval_charge(i);
	list_add(i, LIST_WAITING);
	if (line->count[LIST_WAITING] <= WAITING_MAX)
		return 0;
	i = line->first[LIST_WAITING];
	list_remove(i, LIST_WAITING);
	resolve(i, true);
	return interval_charge(i);
}

static int settle_ended(struct timeline *line)
{
	struct interval *next;
	int err = 0;

	for (struct interval *i = line->first[LIST_ENDING]; i && !err; i = next) {
		next = i->next;
		if (i->until_ns <= line->end_ns)
			err = settle(i);
	}
	history_end(line);
	return err;
}

struct extension {
	struct timeline *line;
	struct hold hold;
	const struct hold *whole;
};

/* The slot of the hold that goes on, while the holder is blocked on another lock, or on none. */
static int slot_blocked_on(void *context, const struct blocked_on *on, uint32_t *ret)
{
	struct extension *ext = context;

	ext->hold = *ext->whole;
	hold_blocked_on(&ext->hold, on);
	return slot_of_hold(ext->line, &ext->hold, ret);
}

static int extend_seen(struct timeline *line, uint64_t to_ns, const struct hold *hold)
{
	struct extension ext = {.line = line, .whole = hold};
	const struct history_holder who = {.reasons = line->all->cells->reasons,
					   .thread = hold->holder,
					   .lock = line->lock,
					   .slot = slot_blocked_on,
					   .context = &ext};

	return history_push_seen(line->history, &who, line->end_ns, to_ns);
}

/* Nobody can be seen to hold it. */
static int extend_unseen(struct timeline *line, uint64_t to_ns, const struct hold *hold)
{
	uint32_t slot;
	int err = slot_of_hold(line, hold, &slot);

	return err ? err : history_push(line->history, slot, line->end_ns, to_ns);
}

int timeline_extend(struct timeline *line, uint64_t to_ns, const struct hold *hold)
{
	int err;

	if (to_ns <= line->end_ns)
		return 0;
	if (!line->history) {
		line->last = *hold;
		line->last_ns = line->end_ns;
		line->end_ns = to_ns;
		return 0;
	}
	err = holder_is_thread(hold->holder) ? extend_seen(line, to_ns, hold)
					     : extend_unseen(line, to_ns, hold);
	if (err)
		return err;
	line->end_ns = to_ns;
	if (line->history->count >= RUNS_MAX)
		err = history_restart(line);
	return err || !line->first[LIST_ENDING] ? err : settle_ended(line);
}

int timeline_see(struct timeline *line, uint64_t ns, uint64_t thread, const struct counters *its)
{
	const struct reason_history *reasons = line->all->cells->reasons;
	struct counter_sample *s;
	int err;

	if (!line->history || !its->known || !holder_is_thread(thread) || ns < line->end_ns)
		return 0;
	err = history_see(line->history, &s);
	if (err || !s)
		return err;
	s->ns = ns;
	s->thread = thread;
	s->its = *its;
	if (reasons)
		reasons_complete(reasons, thread, ns, &s->its);
	return 0;
}

int timeline_name(struct timeline *line, uint64_t forward, uint64_t stack,
		  enum holder_stack_from from)
{
	struct forward *f = line->forwards;
	struct interval *next;
	int err = 0;

	while (f && f->number != forward)
		f = f->next;
	if (!f || f->named || !stack)
		return 0;
	f->named = true;
	f->stack = stack;
	f->from = from;
	for (struct interval *i = line->first[LIST_WAITING]; i && !err; i = next) {
		next = i->next;
		if (resolve(i, false))
			continue;
		list_remove(i, LIST_WAITING);
		err = interval_charge(i);
	}
	return err;
}

/* at: where the thread's open interval hangs. */
static int end_interval(struct interval **at, uint64_t ns, bool count)
{
	struct interval *i = *at;
	struct timeline *line = i->line;

	*at = i->next_of_thread;
	list_remove(i, LIST_OPEN);
	if (!count) {
		interval_drop(i);
		history_end(line);
		return 0;
	}
	/* What it has taken in is not given back: then it ends a little later than reported. */
	i->until_ns = ns > i->taken_ns ? ns : i->taken_ns;
	list_add(i, LIST_ENDING);
	return i->until_ns <= line->end_ns ? settle_ended(line) : 0;
}

static int interval_new(struct timelines *all, struct interval **ret)
{
	struct interval *i = all->free_intervals;

	if (i)
		all->free_intervals = i->next;
	else
		i = calloc(1, sizeof(*i));
	if (!i)
		return -ENOMEM;
	*ret = i;
	return 0;
}

/* A thread is blocked on one line, and waits on another one or two: of what is open beyond that the
 * ends are missing. So many are kept, as each is looked at whenever the thread blocks. */
#define OPEN_MAX 64

static int give_up_oldest(struct interval **first)
{
	struct interval **at = first, *i;
	uint32_t count = 0;

	for (; *at && (*at)->next_of_thread; at = &(*at)->next_of_thread)
		count++;
	if (count < OPEN_MAX)
		return 0;
	i = *at;
	timeline_counts(i->line)->end_missing++;
	return end_interval(at, 0, false);
}

int timeline_block(struct timeline *line, uint64_t since_ns, const struct blocked *who)
{
	struct timelines *all = line->all;
	struct interval *i;
	uint32_t index;
	int err = keymap_add_row(&all->thread_map, (struct keymap_key){.a = who->thread},
				 &all->threads, &all->threads_capacity, sizeof(*all->threads),
				 &index);

	if (!err && !line->history)
		err = history_begin(line);
	if (!err)
		err = interval_new(all, &i);
	if (err)
		return err;
	if (since_ns > line->history->begun_ns)
		line->history->begun_ns = since_ns;
	i->who = *who;
	i->line = line;
	i->since_ns = since_ns;
	i->until_ns = UINT64_MAX;
	i->taken_ns = since_ns;
	i->next_of_thread = all->threads[index].first;
	all->threads[index].first = i;
	list_add(i, LIST_OPEN);
	return give_up_oldest(&all->threads[index].first);
}

/* The pointer to the thread's open interval of this line, or to NULL; NULL: the thread never had
 * any. */
static struct interval **open_of(const struct timeline *line, uint64_t thread)
{
	uint32_t index = keymap_find_number(&line->all->thread_map, thread);
	struct interval **i;

	if (index == INDEX_NONE)
		return NULL;
	for (i = &line->all->threads[index].first; *i && (*i)->line != line;)
		i = &(*i)->next_of_thread;
	return i;
}

const struct blocked *timeline_blocked(const struct timeline *line, uint64_t thread)
{
	struct interval **i = open_of(line, thread);

	return i && *i ? &(*i)->who : NULL;
}

int timeline_unblock(struct timeline *line, uint64_t thread, uint64_t ns, bool count)
{
	struct interval **at = open_of(line, thread);

	return at && *at ? end_interval(at, ns, count) : 0;
}

int timelines_each_open(const struct timelines *all,
			int (*on)(void *context, uint64_t lock, uint64_t since_ns,
				  const struct blocked *who),
			void *context)
{
	int err = 0;

	for (uint32_t n = 0; n < all->line_map.count; n++) {
		const struct timeline *line = line_at(all, n);

		for (const struct interval *i = line->first[LIST_OPEN]; i && !err; i = i->next)
			err = on(context, line->lock, i->since_ns, &i->who);
	}
	return err;
}

static int finish(struct timeline *line)
{
	const struct hold unknown = {.holder = HOLDER_UNKNOWN};
	uint64_t to_ns = line->end_ns;
	struct interval *i;
	int err;

	for (i = line->first[LIST_ENDING]; i; i = i->next)
		to_ns = i->until_ns > to_ns ? i->until_ns : to_ns;
	err = timeline_extend(line, to_ns, &unknown);
	while (!err && (i = line->first[LIST_WAITING])) {
		list_remove(i, LIST_WAITING);
		resolve(i, true);
		err = interval_charge(i);
	}
	return err;
}

int timelines_finish(struct timelines *all)
{
	int err = 0;

	for (uint32_t n = 0; n < all->line_map.count && !err; n++)
		err = finish(line_at(all, n));
	return err;
}
