#include "analyze/lines/history.h"

#include <stdlib.h>

#include "analyze/lines/reason_history.h"

/* So many waiters may come while one thread holds a lock, and its time is split at each of them. */
#define OBSERVATIONS_MAX 256
/* So many slots are looked through one by one. */
#define SLOTS_FEW 8
/* So many runs are looked at one by one: for more the sums of each slot are made. */
#define NEAR_MAX 64

void history_free(struct history *h)
{
	free(h->runs);
	free(h->splits);
	free(h->skip_nodes);
	keymap_free(&h->slot_map);
	free(h->slots);
	free(h->samples);
	*h = (struct history){0};
}

void history_clear(struct history *h, bool samples)
{
	h->count = 0;
	h->split_count = 0;
	h->skip_count = 0;
	h->slot_count = 0;
	keymap_clear(&h->slot_map);
	if (!samples)
		return;
	h->sample_count = 0;
	h->begun_ns = 0;
}

static inline bool is_same(const struct hold *x, const struct hold *y)
{
	return x->holder == y->holder && x->stack == y->stack && x->blocked_on == y->blocked_on &&
	       x->forward == y->forward && x->from == y->from && x->first_reader == y->first_reader;
}

static struct keymap_key key_of(const struct hold *hold)
{
	return (struct keymap_key){hold->holder,       hold->stack,   hold->from,
				   hold->first_reader, hold->forward, hold->blocked_on};
}

/* All that there are, and one more: their indexes are their numbers. */
static int slot_index(struct history *h, const struct hold *hold, uint32_t *ret)
{
	int err = 0;

	while (!err && h->slot_map.count < h->slot_count)
		err = keymap_add(&h->slot_map, key_of(&h->slots[h->slot_map.count].hold), ret);
	return err ? err : keymap_add(&h->slot_map, key_of(hold), ret);
}

static void slot_begin(struct hold_entry *s, const struct hold *hold)
{
	s->hold = *hold;
	s->forward = NULL;
	s->seen.known = false;
	s->seen_ns = 0;
	s->loose_ns = 0;
	s->take = 0;
	s->last = INDEX_NONE;
	s->newer = INDEX_NONE;
	s->older = INDEX_NONE;
}

/* It is none of the last few. */
static int slot_add(struct history *h, const struct hold *hold, uint32_t *ret, bool *ret_new)
{
	uint32_t index = h->slot_count;
	int err = h->slot_count < h->slots_capacity ? 0
						    : array_grow(&h->slots, &h->slots_capacity,
								 h->slot_count, sizeof(*h->slots));

	if (!err && h->slot_count >= SLOTS_FEW)
		err = slot_index(h, hold, &index);
	if (err)
		return err;
	*ret = index;
	*ret_new = index == h->slot_count;
	if (*ret_new)
		slot_begin(&h->slots[h->slot_count++], hold);
	return 0;
}

int history_slot(struct history *h, const struct hold *hold, uint32_t *ret, bool *ret_new)
{
	const struct hold_entry *first = h->slots,
				*s = h->slot_count ? first + h->slot_count : first;

	if (h->slot_count > SLOTS_FEW)
		first = s - SLOTS_FEW;
	while (s > first) {
		s--;
		if (!is_same(&s->hold, hold))
			continue;
		*ret = (uint32_t)(s - h->slots);
		*ret_new = false;
		return 0;
	}
	return slot_add(h, hold, ret, ret_new);
}

static void make_newest(struct history *h, uint32_t index)
{
	struct hold_entry *s = &h->slots[index];

	if (h->skip_count && h->newest == index)
		return;
	if (s->newer != INDEX_NONE)
		h->slots[s->newer].older = s->older;
	if (s->older != INDEX_NONE)
		h->slots[s->older].newer = s->newer;
	s->newer = INDEX_NONE;
	s->older = h->skip_count ? h->newest : INDEX_NONE;
	if (s->older != INDEX_NONE)
		h->slots[s->older].newer = index;
	h->newest = index;
}

