#include <errno.h>

#include "report/csv/findings_csv.h"
#include "report/model/sections/sections.h"

int report_csv(const struct report_input *in, const char *name, FILE *out)
{
	section_make *make = section_by_name(name);
	struct section_input section;
	struct findings *f;
	int err = make ? section_open(in, &section) : -ENOENT;

	if (err)
		return err;
	f = make(&section);
	err = findings_to_csv(f, true, out);
	findings_free(f);
	section_close(&section);
	return err;
}
