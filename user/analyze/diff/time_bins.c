#include "analyze/diff/time_bins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"

#define WIDTH_MIN_NS 1000000ull

int time_bins_row(struct time_bins *b, uint32_t *ret)
{
	int err = b->count < TIME_BINS_ROWS_MAX ? 0 : -E2BIG;

	if (!err)
		err = array_grow(&b->rows, &b->capacity, b->count, sizeof(*b->rows));
	if (!err)
		*ret = b->count++;
	return err;
}

static void widen(struct time_bins *b)
{
	for (uint32_t r = 0; r < b->count; r++) {
		float *row = b->rows[r];

		for (unsigned i = 0; i < TIME_BINS / 2; i++)
			row[i] = row[2 * i] + row[2 * i + 1];
		memset(row + TIME_BINS / 2, 0, TIME_BINS / 2 * sizeof(*row));
	}
	b->width_ns *= 2;
}

void time_bins_add(struct time_bins *b, uint32_t row, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t from, to;

	if (to_ns < b->from_ns)
		return;
	from = from_ns > b->from_ns ? from_ns - b->from_ns : 0;
	to = to_ns - b->from_ns;
	if (!b->width_ns)
		b->width_ns = WIDTH_MIN_NS;
	while (to / b->width_ns >= TIME_BINS)
		widen(b);
	if (from >= to) {
		b->rows[row][to / b->width_ns] += 1;
		return;
	}
	for (uint64_t i = from / b->width_ns; from < to; i++) {
		uint64_t end = (i + 1) * b->width_ns < to ? (i + 1) * b->width_ns : to;

		b->rows[row][i] += (float)(end - from);
		from = end;
	}
}

void windows_spread(double amount, uint64_t begin_ns, uint64_t end_ns, uint64_t from_ns,
		    uint64_t to_ns, double ret[DIFF_WINDOWS])
{
	double window = (double)(to_ns - from_ns) / DIFF_WINDOWS;
	double begin = (double)begin_ns - (double)from_ns, end = (double)end_ns - (double)from_ns;

	if (window <= 0 || end <= begin)
		return;
	for (int i = 0; i < DIFF_WINDOWS; i++) {
		double low = i * window > begin ? i * window : begin;
		double high = (i + 1) * window < end ? (i + 1) * window : end;

		if (high > low)
			ret[i] += amount * (high - low) / (end - begin);
	}
}

void time_bins_windows(const struct time_bins *b, uint32_t row, uint64_t from_ns, uint64_t to_ns,
		       double ret[DIFF_WINDOWS])
{
	for (unsigned i = 0; i < TIME_BINS; i++) {
		uint64_t begin_ns = b->from_ns + i * b->width_ns, end_ns = begin_ns + b->width_ns;

		/* Nothing in it is of later, and nothing of before. */
		begin_ns = begin_ns > from_ns ? begin_ns : from_ns;
		end_ns = end_ns < to_ns ? end_ns : to_ns;
		if (b->rows[row][i] > 0)
			windows_spread(b->rows[row][i], begin_ns, end_ns, from_ns, to_ns, ret);
	}
}

void time_bins_free(struct time_bins *b)
{
	free(b->rows);
	*b = (struct time_bins){.rows = NULL};
}
