#include "analyze/lines/hold_slices.h"

#include <errno.h>
#include <stdlib.h>

/* Up to so many are sorted where they are. */
#define FEW 8

static inline int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static uint64_t forward_of(const struct hold_slice *p)
{
	return p->forward ? p->forward->number : 0;
}

/* By holder first, then by call site: as their sums are made. */
static int compare_holders(const void *a, const void *b)
{
	const struct hold_slice *x = a, *y = b;

	return compare_u64(x->hold.holder, y->hold.holder)
		       ?: compare_u64(forward_of(x), forward_of(y))
		       ?: compare_u64(x->hold.stack, y->hold.stack)
		       ?: compare_u64(x->hold.from, y->hold.from)
		       ?: compare_u64(x->hold.first_reader, y->hold.first_reader)
		       ?: compare_u64(x->hold.blocked_on, y->hold.blocked_on);
}

static int compare_begins(const void *a, const void *b)
{
	const struct hold_slice *x = a, *y = b;

	return compare_u64(x->begin_ns, y->begin_ns) ?: compare_holders(a, b);
}

static void sort(struct hold_slices *p, int (*compare)(const void *, const void *))
{
	struct hold_slice slice;
	uint32_t k;

	if (p->count > FEW) {
		qsort(p->rows, p->count, sizeof(*p->rows), compare);
		return;
	}
	for (uint32_t i = 1; i < p->count; i++) {
		if (compare(&p->rows[i - 1], &p->rows[i]) <= 0)
			continue;
		slice = p->rows[i];
		for (k = i; k > 0 && compare(&p->rows[k - 1], &slice) > 0; k--)
			p->rows[k] = p->rows[k - 1];
		p->rows[k] = slice;
	}
}

static void merge(struct hold_slices *p)
{
	uint32_t kept = 0;

	sort(p, compare_holders);
	for (uint32_t i = 1; i < p->count; i++) {
		struct hold_slice *into = &p->rows[kept];

		if (compare_holders(into, &p->rows[i])) {
			if (++kept != i)
				p->rows[kept] = p->rows[i];
			continue;
		}
		split_add(&into->split, &p->rows[i].split);
		if (p->rows[i].begin_ns < into->begin_ns)
			into->begin_ns = p->rows[i].begin_ns;
		into->ns += p->rows[i].ns;
		into->first |= p->rows[i].first;
		if (p->rows[i].forward)
			p->rows[i].forward->users--; /* into has it, too */
	}
	if (p->count)
		p->count = kept + 1;
}

int hold_slices_reserve(struct hold_slices *p, uint32_t more)
{
	int err = 0;

	if (more <= p->capacity - p->count)
		return 0;
	merge(p);
	while (!err && p->count + more > p->capacity / 4 * 3)
		err = array_grow(&p->rows, &p->capacity, p->capacity, sizeof(*p->rows));
	return err;
}

int hold_slices_add(struct hold_slices *p, const struct hold_slice *slice)
{
	int err = hold_slices_reserve(p, 1);

	if (!err)
		p->rows[p->count++] = *slice;
	return err;
}

/* One part into its cell, a new one if need be. */
static int charge(struct cells *cells, const struct hold_slice *slice, const struct cell_key *key,
		  bool monitor, uint64_t whole_ns, struct cell **ret)
{
	uint64_t ns = slice->ns;
	struct cell *cell;
	uint32_t index;
	int err = cells_add(cells, key, &index);

	if (err)
		return err;
	if (slice->first)
		err = cells_count(cells, index, whole_ns);
	if (err)
		return err;
	cell = &cells->rows[index];
	cell->monitor |= monitor;
	cell->numbered = true;
	cell->blocked_ns += ns;
	if (holder_is_thread(key->holder)) {
		split_add(&cell->split, &slice->split);
		cell->stack_from_ns[key->holder_stack ? slice->hold.from : HOLDER_STACK_UNKNOWN] +=
			ns;
		cell->first_reader_ns += slice->hold.first_reader ? ns : 0;
	} else {
		cell->split.unknown_ns += ns;
	}
	*ret = cell;
	return 0;
}

static void at_least(uint64_t *max, uint64_t ns)
{
	if (ns > *max)
		*max = ns;
}

