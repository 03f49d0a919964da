#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "analyze/registry/analysis.h"
#include "base/text/format.h"
#include "log/format/header_fields.h"
#include "report/model/findings.h"
#include "report/model/label.h"
#include "report/model/report.h"
#include "report/model/sections/profile_report.h"
#include "session/session_log.h"

uint64_t profile_period_ns(const struct profile_input *in)
{
	const json_t *sources = json_object_get(in->in->log->header, "sources");

	return header_number(sources, "sample", "period_ns");
}

uint64_t profile_lost(const struct profile_input *in)
{
	struct analysis_facts facts;
	uint64_t lost = 0;

	analysis_facts(in->in->log->analysis, &facts);
	for (uint32_t i = 0; i < facts.lost_count; i++)
		lost += facts.lost[i].event_id == EVENT_RUN_SAMPLE ? facts.lost[i].count : 0;
	return lost;
}

/* "23.4 % +-0.7", for people. */
static void share(struct findings *f, const struct profile_tree *t, uint64_t part_ns)
{
	char text[2 * FORMAT_MAX], percent[FORMAT_MAX];

	snprintf(text, sizeof(text), "%s ±%.1f", share_format(part_ns, t->ns, percent),
		 100 * profile_deviation(t, part_ns));
	findings_text(f, text, NULL);
}

static struct findings *flat(const struct profile_tree *t)
{
	static const struct findings_column columns[] = {
		{.title = "self", .unit = FINDINGS_TEXT},
		{.key = "self_ns", .title = "time", .unit = FINDINGS_NS},
		{.key = "self_samples", .unit = FINDINGS_COUNT},
		{.title = "total", .unit = FINDINGS_TEXT},
		{.key = "total_ns", .title = "time", .unit = FINDINGS_NS},
		{.key = "total_samples", .title = "samples", .unit = FINDINGS_COUNT},
		{.key = "method", .title = "method", .unit = FINDINGS_TEXT, .flags = FINDINGS_TAIL},
	};
	struct findings *f = FINDINGS_NEW(columns);

	for (uint32_t i = 0; i < t->frame_map.count; i++) {
		const struct profile_frame *frame = &t->frames[i];

		if (!frame->total_samples)
			continue;
		findings_row(f, FINDINGS_ALL);
		share(f, t, frame->self_ns);
		FINDINGS_NUMBERS(f, frame->self_ns, frame->self_samples);
		share(f, t, frame->total_ns);
		FINDINGS_NUMBERS(f, frame->total_ns, frame->total_samples);
		findings_text(f, frame->name, NULL);
	}
	return f;
}

static struct findings *nodes(const struct profile_tree *t)
{
	static const struct findings_column columns[] = {
		{.key = "node", .unit = FINDINGS_NUMBER},
		{.key = "parent", .unit = FINDINGS_NUMBER},
		{.key = "depth", .unit = FINDINGS_NUMBER},
		{.key = "method", .unit = FINDINGS_TEXT},
		{.key = "self_ns", .unit = FINDINGS_NS},
		{.key = "self_samples", .unit = FINDINGS_COUNT},
		{.key = "total_ns", .unit = FINDINGS_NS},
		{.key = "total_samples", .unit = FINDINGS_COUNT},
	};
	struct findings *f = FINDINGS_NEW(columns);

	for (uint32_t i = profile_tree_next(t, 0, true); i; i = profile_tree_next(t, i, true)) {
		const struct profile_node *n = &t->nodes[i];

		findings_row(f, FINDINGS_PROGRAMS);
		FINDINGS_NUMBERS(f, i, n->parent, n->depth);
		findings_text(f, t->frames[n->frame].name, NULL);
		FINDINGS_NUMBERS(f, n->self_ns, n->self_samples, n->total_ns, n->total_samples);
	}
	return f;
}

static struct findings *threads(const struct profile_input *in, const struct profile_tree *t)
{
	static const struct findings_column columns[] = {
		{.title = "share", .unit = FINDINGS_TEXT},
		{.key = "run_ns", .title = "ran", .unit = FINDINGS_NS},
		{.key = "sampled_ns", .unit = FINDINGS_NS},
		{.key = "not_sampled_ns",
		 .title = "not sampled",
		 .unit = FINDINGS_NS,
		 .flags = FINDINGS_NO_ZERO},
		{.key = "samples", .title = "samples", .unit = FINDINGS_COUNT},
		{.key = "java_ns", .title = "Java", .unit = FINDINGS_NS, .flags = FINDINGS_NO_ZERO},
		{.key = "vm_ns", .title = "libjvm", .unit = FINDINGS_NS, .flags = FINDINGS_NO_ZERO},
		{.key = "native_ns",
		 .title = "native",
		 .unit = FINDINGS_NS,
		 .flags = FINDINGS_NO_ZERO},
		{.key = "kernel_ns",
		 .title = "kernel",
		 .unit = FINDINGS_NS,
		 .flags = FINDINGS_NO_ZERO},
		{.key = "thread", .title = "thread", .unit = FINDINGS_TEXT},
	};
	struct findings *f = FINDINGS_NEW(columns);
	struct labels *labels = labels_new(analysis_names(in->in->log->analysis));
	char label[LABEL_MAX];

	if (!labels) {
		findings_free(f);
		return NULL;
	}
	for (uint32_t i = 0; i < in->profile->thread_map.count; i++) {
		const struct profile_thread *p = &in->profile->threads[i];

		if (!p->run_ns || !profile_thread_is_wanted(in, p->thread))
			continue;
		findings_row(f, FINDINGS_ALL);
		share(f, t, p->ns);
		FINDINGS_NUMBERS(f, p->run_ns, p->ns, p->run_ns > p->ns ? p->run_ns - p->ns : 0,
				 p->samples, p->mode_ns[SAMPLE_MODE_JAVA],
				 p->mode_ns[SAMPLE_MODE_VM], p->mode_ns[SAMPLE_MODE_NATIVE],
				 p->mode_ns[SAMPLE_MODE_KERNEL]);
		findings_text(f, label_thread(labels, p->thread, label), NULL);
	}
	labels_free(labels);
	return f;
}

struct findings *profile_section(const struct profile_input *in, const struct profile_tree *t)
{
	return in->view == PROFILE_FLAT      ? flat(t)
	       : in->view == PROFILE_THREADS ? threads(in, t)
					     : nodes(t);
}
