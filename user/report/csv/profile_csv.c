#include "report/csv/findings_csv.h"
#include "report/model/findings.h"
#include "report/model/sections/commands/profile_report.h"

int report_profile_csv(const struct profile_input *in, FILE *out)
{
	struct profile_tree t;
	int err = profile_tree_make(in, &t);
	struct findings *f = err ? NULL : profile_section(in, &t);

	if (!err)
		err = findings_to_csv(f, true, out);
	findings_free(f);
	profile_tree_free(&t);
	return err;
}
