/* Collections and pauses as tables: one by one, the longest, and by cause. */
#include <stdlib.h>
#include <string.h>

#include "base/text/strbuf.h"
#include "log/format/event.h"
#include "log/read/names.h"
#include "report/model/label.h"
#include "report/model/report.h"
#include "report/model/sections/commands/gc_cause.h"
#include "report/model/sections/commands/gc_report.h"
#include "report/model/sections/section_internal.h"
#include "report/model/sections/sections.h"

#define ROWS_AT_ONCE 4096

static void add_kind(struct findings *f, const struct gc_row *r)
{
	static const char *const kinds[GC_KIND_COUNT][2] = {{"unknown", "(not known)"},
							    {"young", NULL},
							    {"full", NULL},
							    {"concurrent_pause", "concurrent"}};
	const char *const *kind = kinds[r->kind < GC_KIND_COUNT ? r->kind : 0];

	if (r->is_cycle)
		findings_text(f, r->is_minor ? "minor_cycle" : "cycle",
			      r->is_minor ? "minor cycle" : NULL);
	else
		findings_text(f, kind[0], kind[1]);
}

/* cause, cause_basis, operation, collector */
static void add_why(struct findings *f, const struct section_input *in, const struct gc_row *r)
{
	struct gc_cause cause = gc_cause_of(in->names, r);
	char label[LABEL_MAX], operation[LABEL_MAX];

	label_string(in->labels, r->operation, "(not known)", operation);
	label_clean(cause.text ? cause.text : "", label);
	if (cause.is_part) /* several operations of a cycle are a pause each */
		buffer_add(label, sizeof(label), ": %s", operation);
	findings_text(f, cause.text, cause.text ? label : NULL);
	if (!cause.text)
		findings_label(f, operation);
	findings_text(f, gc_cause_basis_name(cause.basis), NULL);
	section_string(f, in->names, r->operation, NULL);
	section_string(f, in->names, r->collector, NULL);
}

#define WHY_COLUMNS                                                                                \
	{.key = "cause",                                                                           \
	 .title = "cause",                                                                         \
	 .meaning = "Why it ran: as a patched JVM says, else inferred from the VM operation.",     \
	 .least = 16,                                                                              \
	 .most = 44,                                                                               \
	 .flags = FINDINGS_NULL},                                                                  \
		{.key = "cause_basis", .meaning = "recorded, inferred or unknown."},               \
		{.key = "operation", .meaning = "The VM operation; empty for a cycle."},           \
	{                                                                                          \
		.key = "collector", .meaning = "The memory manager that did the work."             \
	}

static void add_heap(struct findings *f, const struct gc_row *r)
{
	if (!r->has_heap) {
		findings_skip(f, 6);
		return;
	}
	FINDINGS_NUMBERS(f, r->before.used_bytes, r->after.used_bytes, gc_row_freed(r));
	findings_maybe(f, r->has_survivor, r->after.survivor_bytes);
	findings_maybe(f, r->has_old, r->after.old_bytes);
	findings_number(f, r->after.committed_bytes);
}

static struct findings *rows_new(void)
{
	static const struct findings_column columns[] = {
		{.key = "at_ns",
		 .title = "at",
		 .meaning = "Its begin, since the recording began.",
		 .unit = FINDINGS_NS,
		 .flags = FINDINGS_NO_SUM},
		{.key = "begin_mono_ns",
		 .meaning = "Its begin, in the clock of the events.",
		 .unit = FINDINGS_NUMBER},
		{.key = "ns",
		 .title = "pause",
		 .meaning = "How long it took; the application stands still only in a pause.",
		 .unit = FINDINGS_NS},
		{.key = "kind", .title = "kind", .least = 5},
		WHY_COLUMNS,
		{.key = "heap_before_bytes",
		 .meaning = "What the heap held before it.",
		 .unit = FINDINGS_BYTES,
		 .flags = FINDINGS_NULL},
		{.key = "heap_after_bytes",
		 .meaning = "What the heap held after it.",
		 .unit = FINDINGS_BYTES,
		 .flags = FINDINGS_NULL},
		{.title = "heap",
		 .show = FINDINGS_FROM_TO,
		 .of = -2,
		 .per = -1,
		 .unit = FINDINGS_BYTES,
		 .least = 10},
		{.key = "freed_bytes",
		 .title = "freed",
		 .unit = FINDINGS_BYTES,
		 .flags = FINDINGS_NULL},
		{.key = "survivor_bytes",
		 .title = "survivors",
		 .meaning = "What is in the survivor space after it.",
		 .unit = FINDINGS_BYTES,
		 .flags = FINDINGS_NULL},
		{.key = "old_after_bytes",
		 .title = "old",
		 .meaning = "What the old generation held after it.",
		 .unit = FINDINGS_BYTES,
		 .flags = FINDINGS_NULL},
		{.key = "committed_bytes",
		 .meaning = "What the heap had of the machine's memory after it.",
		 .unit = FINDINGS_BYTES,
		 .flags = FINDINGS_NULL},
	};

