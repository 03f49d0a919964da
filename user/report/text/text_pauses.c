#include "base/text/print.h"
#include "report/text/text_report.h"

#include "analyze/registry/analysis.h"
#include "analyze/vm/pause.h"
#include "analyze/vm/phases.h"
#include "analyze/vm/safepoint.h"
#include "base/text/format.h"

static int print_collections(struct text *t)
{
	const struct findings_view collections = {.indent = 2,
						  .top = t->in->top,
						  .sort = "total_ns"},
				   phases = {.indent = 2,
					     .top = t->in->top,
					     .sort = "total_ns",
					     .in_order = true,
					     .rest = FINDINGS_REST_ROW};
	const struct phases *p = analysis_phases(t->in->log->analysis);
	char count[FORMAT_MAX];
	int err = 0;

	if (p->collection_times.count) {
		text_heading(t, "COLLECTIONS: %s, concurrent cycles from their begin to their end",
			     count_format(p->collection_times.count, count));
		err = text_section(t, section_collections, &collections);
	}
	if (!err && p->first != INDEX_NONE) {
		text_heading(t, "PHASES OF COLLECTIONS (workers are busy side by side: their times "
				"add up to more)");
		err = text_section(t, section_phases, &phases);
	}
	if (!err && p->incomplete)
		print_text(t->out, "  %s collections and phases seen in part only: in no sum\n",
			   count_format(p->incomplete, count));
	return err;
}

static int print_safepoint_times(struct text *t)
{
	const struct findings_view view = {
		.indent = 2, .top = t->in->top, .sort = "total_ns", .noun = "operations"};
	const struct safepoints *s = analysis_safepoints(t->in->log->analysis);
	char count[FORMAT_MAX], total[FORMAT_MAX], share[FORMAT_MAX], reach[FORMAT_MAX];

	text_heading(t,
		     "SAFEPOINTS: %s, %s in all, %s of the time; %s of it until all threads stood",
		     count_format(s->times.count, count), time_format(s->times.total_ns, total),
		     share_format(s->times.total_ns, t->duration_ns, share),
		     time_format(s->reach.total_ns, reach));
	return text_section(t, section_safepoint_times, &view);
}

int text_pauses(struct text *t)
{
	const struct findings_view by_total = {.indent = 2, .sort = "total_ns"},
				   as_they_are = {.indent = 2, .gap = true},
				   operations = {.indent = 2,
						 .top = t->in->top,
						 .sort = "total_ns",
						 .noun = "operations"};
	const struct pauses *p = analysis_pauses(t->in->log->analysis);
	char count[FORMAT_MAX], total[FORMAT_MAX], share[FORMAT_MAX];
	int err = 0;

	if (p->gc_times.count) {
		text_heading(t, "GARBAGE COLLECTION PAUSES: %s, %s in all, %s of the time",
			     count_format(p->gc_times.count, count),
			     time_format(p->gc_times.total_ns, total),
			     share_format(p->gc_times.total_ns, t->duration_ns, share));
		err = text_section(t, section_gc, &by_total);
	}
	if (!err)
		err = print_collections(t);
	if (!err && analysis_safepoints(t->in->log->analysis)->times.count) {
		err = print_safepoint_times(t);
	} else if (!err && p->safepoint_times.count) {
		text_heading(t, "SAFEPOINTS: %s, %s in all, %s of the time%s",
			     count_format(p->safepoint_times.count, count),
			     time_format(p->safepoint_times.total_ns, total),
			     share_format(p->safepoint_times.total_ns, t->duration_ns, share),
			     p->gc_times.count ? "; the collections above are in them" : "");
		err = text_section(t, section_safepoints, &operations);
	}
	if (!err)
		err = text_section(t, section_vm_operations, &as_they_are);
	if (!err && p->incomplete && !p->gc_times.count && !p->safepoint_times.count)
		text_heading(t, "PAUSES");
	if (!err && p->incomplete)
		print_text(t->out, "  %s more without a begin or an end in the log: in no sum\n",
			   count_format(p->incomplete, count));
	return err;
}
