/*
 * Each contention is counted once: in the cell in which it began, in the step of its length. A
 * quantile of a group is then that of the sum of its cells' counts, which can be made for any
 * groups; it is off by half a step at most, 1/128 of it.
 *
 * A cell has few steps, and there may be a million cells, so that counts are in one table for all.
 */
#include "analyze/cells/lengths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/hash.h"

#define STEPS (1u << LENGTH_BITS)
#define KEY_SHIFT 12
#define CAPACITY_MIN 64u

_Static_assert(LENGTH_STEPS <= 1u << KEY_SHIFT, "a step has its bits of the key");

const unsigned length_per_mille[LENGTH_QUANTILES] = {500, 900, 990, 999};

/* Row 0 has the lengths below STEPS; each other one those with the same highest bit. */
static unsigned step_of(uint64_t ns, unsigned shift)
{
	unsigned row = ns < STEPS ? 0 : 64 - LENGTH_BITS - (unsigned)__builtin_clzll(ns);
	unsigned step = (unsigned)(row ? ns >> (row - 1) : ns) % STEPS;

	return row * STEPS + (step >> shift << shift);
}

/* The length that stands for all of a step that is as wide as shift says. */
static uint64_t length_of_step(unsigned step, unsigned shift)
{
	unsigned row = step / STEPS;
	uint64_t width = 1ull << shift << (row ? row - 1 : 0);
	uint64_t first = row ? (uint64_t)(STEPS + step % STEPS) << (row - 1) : step;

	return first + width / 2;
}

static struct length_row *row_find(const struct lengths *l, uint64_t key)
{
	uint32_t i = hash_number(key) & (l->capacity - 1);

	while (l->rows[i].key && l->rows[i].key != key)
		i = (i + 1) & (l->capacity - 1);
	return &l->rows[i];
}

static void row_add(struct lengths *l, uint64_t key, uint64_t count)
{
	struct length_row *row = row_find(l, key);

	l->count += !row->key;
	row->key = key;
	row->count += count;
}

/* Into a table of that many rows, with steps as wide as shift says. */
static int rebuild(struct lengths *l, uint32_t capacity, unsigned shift)
{
	struct lengths new = {.max = l->max, .shift = shift, .capacity = capacity};
	unsigned mask = ~0u << shift;

	new.rows = calloc(capacity, sizeof(*new.rows));
	if (!new.rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->capacity; i++) {
		const struct length_row *row = &l->rows[i];

		if (row->key)
			row_add(&new, (row->key & ~(uint64_t)0xfff) | (length_step(row) & mask),
				row->count);
	}
	free(l->rows);
	*l = new;
	return 0;
}

/* Room for one row more. A million cells have one row each at least, however wide steps are. */
static int reserve(struct lengths *l)
{
	uint32_t max = l->max ? l->max : LENGTHS_MAX;
	int err = 0;

	while (!err && l->count >= max && l->shift < LENGTH_BITS)
		err = rebuild(l, l->capacity, l->shift + 1);
	if (err || l->count < l->capacity / 2)
		return err;
	return rebuild(l, l->capacity ? l->capacity * 2 : CAPACITY_MIN, l->shift);
}

int lengths_add(struct lengths *l, uint32_t number, uint64_t ns)
{
	uint64_t key = (uint64_t)number << KEY_SHIFT | step_of(ns, l->shift);
	struct length_row *row = l->capacity ? row_find(l, key) : NULL;
	int err;

	if (row && row->key) {
		row->count++;
		return 0;
	}
	err = reserve(l);
	if (!err)
		row_add(l, (uint64_t)number << KEY_SHIFT | step_of(ns, l->shift), 1);
	return err;
}

int lengths_merge(struct lengths *to, const struct lengths *from, const uint32_t *numbers,
		  uint32_t count)
{
	int err = 0;

	while (!err && to->shift < from->shift)
		err = rebuild(to, to->capacity ? to->capacity : CAPACITY_MIN, to->shift + 1);
	for (uint32_t i = 0; i < from->capacity && !err; i++) {
		const struct length_row *row = &from->rows[i];

		if (!row->key || length_number(row) >= count || !numbers[length_number(row)])
			continue;
		err = reserve(to);
		if (!err)
			row_add(to,
				(uint64_t)numbers[length_number(row)] << KEY_SHIFT |
					(length_step(row) & ~0u << to->shift),
				row->count);
	}
	return err;
}

void lengths_free(struct lengths *l)
{
	free(l->rows);
	*l = (struct lengths){0};
}

/* --- by number --- */

int length_index_make(const struct lengths *l, uint32_t cells, struct length_index *ret)
{
	struct length_index x = {.numbers = cells + 1, .shift = l->shift};

	x.rows = malloc((l->count + 1ul) * sizeof(*x.rows));
	x.first = calloc(cells + 3ul, sizeof(*x.first));
	if (!x.rows || !x.first) {
		length_index_free(&x);
		return -ENOMEM;
	}
	/* first[n + 2] counts, becomes the begin of n + 1, and grows to its end. */
	for (uint32_t i = 0; i < l->capacity; i++)
		if (l->rows[i].key && length_number(&l->rows[i]) < x.numbers)
			x.first[length_number(&l->rows[i]) + 2]++;
	for (uint32_t n = 2; n < x.numbers + 2; n++)
		x.first[n] += x.first[n - 1];
	for (uint32_t i = 0; i < l->capacity; i++)
		if (l->rows[i].key && length_number(&l->rows[i]) < x.numbers)
			x.rows[x.first[length_number(&l->rows[i]) + 1]++] = l->rows[i];
	*ret = x;
	return 0;
}

void length_index_free(struct length_index *x)
{
	free(x->rows);
	free(x->first);
	*x = (struct length_index){0};
}

void length_sums_add(struct length_sums *s, const struct length_index *x, uint32_t number)
{
	if (number >= x->numbers)
		return;
	for (uint32_t i = x->first[number]; i < x->first[number + 1]; i++) {
		unsigned step = length_step(&x->rows[i]);

		if (!s->total || step < s->low)
			s->low = step;
		if (step >= s->end)
			s->end = step + 1;
		s->counts[step] += x->rows[i].count;
		s->total += x->rows[i].count;
	}
}

/* Rounded up: of 10 contentions, 999 of 1,000 are 10. In two parts, which cannot overflow. */
static uint64_t rank_of(uint64_t count, unsigned per_mille)
{
	return count / 1000 * per_mille + (count % 1000 * per_mille + 999) / 1000;
}

void length_sums_take(struct length_sums *s, unsigned shift, uint64_t longest_ns,
		      uint64_t ret[LENGTH_QUANTILES])
{
	uint64_t passed = 0, ns;
	unsigned step = s->low;

	for (unsigned i = 0; i < LENGTH_QUANTILES; i++) {
		uint64_t rank = rank_of(s->total, length_per_mille[i]);

		while (step + 1 < s->end && passed + s->counts[step] < rank)
			passed += s->counts[step++];
		ns = length_of_step(step, shift);
		ret[i] = rank >= s->total || ns > longest_ns ? longest_ns : ns;
		ret[i] = s->total ? ret[i] : 0;
	}
	if (s->total)
		memset(s->counts + s->low, 0, (s->end - s->low) * sizeof(*s->counts));
	s->total = 0;
	s->low = s->end = 0;
}
