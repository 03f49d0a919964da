/* What threads ran, by method; what was lost, by stage; the phases of safepoints. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff/generated_name.h"
#include "analyze/profile/profile.h"
#include "analyze/registry/analysis.h"
#include "analyze/vm/pause.h"
#include "analyze/vm/safepoint.h"
#include "base/text/strbuf.h"
#include "report/live/live_view.h"
#include "report/live/metrics.h"
#include "report/live/metrics_internal.h"
#include "report/model/label.h"
#include "report/model/report.h"
#include "report/model/sections/commands/profile_report.h"

/* A method has a series of its own from the interval on in which it has this part of the CPU time,
 * and of the interval's length: in the first interval of a JVM nearly all methods come that run
 * once, and so they do in one in which nothing else runs; no series ever goes. */
#define METHOD_LEAST_PCT 1

int metrics_name(char *text)
{
	struct strbuf b = {.most = LABEL_MAX - 1};
	int err;

	if (!strchr(text, '$'))
		return 0;
	generated_name_add(&b, text);
	err = b.err;
	if (!err)
		snprintf(text, LABEL_MAX, "%s", strbuf_text(&b));
	strbuf_free(&b);
	return err;
}

/* --- methods --- */

static int compare_frames(const void *a, const void *b, void *context)
{
	const struct profile_frame *frames = context, *x = &frames[*(const uint32_t *)a],
				   *y = &frames[*(const uint32_t *)b];

	if (x->self.ns != y->self.ns)
		return x->self.ns > y->self.ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int method_add(struct metrics *m, const struct profile_tree *t, uint32_t frame,
		      uint64_t least_ns)
{
	uint64_t ns = t->frames[frame].self.ns, *row;
	char name[LABEL_MAX];
	int err;

	label_clean(t->frames[frame].name, name);
	err = metrics_name(name);
	if (err)
		return err;
	row = metrics_table_known(&m->methods, name, NULL);
	if (!row && ns < least_ns)
		row = metrics_table_others(&m->methods);
	else if (!row)
		row = metrics_table_row(&m->methods, name, NULL);
	if (!row)
		return -ENOMEM;
	row[METHOD_CPU_NS] += ns;
	return 0;
}

/* The heaviest first. */
static int methods_add(struct metrics *m, const struct profile_tree *t, uint64_t length_ns)
{
	uint64_t most_ns = t->all.ns > length_ns ? t->all.ns : length_ns;
	uint32_t count = t->frame_map.count, *order = calloc(count + 1ul, sizeof(*order));
	int err = order ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < count && !err; i++)
		order[i] = i;
	if (!err)
		qsort_r(order, count, sizeof(*order), compare_frames, t->frames);
	for (uint32_t i = 0; i < count && !err && t->frames[order[i]].self.ns; i++)
		err = method_add(m, t, order[i], most_ns * METHOD_LEAST_PCT / 100);
	free(order);
	return err;
}

int metrics_add_methods(struct metrics *m, const struct metrics_interval *in)
{
	const struct report_input report = {.log = in->view->log};
	const struct profile_input input = {.in = &report,
					    .profile = in->profile,
					    .view = PROFILE_FLAT,
					    .states = PROFILE_RUNNING};
	struct profile_tree tree;
	int err;

	if (!in->profile)
		return 0;
	m->samples = true;
	metrics_table_others(&m->methods);
	err = profile_tree_make(&input, &tree);
	err = err ? err : methods_add(m, &tree, in->view->to_ns - in->view->from_ns);
	profile_tree_free(&tree);
	return err;
}

/* --- losses --- */

/* The recorder counts from its begin on: so what was lost between two intervals is in it, too. */
void metrics_add_lost(struct metrics *m, const struct metrics_interval *in)
{
	struct analysis_facts facts;

	analysis_facts(in->view->log->analysis, &facts);
	for (uint32_t i = 0; i < facts.lost_all; i++) {
		const struct analysis_lost *l = &facts.lost[i];
		uint64_t id = l->event_id <= SCHEMA_ID_MAX ? l->event_id : METRICS_LOST_OTHER;
		uint64_t *count, now = l->before + l->count;

		if (l->stage >= LOST_PLACE_COUNT)
			continue; /* the log is this program's own */
		if (!schema_event((unsigned)id))
			id = METRICS_LOST_OTHER;
		count = &m->lost[id][l->stage];
		*count = now > *count ? now : *count;
	}
	for (unsigned id = 0; in->late && id <= SCHEMA_ID_MAX; id++)
		m->lost[id][LOST_PLACE_REORDER] += in->late[id];
}

/* --- safepoints --- */

static void times_add(struct metrics_times *to, const struct pause_times *t)
{
	to->ns += t->total_ns;
	for (int i = 0; i <= TIME_BUCKETS; i++)
		to->buckets.counts[i] += t->buckets.counts[i];
}

/* A patched JVM measures them; of another one there is what its probes report. */
void metrics_add_safepoints(struct metrics *m, const struct analysis *a)
{
	const struct pauses *p = analysis_pauses(a);
	const struct safepoints *s = analysis_safepoints(a);
	bool measured = !strcmp(m->kind, "patched");

	m->safepoints += p->safepoint_times.count;
	times_add(&m->safepoint, &p->safepoint_times);
	times_add(&m->safepoint_phases[PHASE_REACH], measured ? &s->reach : &p->reach_times);
	times_add(&m->safepoint_phases[PHASE_OPERATION],
		  measured ? &s->operation : &p->operation_times);
}
