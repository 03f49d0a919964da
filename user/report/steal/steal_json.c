#include <errno.h>
#include <jansson.h>

#include "base/json_put.h"
#include "base/print.h"
#include "report/steal/steal_formats.h"

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

static json_t *use_json(const struct steal_report *r, const struct steal_span *s,
			const struct steal_use *u, bool both)
{
	enum steal_method m = r->method;
	char comm[STEAL_COMM_MAX];
	json_t *o =
		json_pack("{s:s, s:s, s:o, s:o, s:o}", "kind", steal_use_kind(u), "name",
			  steal_comm(u->comm, comm), "apparent_ns",
			  number(steal_apparent_ns(s, u, m)), "stolen_ns", number(u->stolen_ns[m]),
			  "corrected_ns", number(steal_corrected_ns(s, u, m)));

	if (u->tid != STEAL_TID_FOLDED) {
		json_put(&o, "pid", json_integer(u->pid));
		json_put(&o, "tid", json_integer(u->tid));
		json_put(&o, "start_ticks", number(u->start_ticks));
	}
	if (both)
		json_put(&o, "proportional_ns", number(u->stolen_ns[STEAL_PROPORTIONAL]));
	return o;
}

static json_t *cpus_json(const struct steal_span *s)
{
	json_t *array = json_array();

	for (size_t i = 0; i < s->cpu_count; i++) {
		const struct steal_cpu_use *c = &s->cpus[i];

		json_add(&array, json_pack("{s:i, s:o, s:o, s:o}", "cpu", (int)c->cpu, "stolen_ns",
					   number(c->stolen_ns), "busy_ns", number(c->busy_ns),
					   "idle_ns", number(c->idle_ns)));
	}
	return array;
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
	json_t *threads = json_array();
	json_t *o = json_pack(
		"{s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "what", what, "begin_ns",
		number(s->from_ns), "end_ns", number(s->to_ns), "wall_ns",
		number(s->from_ns + r->source->wall_ns), "wanted_ns", number(measure.wanted_ns),
		"stolen_ns", number(measure.stolen_ns), "passed", passed, "machine_stolen_ns",
		number(s->stolen_ns), "machine_busy_ns", number(s->busy_ns), "threads_stolen_ns",
		number(s->threads_ns[m]), "others_stolen_ns", number(s->others_ns[m]));

	for (size_t i = 0; i < s->thread_count && i < r->top; i++)
		json_add(&threads, use_json(r, s, &s->threads[i], r->both));
	if (m == STEAL_EXACT)
		json_put(&o, "idle_stolen_ns", number(s->idle_stolen_ns));
	if (r->both) {
		json_put(&o, "threads_proportional_ns", number(s->threads_ns[STEAL_PROPORTIONAL]));
		json_put(&o, "others_proportional_ns", number(s->others_ns[STEAL_PROPORTIONAL]));
	}
	json_put(&o, "thread_count", number(s->thread_count));
	json_put(&o, "cpus", cpus_json(s));
	json_put(&o, "threads", threads);
	json_put(&o, "faults", faults_json(s));
	return o;
}

static int json_interval(const struct steal_report *r, const struct steal_span *s, bool passed)
{
	return write_line(r, span_json(r, "interval", s, passed));
}

static json_t *worst_json(const struct steal_report *r, const struct steal_report_total *t)
{
	json_t *array = json_array();

	for (size_t i = 0; i < t->worst_count; i++) {
		const struct steal_worst *w = &t->worst[i];
		json_t *o = json_pack("{s:o, s:o, s:o, s:o}", "begin_ns", number(w->from_ns),
				      "end_ns", number(w->to_ns), "stolen_ns", number(w->stolen_ns),
				      "wanted_ns", number(w->wanted_ns));

		if ((w->victim.tid || w->victim.pid))
			json_put(&o, "most_from", use_json(r, t->span, &w->victim, false));
		json_add(&array, o);
	}
	return array;
}

static json_t *thefts_json(const struct steal_thefts *t)
{
	json_t *slots = json_array(), *longest = json_array();
	char comm[STEAL_COMM_MAX];

	for (int i = 0; i < STEAL_SLOTS; i++)
		if (t->counts[i])
			json_add(&slots,
				 json_pack("{s:o, s:o}", "from_ns", number(i ? 1ull << i : 0),
					   "count", number(t->counts[i])));
	for (size_t i = 0; i < t->longest_count; i++) {
		const struct steal_theft *one = &t->longest[i];

		json_add(&longest, json_pack("{s:o, s:o, s:i, s:i, s:i, s:s}", "time_ns",
					     number(one->time_ns), "ns", number(one->ns), "cpu",
					     (int)one->cpu, "pid", one->pid, "tid", one->tid,
					     "name", steal_comm(one->comm, comm)));
	}
	return json_pack("{s:o, s:o, s:o}", "slots", slots, "longest", longest, "lost",
			 number(t->lost));
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
		json_put(&o, "worst", use_json(r, t->span, &e->worst, true));
	return o;
}

static int json_end(const struct steal_report *r, const struct steal_report_total *t)
{
	json_t *o = span_json(r, "total", t->span, t->passed);

	json_put(&o, "intervals", number(t->intervals));
	json_put(&o, "intervals_passed", number(t->intervals_passed));
	json_put(&o, "worst_intervals", worst_json(r, t));
	if (t->thefts)
		json_put(&o, "thefts", thefts_json(t->thefts));
	if (t->error)
		json_put(&o, "proportional_error", error_json(r, t));
	json_put(&o, "threads_lost", number(t->threads_lost));
	return write_line(r, o);
}

const struct steal_format_ops steal_json_ops = {json_begin, json_interval, json_end};
