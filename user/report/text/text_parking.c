#include "base/print.h"
#include "report/text/text_report.h"

#include <stdlib.h>

#include "analyze/registry/analysis.h"
#include "base/format.h"
#include "report/model/blockers.h"
#include "report/text/table.h"

static bool any_given_up(const struct blocker *rows, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (rows[i].how[PARKING_TIMEOUT] || rows[i].how[PARKING_INTERRUPTED])
			return true;
	}
	return false;
}

static void add(struct table *table, const struct blocker *b, bool given_up)
{
	char class[LABEL_MAX], number[FORMAT_MAX], total[FORMAT_MAX];

	table_add(table, "%s", label_clean(b->class, class));
	table_add(table, "%s", count_format(b->count, number));
	table_add(table, "%s", time_format(b->total_ns, total));
	table_add(table, "%s", mean_format(b->total_ns, b->count, number));
	table_add(table, "%s", time_format(b->max_ns, number));
	table_add(table, "%s", b->open ? count_format(b->open, number) : "");
	table_add(table, "%s", b->open ? time_format(b->open_ns, total) : "");
	if (!given_up)
		return;
	for (int i = PARKING_TIMEOUT; i <= PARKING_INTERRUPTED; i++)
		table_add(table, "%s", b->how[i] ? count_format(b->how[i], number) : "");
}

static int print(struct text *t, const struct blocker *rows, uint32_t count, const char *title)
{
	const struct table_column columns[] = {
		{title, true, 30, 58, true},         {"count", false, 9, 0, false},
		{"total", false, 8, 0, false},       {"mean", false, 8, 0, false},
		{"max", false, 8, 0, false},         {"not ended", false, 9, 0, false},
		{"for", false, 8, 0, false},         {"timed out", false, 9, 0, false},
		{"interrupted", false, 11, 0, false}};
	bool given_up = any_given_up(rows, count);
	struct table *table = table_new(columns, given_up ? 9 : 7);
	uint64_t incomplete = 0;
	uint32_t shown = count < t->in->top ? count : t->in->top;
	char number[FORMAT_MAX];
	int err;

	for (uint32_t i = 0; i < shown; i++)
		add(table, &rows[i], given_up);
	err = table_print(table, 2, t->out);
	table_free(table);
	if (err)
		return err;
	for (uint32_t i = 0; i < count; i++)
		incomplete += rows[i].begin_missing + rows[i].end_missing;
	if (shown < count)
		print_text(t->out, "  and %u more classes\n", count - shown);
	if (incomplete)
		print_text(t->out, "  %s more without a begin or an end in the log: in no sum\n",
			   count_format(incomplete, number));
	return 0;
}

static int section(struct text *t, enum parking_kind kind, const char *heading, const char *title)
{
	struct blocker *rows;
	uint32_t count;
	int err = blockers_make(analysis_parking(t->in->log->analysis),
				analysis_names(t->in->log->analysis), kind, &rows, &count);

	if (err)
		return err;
	if (count) {
		text_heading(t, "%s", heading);
		err = print(t, rows, count, title);
	}
	free(rows);
	return err;
}

int text_parking(struct text *t)
{
	int err = section(t, PARKING_PARK,
			  "PARKING (idle pools, queues, conditions: not locks, not contention)",
			  "class of the blocker");

	return err ? err : section(t, PARKING_WAIT, "OBJECT.WAIT", "class of the monitor");
}
