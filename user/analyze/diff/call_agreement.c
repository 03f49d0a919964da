/*
 * Measures of calling context trees, after Hofer 3.4.2, and their noise floor
 *
 * The degree of overlap is the sum, over all edges, of the smaller of the edge's shares in both
 * trees. Hot-edge coverage of one tree by another is the part of its hot edges that are hot in the
 * other. An average tree has the mean of the shares that an edge has in each tree; an edge that a
 * tree lacks has a share of 0 there. A tree without any weight is in no average.
 *
 * All of these are below 1 for two samples of one and the same tree, the more so the fewer samples
 * there are, and the more edges they are spread over. What chance alone leaves is found by a test
 * of permutation: if both sides see the same, each sample might as well be of the other side. So
 * the samples of all logs are shuffled, dealt to logs of as many samples as before, and measured,
 * CALL_DRAWS times. Samples of an edge of a log are taken to weigh the same. From as many logs on
 * as comparison.h asks for, whole logs are shuffled: these differ by more than samples of one run
 * do. The consistency of a side's logs is always measured by samples, of that side alone.
 */
#include "analyze/diff/call_agreement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff/comparison.h"

#define CALL_DRAWS 200
/* Of all logs: with more samples an edge's are merged, which makes chance larger; with more than
 * twice so many edges nothing is drawn. */
#define SAMPLES_MAX (1u << 18)
#define LOGS_MAX (2 * COMPARISON_LOGS_MAX)

/* A sample, or all those of one edge of one log. */
struct item {
	uint32_t edge;
	double weight;
};

/* Items of one log. */
struct group {
	size_t first, count;
};

struct items {
	struct item *items;
	size_t count;
	struct group groups[LOGS_MAX];
};

struct figures {
	double overlap, hot_before, hot_after;
	struct {
		double overlap, hot, lowest_overlap, lowest_hot;
	} side[2];
};

struct trees {
	struct call_side side[2];
	unsigned logs; /* of both */
	uint64_t *edges;
	uint32_t edge_count;
	double *average[2], *one; /* by edge */
	uint64_t random;
};

/* --- edges --------------------------------------------------------------------------------- */

