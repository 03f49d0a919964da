#include "analyze/history.h"

#include <stdlib.h>

#include "analyze/doing.h"

/* So many waiters may come while one thread holds a lock, and its time is split at each of them. */
#define SIGHTS_MAX 256

void history_free(struct history *h)
{
	free(h->stretches);
	places_free(&h->slot_places);
	free(h->slots);
	free(h->sights);
	*h = (struct history){0};
}

void history_clear(struct history *h, bool sights)
{
	h->count = 0;
	places_clear(&h->slot_places);
	h->newest = PLACE_NONE;
	if (!sights)
		return;
	h->sight_count = 0;
	h->begun_ns = 0;
}

int history_slot(struct history *h, const struct hold *hold, uint32_t *ret, bool *ret_new)
{
	const struct place_key key = {hold->holder,       hold->stack,   hold->from,
				      hold->first_reader, hold->forward, hold->behind};
	uint32_t known = h->slot_places.count;
	int err = places_add_row(&h->slot_places, key, &h->slots, &h->slots_capacity,
				 sizeof(*h->slots), ret);

	if (err)
		return err;
	*ret_new = *ret == known;
	if (*ret_new)
		h->slots[*ret] = (struct slot){.hold = *hold,
					       .last = PLACE_NONE,
					       .newer = PLACE_NONE,
					       .older = PLACE_NONE};
	return 0;
}

static void make_newest(struct history *h, uint32_t place)
{
	struct slot *s = &h->slots[place];

	if (h->count && h->newest == place)
		return;
	if (s->newer != PLACE_NONE)
		h->slots[s->newer].older = s->older;
	if (s->older != PLACE_NONE)
		h->slots[s->older].newer = s->newer;
	s->newer = PLACE_NONE;
	s->older = h->count ? h->newest : PLACE_NONE;
	if (s->older != PLACE_NONE)
		h->slots[s->older].newer = place;
	h->newest = place;
}

/*
 * A list with jumps over as many links as the two jumps before them together, if these were over
 * equally many: any earlier element is found in a number of steps that grows with the logarithm of
 * its distance (Myers: an applicative random-access stack).
 */
static uint32_t jump_from(const struct history *h, uint32_t previous)
{
	const struct stretch *all = h->stretches;
	uint32_t jump = previous == PLACE_NONE ? PLACE_NONE : all[previous].jump;
	uint32_t next = jump == PLACE_NONE ? PLACE_NONE : all[jump].jump;

	if (next == PLACE_NONE ||
	    all[previous].rank - all[jump].rank != all[jump].rank - all[next].rank)
		return previous;
	return next;
}

