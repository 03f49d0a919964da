#include "report/text/times.h"

#include "analyze/vm/pause.h"
#include "base/format.h"
#include "report/text/table.h"

void times_add_cells(struct table *table, const struct pause_times *times)
{
	char buf[FORMAT_MAX];

	table_add(table, "%s", count_format(times->count, buf));
	table_add(table, "%s", time_format(times->total_ns, buf));
	table_add(table, "%s", mean_format(times->total_ns, times->count, buf));
	table_add(table, "%s", time_format(times->max_ns, buf));
}
