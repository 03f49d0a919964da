/*
 * The spans of a range of windows are those that end in it, wherever they began: as of --from and
 * --to, where a log's reader knows what was open before. So they are those of the bins that end in
 * the range, to the last one; and so are the sums of their times and their quantiles.
 */
#include "analyze/spans/span_bins.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/spans/quantiles.h"
#include "analyze/spans/spans.h"

static int bin_get(struct span_bins *b, const struct span_name *name, uint64_t from, uint64_t to,
		   struct span_bin **ret, uint32_t *ret_index)
{
	int err = keymap_add_row(&b->bin_map,
				 (struct keymap_key){.a = (uintptr_t)name, .b = from, .c = to},
				 &b->bins, &b->bins_capacity, sizeof(*b->bins), ret_index);

	if (err)
		return err;
	*ret = &b->bins[*ret_index];
	(*ret)->name = name;
	(*ret)->from = (uint32_t)from;
	(*ret)->to = (uint32_t)to;
	return 0;
}

static int length_add(struct span_bins *b, uint32_t bin, uint32_t step, uint64_t count)
{
	uint32_t at;
	int err = keymap_add_row(&b->length_map, (struct keymap_key){.a = bin, .b = 1 + step},
				 &b->lengths, &b->lengths_capacity, sizeof(*b->lengths), &at);

	if (err)
		return err;
	b->lengths[at].bin = bin;
	b->lengths[at].step = step;
	b->lengths[at].count += count;
	return 0;
}

static void bin_sum(struct span_bin *to, const struct span_bin *more)
{
	to->count += more->count;
	to->total_ns += more->total_ns;
	to->self_ns += more->self_ns;
	to->max_ns = more->max_ns > to->max_ns ? more->max_ns : to->max_ns;
	states_add(&to->states, &more->states);
	states_add(&to->self, &more->self);
}

/* Moves all rows of old into b, whose windows are twice as long. */
static int rows_move(struct span_bins *b, const struct span_bins *old)
{
	uint32_t *moved = calloc(old->bin_map.count + 1ul, sizeof(*moved));
	int err = moved ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < old->bin_map.count && !err; i++) {
		const struct span_bin *from = &old->bins[i];
		struct span_bin *to;

		err = bin_get(b, from->name, from->from / 2, from->to / 2, &to, &moved[i]);
		if (!err)
			bin_sum(to, from);
	}
	for (uint32_t i = 0; i < old->length_map.count && !err; i++)
		err = length_add(b, moved[old->lengths[i].bin], old->lengths[i].step,
				 old->lengths[i].count);
	free(moved);
	return err;
}

static void rows_free(struct span_bins *b)
{
	keymap_free(&b->bin_map);
	keymap_free(&b->length_map);
	free(b->bins);
	free(b->lengths);
	b->bin_map = b->length_map = (struct keymap){0};
	b->bins = NULL;
	b->lengths = NULL;
	b->bins_capacity = b->lengths_capacity = 0;
}

static int lengthen(struct span_bins *b)
{
	struct span_bins old = *b;
	int err;

	*b = (struct span_bins){
		.begin_ns = old.begin_ns, .length_ns = 2 * old.length_ns, .rows_max = old.rows_max};
	err = rows_move(b, &old);
	rows_free(&old);
	return err;
}

/* Room for a span that ends at this time after the begin; none is left: b is full. */
static int make_room(struct span_bins *b, uint64_t end_ns)
{
	uint32_t most = b->rows_max ? b->rows_max : SPAN_BINS_ROWS_MAX;
	int err = 0;

	while (!err && end_ns / b->length_ns >= SPAN_BINS_WINDOWS_MAX)
		err = lengthen(b);
	while (!err && !b->full &&
	       (b->bin_map.count >= most || b->length_map.count >= SPAN_BINS_LENGTHS_MAX)) {
		b->full = end_ns / b->length_ns < SPAN_BINS_WINDOWS_LEAST;
		if (b->full)
			rows_free(b);
		else
			err = lengthen(b);
	}
	return err;
}

int span_bins_add(void *bins, const struct span_ended *e)
{
	struct span_bins *b = bins;
	uint64_t begin_ns = e->span->begin_ns, end_ns;
	struct span_bin *bin;
	uint32_t at;
	int err;

	if (b->full)
		return 0;
	/* A part of a recording may have the end of a span that began before the part did. */
	begin_ns -= begin_ns < b->begin_ns ? begin_ns : b->begin_ns;
	end_ns = begin_ns + e->span->ns;
	err = make_room(b, end_ns);
	if (err || b->full)
		return err;
	err = bin_get(b, e->name, begin_ns / b->length_ns, end_ns / b->length_ns, &bin, &at);
	if (err)
		return err;
	bin_sum(bin, &(struct span_bin){.count = 1,
					.total_ns = e->span->ns,
					.self_ns = e->self_ns,
					.max_ns = e->span->ns,
					.states = e->span->states,
					.self = *e->self});
	return length_add(b, at, quantiles_step(e->span->ns), 1);
}

void span_bins_free(struct span_bins *b)
{
	rows_free(b);
	*b = (struct span_bins){0};
}
