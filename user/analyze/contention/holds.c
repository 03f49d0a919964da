#include "analyze/contention/holds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/contention/rename.h"
#include "analyze/lines/reason_history.h"

void holds_free(struct holds *h)
{
	cells_free(&h->cells);
	keymap_free(&h->lock_map);
	keymap_free(&h->thread_map);
	free(h->locks);
	free(h->threads);
	free(h->pending);
}

static int lock_new(struct holds *h, uint64_t lock, uint32_t *ret)
{
	int err = keymap_add_row(&h->lock_map, (struct keymap_key){.a = lock}, &h->locks,
				 &h->locks_capacity, sizeof(*h->locks), ret);

	if (!err)
		h->locks[*ret] = (struct lock_state){.seen.lock = lock,
						     .holder_index = INDEX_NONE,
						     .listed_by = INDEX_NONE,
						     .blocked = INDEX_NONE,
						     .since_ns = h->now_ns};
	return err;
}

int holds_lock(struct holds *h, uint64_t lock, uint32_t *ret)
{
	uint32_t index = keymap_find_number(&h->lock_map, lock);

	if (index == INDEX_NONE)
		return lock_new(h, lock, ret);
	*ret = index;
	return 0;
}

static int thread_new(struct holds *h, uint64_t thread, uint32_t *ret)
{
	int err = keymap_add_row(&h->thread_map, (struct keymap_key){.a = thread}, &h->threads,
				 &h->threads_capacity, sizeof(*h->threads), ret);

	if (!err)
		h->threads[*ret] = (struct waiter_state){
			.thread = thread, .listed = INDEX_NONE, .lock = INDEX_NONE};
	for (unsigned i = 0; !err && i < 1 << RECENT_BITS; i++)
		h->threads[*ret].recent[i].lock = INDEX_NONE;
	return err;
}

int holds_thread(struct holds *h, uint64_t thread, uint32_t *ret)
{
	uint32_t index = keymap_find_number(&h->thread_map, thread);

	if (index == INDEX_NONE)
		return thread_new(h, thread, ret);
	*ret = index;
	return 0;
}

static bool slice_is_empty(const struct pending_slice *p)
{
	return !p->ns && !p->first;
}

static void slice_clear(struct pending_slice *p)
{
	p->ns = 0;
	p->first_reader_ns = 0;
	split_set_unknown(&p->split, 0);
	p->first = false;
}

static void slice_add(struct pending_slice *p, const struct pending_slice *more)
{
	if (!p->ns)
		p->begin_ns = more->begin_ns;
	p->ns += more->ns;
	p->first_reader_ns += more->first_reader_ns;
	split_add(&p->split, &more->split);
}

/* Whom a blocked thread's time is charged to, and where that one was. */
struct charged {
	uint64_t holder;
	uint32_t index; /* the holder's, among the threads */
	struct chain_seen at;
	uint64_t blocked_on; /* the lock that it was itself blocked on; 0: none */
};

static const struct charged hand_over = {.holder = HOLDER_HAND_OVER, .index = INDEX_NONE};

/* Holders mostly take turns, and call sites do not change: cells are looked for first where one
 * that is like it was found last. All are small numbers, but a holder that is none. */
static struct recent_cell *recent_of(struct waiter_state *t, const struct charged *to)
{
	uint64_t x =
		to->holder + t->lock * 3 + t->stack * 5 + to->at.stack * 7 + to->blocked_on * 9;

	return &t->recent[x * 0x9e3779b97f4a7c15ull >> (64 - RECENT_BITS)];
}

static int cell_find(struct holds *h, const struct waiter_state *t, const struct charged *to,
		     struct recent_cell *ret)
{
	const struct lock_state *l = &h->locks[t->lock];
	const struct cell_key key = {.lock = l->seen.lock,
				     .waiter = t->thread,
				     .holder = to->holder,
				     .waiter_stack = t->stack,
				     .holder_stack = to->at.stack,
				     .blocked_on = to->blocked_on};
	uint32_t index;
	int err = cells_add(&h->cells, &key, &index);

