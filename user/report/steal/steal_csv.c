/* One line for each CPU, thread, ... of each interval; span is interval or total. */
#include "report/csv/findings_csv.h"
#include "report/model/findings.h"
#include "report/steal/steal_formats.h"

static struct findings *things_new(void)
{
	static const struct findings_column columns[] = {
		{.key = "span"},
		{.key = "begin_ns", .unit = FINDINGS_NS},
		{.key = "end_ns", .unit = FINDINGS_NS},
		{.key = "what"},
		{.key = "cpu", .unit = FINDINGS_NUMBER},
		{.key = "pid", .unit = FINDINGS_INTEGER},
		{.key = "tid", .unit = FINDINGS_INTEGER},
		{.key = "start_ticks", .unit = FINDINGS_NUMBER},
		{.key = "name"},
		{.key = "wanted_ns", .unit = FINDINGS_NS},
		{.key = "stolen_ns", .unit = FINDINGS_NS},
		{.key = "corrected_ns", .unit = FINDINGS_NS},
		{.key = "proportional_ns", .unit = FINDINGS_NS},
		{.key = "idle_ns", .unit = FINDINGS_NS},
		{.key = "passed", .unit = FINDINGS_BOOL},
	};

	return FINDINGS_NEW(columns);
}

/* Columns that name a thing, of which there are several, are skipped together. */
#define SKIP_NAMES 5   /* cpu to name */
#define SKIP_NUMBERS 3 /* pid to start_ticks */

struct things {
	const struct steal_report *r;
	const struct steal_span *s;
	bool total;
	struct findings *f;
};

static void thing_begin(const struct things *t, const char *what)
{
	findings_row(t->f, FINDINGS_PROGRAMS);
	findings_text(t->f, t->total ? "total" : "interval", NULL);
	FINDINGS_NUMBERS(t->f, t->s->from_ns, t->s->to_ns);
	findings_text(t->f, what, NULL);
}

static void add_whole(const struct things *t, bool passed)
{
	enum steal_method m = t->r->method;
	struct steal_measure measure = steal_measure(t->s, m);
	bool of_process = t->r->pid;

	thing_begin(t, of_process ? "process" : "machine");
	findings_skip(t->f, 1);
	findings_maybe(t->f, of_process, (uint64_t)(int64_t)t->r->pid);
	findings_skip(t->f, SKIP_NAMES - 2);
	FINDINGS_NUMBERS(t->f, measure.wanted_ns, measure.stolen_ns,
			 measure.wanted_ns - measure.stolen_ns);
	findings_maybe(t->f, of_process && t->r->both, t->s->threads_ns[STEAL_PROPORTIONAL]);
	FINDINGS_NUMBERS(t->f, t->s->idle_ns, passed);
}

static void add_cpu(const struct things *t, const struct steal_cpu_use *c)
{
	thing_begin(t, "cpu");
	findings_number(t->f, c->cpu);
	findings_skip(t->f, SKIP_NAMES - 1);
	FINDINGS_NUMBERS(t->f, c->busy_ns + c->stolen_ns, c->stolen_ns, c->busy_ns);
	findings_skip(t->f, 1);
	findings_number(t->f, c->idle_ns);
}

static void add_thread(const struct things *t, const struct steal_use *u)
{
	enum steal_method m = t->r->method;
	char comm[STEAL_COMM_MAX];

	thing_begin(t, steal_use_kind(u));
	findings_skip(t->f, 1);
	if (u->tid == STEAL_TID_FOLDED)
		findings_skip(t->f, SKIP_NUMBERS);
	else
		FINDINGS_NUMBERS(t->f, (uint64_t)(int64_t)u->pid, (uint64_t)(int64_t)u->tid,
				 u->start_ticks);
	findings_text(t->f, steal_comm(u->comm, comm), NULL);
	FINDINGS_NUMBERS(t->f, steal_apparent_ns(t->s, u, m), u->stolen_ns[m],
			 steal_corrected_ns(t->s, u, m));
	findings_maybe(t->f, t->r->both, u->stolen_ns[STEAL_PROPORTIONAL]);
}

/* Stolen, but from no thread. */
static void add_rest(const struct things *t, const char *what, uint64_t stolen_ns)
{
	thing_begin(t, what);
	findings_skip(t->f, SKIP_NAMES + 1);
	findings_number(t->f, stolen_ns);
}

static int span_write(const struct steal_report *r, const struct steal_span *s, bool total,
		      bool passed)
{
	struct things t = {r, s, total, things_new()};
	int err;

	add_whole(&t, passed);
	for (size_t i = 0; i < s->cpu_count; i++)
		add_cpu(&t, &s->cpus[i]);
	for (size_t i = 0; i < s->thread_count && i < r->top; i++)
		add_thread(&t, &s->threads[i]);
	add_rest(&t, "others", s->others_ns[r->method]);
	findings_skip(t.f, 1);
	findings_maybe(t.f, r->both, s->others_ns[STEAL_PROPORTIONAL]);
	if (s->exact && r->method == STEAL_EXACT)
		add_rest(&t, "idle", s->idle_stolen_ns);
	err = findings_to_csv(t.f, false, r->out);
	findings_free(t.f);
	return err;
}

static int csv_begin(const struct steal_report *r)
{
	struct findings *f = things_new();
	int err = findings_to_csv(f, true, r->out);

	findings_free(f);
	return err;
}

static int csv_interval(const struct steal_report *r, const struct steal_span *s, bool passed)
{
	return span_write(r, s, false, passed);
}

static int csv_end(const struct steal_report *r, const struct steal_report_total *t)
{
	return span_write(r, t->span, true, t->passed);
}

const struct steal_format_ops steal_csv_ops = {csv_begin, csv_interval, csv_end};
