#include "analyze/diff/comparison.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff/rank_sum.h"
#include "base/tables/array.h"

/* A row alone; and, of a part's rows together, the part of those found that may be chance. */
#define CHANCE_LOGS 0.05
#define CHANCE_ONE 0.01
#define CHANCE_MANY 0.01
/* Tenths of a recording follow each other, and know little of how it drifts: a small change has to
 * be so many times what they differ by. A larger one need not. */
#define DRIFT 3
#define DRIFT_MOST 0.03

struct figures {
	double values[COMPARISON_LOGS_MAX];
	unsigned count;
};

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median_of(const struct figures *f)
{
	double sorted[COMPARISON_LOGS_MAX];

	if (!f->count)
		return 0;
	memcpy(sorted, f->values, f->count * sizeof(*sorted));
	qsort(sorted, f->count, sizeof(*sorted), by_size);
	return (sorted[(f->count - 1) / 2] + sorted[f->count / 2]) / 2;
}

/* The median distance from the median, as a part of it. */
static double noise_of(const struct figures *f)
{
	double median = median_of(f);
	struct figures apart = {.count = f->count};

	for (unsigned i = 0; i < f->count; i++)
		apart.values[i] = fabs(f->values[i] - median);
	return median > 0 ? median_of(&apart) / median : 0;
}

static struct figures rates_of(const struct comparison_side *s, const struct comparison_row *r,
			       enum measure_per per, struct comparison_figure *ret)
{
	struct figures f = {.count = s->count};

	for (unsigned i = 0; i < s->count; i++) {
		const struct measure *m = measures_find(&s->logs[i], r->part, r->name);

		f.values[i] = measure_rate(&s->logs[i], m, per);
		ret->lowest = i && ret->lowest < f.values[i] ? ret->lowest : f.values[i];
		ret->highest = i && ret->highest > f.values[i] ? ret->highest : f.values[i];
		if (!m)
			continue;
		ret->known = true;
		ret->ns = r->level ? (m->ns > ret->ns ? m->ns : ret->ns) : ret->ns + m->ns;
		ret->count += m->count;
	}
	ret->rate = median_of(&f);
	return f;
}

/* Rates of windows: of one log ten, of two twenty; of more, the nth of all logs together. false: a
 * log that has the measure does not know it window by window. */
static bool windows_of(const struct comparison_side *s, const struct comparison_row *r,
		       enum measure_per per, struct figures *ret)
{
	double sums[DIFF_WINDOWS * 2] = {0}, units[DIFF_WINDOWS * 2] = {0};
	unsigned apart = s->count == 2 ? 2 : 1;

	for (unsigned i = 0; i < s->count; i++) {
		const struct measures *log = &s->logs[i];
		const struct measure *m = measures_find(log, r->part, r->name);

		if (m && !m->has_windows)
			return false;
		for (unsigned w = 0; w < DIFF_WINDOWS; w++) {
			unsigned to = (i % apart) * DIFF_WINDOWS + w;

			sums[to] += m ? m->windows[w] : 0;
			units[to] += measures_window_per(log, per, w);
		}
	}
	ret->count = 0;
	for (unsigned i = 0; i < apart * DIFF_WINDOWS; i++)
		if (units[i] > 0)
			ret->values[ret->count++] = sums[i] / units[i];
	return ret->count >= DIFF_WINDOWS / 2;
}

static void judge(const struct comparison *c, struct comparison_row *r)
{
	struct figures before = rates_of(c->before, r, c->per, &r->before);
	struct figures after = rates_of(c->after, r, c->per, &r->after);

	r->basis = COMPARISON_LOGS;
	r->chance = 1;
	if (before.count < COMPARISON_LOGS_ENOUGH || after.count < COMPARISON_LOGS_ENOUGH) {
		bool known = !r->level && windows_of(c->before, r, c->per, &before) &&
			     windows_of(c->after, r, c->per, &after);

		r->basis = known ? COMPARISON_WINDOWS : COMPARISON_NONE;
	}
	if (r->basis == COMPARISON_NONE)
		return;
	r->chance = rank_sum_chance(before.values, before.count, after.values, after.count);
	r->noise = fmax(noise_of(&before), noise_of(&after));
}

static int add_row(struct comparison *c, uint32_t *capacity, const struct measure *m)
{
	int err = array_grow(&c->rows, capacity, c->count, sizeof(*c->rows));

	if (!err)
		c->rows[c->count++] = (struct comparison_row){
			.name = m->name, .part = m->part, .level = m->level};
	return err;
}