	if (err)
		return err;
	if (l->seen.monitor)
		h->cells.rows[index].monitor = true;
	*ret = (struct recent_cell){.stack = t->stack,
				    .holder = to->holder,
				    .holder_stack = to->at.stack,
				    .blocked_on = to->blocked_on,
				    .lock = t->lock,
				    .index = index,
				    .monitor = l->seen.monitor};
	return 0;
}

/* 1 + index of what the contention has in this cell; 0: nothing yet. A cell that several waiters
 * share is one of a few of its lock, each of which comes often: what was found goes to the
 * front. */
static uint32_t pending_find(const struct holds *h, struct waiter_state *t, uint32_t cell)
{
	uint32_t i = t->pending, before = INDEX_NONE;

	if (!cell_is_shared(&h->cells.rows[cell]))
		return h->cells.rows[cell].pending;
	while (i != INDEX_NONE && h->pending[i].cell != cell) {
		before = i;
		i = h->pending[i].next;
	}
	if (i != INDEX_NONE && before != INDEX_NONE) {
		h->pending[before].next = h->pending[i].next;
		h->pending[i].next = t->pending;
		t->pending = i;
	}
	return i + 1;
}

/* What the contention has in this cell, zero if it had nothing. Lent until the next one. */
static int pending_of(struct holds *h, struct waiter_state *t, uint32_t cell, uint32_t holder,
		      struct pending **ret)
{
	bool shared = cell_is_shared(&h->cells.rows[cell]);
	uint32_t index = pending_find(h, t, cell);
	int err = 0;

	if (index) {
		*ret = &h->pending[index - 1];
		return 0;
	}
	index = h->pending_free;
	if (!index) {
		err = array_grow(&h->pending, &h->pending_capacity, h->pending_count,
				 sizeof(*h->pending));
		if (err)
			return err;
		index = ++h->pending_count;
	} else {
		h->pending_free = h->pending[index - 1].next;
	}
	*ret = &h->pending[index - 1];
	**ret = (struct pending){
		.cell = cell, .next = t->pending, .holder = shared ? INDEX_NONE : holder};
	h->cells.rows[cell].pending = shared ? 0 : index;
	t->pending = index - 1;
	return 0;
}

static int cell_pend(struct holds *h, struct waiter_state *t, const struct charged *to,
		     const struct pending_slice *p)
{
	struct recent_cell *r = recent_of(t, to);
	struct pending *pending;
	uint32_t index;
	int err = 0;

	if (r->holder != to->holder || r->holder_stack != to->at.stack ||
	    r->blocked_on != to->blocked_on || r->stack != t->stack || r->lock != t->lock ||
	    r->monitor != h->locks[t->lock].seen.monitor)
		err = cell_find(h, t, to, r);
	if (err)
		return err;
	index = r->index;
	if (p->first)
		t->first_cell = index;
	if (!p->ns)
		return 0;
	err = pending_of(h, t, index, to->index, &pending);
	if (err)
		return err;
	if (!pending->ns || p->begin_ns < pending->begin_ns)
		pending->begin_ns = p->begin_ns;
	pending->ns += p->ns;
	if (holder_is_thread(to->holder)) {
		pending->first_reader_ns += p->first_reader_ns;
		pending->from_ns[to->at.from] += p->ns;
		split_add(&pending->split, &p->split);
	} else {
		pending->split.unknown_ns += p->ns;
	}
	return 0;
}

/* For a slice whose holder's chain has become known, or never will. */
static int slice_close(struct holds *h, struct waiter_state *t, struct pending_slice *p,
		       const struct charged *to)
{
	int err = cell_pend(h, t, to, p);

	slice_clear(p);
	return err;
}

static struct charged charged_now(const struct lock_state *l)
{
	return (struct charged){l->holder, l->holder_index, l->at, 0};
}

static struct charged charged_before(const struct lock_state *l)
{
	return (struct charged){.holder = l->holder_before, .index = l->holder_before_index};
}