/*
 * A list with jumps over as many links as the two jumps before them together, if these were over
 * equally many: any earlier element is found in a number of steps that grows with the logarithm of
 * its distance (Myers: an applicative random-access stack).
 */
static uint32_t jump_from(const struct history *h, uint32_t previous)
{
	const struct skip_node *all = h->skip_nodes;
	uint32_t jump = previous == INDEX_NONE ? INDEX_NONE : all[previous].jump;
	uint32_t next = jump == INDEX_NONE ? INDEX_NONE : all[jump].jump;

	if (next == INDEX_NONE ||
	    all[previous].rank - all[jump].rank != all[jump].rank - all[next].rank)
		return previous;
	return next;
}

static void add_whole(const struct history *h, const struct hold_run *s, struct split *sum)
{
	if (s->split == INDEX_NONE)
		sum->unknown_ns += s->to_ns - s->from_ns;
	else
		split_add(sum, &h->splits[s->split]);
}

/* Of the next run that has none. */
static int skip_add(struct history *h)
{
	uint32_t self = h->skip_count, index = h->runs[self].slot;
	struct hold_entry *s = &h->slots[index];
	int err = array_grow(&h->skip_nodes, &h->skip_capacity, self, sizeof(*h->skip_nodes));
	struct skip_node *new;

	if (err)
		return err;
	new = &h->skip_nodes[self];
	new->previous = s->last;
	new->jump = jump_from(h, s->last);
	if (s->last == INDEX_NONE) {
		new->rank = 0;
		split_set_unknown(&new->before, 0);
	} else {
		new->rank = h->skip_nodes[s->last].rank + 1;
		new->before = h->skip_nodes[s->last].before;
		add_whole(h, &h->runs[s->last], &new->before);
	}
	make_newest(h, index);
	s->last = self;
	h->skip_count++;
	return 0;
}

/* ret_split: what is known of it, for the caller to fill in; NULL: nothing. */
static int push(struct history *h, uint32_t slot, uint64_t from_ns, uint64_t to_ns,
		struct split **ret_split)
{
	struct hold_run *s;
	int err = h->count < h->capacity
			  ? 0
			  : array_grow(&h->runs, &h->capacity, h->count, sizeof(*h->runs));

	if (!err && ret_split && h->split_count == h->splits_capacity)
		err = array_grow(&h->splits, &h->splits_capacity, h->split_count,
				 sizeof(*h->splits));
	if (err)
		return err;
	s = &h->runs[h->count++];
	s->from_ns = from_ns;
	s->to_ns = to_ns;
	s->slot = slot;
	s->split = ret_split ? h->split_count : INDEX_NONE;
	if (ret_split)
		*ret_split = &h->splits[h->split_count++];
	return 0;
}

static uint64_t surely(uint64_t held_ns, uint64_t whole_ns, uint64_t done_ns)
{
	uint64_t other_ns = whole_ns - done_ns;

	return held_ns > other_ns ? held_ns - other_ns : 0;
}

/*
 * The holder is seen again. Where it held the lock over and over, it is not known what it did in
 * each hold; but what it did for most of the time since it was seen last, it did for most of its
 * holds: for all but what it did otherwise. That is known for those only who were blocked for all
 * that time.
 */
static int settle_loose(struct history *h, uint32_t slot, uint64_t ns, const struct counters *its)
{
	const struct hold_entry *s = &h->slots[slot];
	uint64_t whole_ns = ns - s->seen_ns, held_ns = s->loose_ns;
	struct split did, known, *sum;
	int err;

	if (!held_ns || held_ns > whole_ns || !s->seen.known || h->begun_ns > s->seen_ns)
		return 0;
	split_set(&did, whole_ns, &s->seen, its);
	split_set_unknown(&known, 0);
	known.running_ns = surely(held_ns, whole_ns, did.running_ns);
	known.stolen_ns = surely(held_ns, whole_ns, did.stolen_ns);
	known.runnable_ns = surely(held_ns, whole_ns, did.runnable_ns);
	known.throttled_ns = surely(held_ns, whole_ns, did.throttled_ns);
	known.blocked_ns = surely(held_ns, whole_ns, did.blocked_ns);
	for (int i = 1; i < BLOCKED_REASON_COUNT; i++)
		known.reason_ns[i] = surely(held_ns, whole_ns, did.reason_ns[i]);
	known.unknown_ns -= split_sum(&known);
	if (!known.unknown_ns)
		return 0;
	err = push(h, slot, ns, ns, &sum);
	if (!err)
		*sum = known;
	return err;
}

