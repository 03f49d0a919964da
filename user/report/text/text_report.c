#include "report/text/text_report.h"

#include <stdarg.h>

#include "analyze/registry/analysis.h"
#include "base/text/format.h"
#include "base/text/print.h"
#include "report/model/finding_model.h"

static int print_sections(struct text *t)
{
	static int (*const sections[])(struct text *) = {text_recorded, text_locks, text_parking,
							 text_pauses,   text_plain, text_threads,
							 text_finding};
	int err = 0;

	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections) && !err; i++)
		err = sections[i](t);
	return err;
}

int report_text(const struct report_input *in, FILE *out)
{
	struct text t = {.in = in, .out = out, .duration_ns = session_log_duration(in->log)};
	struct finding finding;
	char damage[512];
	int err = section_open(in, &t.section);

	if (err)
		return err;
	t.labels = t.section.labels;
	t.stacks = t.section.stacks;
	if (report_has_chains(in)) {
		err = report_finding(in, &finding);
		t.finding = &finding;
	}
	if (!err)
		err = print_sections(&t);
	if (!err && in->log->damaged) {
		session_log_damage(in->log, damage, sizeof(damage));
		text_heading(&t, "INCOMPLETE\n  %s", damage);
	}
	section_close(&t.section);
	return err;
}