int history_push(struct history *h, uint32_t slot, uint64_t from_ns, uint64_t to_ns,
		 const struct split *split)
{
	struct slot *s = &h->slots[slot];
	struct stretch new = {.from_ns = from_ns,
			      .to_ns = to_ns,
			      .split = *split,
			      .slot = slot,
			      .previous = s->last,
			      .jump = jump_from(h, s->last)};
	int err = array_grow(&h->stretches, &h->capacity, h->count, sizeof(*h->stretches));

	if (err)
		return err;
	if (s->last != PLACE_NONE) {
		const struct stretch *last = &h->stretches[s->last];

		new.rank = last->rank + 1;
		new.before = last->before;
		split_add(&new.before, &last->split);
	}
	make_newest(h, slot);
	s->last = h->count;
	h->stretches[h->count++] = new;
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
static int settle_loose(struct history *h, uint32_t slot, const struct sight *now)
{
	struct slot *s = &h->slots[slot];
	uint64_t whole_ns = now->ns - s->seen_ns, held_ns = s->loose_ns;
	struct split did, known = {0};

	split_of(whole_ns, &s->seen, &now->its, &did);
	if (held_ns && held_ns <= whole_ns && s->seen.known && h->begun_ns <= s->seen_ns) {
		known.running_ns = surely(held_ns, whole_ns, did.running_ns);
		known.stolen_ns = surely(held_ns, whole_ns, did.stolen_ns);
		known.runnable_ns = surely(held_ns, whole_ns, did.runnable_ns);
		known.throttled_ns = surely(held_ns, whole_ns, did.throttled_ns);
		known.blocked_ns = surely(held_ns, whole_ns, did.blocked_ns);
		for (int i = 1; i < BLOCKED_REASON_COUNT; i++)
			known.reason_ns[i] = surely(held_ns, whole_ns, did.reason_ns[i]);
		known.unknown_ns -= split_sum(&known);
	}
	s->seen_ns = now->ns;
	s->seen = now->its;
	s->loose_ns = 0;
	return known.unknown_ns ? history_push(h, slot, now->ns, now->ns, &known) : 0;
}

static uint64_t behind_of(const struct history_holder *who, const struct doing *d)
{
	uint64_t lock = d ? doing_behind(d) : 0;

	return lock != who->lock ? lock : 0;
}

/* What is seen of the holder up to to_ns, in the order of time. */
struct look {
	struct history *h;
	const struct history_holder *who;
	uint64_t from_ns, to_ns;
	struct counters since; /* the holder's at from_ns */
	uint32_t slot;
	uint32_t sight;           /* the next one to look at */
	const struct doing *next; /* moment */
};

static int look_begin(struct look *l)
{
	const struct history_holder *who = l->who;
	const struct doing *before = NULL;

	if (who->doings && holder_is_thread(who->thread)) {
		doings_around(who->doings, who->thread, l->from_ns, &before, &l->next);
	}
	if (before && before->ns == l->from_ns)
		l->since = before->its;
	return who->slot(who->context, behind_of(who, before), &l->slot);
}

/* Up to a moment at which the holder's counters are known. */
static int look_at(struct look *l, const struct sight *s)
{
	struct split split;
	int err = 0;

	if (s->ns > l->from_ns) {
		split_of(s->ns - l->from_ns, &l->since, &s->its, &split);
		l->h->slots[l->slot].loose_ns += split.unknown_ns;
		err = history_push(l->h, l->slot, l->from_ns, s->ns, &split);
	}
	if (!err)
		err = settle_loose(l->h, l->slot, s);
	l->from_ns = s->ns;
	l->since = s->its;
	return err;
}

/* 1: there was one; 0: nothing is left. */
static int look_next(struct look *l)
{
	const struct history_holder *who = l->who;
	const struct doing *d = l->next && l->next->ns <= l->to_ns ? l->next : NULL;
	const struct sight *s = l->h->sights;
	struct sight told;
	int err;

	while (l->sight < l->h->sight_count &&
	       (s[l->sight].thread != who->thread || s[l->sight].ns < l->from_ns))
		l->sight++;
	s = l->sight < l->h->sight_count && s[l->sight].ns <= l->to_ns ? &s[l->sight] : NULL;
	if (!d && !s)
		return 0;
	if (!d || (s && s->ns < d->ns)) {
		l->sight++;
		err = look_at(l, s);
		return err ? err : 1;
	}
	told = (struct sight){d->ns, who->thread, d->its};
	err = look_at(l, &told);
	l->next = doings_next(who->doings, who->thread, d);
	if (!err)
		err = who->slot(who->context, behind_of(who, d), &l->slot);
	return err ? err : 1;
}

int history_push_seen(struct history *h, const struct history_holder *who, uint64_t from_ns,
		      uint64_t to_ns)
{
	struct look l = {.h = h, .who = who, .from_ns = from_ns, .to_ns = to_ns};
	struct split split;
	int err = look_begin(&l);

	if (!err) {
		do {
			err = look_next(&l);
		} while (err > 0);
	}
	if (err)
		return err;
	split_of(to_ns - l.from_ns, &l.since, NULL, &split);
	h->slots[l.slot].loose_ns += split.unknown_ns;
	if (to_ns > l.from_ns)
		err = history_push(h, l.slot, l.from_ns, to_ns, &split);
	for (uint32_t i = 0, count = h->sight_count; !err && i < count; i++) {
		if (!i)
			h->sight_count = 0;
		if (h->sights[i].ns >= to_ns)
			h->sights[h->sight_count++] = h->sights[i];
	}
	return err;
}

int history_see(struct history *h, const struct sight *s)
{
	int err;

	if (h->sight_count == SIGHTS_MAX)
		return 0;
	err = array_grow(&h->sights, &h->sights_capacity, h->sight_count, sizeof(*h->sights));
	if (!err)
		h->sights[h->sight_count++] = *s;
	return err;
}

/* The last stretch of a slot that begins before ns. */
static uint32_t begun_before(const struct history *h, const struct slot *s, uint64_t ns)
{
	const struct stretch *all = h->stretches;
	uint32_t i = s->last;

	while (i != PLACE_NONE && all[i].from_ns >= ns) {
		if (all[i].jump != PLACE_NONE && all[all[i].jump].from_ns >= ns)
			i = all[i].jump;
		else
			i = all[i].previous;
	}
	return i;
}

static struct split cut(const struct stretch *s, uint64_t from_ns, uint64_t to_ns)
{
	if (s->from_ns == s->to_ns && from_ns < s->from_ns)
		return s->split;
	if (from_ns < s->from_ns)
		from_ns = s->from_ns;
	if (to_ns > s->to_ns)
		to_ns = s->to_ns;
	if (from_ns >= to_ns)
		return (struct split){0};
	if (from_ns == s->from_ns && to_ns == s->to_ns)
		return s->split;
	return (struct split){.unknown_ns = to_ns - from_ns};
}

/* What a slot has from from_ns to to_ns; *ret_first: it had the moment from_ns. */
static struct split between(const struct history *h, const struct slot *s, uint64_t from_ns,
			    uint64_t to_ns, bool *ret_first)
{
	uint32_t last = begun_before(h, s, to_ns), first = begun_before(h, s, from_ns + 1);
	struct split sum;

	*ret_first = first != PLACE_NONE && h->stretches[first].to_ns > from_ns;
	if (last == PLACE_NONE)
		return (struct split){0};
	sum = cut(&h->stretches[last], from_ns, to_ns);
	if (last == first)
		return sum;
	split_add(&sum, &h->stretches[last].before);
	if (first != PLACE_NONE) {
		struct split part = cut(&h->stretches[first], from_ns, to_ns);

		split_sub(&sum, &h->stretches[first].before);
		split_sub(&sum, &h->stretches[first].split);
		split_add(&sum, &part);
	}
	return sum;
}

int history_take(struct history *h, uint64_t from_ns, uint64_t to_ns, bool first, struct parts *ret)
{
	uint32_t i = h->count ? h->newest : PLACE_NONE;
	int err = 0;

	for (; i != PLACE_NONE && !err; i = h->slots[i].older) {
		struct slot *s = &h->slots[i];
		struct part part = {.hold = s->hold, .forward = s->forward};
		uint64_t sum_ns;
		bool begins;

		if (h->stretches[s->last].to_ns <= from_ns)
			break;
		part.split = between(h, s, from_ns, to_ns, &begins);
		part.first = first && begins;
		sum_ns = split_sum(&part.split);
		/* It was told of too late to be blocked all that time. */
		if (part.split.unknown_ns > sum_ns)
			part.split = (struct split){.unknown_ns = sum_ns};
		if (!part.first && !sum_ns)
			continue;
		err = parts_add(ret, &part);
		if (!err && s->forward)
			s->forward->users++;
	}
	return err;
}
