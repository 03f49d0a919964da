#include "report/csv/findings_csv.h"
#include "report/model/findings.h"
#include "report/model/sections/commands/objects_report.h"

int report_objects_csv(const struct objects_input *in, FILE *out)
{
	struct findings *f = objects_section(in);
	int err = findings_to_csv(f, true, out);

	findings_free(f);
	return err;
}
