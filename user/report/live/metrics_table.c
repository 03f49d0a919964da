#include "report/live/metrics_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/print.h"
#include "base/text/units.h"

int metrics_table_init(struct metrics_table *t, uint32_t max, unsigned width)
{
	*t = (struct metrics_table){.width = width, .max = max};
	t->labels = calloc(max + 1ul, sizeof(*t->labels));
	t->values = calloc((max + 1ul) * width, sizeof(*t->values));
	return t->labels && t->values ? 0 : -ENOMEM;
}

void metrics_table_free(struct metrics_table *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		for (int k = 0; k < METRICS_LABELS; k++)
			free(t->labels[i][k]);
	free(t->labels);
	free(t->values);
	*t = (struct metrics_table){0};
}

static bool is_row(const struct metrics_table *t, uint32_t row, const char *first,
		   const char *second)
{
	const char *of_row = t->labels[row][1];

	return !strcmp(t->labels[row][0], first) && !of_row == !second &&
	       (!second || !strcmp(of_row, second));
}

uint64_t *metrics_table_known(const struct metrics_table *t, const char *first, const char *second)
{
	for (uint32_t i = 0; i < t->count; i++)
		if (is_row(t, i, first, second))
			return metrics_table_values(t, i);
	return NULL;
}

uint64_t *metrics_table_others(struct metrics_table *t)
{
	t->others = true;
	return metrics_table_values(t, t->max);
}

uint64_t *metrics_table_row(struct metrics_table *t, const char *first, const char *second)
{
	uint64_t *known = metrics_table_known(t, first, second);
	char **labels;

	if (known)
		return known;
	if (t->count == t->max)
		return metrics_table_others(t);
	labels = t->labels[t->count];
	labels[0] = strdup(first);
	labels[1] = second ? strdup(second) : NULL;
	if (!labels[0] || (second && !labels[1])) {
		free(labels[0]);
		free(labels[1]);
		return NULL;
	}
	return metrics_table_values(t, t->count++);
}

void metrics_put_label(const char *name, const char *value, FILE *out)
{
	print_text(out, "%s=\"", name);
	print_metric_label(out, value);
	putc('"', out);
}

void metrics_put_seconds(uint64_t ns, FILE *out)
{
	print_text(out, "%" PRIu64 ".%09" PRIu64, ns / (uint64_t)NS_PER_S, ns % (uint64_t)NS_PER_S);
}
