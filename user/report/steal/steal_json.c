#include <errno.h>
#include <jansson.h>

#include "base/text/json_put.h"
#include "base/text/print.h"
#include "report/json/findings_json.h"
#include "report/steal/steal_formats.h"
#include "report/steal/steal_tables.h"

static json_t *number(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

static int write_line(const struct steal_report *r, json_t *o)
{
	int err = o ? print_json_value(r->out, o, JSON_COMPACT) : -1;

	json_decref(o);
	if (err)
		return ferror(r->out) ? 0 : -ENOMEM;
	fputc('\n', r->out);
	return 0;
}

static json_t *source_json(const struct steal_source *s)
{
	return json_pack("{s:s, s:s, s:o, s:o, s:b, s:b}", "name", s->name, "clock", s->clock,
			 "resolution_ns", number(s->resolution_ns), "cpu_resolution_ns",
			 number(s->cpu_resolution_ns), "exact", s->exact, "cpu_has_steal",
			 s->cpu_has_steal);
}

static json_t *hypervisor_json(const struct hypervisor *h)
{
	static const char *const words[] = {"no", "maybe", "yes"};

	return json_pack("{s:s, s:s, s:s, s:s}", "name", h->name, "tells_steal", words[h->steal],
			 "clock", h->clock, "why", h->why);
}

static int json_begin(const struct steal_report *r)
{
	json_t *o = json_pack("{s:s, s:i, s:s, s:b, s:o}", "what", "begin", "version", 1, "method",
			      steal_method_name(r->method), "both", r->both, "source",
			      source_json(r->source));

	if (r->both)
		json_put(&o, "proportional_source", source_json(r->other));
	if (r->pid)
		json_put(&o, "pid", json_integer(r->pid));
	if (r->h)
		json_put(&o, "hypervisor", hypervisor_json(r->h));
	if (r->cpu_how)
		json_put(&o, "cpu_has_steal_from", json_string(r->cpu_how));
	if (r->replayed)
		json_put(&o, "replayed", json_true());
	else
		json_put(&o, "interval_ns", number(r->interval_ns));
	if (r->threshold_ppm != UINT64_MAX)
		json_put(&o, "threshold_ppm", number(r->threshold_ppm));
	return write_line(r, o);
}

static json_t *faults_json(const struct steal_span *s)
{
	json_t *o = json_object();

	for (int i = 0; i < STEAL_FAULT_COUNT; i++)
		if (s->faults[i])
			json_put(&o, steal_fault_name((enum steal_fault)i), number(s->faults[i]));
	return o;
}

static json_t *span_json(const struct steal_report *r, const char *what, const struct steal_span *s,
			 bool passed)
{
	enum steal_method m = r->method;
	struct steal_measure measure = steal_measure(s, m);
	json_t *o = json_pack(
		"{s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "what", what, "begin_ns",
		number(s->from_ns), "end_ns", number(s->to_ns), "wall_ns",
		number(s->from_ns + r->source->wall_ns), "wanted_ns", number(measure.wanted_ns),
		"stolen_ns", number(measure.stolen_ns), "passed", passed, "machine_stolen_ns",
		number(s->stolen_ns), "machine_busy_ns", number(s->busy_ns), "threads_stolen_ns",
		number(s->threads_ns[m]), "others_stolen_ns", number(s->others_ns[m]));

	if (m == STEAL_EXACT)
		json_put(&o, "idle_stolen_ns", number(s->idle_stolen_ns));
	if (r->both) {
		json_put(&o, "threads_proportional_ns", number(s->threads_ns[STEAL_PROPORTIONAL]));
		json_put(&o, "others_proportional_ns", number(s->others_ns[STEAL_PROPORTIONAL]));
	}
	json_put(&o, "thread_count", number(s->thread_count));
	json_put(&o, "cpus", findings_take_json(steal_table_cpus(s)));
	json_put(&o, "threads", findings_take_json(steal_table_threads(r, s, r->top)));
	json_put(&o, "faults", faults_json(s));
	return o;
}

static int json_interval(const struct steal_report *r, const struct steal_span *s, bool passed)
{
	return write_line(r, span_json(r, "interval", s, passed));
}

static json_t *thefts_json(const struct steal_report *r, const struct steal_thefts *t)
{
	json_t *slots = findings_take_json(steal_table_slots(t));

	return json_pack("{s:o, s:o, s:o}", "slots", slots, "longest",
			 findings_take_json(steal_table_longest(r, t)), "lost", number(t->lost));
}

static json_t *use_json(const struct steal_report *r, const struct steal_span *s,
			const struct steal_use *u)
{
	struct findings *f = steal_table_thread(r, s, u, true);
	json_t *o = f && !f->err ? findings_row_json(f, 0) : NULL;

	findings_free(f);
	return o;
}

static json_t *error_json(const struct steal_report *r, const struct steal_report_total *t)
{
	const struct steal_error *e = t->error;
	json_t *o = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "exact_ns",
			      number(e->exact_ns), "proportional_ns", number(e->proportional_ns),
			      "misplaced_ns", number(e->misplaced_ns), "threads",
			      number(e->threads), "median_ppm", number(e->median_ppm), "p90_ppm",
			      number(e->p90_ppm), "max_ppm", number(e->max_ppm));

	if (e->threads)
		json_put(&o, "worst", use_json(r, t->span, &e->top));
	return o;
}

static int json_end(const struct steal_report *r, const struct steal_report_total *t)
{
	json_t *o = span_json(r, "total", t->span, t->passed);

	json_put(&o, "intervals", number(t->intervals));
	json_put(&o, "intervals_passed", number(t->intervals_exceeded));
	json_put(&o, "worst_intervals", findings_take_json(steal_table_top(r, t)));
	if (t->thefts)
		json_put(&o, "thefts", thefts_json(r, t->thefts));
	if (t->error)
		json_put(&o, "proportional_error", error_json(r, t));
	json_put(&o, "threads_lost", number(t->threads_lost));
	return write_line(r, o);
}

const struct steal_format_ops steal_json_ops = {json_begin, json_interval, json_end};