static int charge_slice(struct holds *h, struct lock_state *l, const struct charged *holder,
			const struct pending_slice *slice)
{
	/* One that blocks itself shows its chain then, if it has one: it is not waited for. */
	bool open = holder_is_thread(holder->holder) && !holder->at.stack && !holder->blocked_on;
	struct waiter_state *t;
	int err = 0;

	for (uint32_t i = l->blocked; i != INDEX_NONE && !err; i = t->next) {
		t = &h->threads[i];
		if (holder->holder == t->thread) {
			err = cell_pend(h, t, &hand_over, slice);
		} else if (open) {
			slice_add(&t->open, slice);
			l->open = true;
		} else {
			err = cell_pend(h, t, holder, slice);
		}
	}
	return err;
}

/* Where it blocked itself is where it was meanwhile, better than any look at other moments. */
static void charged_blocked_on(struct charged *holder, struct chain_seen at, struct blocked_on on)
{
	holder->blocked_on = on.lock;
	holder->at = on.stack ? (struct chain_seen){on.stack, HOLDER_STACK_BLOCKED} : at;
}

/*
 * Ends the lock's current state, for which threads were blocked: its time goes to all of them. to:
 * the holder's counters, or NULL. It is cut where the holder has emitted an event of its own
 * meanwhile, up to a bound: the rest is one slice, and nothing is said of the locks that its holder
 * was blocked on.
 */
static int charge(struct holds *h, struct lock_state *l, const struct counters *to,
		  bool claim_holds)
{
	struct charged holder = l->claimed && !claim_holds ? hand_over : charged_now(l);
	const struct chain_seen at = holder.at;
	const struct reason_history *reasons =
		holder_is_thread(holder.holder) ? h->cells.reasons : NULL;
	const struct reason_moment *before, *d = NULL;
	const struct counters *since = &l->since;
	unsigned cuts = CUTS_MAX / (l->blocked_count + 1);
	uint64_t at_ns = l->since_ns;
	int err = 0;

	if (reasons) {
		reasons_around(reasons, holder.holder, at_ns, &before, &d);
		charged_blocked_on(&holder, at, reason_blocked_on(before, l->seen.lock));
	}
	while (at_ns < h->now_ns && !err) {
		bool known = d && d->ns < h->now_ns, cut = known && cuts;
		uint64_t until_ns = cut ? d->ns : h->now_ns;
		struct pending_slice slice;

		if (known && !cut)
			charged_blocked_on(&holder, at, (struct blocked_on){0});
		slice.begin_ns = at_ns;
		slice.ns = until_ns - at_ns;
		slice.first_reader_ns = l->first_reader ? slice.ns : 0;
		slice.first = false;
		split_set(&slice.split, slice.ns, since, cut ? &d->its : to);
		if (slice.ns)
			err = charge_slice(h, l, &holder, &slice);
		at_ns = until_ns;
		if (cut) {
			cuts--;
			since = &d->its;
			charged_blocked_on(&holder, at, reason_blocked_on(d, l->seen.lock));
			d = reasons_next(reasons, holder.holder, d);
		}
	}
	return err;
}

static int slices_end(struct holds *h, const struct lock_state *l)
{
	struct charged before = charged_before(l);
	int err = 0;

	for (uint32_t i = l->blocked; i != INDEX_NONE && !err; i = h->threads[i].next) {
		struct waiter_state *t = &h->threads[i];

		if (!slice_is_empty(&t->open_before))
			err = slice_close(h, t, &t->open_before, &before);
		if (slice_is_empty(&t->open))
			continue;
		t->open_before = t->open;
		slice_clear(&t->open);
	}
	return err;
}

/* Pieces of this hold wait for a late exit up to the end of the next one. */
static int hold_end(struct holds *h, struct lock_state *l)
{
	int err = 0;

	if (!holder_is_thread(l->holder))
		return 0;
	if (l->open || l->open_before)
		err = slices_end(h, l);
	l->open_before = l->open;
	l->open = false;
	l->holder_before = l->holder;
	l->holder_before_index = l->holder_index;
	return err;
}