/* What is seen of the holder up to to_ns, in the order of time. */
struct look {
	struct history *h;
	const struct history_holder *who;
	uint64_t from_ns, to_ns;
	const struct counters *since; /* the holder's at from_ns */
	struct blocked_on blocked_on;
	uint32_t slot;                    /* while it is blocked on that lock */
	uint32_t sample;                  /* the next one to look at */
	const struct reason_moment *next; /* moment */
};

static int look_blocked_on(struct look *l, const struct reason_moment *d)
{
	l->blocked_on = reason_blocked_on(d, l->who->lock);
	return l->who->slot(l->who->context, &l->blocked_on, &l->slot);
}

static int look_begin(struct look *l)
{
	const struct history_holder *who = l->who;
	const struct reason_moment *before = NULL;

	if (who->reasons)
		reasons_around(who->reasons, who->thread, l->from_ns, &before, &l->next);
	if (before && before->ns == l->from_ns)
		l->since = &before->its;
	return look_blocked_on(l, before);
}

/* Up to ns nothing is known. */
static int look_unseen(struct look *l, uint64_t ns)
{
	if (ns <= l->from_ns)
		return 0;
	l->h->slots[l->slot].loose_ns += ns - l->from_ns;
	return push(l->h, l->slot, l->from_ns, ns, NULL);
}

/* Up to a moment at which the holder's counters are known. */
static int look_at(struct look *l, uint64_t ns, const struct counters *its)
{
	struct split *split;
	struct hold_entry *s;
	int err = 0;

	if (!l->since || ns <= l->from_ns) {
		err = look_unseen(l, ns);
	} else {
		err = push(l->h, l->slot, l->from_ns, ns, &split);
		if (!err)
			split_set(split, ns - l->from_ns, l->since, its);
	}
	if (!err)
		err = settle_loose(l->h, l->slot, ns, its);
	s = &l->h->slots[l->slot];
	s->seen_ns = ns;
	s->seen = *its;
	s->loose_ns = 0;
	l->from_ns = ns;
	l->since = its;
	return err;
}

/* 1: there was one; 0: nothing is left. */
static int look_next(struct look *l)
{
	const struct history_holder *who = l->who;
	const struct reason_moment *d = l->next && l->next->ns <= l->to_ns ? l->next : NULL;
	const struct counter_sample *s = NULL;
	struct blocked_on on;
	int err;

	while (l->sample < l->h->sample_count && !s) {
		const struct counter_sample *at = &l->h->samples[l->sample];

		if (at->thread == who->thread && at->ns >= l->from_ns)
			s = at;
		else
			l->sample++;
	}
	if (s && (s->ns > l->to_ns || (d && s->ns >= d->ns)))
		s = NULL;
	if (!d && !s)
		return 0;
	if (s) {
		l->sample++;
		err = look_at(l, s->ns, &s->its);
		return err ? err : 1;
	}
	err = look_at(l, d->ns, &d->its);
	l->next = reasons_next(who->reasons, who->thread, d);
	on = reason_blocked_on(d, who->lock);
	if (!err && !blocked_on_same(&on, &l->blocked_on))
		err = look_blocked_on(l, d);
	return err ? err : 1;
}

static void samples_forget(struct history *h, uint64_t before_ns)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < h->sample_count; i++) {
		if (h->samples[i].ns < before_ns)
			continue;
		if (i != kept)
			h->samples[kept] = h->samples[i];
		kept++;
	}
	h->sample_count = kept;
}

int history_push(struct history *h, uint32_t slot, uint64_t from_ns, uint64_t to_ns)
{
	if (h->sample_count)
		samples_forget(h, to_ns);
	return push(h, slot, from_ns, to_ns, NULL);
}

