#include "report/csv/findings_csv.h"
#include "report/model/findings.h"
#include "report/model/sections/commands/time_report.h"

/* Window by window: there may be thousands of threads in thousands of windows. */
int report_time_csv(const struct time_input *in, FILE *out)
{
	struct time_part part = {.window_count = 0};
	struct time_table t;
	int err = time_table_make(in, &t);

	if (err)
		return err;
	part.row_count = time_row_count(&t);
	do {
		struct findings *f = time_section(in, &t, &part);

		err = findings_to_csv(f, !part.window_count, out);
		findings_free(f);
		part.window += part.window_count;
		part.window_count = 1;
	} while (!err && part.window < t.window_count);
	time_table_free(&t);
	return err;
}