	return FINDINGS_NEW(columns);
}

static void add_row(struct findings *f, const struct section_input *in, const struct gc_model *m,
		    const struct gc_row *r)
{
	findings_row(f, FINDINGS_ALL);
	FINDINGS_NUMBERS(f, gc_since_start(m, r->begin_ns), r->begin_ns, gc_row_ns(r));
	add_kind(f, r);
	add_why(f, in, r);
	add_heap(f, r);
}

static bool is_selected(const struct gc_row *r, enum gc_which which)
{
	return which == GC_WHICH_PAUSES ? !r->is_cycle : r->is_cycle || r->has_heap;
}

struct findings *gc_section_rows(const struct section_input *in, const struct gc_model *m,
				 enum gc_which which, uint32_t *at)
{
	struct findings *f = rows_new();

	for (unsigned n = 0; *at < m->row_count && n < ROWS_AT_ONCE; ++*at) {
		if (!is_selected(&m->rows[*at], which))
			continue;
		add_row(f, in, m, &m->rows[*at]);
		n++;
	}
	return f;
}

/* The longer ones first; of those alike, the earlier ones. */
static int by_length(const void *a, const void *b)
{
	const struct gc_row *const *x = a, *const *y = b;
	uint64_t ns_x = gc_row_ns(*x), ns_y = gc_row_ns(*y);

	if (ns_x != ns_y)
		return ns_x < ns_y ? 1 : -1;
	return (*x > *y) - (*x < *y);
}

struct findings *gc_section_longest(const struct section_input *in, const struct gc_model *m)
{
	const struct gc_row **rows = malloc(((size_t)m->row_count + 1) * sizeof(*rows));
	struct findings *f = rows ? rows_new() : NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; f && i < m->row_count; i++) {
		if (!m->rows[i].is_cycle)
			rows[n++] = &m->rows[i];
	}
	if (f)
		qsort(rows, n, sizeof(*rows), by_length);
	for (uint32_t i = 0; f && i < n && i < m->in->in->top; i++)
		add_row(f, in, m, rows[i]);
	free(rows);
	return f;
}

struct findings *gc_section_causes(const struct section_input *in, const struct gc_model *m)
{
	static const struct findings_column columns[] = {
		{.key = "kind", .title = "kind", .least = 5},
		WHY_COLUMNS,
		FINDINGS_TIMES,
		{.key = "heaps",
		 .meaning =
			 "Of how many the heap before and after is known; the bytes are of these.",
		 .unit = FINDINGS_COUNT},
		{.key = "freed_bytes",
		 .title = "freed",
		 .unit = FINDINGS_BYTES,
		 .flags = FINDINGS_NO_ZERO},
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
		{.key = "survivor_bytes",
		 .title = "survivors",
		 .meaning = "Mean of what was in the survivor space after them.",
		 .unit = FINDINGS_BYTES,
		 .flags = FINDINGS_IF_ANY | FINDINGS_NO_ZERO},
		{.key = "promoted_bytes",
		 .title = "old grew",
		 .meaning = "By how much the old generation was larger after them, in all.",
		 .unit = FINDINGS_BYTES,
		 .flags = FINDINGS_IF_ANY | FINDINGS_NO_ZERO},
	};
	struct findings *f = FINDINGS_NEW(columns);

	for (uint32_t i = 0; i < m->sums.group_count; i++) {
		const struct gc_group *g = &m->sums.groups[i];

		findings_row(f, FINDINGS_ALL);
		add_kind(f, &g->like);
		add_why(f, in, &g->like);
		section_times(f, &g->times);
		findings_number(f, g->heaps);
		if (!g->heaps)
			continue;
		FINDINGS_NUMBERS(f, g->freed_bytes, g->before_bytes / g->heaps,
				 g->after_bytes / g->heaps, g->survivor_bytes / g->heaps,
				 g->promoted_bytes);
	}
	return f;
}
