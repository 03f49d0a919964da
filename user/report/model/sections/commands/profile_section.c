#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/registry/analysis.h"
#include "base/text/format.h"
#include "log/format/header_fields.h"
#include "report/model/findings.h"
#include "report/model/label.h"
#include "report/model/report.h"
#include "report/model/sections/commands/profile_basis.h"
#include "report/model/sections/commands/profile_report.h"
#include "session/session_log.h"

uint64_t profile_period_ns(const struct profile_input *in)
{
	const json_t *sources = json_object_get(in->in->log->header, "sources");

	return header_number(sources, "sample", "period_ns");
}

const char *profile_event(const struct profile_input *in)
{
	return header_text(json_object_get(in->in->log->header, "sources"), "sample", "event");
}

uint64_t profile_expected(const struct profile_input *in, const struct profile_tree *t)
{
	uint64_t period_ns = profile_period_ns(in);

	return period_ns ? t->run_ns / period_ns : 0;
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
static void share(struct findings *f, const struct profile_tree *t, const struct profile_time *part)
{
	char text[2 * FORMAT_MAX], percent[FORMAT_MAX];

	share_format(part->ns, t->all.ns, percent);
	snprintf(text, sizeof(text), "%s ±%.1f", percent, 100 * profile_deviation(t, part));
	findings_text(f, part->ns && !part->sampled_ns ? percent : text, NULL);
}

struct thread_time {
	struct states states;
	uint64_t not_sampled_ns, no_chain_ns;
};

static void thread_time_add(struct thread_time *rows, const struct profile *p,
			    const struct profile_cell *c)
{
	const struct profile_thread *t = profile_thread_find(p, c->thread);
	struct thread_time *row = &rows[t - p->threads];

	row->states.ns[c->state] += c->ns;
	if (!c->rest)
		return;
	if (c->state == STATE_RUNNING)
		row->not_sampled_ns += c->ns;
	else
		row->no_chain_ns += c->ns;
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

		if (!frame->total.samples && !frame->total.ns)
			continue;
		findings_row(f, FINDINGS_ALL);
		share(f, t, &frame->self);
		FINDINGS_NUMBERS(f, frame->self.ns, frame->self.samples);
		share(f, t, &frame->total);
		FINDINGS_NUMBERS(f, frame->total.ns, frame->total.samples);
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
		FINDINGS_NUMBERS(f, n->self.ns, n->self.samples, n->total.ns, n->total.samples);
	}
	return f;
}

static struct findings *running_threads(const struct profile_input *in,
					const struct profile_tree *t)
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
		{.key = "spin_ns",
		 .title = "spinning",
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

		if (!p->run_ns || !profile_thread_is_selected(in, p->thread))
			continue;
		findings_row(f, FINDINGS_ALL);
		share(f, t, &(struct profile_time){p->ns, p->ns, p->samples});
		FINDINGS_NUMBERS(f, p->run_ns, p->ns, p->run_ns > p->ns ? p->run_ns - p->ns : 0,
				 p->samples, p->mode_ns[SAMPLE_MODE_JAVA],
				 p->mode_ns[SAMPLE_MODE_VM], p->mode_ns[SAMPLE_MODE_NATIVE],
				 p->mode_ns[SAMPLE_MODE_KERNEL], p->mode_ns[SAMPLE_MODE_SPIN]);
		findings_text(f, label_thread(labels, p->thread, label), NULL);
	}
	labels_free(labels);
	return f;
}

/* The rows of the wall clock, as the cells have them: the same. */
static struct findings *threads(const struct profile_input *in)
{
	static const struct findings_column columns[] = {
		{.key = "wall_ns", .title = "in all", .unit = FINDINGS_NS},
		{.key = "running_ns", .title = "running", .unit = FINDINGS_NS},
		{.key = "not_sampled_ns", .unit = FINDINGS_NS},
		{.key = "stolen_ns",
		 .title = "stolen",
		 .unit = FINDINGS_NS,
		 .flags = FINDINGS_NO_ZERO},
		{.key = "runnable_ns",
		 .title = "runnable",
		 .unit = FINDINGS_NS,
		 .flags = FINDINGS_NO_ZERO},
		{.key = "throttled_ns",
		 .title = "throttled",
		 .unit = FINDINGS_NS,
		 .flags = FINDINGS_NO_ZERO},
		{.key = "lock_ns", .title = "lock", .unit = FINDINGS_NS, .flags = FINDINGS_NO_ZERO},
		{.key = "wait_ns", .title = "wait", .unit = FINDINGS_NS, .flags = FINDINGS_NO_ZERO},
		{.key = "park_ns", .title = "park", .unit = FINDINGS_NS, .flags = FINDINGS_NO_ZERO},
		{.key = "sleep_ns",
		 .title = "sleep",
		 .unit = FINDINGS_NS,
		 .flags = FINDINGS_NO_ZERO},
		{.key = "io_ns", .title = "I/O", .unit = FINDINGS_NS, .flags = FINDINGS_NO_ZERO},
		{.key = "pause_ns",
		 .title = "pause",
		 .unit = FINDINGS_NS,
		 .flags = FINDINGS_NO_ZERO},
		{.key = "other_ns",
		 .title = "blocked",
		 .unit = FINDINGS_NS,
		 .flags = FINDINGS_NO_ZERO},
		{.key = "no_chain_ns",
		 .title = "place not known",
		 .unit = FINDINGS_NS,
		 .flags = FINDINGS_NO_ZERO},
		{.key = "thread", .title = "thread", .unit = FINDINGS_TEXT},
	};
	const struct profile *p = in->profile;
	struct labels *labels = labels_new(analysis_names(in->in->log->analysis));
	struct thread_time *rows = calloc(p->thread_map.count + 1, sizeof(*rows));
	struct findings *f = labels && rows ? FINDINGS_NEW(columns) : NULL;
	char label[LABEL_MAX];

	for (uint32_t i = 0; i < p->cell_map.count && f; i++)
		thread_time_add(rows, p, &p->cells[i]);
	for (uint32_t i = 0; i < p->thread_map.count && f; i++) {
		const struct thread_time *row = &rows[i];

		if (!states_sum(&row->states) ||
		    !profile_thread_is_selected(in, p->threads[i].thread))
			continue;
		findings_row(f, FINDINGS_ALL);
		FINDINGS_NUMBERS(f, states_sum(&row->states), row->states.ns[STATE_RUNNING],
				 row->not_sampled_ns);
		for (int state = STATE_RUNNING + 1; state < STATE_COUNT; state++)
			FINDINGS_NUMBERS(f, row->states.ns[state]);
		FINDINGS_NUMBERS(f, row->no_chain_ns);
		findings_text(f, label_thread(labels, p->threads[i].thread, label), NULL);
	}
	labels_free(labels);
	free(rows);
	return f;
}

struct findings *profile_section(const struct profile_input *in, const struct profile_tree *t)
{
	if (in->view == PROFILE_THREADS)
		return profile_only_running(in) ? running_threads(in, t) : threads(in);
	return in->view == PROFILE_FLAT ? flat(t) : nodes(t);
}
