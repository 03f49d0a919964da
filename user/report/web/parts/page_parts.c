#include "report/web/parts/page_parts.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/cells/cell_windows.h"
#include "analyze/registry/analysis.h"
#include "analyze/stacks/stacks.h"
#include "log/format/event.h"
#include "log/format/header_fields.h"
#include "report/model/sections/sections.h"
#include "report/web/parts/page_objects.h"
#include "report/web/parts/page_profile.h"
#include "report/web/parts/page_spans.h"
#include "report/web/parts/page_states.h"
#include "session/time_range.h"

struct page_parts {
	struct page_spans spans;
	struct page_profile profile;
	struct page_states states;
};

struct page_parts *page_parts_new(struct analysis *a, const json_t *header,
				  const struct range *range)
{
	struct page_parts *p = calloc(1, sizeof(*p));
	uint64_t begin_ns = header_begin_ns(header);
	int err = p ? 0 : -ENOMEM;

	if (range->from && range->from_ns > begin_ns)
		begin_ns = range->from_ns;
	err = err ? err : page_spans_begin(&p->spans, analysis_names(a), begin_ns);
	if (!err) {
		page_profile_begin(&p->profile, analysis_names(a), header, range);
		page_states_begin(a, header, range);
		return p;
	}
	page_parts_free(p);
	return NULL;
}

void page_parts_free(struct page_parts *p)
{
	if (!p)
		return;
	page_spans_free(&p->spans);
	page_profile_free(&p->profile);
	page_states_free(&p->states);
	free(p);
}

int page_parts_event(struct page_parts *p, const struct event *e)
{
	int err;

	if (!p->spans.bins.begin_ns)
		p->spans.bins.begin_ns = e->time_ns;
	err = spans_add(p->spans.spans, e);
	err = err ? err : page_profile_event(&p->profile, e);
	return err ? err : page_states_event(&p->states, e);
}

int page_parts_hole(struct page_parts *p, uint64_t from_ns, uint64_t to_ns)
{
	page_profile_hole(&p->profile);
	page_states_hole(&p->states);
	return spans_hole(p->spans.spans, from_ns, to_ns);
}

void page_parts_blocked(struct page_parts *p, const struct cell_part *part)
{
	const struct cell_key *key = &part->key;

	spans_charge(p->spans.spans, key->waiter, key->lock, part->from_ns, part->to_ns,
		     key->holder, key->holder_stack);
}

int page_parts_finish(struct page_parts *p, const struct analysis *a)
{
	struct analysis_facts facts;
	int err;

	analysis_facts(a, &facts);
	err = spans_finish(p->spans.spans, facts.last_ns);
	return err ? err : page_profile_finish(&p->profile, analysis_wall(a));
}

uint64_t page_parts_window_ns(const struct page_parts *p)
{
	return p->spans.bins.length_ns;
}

int page_parts_write(void *parts, const struct report_input *in, const struct page_axis *axis,
		     FILE *out)
{
	const struct page_parts *p = parts;
	struct section_input section;
	struct stacks *stacks;
	int err = section_open(in, &section);

	if (err)
		return err;
	section.stacks = stacks = stacks_new(section.names);
	err = stacks ? 0 : -ENOMEM;
	fputs(",\"parts\":{", out);
	err = err ? err : page_spans_write(&p->spans, &section, axis, out);
	err = err ? err : page_profile_write(&p->profile, &section, axis, out);
	err = err ? err : page_states_write(&p->states, &section, axis, out);
	err = err ? err : page_objects_write(&section, out);
	putc('}', out);
	stacks_free(stacks);
	section_close(&section);
	return err;
}
