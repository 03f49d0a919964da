#include "report/model/sections/by_section.h"
#include "report/text/findings_text.h"

int report_by_text(const struct report_input *in, const enum aspect_id *by, unsigned depth,
		   FILE *out)
{
	static const struct findings_view view = {.top = 0};
	struct by_section b;
	struct findings *f;
	int err = by_section_open(in, by, depth, &b);

	if (err)
		return err;
	f = by_section_tree(&b);
	err = findings_to_text(f, &view, out);
	findings_free(f);
	by_section_close(&b);
	return err;
}
