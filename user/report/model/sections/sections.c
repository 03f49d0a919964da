#include "report/model/sections/sections.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyze/registry/analysis.h"
#include "base/text/strbuf.h"
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
	labels_set_facets(s.labels, in->facets);
	*ret = s;
	return 0;
}

void section_close(struct section_input *s)
{
	labels_free(s->labels);
}

/* As JSON names them. Contention is of a size that no single table is made of it. */
static const struct {
	const char *name;
	section_make *make;
	bool plain;
} sections[] = {
	{SECTION_CONTENTION, NULL, false},
#define SECTION(name) {#name, section_##name, false},
#define PLAIN(name) {#name, section_##name, true},
#include "report/model/sections/sections.def"
};

#define SECTION_COUNT (sizeof(sections) / sizeof(*sections))

static size_t find(const char *name)
{
	size_t i = 0;

	while (i < SECTION_COUNT && strcmp(sections[i].name, name) != 0)
		i++;
	return i;
}

section_make *section_by_name(const char *name)
{
	size_t i = find(name);

	return i < SECTION_COUNT ? sections[i].make : NULL;
}

section_make *section_plain(unsigned *at, const char **ret_name)
{
	for (; *at < SECTION_COUNT; ++*at)
		if (sections[*at].plain) {
			*ret_name = sections[*at].name;
			return sections[(*at)++].make;
		}
	return NULL;
}

char *report_sections(char *buf)
{
	*buf = '\0';
	for (size_t i = 0; i < SECTION_COUNT; i++)
		buffer_add(buf, REPORT_SECTIONS_MAX, "%s%s", i ? ", " : "", sections[i].name);
	return buf;
}

bool report_has_section(const char *name)
{
	return find(name) < SECTION_COUNT;
}

bool report_section_takes_by(const char *name)
{
	return !strcmp(name, SECTION_CONTENTION);
}
