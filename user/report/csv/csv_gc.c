#include "report/csv/findings_csv.h"
#include "report/model/findings.h"
#include "report/model/sections/commands/gc_report.h"
#include "report/model/sections/sections.h"

/* Some at a time: there may be a million. */
static int rows_write(const struct section_input *section, const struct gc_model *m, FILE *out)
{
	enum gc_which which = m->in->pauses ? GC_WHICH_PAUSES : GC_WHICH_HEAP;
	bool head = true;
	uint32_t at = 0;
	int err;

	do {
		struct findings *f = gc_section_rows(section, m, which, &at);

		err = findings_to_csv(f, head, out);
		findings_free(f);
		head = false;
	} while (!err && at < m->row_count && !ferror(out));
	return err;
}

int report_gc_csv(const struct gc_input *in, FILE *out)
{
	struct section_input section;
	struct gc_model m;
	int err = section_open(in->in, &section);

	if (err)
		return err;
	err = gc_model_make(in, &m);
	if (!err) {
		err = rows_write(&section, &m, out);
		gc_model_free(&m);
	}
	section_close(&section);
	return err;
}
