#include <inttypes.h>

#include "base/print.h"
#include "report/steal/steal_formats.h"

/* One line for each CPU, thread, ... of each interval; span is interval or total. */
static int csv_begin(const struct steal_report *r)
{
	fputs("span,begin_ns,end_ns,what,cpu,pid,tid,start_ticks,name,wanted_ns,stolen_ns,"
	      "corrected_ns,proportional_ns,idle_ns,passed\n",
	      r->out);
	return 0;
}

struct row {
	const struct steal_report *r;
	const struct steal_span *s;
	bool total;
};

static void begin_row(const struct row *row, const char *what)
{
	const struct steal_span *s = row->s;

	print_csv(row->r->out, "%s,%" PRIu64 ",%" PRIu64 ",%s,", row->total ? "total" : "interval",
		  s->from_ns, s->to_ns, what);
}

/* A figure of proportional beside exact; empty when there is only one method. */
static void write_proportional(const struct row *row, const uint64_t ns[STEAL_METHOD_COUNT])
{
	if (row->r->both)
		fprintf(row->r->out, "%" PRIu64, ns[STEAL_PROPORTIONAL]);
}

static void write_thread(const struct row *row, const struct steal_use *u)
{
	enum steal_method m = row->r->method;
	FILE *out = row->r->out;
	char comm[STEAL_COMM_MAX];

	begin_row(row, steal_use_kind(u));
	if (u->tid == STEAL_TID_FOLDED)
		fputs(",,,,", out);
	else
		fprintf(out, ",%d,%d,%" PRIu64 ",", u->pid, u->tid, u->start_ticks);
	print_csv(out, "%s", steal_comm(u->comm, comm));
	fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", steal_apparent_ns(row->s, u, m),
		u->stolen_ns[m], steal_corrected_ns(row->s, u, m));
	write_proportional(row, u->stolen_ns);
	fputs(",,\n", out);
}

static void write_span(const struct row *row, bool passed)
{
	const struct steal_span *s = row->s;
	enum steal_method m = row->r->method;
	FILE *out = row->r->out;
	struct steal_measure measure = steal_measure(s, m);

	begin_row(row, row->r->pid ? "process" : "machine");
	if (row->r->pid)
		fprintf(out, ",%d", row->r->pid);
	else
		fputc(',', out);
	fprintf(out, ",,,,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", measure.wanted_ns,
		measure.stolen_ns, measure.wanted_ns - measure.stolen_ns);
	if (row->r->pid)
		write_proportional(row, s->threads_ns);
	fprintf(out, ",%" PRIu64 ",%d\n", s->idle_ns, passed);
	for (size_t i = 0; i < s->cpu_count; i++) {
		const struct steal_cpu_use *c = &s->cpus[i];

		begin_row(row, "cpu");
		fprintf(out, "%" PRIu32 ",,,,,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",,%" PRIu64 ",\n",
			c->cpu, c->busy_ns + c->stolen_ns, c->stolen_ns, c->busy_ns, c->idle_ns);
	}
	for (size_t i = 0; i < s->thread_count && i < row->r->top; i++)
		write_thread(row, &s->threads[i]);
	begin_row(row, "others");
	fprintf(out, ",,,,,,%" PRIu64 ",,", s->others_ns[m]);
	write_proportional(row, s->others_ns);
	fputs(",,\n", out);
	if (!s->exact || m != STEAL_EXACT)
		return;
	begin_row(row, "idle");
	fprintf(out, ",,,,,,%" PRIu64 ",,,,\n", s->idle_stolen_ns);
}

static int csv_interval(const struct steal_report *r, const struct steal_span *s, bool passed)
{
	struct row row = {r, s, false};

	write_span(&row, passed);
	return 0;
}

static int csv_end(const struct steal_report *r, const struct steal_report_total *t)
{
	struct row row = {r, t->span, true};

	write_span(&row, t->passed);
	return 0;
}

const struct steal_format_ops steal_csv_ops = {csv_begin, csv_interval, csv_end};