/*
 * Every thread knows the locks that it is believed to hold, on which somebody is blocked, and where
 * no chain of this hold has been seen: these want its chain as soon as it blocks itself. A stock
 * JVM does not report all releases: a thread that only waits on new objects is believed to hold all
 * of them for ever. So there must be no cost in a hold that nobody waits for; nor in one that has a
 * chain, for which it is enough to know which chain the thread has shown last.
 */
static void listed_remove(struct holds *h, struct lock_state *l)
{
	if (l->listed_by == INDEX_NONE)
		return;
	if (l->listed_previous == INDEX_NONE)
		h->threads[l->listed_by].listed = l->listed_next;
	else
		h->locks[l->listed_previous].listed_next = l->listed_next;
	if (l->listed_next != INDEX_NONE)
		h->locks[l->listed_next].listed_previous = l->listed_previous;
	l->listed_by = INDEX_NONE;
}

/* After any change of the lock's holder, chain, or blocked threads. */
static void listed_update(struct holds *h, struct lock_state *l)
{
	bool needs_chain = l->blocked != INDEX_NONE && !l->at.stack;
	uint32_t self = (uint32_t)(l - h->locks), by = needs_chain ? l->holder_index : INDEX_NONE;

	if (l->listed_by == by)
		return;
	listed_remove(h, l);
	if (by == INDEX_NONE)
		return;
	l->listed_by = by;
	l->listed_previous = INDEX_NONE;
	l->listed_next = h->threads[by].listed;
	if (l->listed_next != INDEX_NONE)
		h->locks[l->listed_next].listed_previous = self;
	h->threads[by].listed = self;
}

static int holder_set(struct holds *h, struct lock_state *l, uint64_t holder)
{
	uint32_t index = INDEX_NONE;
	int err = holder_is_thread(holder) ? holds_thread(h, holder, &index) : 0;

	if (err)
		return err;
	l->holder = holder;
	l->holder_index = index;
	return 0;
}

/* The holder's chain for the next state: that which it has shown last since this one began. */
static struct chain_seen latest_of(const struct holds *h, const struct lock_state *l)
{
	const struct waiter_state *t;

	if (l->holder_index == INDEX_NONE)
		return l->latest;
	t = &h->threads[l->holder_index];
	for (int i = 0; i < 2; i++) {
		if (t->shown[i].number > l->latest_number && t->shown[i].lock != l->seen.lock)
			return (struct chain_seen){t->shown[i].stack, HOLDER_STACK_BLOCKED};
	}
	return l->latest;
}

int holds_show(struct holds *h, struct lock_state *l, struct chain_seen at)
{
	struct charged to;
	int err = 0;

	if (!at.stack || l->blocked == INDEX_NONE)
		return 0;
	l->latest = at;
	l->latest_number = h->shows;
	if (l->at.stack)
		return 0;
	l->at = at;
	listed_update(h, l);
	to = charged_now(l);
	for (uint32_t i = l->open ? l->blocked : INDEX_NONE; i != INDEX_NONE && !err;
	     i = h->threads[i].next) {
		if (!slice_is_empty(&h->threads[i].open))
			err = slice_close(h, &h->threads[i], &h->threads[i].open, &to);
	}
	l->open = false;
	return err;
}

int holds_show_blocked(struct holds *h, uint32_t thread, uint64_t lock, uint64_t stack)
{
	struct waiter_state *t = &h->threads[thread];
	struct chain_seen at = {stack, HOLDER_STACK_BLOCKED};
	uint32_t i = t->listed, next;
	int err = 0;

	if (!stack)
		return 0;
	/* The last one, and the last one that was for another lock than that. */
	if (t->shown[0].lock != lock)
		t->shown[1] = t->shown[0];
	t->shown[0] = (struct shown){lock, stack, ++h->shows};
	for (; i != INDEX_NONE && !err; i = next) {
		next = h->locks[i].listed_next;
		if (h->locks[i].seen.lock != lock)
			err = holds_show(h, &h->locks[i], at);
	}
	return err;
}

