#include "report/csv/findings_csv.h"
#include "report/model/diff/diff_report.h"
#include "report/model/findings.h"

int report_diff_csv(const struct diff_input *in, FILE *out)
{
	int err = 0;

	for (int part = 0; part < MEASURE_PART_COUNT && !err; part++) {
		unsigned hidden;
		struct findings *f = diff_section_rows(in, part, &hidden);

		err = findings_to_csv(f, part == 0, out);
		findings_free(f);
	}
	return err;
}
