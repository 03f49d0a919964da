#include <errno.h>

#include "base/text/json_put.h"
#include "base/text/print.h"
#include "log/format/event.h"
#include "report/json/findings_json.h"
#include "report/model/findings.h"
#include "report/model/sections/commands/profile_basis.h"
#include "report/model/sections/commands/profile_report.h"

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

/* Counts by the names that events.json has for them. */
static json_t *by_name(unsigned field, const uint64_t *counts)
{
	const struct field_desc *d = &schema_event(EVENT_RUN_SAMPLE)->fields[field];
	json_t *o = json_object();

	for (unsigned i = 0; i < d->enum_count; i++)
		if (counts[i])
			json_put(&o, d->enum_names[i], number(counts[i]));
	return o;
}

static json_t *by_state(const struct states *s)
{
	json_t *o = json_object();

	for (int i = 0; i < STATE_COUNT; i++)
		json_put(&o, state_name((enum state)i), number(s->ns[i]));
	return o;
}

/* "running", "all", or what they are. */
static json_t *states_json(const struct profile_input *in)
{
	json_t *o;

	if (in->states == PROFILE_ALL_STATES)
		return json_string("all");
	for (int i = 0; i < STATE_COUNT; i++)
		if (in->states == 1u << i)
			return json_string(state_name((enum state)i));
	o = json_array();
	for (int i = 0; i < STATE_COUNT; i++)
		if (in->states >> i & 1)
			json_add(&o, json_string(state_name((enum state)i)));
	return o;
}

static json_t *head_json(const struct profile_input *in, const struct profile_tree *t)
{
	static const char *const views[PROFILE_VIEW_COUNT] = {
		[PROFILE_TREE] = "tree",       [PROFILE_FLAT] = "flat",
		[PROFILE_CALLERS] = "callers", [PROFILE_CALLEES] = "callees",
		[PROFILE_THREADS] = "threads",
	};
	json_t *o = json_object();

	json_put(&o, "view", json_string(views[in->view]));
	json_put(&o, "state", states_json(in));
	json_put(&o, "period_ns", number(profile_period_ns(in)));
	json_put(&o, "event", json_string(profile_event(in)));
	json_put(&o, "samples", number(t->all.samples));
	json_put(&o, "effective_samples", number((uint64_t)t->effective));
	json_put(&o, "expected_samples", number(profile_expected(in, t)));
	json_put(&o, "lost", number(profile_lost(in)));
	json_put(&o, "run_ns", number(t->run_ns));
	json_put(&o, "sampled_ns", number(t->all.sampled_ns));
	if (!profile_only_running(in)) {
		json_put(&o, "total_ns", number(t->all.ns));
		json_put(&o, "states", by_state(&t->states));
		json_put(&o, "place_not_known", by_state(&t->no_chain));
		json_put(&o, "trimmed_ns", number(in->profile->trimmed_ns));
	}
	if (in->profile->options.gaps)
		json_put(&o, "lab", json_string("gap-weights"));
	if (in->profile->spans.options.pattern) {
		json_put(&o, "spans", number(in->profile->spans.ended));
		json_put(&o, "spans_chosen", number(in->profile->spans.chosen));
		json_put(&o, "slower_than_ns", number(in->profile->spans.least_ns));
	}
	if (in->by == PROFILE_BY_LOCK) {
		json_put(&o, "lock_ns", number(t->lock_ns));
		json_put(&o, "lock_inferred_ns", number(t->lock_inferred_ns));
	}
	json_put(&o, "unweighted_samples", number(in->profile->unweighted));
	json_put(&o, "failed_samples", number(t->failed));
	json_put(&o, "inferred_samples", number(t->inferred));
	json_put(&o, "mode_ns", by_name(RUN_SAMPLE_MODE, t->mode_ns));
	json_put(&o, "walks_begin", by_name(RUN_SAMPLE_VIA, t->via));
	json_put(&o, "walks_end", by_name(RUN_SAMPLE_RESULT, t->result));
	return o;
}

static int write_json(json_t *o, FILE *out)
{
	int err = o ? print_json_value(out, o, JSON_COMPACT) : -ENOMEM;

	json_decref(o);
	return err && !ferror(out) ? -ENOMEM : 0;
}

int report_profile_json(const struct profile_input *in, FILE *out)
{
	struct profile_tree t;
	json_t *o;
	int err = profile_tree_make(in, &t);

	if (!err) {
		o = head_json(in, &t);
		json_put(&o, "rows", findings_take_json(profile_section(in, &t)));
		err = write_json(o, out);
		fputc('\n', out);
	}
	profile_tree_free(&t);
	return err;
}