/* Whether one of the logs before this one has it, too. */
static bool is_there(const struct comparison *c, const struct comparison_side *s, unsigned log,
		     const struct measure *m)
{
	for (unsigned i = 0; s == c->after && i < c->before->count; i++)
		if (measures_find(&c->before->logs[i], m->part, m->name))
			return true;
	for (unsigned i = 0; i < log; i++)
		if (measures_find(&s->logs[i], m->part, m->name))
			return true;
	return false;
}

static int add_side(struct comparison *c, const struct comparison_side *s, uint32_t *capacity)
{
	int err = 0;

	for (unsigned l = 0; l < s->count; l++)
		for (uint32_t i = 0; i < s->logs[l].count && !err; i++)
			if (!is_there(c, s, l, &s->logs[l].rows[i]))
				err = add_row(c, capacity, &s->logs[l].rows[i]);
	return err;
}

static int by_change(const void *a, const void *b)
{
	const struct comparison_row *x = a, *y = b;
	double change_x = fabs(comparison_change(x)), change_y = fabs(comparison_change(y));

	if (x->part != y->part)
		return (x->part > y->part) - (x->part < y->part);
	if (change_x < change_y || change_x > change_y)
		return change_x < change_y ? 1 : -1;
	if (x->before.rate < y->before.rate || x->before.rate > y->before.rate)
		return x->before.rate < y->before.rate ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Benjamini and Hochberg: of count chances of one part, the largest that counts. */
static double chance_limit(double *chances, uint32_t count)
{
	double limit = 0;

	qsort(chances, count, sizeof(*chances), by_size);
	for (uint32_t i = 0; i < count; i++)
		if (chances[i] <= CHANCE_MANY * (i + 1) / count)
			limit = chances[i];
	return limit;
}

static bool is_drift(const struct comparison_row *r)
{
	double larger = fmax(r->before.rate, r->after.rate);

	return fabs(comparison_change(r)) < fmin(DRIFT * r->noise, DRIFT_MOST) * larger;
}

static bool is_alone(enum measure_part part)
{
	return part == MEASURE_TOTALS;
}

static void mark_part(struct comparison *c, uint32_t from, uint32_t to, double *chances)
{
	uint32_t count = 0;
	double limit;

	for (uint32_t i = from; i < to; i++)
		if (c->rows[i].basis == COMPARISON_WINDOWS)
			chances[count++] = c->rows[i].chance;
	limit = is_alone(c->rows[from].part) ? CHANCE_ONE : chance_limit(chances, count);
	for (uint32_t i = from; i < to; i++) {
		struct comparison_row *r = &c->rows[i];

		r->stands_out = r->basis == COMPARISON_WINDOWS ? r->chance <= limit && !is_drift(r)
				: r->basis == COMPARISON_LOGS  ? r->chance <= CHANCE_LOGS
							       : false;
	}
}

static int mark(struct comparison *c)
{
	double *chances = malloc((c->count + 1) * sizeof(*chances));

	if (!chances)
		return -ENOMEM;
	for (uint32_t from = 0, to; from < c->count; from = to) {
		for (to = from; to < c->count && c->rows[to].part == c->rows[from].part;)
			to++;
		mark_part(c, from, to, chances);
	}
	free(chances);
	return 0;
}

int comparison_make(const struct comparison_side *before, const struct comparison_side *after,
		    enum measure_per per, struct comparison *ret)
{
	struct comparison c = {.before = before, .after = after, .per = per};
	uint32_t capacity = 0;
	int err = add_side(&c, before, &capacity);

	if (!err)
		err = add_side(&c, after, &capacity);
	for (uint32_t i = 0; i < c.count && !err; i++)
		judge(&c, &c.rows[i]);
	if (!err && c.count) {
		qsort(c.rows, c.count, sizeof(*c.rows), by_change);
		err = mark(&c);
	}
	if (err) {
		comparison_free(&c);
		return err;
	}
	*ret = c;
	return 0;
}

void comparison_free(struct comparison *c)
{
	free(c->rows);
	*c = (struct comparison){.rows = NULL};
}

const struct comparison_row *comparison_find(const struct comparison *c, enum measure_part part,
					     const char *name)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (c->rows[i].part == part && !strcmp(c->rows[i].name, name))
			return &c->rows[i];
	return NULL;
}