int history_push_seen(struct history *h, const struct history_holder *who, uint64_t from_ns,
		      uint64_t to_ns)
{
	struct look l = {.h = h, .who = who, .from_ns = from_ns, .to_ns = to_ns};
	int err = look_begin(&l);

	if (!err && (l.next || h->sample_count)) {
		do {
			err = look_next(&l);
		} while (err > 0);
	}
	if (!err)
		err = look_unseen(&l, to_ns);
	if (!err && h->sample_count)
		samples_forget(h, to_ns);
	return err;
}

int history_see(struct history *h, struct counter_sample **ret)
{
	int err = 0;

	*ret = NULL;
	if (h->sample_count == OBSERVATIONS_MAX)
		return 0;
	if (h->sample_count == h->samples_capacity)
		err = array_grow(&h->samples, &h->samples_capacity, h->sample_count,
				 sizeof(*h->samples));
	if (!err)
		*ret = &h->samples[h->sample_count++];
	return err;
}

/* What there is of a run from from_ns to to_ns: of a piece of it nothing is known. */
static void add_cut(const struct history *h, const struct hold_run *s, uint64_t from_ns,
		    uint64_t to_ns, struct split *sum)
{
	uint64_t begin_ns = s->from_ns > from_ns ? s->from_ns : from_ns;
	uint64_t end_ns = s->to_ns < to_ns ? s->to_ns : to_ns;

	if (s->from_ns >= from_ns && s->to_ns <= to_ns)
		add_whole(h, s, sum);
	else if (begin_ns < end_ns)
		sum->unknown_ns += end_ns - begin_ns;
}

/* The last run of a slot that begins before ns, and in *ret_next the one after that. */
static uint32_t begun_before(const struct history *h, const struct hold_entry *s, uint64_t ns,
			     uint32_t *ret_next)
{
	const struct hold_run *all = h->runs;
	const struct skip_node *skip_nodes = h->skip_nodes;
	uint32_t i = s->last;

	*ret_next = INDEX_NONE;
	while (i != INDEX_NONE && all[i].from_ns >= ns) {
		*ret_next = i;
		if (skip_nodes[i].jump != INDEX_NONE && all[skip_nodes[i].jump].from_ns >= ns)
			i = skip_nodes[i].jump;
		else
			i = skip_nodes[i].previous;
	}
	return i;
}

/* What a slot has from from_ns to to_ns; whether it had the moment from_ns. */
static bool between(const struct history *h, const struct hold_entry *s, uint64_t from_ns,
		    uint64_t to_ns, struct hold_slice *slice)
{
	uint32_t next, last = begun_before(h, s, to_ns, &next);
	uint32_t first = begun_before(h, s, from_ns + 1, &next);
	bool had = first != INDEX_NONE && h->runs[first].to_ns > from_ns;
	struct split whole, *ret = &slice->split;

	slice->begin_ns = had || next == INDEX_NONE ? from_ns : h->runs[next].from_ns;
	split_set_unknown(ret, 0);
	if (last == INDEX_NONE)
		return had;
	if (last != first || had)
		add_cut(h, &h->runs[last], from_ns, to_ns, ret);
	if (last == first)
		return had;
	split_add(ret, &h->skip_nodes[last].before);
	if (first == INDEX_NONE)
		return had;
	split_set_unknown(&whole, 0);
	add_whole(h, &h->runs[first], &whole);
	split_sub(ret, &h->skip_nodes[first].before);
	split_sub(ret, &whole);
	if (had)
		add_cut(h, &h->runs[first], from_ns, to_ns, ret);
	return had;
}

static struct hold_slice *part_begin(struct hold_slices *p, const struct hold_entry *s)
{
	struct hold_slice *slice = &p->rows[p->count++];

	slice->hold = s->hold;
	slice->forward = s->forward;
	slice->first = false;
	return slice;
}