int holds_show_late(struct holds *h, struct lock_state *l, uint64_t thread, uint64_t stack)
{
	struct charged to = charged_before(l);
	int err = 0;

	if (!stack || !l->open_before || l->holder_before != thread)
		return 0;
	to.at = (struct chain_seen){stack, HOLDER_STACK_RELEASE};
	for (uint32_t i = l->blocked; i != INDEX_NONE && !err; i = h->threads[i].next) {
		if (!slice_is_empty(&h->threads[i].open_before))
			err = slice_close(h, &h->threads[i], &h->threads[i].open_before, &to);
	}
	l->open_before = false;
	return err;
}

/*
 * While a virtual thread of JDK 21 schedules another one, it runs as its carrier, for the VM, too.
 * So a holder that is seen as a carrier, and then, in the same hold, as a virtual thread on that
 * carrier, was this one all the time: what contentions have with the carrier that began in this
 * hold is the virtual thread's.
 */
static int holder_uncover(struct holds *h, struct lock_state *l, uint64_t holder)
{
	uint64_t from = l->holder;
	int err = holder_set(h, l, holder);

	for (uint32_t i = l->blocked; i != INDEX_NONE && !err; i = h->threads[i].next) {
		if (h->threads[i].since_ns >= l->held_ns)
			err = rename_holder(h, &h->threads[i], from, holder, l->holder_index);
	}
	if (!err)
		listed_update(h, l);
	return err;
}

int holds_observe(struct holds *h, struct lock_state *l, const struct observation *s)
{
	bool carried = s->carrier && l->holder == s->carrier && holder_is_thread(s->holder);
	int err = carried ? holder_uncover(h, l, s->holder) : 0;
	bool same = holder_is_thread(l->holder) && l->holder == s->holder;
	bool ended = holder_is_thread(l->holder) && l->holder == s->ended;
	struct chain_seen at = holder_is_thread(s->holder) ? s->at : (struct chain_seen){0};

	if (err)
		return err;
	if (h->cells.reasons && s->its && s->its->known)
		reasons_complete(h->cells.reasons, s->holder, h->now_ns, s->its);
	if (h->cells.reasons && s->ended_its && s->ended_its->known && s->ended_its != s->its)
		reasons_complete(h->cells.reasons, s->ended, h->now_ns, s->ended_its);
	if (same)
		err = holds_show(h, l, at);
	else if (ended)
		err = holds_show(h, l, (struct chain_seen){s->ended_stack, HOLDER_STACK_RELEASE});
	if (!err && l->blocked != INDEX_NONE && l->since_ns != h->now_ns)
		err = charge(h, l, same ? s->its : ended ? s->ended_its : NULL, same || ended);
	if (!err && !same)
		err = hold_end(h, l);
	if (!err && l->holder != s->holder)
		err = holder_set(h, l, s->holder);
	if (err)
		return err;
	if (!same)
		l->held_ns = h->now_ns;
	/* While nobody was blocked, it may have been released and taken again unseen. */
	l->latest = !same || l->blocked == INDEX_NONE || at.stack ? at : latest_of(h, l);
	l->latest_number = h->shows;
	l->at = l->latest;
	listed_update(h, l);
	l->claimed = s->claimed;
	if (s->its && s->its->known)
		l->since = *s->its;
	else
		l->since.known = false;
	l->since_ns = h->now_ns;
	l->first_reader = s->first_reader;
	return 0;
}

int holds_block(struct holds *h, uint32_t thread, struct lock_state *l, uint64_t stack, bool parked)
{
	struct waiter_state *t = &h->threads[thread];
	struct charged holder = l->holder == t->thread ? hand_over : charged_now(l);
	int err = 0;

	t->lock = (uint32_t)(l - h->locks);
	t->parked = parked;
	t->stack = stack;
	t->since_ns = h->now_ns;
	t->first_cell = INDEX_NONE;
	t->pending = INDEX_NONE;
	slice_clear(&t->open);
	slice_clear(&t->open_before);
	t->among_others = l->blocked_count >= OTHERS_MIN;
	if (t->among_others)
		return 0;
	l->blocked_count++;
	t->open.first = true;
	t->previous = INDEX_NONE;
	t->next = l->blocked;
	if (l->blocked != INDEX_NONE)
		h->threads[l->blocked].previous = thread;
	l->blocked = thread;
	listed_update(h, l);
	if (holder_is_thread(holder.holder) && !holder.at.stack)
		l->open = true;
	else
		err = slice_close(h, t, &t->open, &holder);
	return err;
}

