#include "analyze/diff/rank_sum.h"

#include <stdlib.h>

struct figure {
	double value;
	unsigned is_first;
};

static int by_value(const void *a, const void *b)
{
	const struct figure *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/* Twice the rank of each, so that the mean rank of ties is whole. Their sum over the first set. */
static unsigned ranks_of(const struct figure *f, unsigned count, unsigned ranks[RANK_SUM_MAX])
{
	unsigned sum = 0;

	for (unsigned from = 0, to; from < count; from = to) {
		for (to = from; to < count && f[to].value <= f[from].value;)
			to++;
		for (unsigned i = from; i < to; i++) {
			ranks[i] = from + 1 + to;
			sum += f[i].is_first ? ranks[i] : 0;
		}
	}
	return sum;
}

/* Of all choices of so many figures, the part whose sums are at least as far from the mean. */
static double part_as_far(const unsigned *ranks, unsigned count, unsigned chosen, unsigned sum)
{
	unsigned most = count * (count + 1); /* twice the sum of all ranks */
	/* Each is at most 40 over 20, which a double holds exactly. */
	double *ways = calloc((size_t)(chosen + 1) * (most + 1), sizeof(*ways));
	double all = 0, far = 0;
	unsigned mean = chosen * (count + 1);
	unsigned apart = sum > mean ? sum - mean : mean - sum;

	if (!ways)
		return 1;
	/* At k * (most + 1) + s: choices of k figures with the sum s. */
	ways[0] = 1;
	for (unsigned i = 0; i < count; i++)
		for (unsigned k = i < chosen ? i + 1 : chosen; k-- > 0;) {
			const double *from = ways + (size_t)k * (most + 1);
			double *to = ways + (size_t)(k + 1) * (most + 1) + ranks[i];

			for (unsigned s = 0; s + ranks[i] <= most; s++)
				to[s] += from[s];
		}
	for (unsigned s = 0; s <= most; s++) {
		double n = ways[(size_t)chosen * (most + 1) + s];

		all += n;
		if ((s > mean ? s - mean : mean - s) >= apart)
			far += n;
	}
	free(ways);
	return all > 0 ? far / all : 1;
}

double rank_sum_chance(const double *first, unsigned first_count, const double *second,
		       unsigned second_count)
{
	struct figure f[RANK_SUM_MAX];
	unsigned ranks[RANK_SUM_MAX], count = first_count + second_count, sum;

	if (!first_count || !second_count || count > RANK_SUM_MAX)
		return 1;
	for (unsigned i = 0; i < count; i++)
		f[i] = i < first_count ? (struct figure){first[i], 1}
				       : (struct figure){second[i - first_count], 0};
	qsort(f, count, sizeof(*f), by_value);
	sum = ranks_of(f, count, ranks);
	return part_as_far(ranks, count, first_count, sum);
}
