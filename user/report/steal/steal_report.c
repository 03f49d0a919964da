#include "report/steal/steal_report.h"

#include "report/steal/steal_formats.h"

static const struct steal_format_ops *const formats[] = {
	[STEAL_TEXT] = &steal_text_ops,
	[STEAL_JSON] = &steal_json_ops,
	[STEAL_CSV] = &steal_csv_ops,
};

_Static_assert(sizeof(formats) / sizeof(*formats) == STEAL_FORMAT_COUNT, "one for each format");

int steal_report_begin(const struct steal_report *r)
{
	return formats[r->format]->begin(r);
}

int steal_report_interval(const struct steal_report *r, const struct steal_span *s, bool passed)
{
	return r->quiet ? 0 : formats[r->format]->interval(r, s, passed);
}

int steal_report_end(const struct steal_report *r, const struct steal_report_total *t)
{
	return formats[r->format]->end(r, t);
}