static void observe(const struct holds *h, const struct cell *cell, const struct pending *p,
		    uint64_t *at_ns)
{
	struct cell_part part = {.from_ns = *at_ns, .to_ns = *at_ns + p->ns};

	*at_ns = part.to_ns;
	if (!h->cells.observe)
		return;
	part.key = cell_key_of(cell);
	part.monitor = cell->monitor;
	part.first_reader_ns = p->first_reader_ns;
	part.split = p->split;
	memcpy(part.stack_from_ns, p->from_ns, sizeof(part.stack_from_ns));
	h->cells.observe(h->cells.observer, &part);
}

static void interval_ended(const struct holds *h, const struct waiter_state *t,
			   const struct cell *first)
{
	const struct lock_state *l = &h->locks[t->lock];
	struct cell_interval interval = {.key = cell_key_of(first),
					 .monitor = l->seen.monitor,
					 .since_ns = t->since_ns,
					 .until_ns = h->now_ns};

	if (!h->cells.ended)
		return;
	interval.key.waiter = t->thread;
	interval.key.waiter_stack = t->stack;
	if (holder_is_thread(l->holder) && l->holder != t->thread)
		interval.last = l->holder;
	else if (l->holder_before != t->thread)
		interval.last = l->holder_before;
	h->cells.ended(h->cells.observer, &interval);
}

/* Two lists that are sorted by their begins, as one. */
static uint32_t pending_merge(struct holds *h, uint32_t a, uint32_t b)
{
	uint32_t first = INDEX_NONE, *link = &first;

	while (a != INDEX_NONE && b != INDEX_NONE) {
		bool take_a = h->pending[a].begin_ns <= h->pending[b].begin_ns;
		uint32_t *from = take_a ? &a : &b;

		*link = *from;
		link = &h->pending[*from].next;
		*from = *link;
	}
	*link = a != INDEX_NONE ? a : b;
	return first;
}

/* By their begins, for the one who observes them: lists of 1, 2, 4, ... are merged. */
static void pending_sort(struct holds *h, struct waiter_state *t)
{
	uint32_t sorted[32], i = t->pending, next;

	memset(sorted, 0xff, sizeof(sorted)); /* INDEX_NONE: no list of that length */
	for (; i != INDEX_NONE; i = next) {
		uint32_t k = 0, list = i;

		next = h->pending[i].next;
		h->pending[i].next = INDEX_NONE;
		for (; k < 31 && sorted[k] != INDEX_NONE; k++) {
			list = pending_merge(h, sorted[k], list);
			sorted[k] = INDEX_NONE;
		}
		sorted[k] = list;
	}
	t->pending = INDEX_NONE;
	for (uint32_t k = 0; k < 32; k++)
		t->pending = pending_merge(h, sorted[k], t->pending);
}

/* The most that was charged to one holder is a sum over all call sites where it was. */
static void pending_count(struct holds *h, struct waiter_state *t)
{
	uint64_t at_ns = t->since_ns;
	const struct pending *p;

	if (h->cells.observe)
		pending_sort(h, t);
	for (uint32_t i = t->pending; i != INDEX_NONE; i = p->next) {
		p = &h->pending[i];
		if (p->holder != INDEX_NONE)
			h->threads[p->holder].held_ns += p->ns;
	}
	for (uint32_t i = t->pending; i != INDEX_NONE; i = p->next) {
		struct cell *cell;
		uint64_t held_ns;

		p = &h->pending[i];
		cell = &h->cells.rows[p->cell];
		held_ns = p->holder == INDEX_NONE ? p->ns : h->threads[p->holder].held_ns;
		observe(h, cell, p, &at_ns);
		cell->blocked_ns += p->ns;
		cell->first_reader_ns += p->first_reader_ns;
		if (held_ns > cell->max_held_ns)
			cell->max_held_ns = held_ns;
		if (p->ns > cell->max_part_ns)
			cell->max_part_ns = p->ns;
		for (int k = 0; k < HOLDER_STACK_FROM_COUNT; k++)
			cell->stack_from_ns[k] += p->from_ns[k];
		split_add(&cell->split, &p->split);
	}
}