/* Who holds the lock is not blocked in it: what was seen as the waiter's own hold is nobody's. */
static void nobodys_own(struct hold_slices *p, uint64_t waiter)
{
	for (uint32_t i = 0; i < p->count; i++) {
		struct hold_slice *slice = &p->rows[i];
		uint64_t holder = slice->hold.holder;

		slice->ns = split_sum(&slice->split);
		if (holder == waiter || !holder_is_thread(holder))
			slice->hold = (struct hold){
				.holder = holder == HOLDER_UNKNOWN ? holder : HOLDER_HAND_OVER};
	}
}

static void observe(const struct cells *cells, const struct cell_key *key, bool monitor,
		    const struct hold_slice *slice, uint64_t *at_ns)
{
	struct cell_part part = {.from_ns = *at_ns, .to_ns = *at_ns + slice->ns};

	*at_ns = part.to_ns;
	if (!slice->ns)
		return;
	part.key = *key;
	part.key.holder = slice->hold.holder;
	part.key.holder_stack = slice->hold.stack;
	part.key.blocked_on = slice->hold.blocked_on;
	part.monitor = monitor;
	part.numbered = true;
	if (holder_is_thread(part.key.holder)) {
		part.split = slice->split;
		part.stack_from_ns[slice->hold.stack ? slice->hold.from : HOLDER_STACK_UNKNOWN] =
			slice->ns;
		part.first_reader_ns = slice->hold.first_reader ? slice->ns : 0;
	} else {
		part.split.unknown_ns = slice->ns;
	}
	cells->observe(cells->observer, &part);
}

static void observe_all(struct hold_slices *p, const struct cells *cells,
			const struct cell_key *key, bool monitor, uint64_t since_ns)
{
	if (!cells->observe)
		return;
	sort(p, compare_begins);
	for (uint32_t i = 0; i < p->count; i++)
		observe(cells, key, monitor, &p->rows[i], &since_ns);
}

void hold_slices_hold(struct hold_slices *p, uint64_t holder)
{
	if (!holder_is_thread(holder) || holder == p->last[0])
		return;
	p->last[1] = p->last[0];
	p->last[0] = holder;
}

static void interval_ended(const struct hold_slices *p, const struct cells *cells,
			   const struct cell_interval *interval)
{
	struct cell_interval ended = *interval;

	ended.last = p->last[p->last[0] == interval->key.waiter];
	if (cells->ended)
		cells->ended(cells->observer, &ended);
}

/* It was over at once. */
static const struct hold_slice nobody = {.hold.holder = HOLDER_HAND_OVER, .first = true};

int hold_slices_charge(struct hold_slices *p, struct cells *cells, uint64_t lock,
		       const struct blocked *who, uint64_t since_ns, uint64_t until_ns)
{
	struct cell_key key = {.lock = lock,
			       .waiter = who->thread,
			       .waiter_stack = who->stack,
			       .after_wait = who->after_wait};
	struct cell_interval interval = {
		.monitor = who->monitor, .since_ns = since_ns, .until_ns = until_ns};
	uint64_t held_ns, part_ns;
	struct cell *cell;
	int err = p->count ? 0 : hold_slices_add(p, &nobody);

	if (err)
		return err;
	nobodys_own(p, who->thread);
	merge(p);
	for (uint32_t i = 0, k; i < p->count && !err; i = k) {
		key.holder = p->rows[i].hold.holder;
		for (held_ns = 0, k = i; k < p->count && p->rows[k].hold.holder == key.holder; k++)
			held_ns += p->rows[k].ns;
		for (part_ns = 0; i < k && !err; i++) {
			key.holder_stack = p->rows[i].hold.stack;
			key.blocked_on = p->rows[i].hold.blocked_on;
			err = charge(cells, &p->rows[i], &key, who->monitor, until_ns - since_ns,
				     &cell);
			if (err)
				break;
			if (p->rows[i].first)
				interval.key = key;
			part_ns += p->rows[i].ns;
			at_least(&cell->max_held_ns, held_ns);
			at_least(&cell->max_part_ns, part_ns);
			if (i + 1 < k && p->rows[i + 1].hold.stack != key.holder_stack)
				part_ns = 0;
		}
	}
	if (!err) {
		observe_all(p, cells, &key, who->monitor, since_ns);
		interval_ended(p, cells, &interval);
	}
	p->last[0] = p->last[1] = 0;
	return err;
}