static const struct call_paths *log_at(const struct trees *t, unsigned log)
{
	return log < t->side[0].count ? &t->side[0].logs[log]
				      : &t->side[1].logs[log - t->side[0].count];
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static size_t paths_of_all(const struct trees *t)
{
	size_t count = 0;

	for (unsigned i = 0; i < t->logs; i++)
		count += log_at(t, i)->count;
	return count;
}

static int edges_make(struct trees *t)
{
	size_t all = paths_of_all(t), n = 0;

	t->edges = malloc((all + 1) * sizeof(*t->edges));
	if (!t->edges)
		return -ENOMEM;
	for (unsigned i = 0; i < t->logs; i++)
		for (uint32_t k = 0; k < log_at(t, i)->count; k++)
			t->edges[n++] = log_at(t, i)->paths[k].path;
	qsort(t->edges, n, sizeof(*t->edges), by_number);
	for (size_t i = 0; i < n; i++)
		if (!i || t->edges[i] != t->edges[t->edge_count - 1])
			t->edges[t->edge_count++] = t->edges[i];
	t->average[0] = malloc((t->edge_count + 1) * sizeof(double));
	t->average[1] = malloc((t->edge_count + 1) * sizeof(double));
	t->one = malloc((t->edge_count + 1) * sizeof(double));
	return t->average[0] && t->average[1] && t->one ? 0 : -ENOMEM;
}

/* What share of its samples is left of an edge's. */
static uint64_t samples_left(const struct call_path *p, double part)
{
	uint64_t count = part < 1 ? (uint64_t)((double)p->count * part) : p->count;

	return count ? count : 1;
}

static size_t items_of_log(const struct trees *t, unsigned log, double part, struct item *to)
{
	const struct call_paths *c = log_at(t, log);
	size_t n = 0;

	for (uint32_t i = 0, edge = 0; i < c->count; i++) {
		uint64_t count = part > 0 ? samples_left(&c->paths[i], part) : 1;

		while (t->edges[edge] != c->paths[i].path)
			edge++;
		for (uint64_t k = 0; k < count && c->paths[i].ns; k++, n++)
			if (to)
				to[n] = (struct item){edge, (double)c->paths[i].ns / (double)count};
	}
	return n;
}

/* part: of the samples; 0: an item has all samples of an edge of a log. */
static int items_make(const struct trees *t, double part, struct items *ret)
{
	*ret = (struct items){.items = NULL};
	for (unsigned i = 0; i < t->logs; i++) {
		ret->groups[i].first = ret->count;
		ret->groups[i].count = items_of_log(t, i, part, NULL);
		ret->count += ret->groups[i].count;
	}
	ret->items = malloc((ret->count + 1) * sizeof(*ret->items));
	if (!ret->items)
		return -ENOMEM;
	for (unsigned i = 0; i < t->logs; i++)
		items_of_log(t, i, part, ret->items + ret->groups[i].first);
	return 0;
}

/* --- measures ------------------------------------------------------------------------------ */

/* The shares of one log's edges. false: it has no weight. */
static bool log_tree(const struct trees *t, const struct items *items, unsigned log)
{
	const struct group *g = &items->groups[log];
	double sum = 0;

	memset(t->one, 0, t->edge_count * sizeof(*t->one));
	for (size_t i = g->first; i < g->first + g->count; i++) {
		t->one[items->items[i].edge] += items->items[i].weight;
		sum += items->items[i].weight;
	}
	for (uint32_t e = 0; e < t->edge_count && sum > 0; e++)
		t->one[e] /= sum;
	return sum > 0;
}

static unsigned average_tree(const struct trees *t, const struct items *items, int side)
{
	unsigned first = side ? t->side[0].count : 0, logs = 0;
	double *to = t->average[side];

	memset(to, 0, t->edge_count * sizeof(*to));
	for (unsigned i = first; i < first + t->side[side].count; i++) {
		if (!log_tree(t, items, i))
			continue;
		logs++;
		for (uint32_t e = 0; e < t->edge_count; e++)
			to[e] += t->one[e];
	}
	for (uint32_t e = 0; e < t->edge_count && logs; e++)
		to[e] /= logs;
	return logs;
}

static double overlap_of(const struct trees *t, const double *a, const double *b)
{
	double sum = 0;

	for (uint32_t e = 0; e < t->edge_count; e++)
		sum += a[e] < b[e] ? a[e] : b[e];
	return sum;
}

static double hottest_of(const struct trees *t, const double *tree)
{
	double most = 0;

	for (uint32_t e = 0; e < t->edge_count; e++)
		most = tree[e] > most ? tree[e] : most;
	return most;
}

/* Of the hot edges of a tree, the part that is hot in another one, too. */
static double hot_cover(const struct trees *t, const double *covering, const double *covered)
{
	double least = CALL_HOT * hottest_of(t, covered);
	double least_other = CALL_HOT * hottest_of(t, covering);
	uint32_t hot = 0, both = 0;

	for (uint32_t e = 0; e < t->edge_count; e++) {
		if (covered[e] <= 0 || covered[e] < least)
			continue;
		hot++;
		both += covering[e] > 0 && covering[e] >= least_other;
	}
	return hot ? (double)both / hot : 0;
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median_of(double *values, unsigned count)
{
	qsort(values, count, sizeof(*values), by_size);
	return count ? (values[(count - 1) / 2] + values[count / 2]) / 2 : 0;
}

static void measure_side(const struct trees *t, const struct items *items, int side,
			 struct figures *ret)
{
	unsigned first = side ? t->side[0].count : 0, count = 0;
	double overlaps[COMPARISON_LOGS_MAX], hots[COMPARISON_LOGS_MAX];

	if (average_tree(t, items, side) < 2)
		return;
	for (unsigned i = first; i < first + t->side[side].count; i++) {
		if (!log_tree(t, items, i))
			continue;
		overlaps[count] = overlap_of(t, t->one, t->average[side]);
		hots[count++] = hot_cover(t, t->average[side], t->one);
	}
	ret->side[side].overlap = median_of(overlaps, count);
	ret->side[side].hot = median_of(hots, count);
	ret->side[side].lowest_overlap = overlaps[0];
	ret->side[side].lowest_hot = hots[0];
}

static void measure_both(const struct trees *t, const struct items *items, struct figures *ret)
{
	average_tree(t, items, 0);
	average_tree(t, items, 1);
	ret->overlap = overlap_of(t, t->average[0], t->average[1]);
	ret->hot_before = hot_cover(t, t->average[1], t->average[0]);
	ret->hot_after = hot_cover(t, t->average[0], t->average[1]);
}

/* --- chance -------------------------------------------------------------------------------- */

/* xorshift64*: the same at each call, so that a report is the same each time. */
static size_t random_below(struct trees *t, size_t n)
{
	t->random ^= t->random >> 12;
	t->random ^= t->random << 25;
	t->random ^= t->random >> 27;
	return (size_t)(((unsigned __int128)(t->random * 0x2545f4914f6cdd1dull) * n) >> 64);
}

static void shuffle_items(struct trees *t, struct item *items, size_t count)
{
	for (size_t i = count; i > 1; i--) {
		size_t k = random_below(t, i);
		struct item other = items[k];

		items[k] = items[i - 1];
		items[i - 1] = other;
	}
}

static void shuffle_groups(struct trees *t, struct items *items)
{
	for (unsigned i = t->logs; i > 1; i--) {
		unsigned k = (unsigned)random_below(t, i);
		struct group other = items->groups[k];

		items->groups[k] = items->groups[i - 1];
		items->groups[i - 1] = other;
	}
}

static void set_chance(double *draws, struct call_measure *ret)
{
	ret->expected = median_of(draws, CALL_DRAWS);
	/* So that one more draw is below the limit with this chance. */
	ret->least = draws[(unsigned)(CALL_CHANCE * (CALL_DRAWS + 1)) - 1];
}

static void draw_both(struct trees *t, struct items *items, struct call_agreement *ret)
{
	double overlap[CALL_DRAWS], before[CALL_DRAWS], after[CALL_DRAWS];
	struct figures f = {0};

	for (unsigned i = 0; i < CALL_DRAWS; i++) {
		if (ret->basis == CALL_BASIS_LOGS)
			shuffle_groups(t, items);
		else
			shuffle_items(t, items->items, items->count);
		measure_both(t, items, &f);
		overlap[i] = f.overlap;
		before[i] = f.hot_before;
		after[i] = f.hot_after;
	}
	set_chance(overlap, &ret->overlap);
	set_chance(before, &ret->hot_before);
	set_chance(after, &ret->hot_after);
}

static void draw_side(struct trees *t, struct items *items, int side, struct call_consistency *ret)
{
	const struct group *first = &items->groups[side ? t->side[0].count : 0];
	const struct group *last = first + t->side[side].count - 1;
	double overlap[CALL_DRAWS], hot[CALL_DRAWS];
	struct figures f = {0};

	for (unsigned i = 0; i < CALL_DRAWS; i++) {
		shuffle_items(t, items->items + first->first,
			      last->first + last->count - first->first);
		measure_side(t, items, side, &f);
		overlap[i] = f.side[side].overlap;
		hot[i] = f.side[side].hot;
	}
	set_chance(overlap, &ret->overlap);
	set_chance(hot, &ret->hot);
}

static int draw_samples(struct trees *t, struct call_agreement *ret)
{
	struct items items = {.items = NULL};
	double samples = 0, part;
	int err;

	for (unsigned i = 0; i < t->logs; i++)
		for (uint32_t k = 0; k < log_at(t, i)->count; k++)
			samples += (double)log_at(t, i)->paths[k].count;
	part = samples > SAMPLES_MAX ? SAMPLES_MAX / samples : 1;
	if (paths_of_all(t) > SAMPLES_MAX) {
		ret->basis = ret->basis == CALL_BASIS_LOGS ? ret->basis : CALL_BASIS_NONE;
		ret->before.basis = ret->after.basis = CALL_BASIS_NONE;
		return 0;
	}
	err = items_make(t, part, &items);
	if (!err && ret->before.basis)
		draw_side(t, &items, 0, &ret->before);
	if (!err && ret->after.basis)
		draw_side(t, &items, 1, &ret->after);
	if (!err && ret->basis == CALL_BASIS_SAMPLES)
		draw_both(t, &items, ret);
	free(items.items);
	return err;
}

/* --- all of it ----------------------------------------------------------------------------- */

static void set_side(struct call_consistency *to, const struct figures *f, int side, unsigned logs)
{
	to->basis = logs > 1 ? CALL_BASIS_SAMPLES : CALL_BASIS_NONE;
	to->overlap.value = f->side[side].overlap;
	to->hot.value = f->side[side].hot;
	to->lowest_overlap = f->side[side].lowest_overlap;
	to->lowest_hot = f->side[side].lowest_hot;
}

/* Measures of what there is. */
static int measure_all(struct trees *t, struct call_agreement *ret)
{
	struct figures f = {0};
	struct items items;
	unsigned logs[2] = {0};
	int err = items_make(t, 0, &items);

	if (err)
		return err;
	for (int side = 0; side < 2; side++)
		logs[side] = average_tree(t, &items, side);
	if (logs[0] && logs[1]) {
		measure_both(t, &items, &f);
		ret->basis = logs[0] >= COMPARISON_LOGS_ENOUGH && logs[1] >= COMPARISON_LOGS_ENOUGH
				     ? CALL_BASIS_LOGS
				     : CALL_BASIS_SAMPLES;
	} else if (!logs[0] && !logs[1]) {
		f.overlap = f.hot_before = f.hot_after = 1;
	}
	ret->overlap.value = f.overlap;
	ret->hot_before.value = f.hot_before;
	ret->hot_after.value = f.hot_after;
	for (int side = 0; side < 2; side++) {
		measure_side(t, &items, side, &f);
		set_side(side ? &ret->after : &ret->before, &f, side, logs[side]);
	}
	if (ret->basis == CALL_BASIS_LOGS)
		draw_both(t, &items, ret);
	free(items.items);
	return 0;
}

int call_agreement_of(struct call_side before, struct call_side after, struct call_agreement *ret)
{
	struct trees t = {.side = {before, after},
			  .logs = before.count + after.count,
			  .random = CALL_PATH_ROOT};
	struct call_agreement a = {.basis = CALL_BASIS_NONE};
	int err = edges_make(&t);

	if (!err)
		err = measure_all(&t, &a);
	if (!err && (a.basis || a.before.basis || a.after.basis))
		err = draw_samples(&t, &a);
	a.differs = a.basis && a.overlap.value < a.overlap.least;
	free(t.edges);
	free(t.average[0]);
	free(t.average[1]);
	free(t.one);
	if (!err)
		*ret = a;
	return err;
}