static void pending_clear(struct holds *h, struct waiter_state *t)
{
	uint32_t next;

	for (uint32_t i = t->pending; i != INDEX_NONE; i = next) {
		struct pending *p = &h->pending[i];

		if (p->holder != INDEX_NONE)
			h->threads[p->holder].held_ns = 0;
		h->cells.rows[p->cell].pending = 0;
		next = p->next;
		p->next = h->pending_free;
		h->pending_free = i + 1;
	}
	t->pending = INDEX_NONE;
}

/* Their holders' chains have not come. */
static int slices_close(struct holds *h, struct waiter_state *t)
{
	const struct lock_state *l = &h->locks[t->lock];
	struct charged to;
	int err = 0;

	if (!slice_is_empty(&t->open_before)) {
		to = charged_before(l);
		err = slice_close(h, t, &t->open_before, &to);
	}
	if (err || slice_is_empty(&t->open))
		return err;
	to = charged_now(l);
	to.at = (struct chain_seen){0};
	return slice_close(h, t, &t->open, &to);
}

static int count_contention(struct holds *h, struct waiter_state *t)
{
	uint64_t ns = h->now_ns - t->since_ns;
	int err = slices_close(h, t);

	if (err)
		return err;
	err = cells_count(&h->cells, t->first_cell, ns);
	if (err)
		return err;
	pending_count(h, t);
	interval_ended(h, t, &h->cells.rows[t->first_cell]);
	return 0;
}

static int count_others(struct holds *h, struct waiter_state *t)
{
	const struct lock_state *l = &h->locks[t->lock];
	const struct cell_key key = {.lock = l->seen.lock,
				     .waiter = t->thread,
				     .holder = THREAD_OTHERS,
				     .waiter_stack = t->stack};
	uint64_t ns = h->now_ns - t->since_ns, at_ns = t->since_ns;
	const struct pending whole = {.ns = ns, .split.unknown_ns = ns};
	struct cell *cell;
	uint32_t index;
	int err = cells_add(&h->cells, &key, &index);

	err = err ?: cells_count(&h->cells, index, ns);
	if (err)
		return err;
	cell = &h->cells.rows[index];
	cell->monitor |= l->seen.monitor;
	cell->blocked_ns += ns;
	cell->split.unknown_ns += ns;
	cell->max_held_ns = ns > cell->max_held_ns ? ns : cell->max_held_ns;
	cell->max_part_ns = ns > cell->max_part_ns ? ns : cell->max_part_ns;
	observe(h, cell, &whole, &at_ns);
	interval_ended(h, t, cell);
	return 0;
}

int holds_unblock(struct holds *h, uint32_t thread, bool count)
{
	struct waiter_state *t = &h->threads[thread];
	int err = !count ? 0 : t->among_others ? count_others(h, t) : count_contention(h, t);

	if (err)
		return err;
	if (t->among_others) {
		t->among_others = false;
		t->lock = INDEX_NONE;
		return 0;
	}
	h->locks[t->lock].blocked_count--;
	pending_clear(h, t);
	if (t->previous == INDEX_NONE)
		h->locks[t->lock].blocked = t->next;
	else
		h->threads[t->previous].next = t->next;
	if (t->next != INDEX_NONE)
		h->threads[t->next].previous = t->previous;
	listed_update(h, &h->locks[t->lock]);
	t->lock = INDEX_NONE;
	return 0;
}
