#include "report/model/sections.h"

#include <errno.h>

#include "analyze/registry/analysis.h"
#include "report/model/label.h"

int section_open(const struct report_input *in, struct section_input *ret)
{
	struct section_input s = {.in = in,
				  .analysis = in->log->analysis,
				  .names = analysis_names(in->log->analysis),
				  .stacks = analysis_stacks(in->log->analysis)};

	s.labels = labels_new(s.names);
	if (!s.labels)
		return -ENOMEM;
	*ret = s;
	return 0;
}

void section_close(struct section_input *s)
{
	labels_free(s->labels);
}
