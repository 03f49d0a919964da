#include "base/print.h"
#include "report/text/text_report.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/registry/analysis.h"
#include "base/format.h"
#include "report/text/table.h"

#define REQUESTERS_SHOWN 2

static int compare_rows(const void *a, const void *b)
{
	const struct safepoint_row *x = *(const struct safepoint_row *const *)a,
				   *y = *(const struct safepoint_row *const *)b;

	return (y->times.total_ns > x->times.total_ns) - (y->times.total_ns < x->times.total_ns)
		       ?: (x > y) - (x < y);
}

/* The one of a row's requesters that has asked most often of those after the one given; NULL: none.
 */
static const struct safepoint_requester *next_requester(const struct safepoints *s, uint32_t row,
							const struct safepoint_requester *after)
{
	const struct safepoint_requester *best = NULL;

	for (uint32_t i = 0; i < s->requester_places.count; i++) {
		const struct safepoint_requester *r = &s->requesters[i];
		bool later = !after || r->times.count < after->times.count ||
			     (r->times.count == after->times.count && r > after);

		if (r->row == row && later && (!best || r->times.count > best->times.count))
			best = r;
	}
	return best;
}

/* "main 12, worker-1 3, and 4 more" */
static void add_requesters(struct text *t, struct table *table, uint32_t row)
{
	const struct safepoints *s = analysis_safepoints(t->in->log->analysis);
	const struct safepoint_requester *r = NULL;
	char text[LABEL_MAX * REQUESTERS_SHOWN] = "", label[LABEL_MAX], count[FORMAT_MAX];
	unsigned left = 0;
	size_t length = 0;

	for (uint32_t i = 0; i < s->requester_places.count; i++)
		left += s->requesters[i].row == row;
	for (int i = 0; i < REQUESTERS_SHOWN && left; i++, left--) {
		r = next_requester(s, row, r);
		length += (size_t)snprintf(
			text + length, sizeof(text) - length, "%s%.160s %s", i ? ", " : "",
			r->thread ? label_thread(t->labels, r->thread, label) : "(the VM)",
			count_format(r->times.count, count));
	}
	if (left)
		table_add(table, "%s, and %u more", text, left);
	else
		table_add(table, "%s", text);
}

static void add_row(struct text *t, struct table *table, const struct safepoint_row *r)
{
	const struct safepoints *s = analysis_safepoints(t->in->log->analysis);
	char text[LABEL_MAX], buf[FORMAT_MAX];

	table_add(table, "%s", label_string(t->labels, r->operation, "(not known)", text));
	table_add(table, "%s", count_format(r->times.count, buf));
	table_add(table, "%s", time_format(r->times.total_ns, buf));
	table_add(table, "%s", time_format(r->times.max_ns, buf));
	table_add(table, "%s", time_format(r->reach.total_ns, buf));
	table_add(table, "%s", time_format(r->reach.max_ns, buf));
	table_add(table, "%s", time_format(r->cleanup_ns, buf));
	table_add(table, "%s", time_format(r->operation_ns, buf));
	add_requesters(t, table, (uint32_t)(r - s->rows));
}

static int print_rows(struct text *t, const struct safepoints *s)
{
	static const struct table_column columns[] = {
		{"safepoint for", true, 28, 40, false}, {"count", false, 6, 0, false},
		{"total", false, 8, 0, false},          {"max", false, 8, 0, false},
		{"to reach", false, 8, 0, false},       {"max", false, 8, 0, false},
		{"cleanup", false, 8, 0, false},        {"operation", false, 9, 0, false},
		{"asked for by", true, 12, 60, false}};
	uint32_t count = s->row_places.count;
	const struct safepoint_row **rows = malloc((count + 1) * sizeof(*rows));
	struct table *table = table_new(columns, 9);
	int err = rows ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < count && rows; i++)
		rows[i] = &s->rows[i];
	if (rows)
		qsort(rows, count, sizeof(*rows), compare_rows);
	for (uint32_t i = 0; i < count && i < t->in->top && rows; i++)
		add_row(t, table, rows[i]);
	if (!err)
		err = table_print(table, 2, t->out);
	if (!err && count > t->in->top)
		print_text(t->out, "  and %u more operations\n", count - t->in->top);
	table_free(table);
	free(rows);
	return err;
}

int text_safepoints(struct text *t)
{
	const struct safepoints *s = analysis_safepoints(t->in->log->analysis);
	char count[FORMAT_MAX], total[FORMAT_MAX], share[FORMAT_MAX], reach[FORMAT_MAX];

	text_heading(t,
		     "SAFEPOINTS: %s, %s in all, %s of the time; %s of it until all threads stood",
		     count_format(s->times.count, count), time_format(s->times.total_ns, total),
		     share_format(s->times.total_ns, t->duration_ns, share),
		     time_format(s->reach.total_ns, reach));
	return print_rows(t, s);
}
