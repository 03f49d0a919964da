#include <errno.h>

#include "analyze/registry/analysis.h"
#include "report/model/report.h"
#include "report/model/sections/commands/gc_report.h"

int gc_model_make(const struct gc_input *in, struct gc_model *ret)
{
	const struct session_log *log = in->in->log;
	struct gc_model m = {.in = in};
	struct analysis_facts facts;
	int err;

	m.rows = gc_series_rows(in->series, &m.row_count);
	m.facts = gc_series_facts(in->series);
	m.duration_ns = session_log_duration(log);
	analysis_facts(log->analysis, &facts);
	m.end_ns = log->to_ns && log->to_ns < facts.last_ns ? log->to_ns : facts.last_ns;
	err = gc_sums_make(m.rows, m.row_count, &m.sums);
	if (err)
		return err;
	err = gc_trend_find(m.rows, m.row_count, &m.facts.limits, &m.trend);
	if (err) {
		gc_sums_free(&m.sums);
		return err;
	}
	*ret = m;
	return 0;
}

void gc_model_free(struct gc_model *m)
{
	gc_sums_free(&m->sums);
}

uint64_t gc_since_start(const struct gc_model *m, uint64_t ns)
{
	return ns > m->in->start_ns ? ns - m->in->start_ns : 0;
}
