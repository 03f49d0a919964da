/* Collections and safepoints, as a patched JVM reports them. */
#include <stdio.h>

#include "analyze/registry/analysis.h"
#include "analyze/vm/phases.h"
#include "analyze/vm/safepoint.h"
#include "base/text/format.h"
#include "base/text/strbuf.h"
#include "report/model/label.h"
#include "report/model/sections/section_internal.h"
#include "report/model/sections/sections.h"

#define REQUESTERS_SHOWN 2

struct findings *section_collections(const struct section_input *in)
{
	static const struct findings_column columns[] = {
		{.key = "collector", .title = "collector", .least = 12, .most = 24},
		{.key = "cause", .title = "cause", .least = 12, .most = 40},
		FINDINGS_TIMES,
	};
	const struct phases *p = analysis_phases(in->analysis);
	struct findings *f = FINDINGS_NEW(columns);

	for (uint32_t i = 0; i < p->collection_map.count; i++) {
		findings_row(f, FINDINGS_ALL);
		section_string(f, in->names, p->collections[i].collector, "?");
		section_string(f, in->names, p->collections[i].cause, "?");
		section_times(f, &p->collections[i].times);
	}
	return f;
}

static const char *phase_kind_name(uint64_t kind)
{
	static const char *const names[GC_PHASE_KIND_COUNT] = {"pause", "concurrent", "worker"};

	return kind < GC_PHASE_KIND_COUNT ? names[kind] : "unknown";
}

/* Those from first on, side by side. */
static struct findings *phases_from(const struct section_input *in, uint32_t first)
{
	static const struct findings_column columns[] = {
		{.key = "phase", .title = "phase", .least = 40, .most = 56},
		{.key = "kind", .title = "kind", .least = 5},
		FINDINGS_TIMES,
		{.key = "phases",
		 .meaning = "The phases within this one.",
		 .unit = FINDINGS_ROWS,
		 .flags = FINDINGS_TREE},
	};
	const struct phases *p = analysis_phases(in->analysis);
	struct findings *f = FINDINGS_NEW(columns);

	for (uint32_t i = first; i != INDEX_NONE; i = p->rows[i].next) {
		findings_row(f, FINDINGS_ALL);
		section_string(f, in->names, p->rows[i].phase, "?");
		findings_text(f, phase_kind_name(p->rows[i].kind), NULL);
		section_times(f, &p->rows[i].times);
		findings_rows(f, phases_from(in, p->rows[i].first));
	}
	return f;
}

struct findings *section_phases(const struct section_input *in)
{
	return phases_from(in, analysis_phases(in->analysis)->first);
}

static struct findings *requesters(const struct section_input *in, const struct safepoint_row *row)
{
	static const struct findings_column columns[] = {
		{.key = "thread",
		 .title = "thread",
		 .meaning = "The thread that asked for the safepoint; none: the VM itself.",
		 .flags = FINDINGS_NULL},
		FINDINGS_TIMES,
	};
	const struct safepoints *s = analysis_safepoints(in->analysis);
	struct findings *f = FINDINGS_NEW(columns);
	char label[LABEL_MAX];

	for (uint32_t i = row->requester; i != INDEX_NONE; i = s->requesters[i].next) {
		const struct safepoint_requester *r = &s->requesters[i];

		findings_row(f, FINDINGS_ALL);
		if (r->thread)
			findings_text(f, name_thread(in->names, r->thread, "(unknown)"),
				      label_thread(in->labels, r->thread, label));
		else
			findings_text(f, NULL, "(the VM)");
		section_times(f, &r->times);
	}
	return f;
}

/* The row that has asked most often of those after the one given; -1: none. */
static int next_requester(const struct findings *f, int after)
{
	int best = -1;

	for (int i = 0; f && !f->err && i < (int)f->row_count; i++) {
		uint64_t count = findings_cell(f, (uint32_t)i, 1)->number;
		uint64_t last = after < 0 ? 0 : findings_cell(f, (uint32_t)after, 1)->number;
		bool later = after < 0 || count < last || (count == last && i > after);

		if (later && (best < 0 || count > findings_cell(f, (uint32_t)best, 1)->number))
			best = i;
	}
	return best;
}

/* "main 12, worker-1 3, and 4 more" */
static void requesters_label(const struct findings *f, char buf[LABEL_MAX])
{
	unsigned left = f ? f->row_count : 0;
	char count[FORMAT_MAX];
	int row = -1;

	*buf = '\0';
	for (int i = 0; i < REQUESTERS_SHOWN && left; i++, left--) {
		row = next_requester(f, row);
		if (row < 0)
			return;
		buffer_add(buf, LABEL_MAX, "%s%.160s %s", i ? ", " : "",
			   findings_cell(f, (uint32_t)row, 0)->label,
			   count_format(findings_cell(f, (uint32_t)row, 1)->number, count));
	}
	if (left)
		buffer_add(buf, LABEL_MAX, ", and %u more", left);
}

struct findings *section_safepoint_times(const struct section_input *in)
{
	static const struct findings_column columns[] = {
		{.key = "operation", .title = "safepoint for", .least = 28, .most = 40},
		{.key = "count", .title = "count", .unit = FINDINGS_COUNT, .least = 6},
		{.key = "total_ns", .title = "total", .unit = FINDINGS_NS},
		{.key = "max_ns", .title = "max", .unit = FINDINGS_NS, .flags = FINDINGS_NO_SUM},
		{.key = "reach_ns",
		 .title = "to reach",
		 .meaning = "Until all threads stood.",
		 .unit = FINDINGS_NS},
		{.key = "reach_max_ns",
		 .title = "max",
		 .meaning = "The longest time until all threads stood.",
		 .unit = FINDINGS_NS,
		 .flags = FINDINGS_NO_SUM},
		{.key = "cleanup_ns", .title = "cleanup", .unit = FINDINGS_NS},
		{.key = "operation_ns", .title = "operation", .unit = FINDINGS_NS, .least = 9},
		{.key = "threads",
		 .meaning = "Java threads that there were, summed over the safepoints.",
		 .unit = FINDINGS_COUNT},
		{.key = "running",
		 .meaning = "Threads that were waited for, summed over the safepoints.",
		 .unit = FINDINGS_COUNT},
		{.key = "requesters",
		 .title = "asked for by",
		 .unit = FINDINGS_ROWS,
		 .least = 12,
		 .most = 60},
	};
	const struct safepoints *s = analysis_safepoints(in->analysis);
	struct findings *f = FINDINGS_NEW(columns), *by;
	char label[LABEL_MAX];

	for (uint32_t i = 0; i < s->row_map.count; i++) {
		const struct safepoint_row *r = &s->rows[i];

		findings_row(f, FINDINGS_ALL);
		section_string(f, in->names, r->operation, "(not known)");
		section_times(f, &r->times);
		FINDINGS_NUMBERS(f, r->reach.total_ns, r->reach.max_ns, r->cleanup_ns,
				 r->operation_ns, r->threads, r->running);
		by = requesters(in, r);
		requesters_label(by, label);
		findings_rows(f, by);
		findings_label(f, label);
	}
	return f;
}
