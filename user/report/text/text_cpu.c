#include "report/text/text_report.h"

#include <string.h>

#include "analyze/registry/analysis.h"
#include "log/format/header_fields.h"

int text_cpus(struct text *t)
{
	const struct findings_view view = {
		.indent = 2, .sort = "cpu", .ascending = true, .all = "all"};
	const struct sched *s = analysis_sched(t->in->log->analysis);
	const char *steal = header_text(t->in->log->header, "sources", "steal");
	bool any = false;

	for (uint32_t i = 0; i < s->cpu_map.count; i++)
		any |= s->cpus[i].samples > 1;
	if (any)
		text_heading(t, "VIRTUAL CPUS: what the hypervisor took%s",
			     !*steal || !strcmp(steal, "none")
				     ? "; the scheduler's steal clock cannot be read here, see "
				       "/proc/stat's column"
				     : "");
	return text_section(t, section_cpus, &view);
}
