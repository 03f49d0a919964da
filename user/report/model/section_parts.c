#include "report/model/section_parts.h"

#include "analyze/vm/pause.h"
#include "log/read/names.h"

void section_string(struct findings *f, const struct log_names *names, uint64_t string,
		    const char *unknown)
{
	const char *text = string ? log_names_string(names, string) : NULL;

	findings_text(f, text ? text : "", text ? NULL : unknown);
}

void section_times(struct findings *f, const struct pause_times *t)
{
	FINDINGS_NUMBERS(f, t->count, t->total_ns, t->max_ns);
}
