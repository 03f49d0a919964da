#include "base/text/print.h"
#include "report/text/text_report.h"

#include <string.h>

#include "base/text/format.h"

/* What the rows have of the columns whose keys end in "_missing". */
static uint64_t sum_missing(const struct findings *f)
{
	uint64_t sum = 0;

	for (unsigned i = 0; f && i < f->column_count; i++) {
		const char *key = f->columns[i].key;

		if (key && (!strcmp(key, "begin_missing") || !strcmp(key, "end_missing")))
			sum += findings_sum(f, i);
	}
	return sum;
}

static int section(struct text *t, struct findings *f, const char *heading)
{
	const struct findings_view view = {.indent = 2, .top = t->in->top, .noun = "classes"};
	uint64_t missing = sum_missing(f);
	char number[FORMAT_MAX];
	int err;

	if (f && f->row_count)
		text_heading(t, "%s", heading);
	err = findings_to_text(f, &view, t->out);
	if (!err && missing)
		print_text(t->out, "  %s more without a begin or an end in the log: in no sum\n",
			   count_format(missing, number));
	findings_free(f);
	return err;
}

int text_parking(struct text *t)
{
	int err = section(t, section_parking(&t->section),
			  "PARKING (idle pools, queues, conditions: not locks, not contention)");

	return err ? err : section(t, section_waiting(&t->section), "OBJECT.WAIT");
}
