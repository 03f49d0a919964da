#include "report/model/attribution_basis.h"

#include <string.h>

#include "analyze/groups/groups.h"
#include "analyze/registry/analysis.h"
#include "log/format/header_fields.h"
#include "report/model/report.h"

/* A sample stands for its clock's period, about. */
static void spins_of(const struct report_input *in, struct attribution_basis *v)
{
	const json_t *sample =
		json_object_get(json_object_get(in->log->header, "sources"), "sample");
	struct analysis_facts f;

	analysis_facts(in->log->analysis, &f);
	v->samples = f.samples;
	v->spins = f.spins;
	v->spun_ns = f.spins * (uint64_t)json_integer_value(json_object_get(sample, "period_ns"));
}

struct attribution_basis basis_of(const struct report_input *in)
{
	const struct contention *c = analysis_contention(in->log->analysis);
	struct attribution_basis v = {.facts = contention_facts(c)};
	const struct cell *cells;
	uint32_t count;

	v.exact = v.facts.monitors.numbers || v.facts.park.numbers ||
		  !strcmp(header_text(in->log->header, "jvm", "kind"), "patched");
	v.by_switches = !strcmp(header_text(in->log->header, "sources", "monitor"), "switches");
	spins_of(in, &v);
	cells = report_cells(in, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct cell *cell = &cells[i];

		if (cell_is_of_others(cell)) {
			v.others_count += cell->count;
			v.others_ns += cell->blocked_ns;
		}
		if (!lock_is_contended(analysis_names(in->log->analysis), cell->lock,
				       cell->monitor))
			continue;
		v.count += cell->count;
		v.blocked_ns += cell->blocked_ns;
		if (cell->holder == HOLDER_UNKNOWN)
			v.unknown_ns += cell->blocked_ns;
		else if (cell->holder == HOLDER_HAND_OVER)
			v.hand_over_ns += cell->blocked_ns;
		if (!cell->after_wait)
			continue;
		v.after_wait_count += cell->count;
		v.after_wait_ns += cell->blocked_ns;
	}
	for (uint32_t i = 0; i < contention_lock_count(c); i++) {
		const struct contention_lock *l = contention_lock(c, i);

		if (lock_is_contended(analysis_names(in->log->analysis), l->lock, l->monitor))
			v.inferred += l->inferred;
	}
	return v;
}

static json_t *numbers_json(const struct replay_counts *c)
{
	return json_pack("{sIsIsIsIsI}", "numbers", (json_int_t)c->numbers, "gaps",
			 (json_int_t)c->gaps, "missing", (json_int_t)c->missing, "missing_at_end",
			 (json_int_t)c->cut, "late", (json_int_t)c->late);
}

static json_t *spins_json(const struct attribution_basis *v)
{
	return json_pack("{sIsIsI}", "samples", (json_int_t)v->samples, "spinning",
			 (json_int_t)v->spins, "about_ns", (json_int_t)v->spun_ns);
}

json_t *basis_json(const struct report_input *in)
{
	struct attribution_basis v = basis_of(in);
	json_t *others = v.others_count ? json_pack("{sIsI}", "count", (json_int_t)v.others_count,
						    "blocked_ns", (json_int_t)v.others_ns)
					: NULL;
	json_t *spins = v.samples ? spins_json(&v) : NULL;

	return json_pack("{sssssbsIsIsIsIsIsIsIsososo*so*}", "jvm",
			 header_text(in->log->header, "jvm", "kind"), "holders",
			 v.exact ? "exact" : "inferred", "by_switches", v.by_switches, "blocked_ns",
			 (json_int_t)v.blocked_ns,
			 "unknown_owner_ns", (json_int_t)v.unknown_ns, "hand_over_ns",
			 (json_int_t)v.hand_over_ns, "ended_without_release",
			 (json_int_t)v.inferred, "chains_not_named", (json_int_t)v.facts.unnamed,
			 "folded_excess_ns", (json_int_t)v.facts.folds.excess_ns,
			 "crowded_releases", (json_int_t)v.facts.folds.undistinguished,
			 "monitor_events", numbers_json(&v.facts.monitors), "park_events",
			 numbers_json(&v.facts.park), "put_together", others, "spins", spins);
}