/* Whether there is anything in it. */
static bool part_end(struct hold_slice *p)
{
	uint64_t sum_ns = split_sum(&p->split);

	/* It was reported too late to be blocked all that time. */
	if (p->split.unknown_ns > sum_ns)
		split_set_unknown(&p->split, sum_ns);
	if (!p->first && !sum_ns)
		return false;
	if (p->forward)
		p->forward->users++;
	return true;
}

#define LAST_RUNS 16 /* before the end of an interval that are looked at */

/* Who held it last before to_ns: runs are in the order of time. */
static void take_last(const struct history *h, uint64_t from_ns, uint64_t to_ns,
		      struct hold_slices *ret)
{
	uint32_t first = 0, end = h->count, middle;
	uint64_t last = 0, before = 0;

	if (end && h->runs[end - 1].from_ns < to_ns)
		first = end;
	while (first < end) {
		middle = first + (end - first) / 2;
		if (h->runs[middle].from_ns < to_ns)
			first = middle + 1;
		else
			end = middle;
	}
	for (uint32_t i = first; i > 0 && i + LAST_RUNS > first && !before; i--) {
		uint64_t holder = h->slots[h->runs[i - 1].slot].hold.holder;

		if (h->runs[i - 1].to_ns <= from_ns)
			break;
		if (!holder_is_thread(holder) || holder == last)
			continue;
		before = last ? holder : 0;
		last = last ? last : holder;
	}
	hold_slices_hold(ret, before);
	hold_slices_hold(ret, last);
}

/* By the sums of the slots that have ended after from_ns. */
static int take_far(struct history *h, uint64_t from_ns, uint64_t to_ns, bool first,
		    struct hold_slices *ret)
{
	uint32_t i;
	int err = 0;

	while (!err && h->skip_count < h->count)
		err = skip_add(h);
	for (i = h->newest; !err && i != INDEX_NONE; i = h->slots[i].older) {
		struct hold_entry *s = &h->slots[i];
		struct hold_slice *slice;

		if (h->runs[s->last].to_ns <= from_ns)
			break;
		err = hold_slices_reserve(ret, 1);
		if (err)
			break;
		slice = part_begin(ret, s);
		slice->first = between(h, s, from_ns, to_ns, slice) && first;
		if (!part_end(slice))
			ret->count--;
	}
	return err;
}

/* The runs from at on. */
static int take_near(struct history *h, uint32_t at, uint64_t from_ns, uint64_t to_ns, bool first,
		     struct hold_slices *ret)
{
	int err = hold_slices_reserve(ret, h->count - at);
	uint32_t begin = ret->count, kept = begin;

	if (err)
		return err;
	h->takes++;
	for (; at < h->count && h->runs[at].from_ns < to_ns; at++) {
		const struct hold_run *run = &h->runs[at];
		struct hold_entry *s = &h->slots[run->slot];
		struct hold_slice *slice;

		if (s->take == h->takes) {
			slice = &ret->rows[s->slice];
		} else {
			s->take = h->takes;
			s->slice = ret->count;
			slice = part_begin(ret, s);
			slice->begin_ns = run->from_ns > from_ns ? run->from_ns : from_ns;
			split_set_unknown(&slice->split, 0);
		}
		slice->first |= first && run->from_ns <= from_ns;
		add_cut(h, run, from_ns, to_ns, &slice->split);
	}
	for (uint32_t i = begin; i < ret->count; i++) {
		if (!part_end(&ret->rows[i]))
			continue;
		if (kept != i)
			ret->rows[kept] = ret->rows[i];
		kept++;
	}
	ret->count = kept;
	return 0;
}

int history_take(struct history *h, uint64_t from_ns, uint64_t to_ns, bool first,
		 struct hold_slices *ret)
{
	uint32_t at = h->count, near = h->count < NEAR_MAX ? h->count : NEAR_MAX;

	while (at > h->count - near && h->runs[at - 1].to_ns > from_ns)
		at--;
	take_last(h, from_ns, to_ns, ret);
	if (at > 0 && h->runs[at - 1].to_ns > from_ns)
		return take_far(h, from_ns, to_ns, first, ret);
	return take_near(h, at, from_ns, to_ns, first, ret);
}
