#include "base/print.h"
#include "report/text/text_report.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/registry/analysis.h"
#include "base/format.h"
#include "report/model/heap.h"
#include "report/text/table.h"
#include "report/text/times.h"

static const char *kind_name(uint64_t kind)
{
	static const char *const names[GC_KIND_COUNT] = {"(kind not known)", "young", "full",
							 "concurrent"};

	return names[kind < GC_KIND_COUNT ? kind : GC_KIND_UNKNOWN];
}

static int compare_gcs(const void *a, const void *b)
{
	const struct pause_gc *x = *(const struct pause_gc *const *)a,
			      *y = *(const struct pause_gc *const *)b;

	return (y->times.total_ns > x->times.total_ns) - (y->times.total_ns < x->times.total_ns)
		       ?: (x > y) - (x < y);
}

static int print_gcs(struct text *t, const struct pauses *p)
{
	static const struct table_column columns[] = {{"collector", true, 12, 24, false},
						      {"kind", true, 5, 0, false},
						      {"operation", true, 12, 24, false},
						      TIMES_COLUMNS,
						      {"heap, mean", false, 10, 0, false}};
	const struct pause_gc **rows = malloc((p->gc_places.count + 1) * sizeof(*rows));
	struct table *table = table_new(columns, 8);
	char text[LABEL_MAX], from[FORMAT_MAX], to[FORMAT_MAX];
	uint64_t before, after;
	int err = rows ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < p->gc_places.count && rows; i++)
		rows[i] = &p->gcs[i];
	if (rows)
		qsort(rows, p->gc_places.count, sizeof(*rows), compare_gcs);
	for (uint32_t i = 0; i < p->gc_places.count && rows; i++) {
		const struct pause_gc *g = rows[i];

		table_add(table, "%s", label_string(t->labels, g->collector, "(not known)", text));
		table_add(table, "%s", kind_name(g->kind));
		table_add(table, "%s", label_string(t->labels, g->operation, "(not known)", text));
		times_add_cells(table, &g->times);
		if (heap_around_gc(p, analysis_names(t->in->log->analysis), g->collector, g->kind,
				   &before, &after))
			table_add(table, "%s -> %s", size_format(before, from),
				  size_format(after, to));
		else
			table_add(table, "%s", "");
	}
	if (!err)
		err = table_print(table, 2, t->out);
	table_free(table);
	free(rows);
	return err;
}

static int compare_safepoints(const void *a, const void *b)
{
	const struct pause_safepoint *x = *(const struct pause_safepoint *const *)a,
				     *y = *(const struct pause_safepoint *const *)b;

	return (y->times.total_ns > x->times.total_ns) - (y->times.total_ns < x->times.total_ns)
		       ?: (x > y) - (x < y);
}

static void add_safepoint(struct text *t, struct table *table, const struct pause_safepoint *s)
{
	char first[LABEL_MAX], second[LABEL_MAX];

	label_string(t->labels, s->operation[0], "(cleanup only)", first);
	if (s->operation[1])
		table_add(table, "%s + %s%s", first,
			  label_string(t->labels, s->operation[1], "?", second),
			  s->more ? " + more" : "");
	else
		table_add(table, "%s", first);
	times_add_cells(table, &s->times);
}

static int print_safepoints(struct text *t, const struct pauses *p)
{
	static const struct table_column columns[] = {{"safepoint for", true, 40, 56, false},
						      TIMES_COLUMNS};
	uint32_t count = p->safepoint_places.count;
	const struct pause_safepoint **rows = malloc((count + 1) * sizeof(*rows));
	struct table *table = table_new(columns, 5);
	int err = rows ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < count && rows; i++)
		rows[i] = &p->safepoints[i];
	if (rows)
		qsort(rows, count, sizeof(*rows), compare_safepoints);
	for (uint32_t i = 0; i < count && i < t->in->top && rows; i++)
		add_safepoint(t, table, rows[i]);
	if (!err)
		err = table_print(table, 2, t->out);
	if (!err && count > t->in->top)
		print_text(t->out, "  and %u more operations\n", count - t->in->top);
	table_free(table);
	free(rows);
	return err;
}

/* Operations at safepoints are in the table of safepoints. */
static int print_operations(struct text *t, const struct pauses *p)
{
	static const struct table_column columns[] = {
		{"VM operation, no safepoint", true, 40, 56, false}, TIMES_COLUMNS};
	struct table *table = table_new(columns, 5);
	char text[LABEL_MAX];
	uint32_t shown = 0;
	int err = 0;

	for (uint32_t i = 0; i < p->operation_places.count; i++) {
		if (!p->operations[i].mode)
			continue;
		table_add(table, "%s",
			  label_string(t->labels, p->operations[i].operation, "(not known)", text));
		times_add_cells(table, &p->operations[i].times);
		shown++;
	}
	if (shown) {
		fputc('\n', t->out);
		err = table_print(table, 2, t->out);
	}
	table_free(table);
	return err;
}

int text_pauses(struct text *t)
{
	const struct pauses *p = analysis_pauses(t->in->log->analysis);
	char count[FORMAT_MAX], total[FORMAT_MAX], share[FORMAT_MAX];
	int err = 0;

	if (p->gc_times.count) {
		text_heading(t, "GARBAGE COLLECTION PAUSES: %s, %s in all, %s of the time",
			     count_format(p->gc_times.count, count),
			     time_format(p->gc_times.total_ns, total),
			     share_format(p->gc_times.total_ns, t->duration_ns, share));
		err = print_gcs(t, p);
	}
	if (!err)
		err = text_collections(t);
	if (!err && analysis_safepoints(t->in->log->analysis)->times.count) {
		err = text_safepoints(t);
	} else if (!err && p->safepoint_times.count) {
		text_heading(t, "SAFEPOINTS: %s, %s in all, %s of the time%s",
			     count_format(p->safepoint_times.count, count),
			     time_format(p->safepoint_times.total_ns, total),
			     share_format(p->safepoint_times.total_ns, t->duration_ns, share),
			     p->gc_times.count ? "; the collections above are in them" : "");
		err = print_safepoints(t, p);
	}
	if (!err)
		err = print_operations(t, p);
	if (!err && p->incomplete && !p->gc_times.count && !p->safepoint_times.count)
		text_heading(t, "PAUSES");
	if (!err && p->incomplete)
		print_text(t->out, "  %s more without a begin or an end in the log: in no sum\n",
			   count_format(p->incomplete, count));
	return err;
}
