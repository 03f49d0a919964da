/* Collections, safepoints and VM operations, as any JVM reports them. */
#include "analyze/registry/analysis.h"
#include "analyze/vm/pause.h"
#include "log/read/names.h"
#include "report/model/label.h"
#include "report/model/sections/heap.h"
#include "report/model/sections/section_internal.h"
#include "report/model/sections/sections.h"

struct findings *section_gc(const struct section_input *in)
{
	static const char *const kinds[GC_KIND_COUNT][2] = {{"unknown", "(kind not known)"},
							    {"young", NULL},
							    {"full", NULL},
							    {"concurrent_pause", "concurrent"}};
	static const struct findings_column columns[] = {
		{.key = "collector", .title = "collector", .least = 12, .most = 24},
		{.key = "kind", .title = "kind", .least = 5},
		{.key = "operation", .title = "operation", .least = 12, .most = 24},
		FINDINGS_TIMES,
		{.key = "heap_before_bytes",
		 .meaning = "Mean of what the heap held before these collections.",
		 .unit = FINDINGS_BYTES},
		{.key = "heap_after_bytes",
		 .meaning = "Mean of what the heap held after them.",
		 .unit = FINDINGS_BYTES},
		{.title = "heap, mean",
		 .unit = FINDINGS_BYTES,
		 .show = FINDINGS_FROM_TO,
		 .of = -2,
		 .per = -1,
		 .least = 10},
	};
	const struct pauses *p = analysis_pauses(in->analysis);
	struct findings *f = FINDINGS_NEW(columns);
	uint64_t before, after;

	for (uint32_t i = 0; i < p->gc_map.count; i++) {
		const struct pause_gc *g = &p->gcs[i];
		const char *const *kind = kinds[g->kind < GC_KIND_COUNT ? g->kind : 0];

		findings_row(f, FINDINGS_ALL);
		section_string(f, in->names, g->collector, "(not known)");
		findings_text(f, kind[0], kind[1]);
		section_string(f, in->names, g->operation, "(not known)");
		section_times(f, &g->times);
		if (!heap_around_gc(p, in->names, g->collector, g->kind, &before, &after))
			continue;
		findings_number(f, before);
		findings_number(f, after);
	}
	return f;
}

/* "G1CollectForAllocation + Cleanup + more" */
static void add_operations(struct findings *f, const struct section_input *in,
			   const struct pause_safepoint *s)
{
	static const struct findings_column columns[] = {{.unit = FINDINGS_TEXT}};
	struct findings *list = FINDINGS_NEW(columns);
	char first[LABEL_MAX], second[LABEL_MAX], both[2 * LABEL_MAX + 16];

	for (int i = 0; i < 2 && s->operation[i]; i++) {
		findings_row(list, FINDINGS_ALL);
		section_string(list, in->names, s->operation[i], NULL);
	}
	findings_rows(f, list);
	label_string(in->labels, s->operation[0], "(cleanup only)", first);
	snprintf(both, sizeof(both), "%s + %s%s", first,
		 label_string(in->labels, s->operation[1], "?", second), s->more ? " + more" : "");
	findings_label(f, s->operation[1] ? both : first);
}

struct findings *section_safepoints(const struct section_input *in)
{
	static const struct findings_column columns[] = {
		{.key = "operations",
		 .title = "safepoint for",
		 .meaning = "The VM operations in it, the first two that differ.",
		 .unit = FINDINGS_ROWS,
		 .flags = FINDINGS_LIST,
		 .least = 40,
		 .most = 56},
		FINDINGS_TIMES,
	};
	const struct pauses *p = analysis_pauses(in->analysis);
	struct findings *f = FINDINGS_NEW(columns);

	for (uint32_t i = 0; i < p->safepoint_map.count; i++) {
		findings_row(f, FINDINGS_ALL);
		add_operations(f, in, &p->safepoints[i]);
		section_times(f, &p->safepoints[i].times);
	}
	return f;
}

/* People find operations at safepoints in the table of safepoints. */
struct findings *section_vm_operations(const struct section_input *in)
{
	static const struct findings_column columns[] = {
		{.key = "operation",
		 .title = "VM operation, no safepoint",
		 .least = 40,
		 .most = 56},
		{.key = "mode", .meaning = "0: at a safepoint.", .unit = FINDINGS_NUMBER},
		FINDINGS_TIMES,
	};
	const struct pauses *p = analysis_pauses(in->analysis);
	struct findings *f = FINDINGS_NEW(columns);

	for (uint32_t i = 0; i < p->operation_map.count; i++) {
		const struct pause_operation *o = &p->operations[i];

		findings_row(f, o->mode ? FINDINGS_ALL : FINDINGS_PROGRAMS);
		section_string(f, in->names, o->operation, "(not known)");
		findings_number(f, o->mode);
		section_times(f, &o->times);
	}
	return f;
}
