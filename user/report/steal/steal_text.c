#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/format.h"
#include "base/print.h"
#include "report/steal/steal_formats.h"
#include "report/text/table.h"
#include "report/text/text_report.h"

#define INDENT 2
#define BAR_WIDTH 40
#define CLOCK_MAX 32
#define LABEL 15 /* where the words of a line begin */

/* HH:MM:SS of a CLOCK_MONOTONIC time, with fractions if intervals are that short; "+12.5 s" since
 * begin where nobody knows the wall time. */
static char *clock_text(const struct steal_report *r, uint64_t ns, char buf[CLOCK_MAX])
{
	uint64_t wall_ns = ns + r->source->wall_ns;
	time_t s = (time_t)(wall_ns / NS_PER_S);
	size_t length;
	struct tm tm;

	if (!r->source->wall_ns || !localtime_r(&s, &tm)) {
		snprintf(buf, CLOCK_MAX, "%.3f s", (double)ns / 1e9);
		return buf;
	}
	length = strftime(buf, CLOCK_MAX, "%H:%M:%S", &tm);
	if (r->interval_ns % NS_PER_S)
		snprintf(buf + length, CLOCK_MAX - length, ".%03u",
			 (unsigned)(wall_ns % NS_PER_S / NS_PER_MS));
	return buf;
}

__attribute__((format(printf, 3, 4))) static void line(FILE *out, const char *name,
						       const char *format, ...)
{
	char words[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	print_text(out, "%-*s", LABEL - 1, name);
	text_words(out, LABEL, words);
}

static void heading(const struct steal_report *r, const char *text)
{
	print_text(r->out, "\n%s\n", text);
}

static const char *resolution(uint64_t ns, char buf[FORMAT_MAX])
{
	return duration_format(ns, buf);
}

static void begin_method(const struct steal_report *r)
{
	char step[FORMAT_MAX];

	if (r->method == STEAL_EXACT)
		line(r->out, "method", "exact: %s, read whenever a thread leaves its CPU%s",
		     r->source->clock,
		     r->both ? "; and proportional, to compare (columns PROPORTIONAL)" : "");
	else
		line(r->out, "method",
		     "proportional: an estimate. What %s says was stolen from all CPUs is divided "
		     "by use of CPU; its steps are %s",
		     r->source->clock, resolution(r->source->resolution_ns, step));
}

static int text_begin(const struct steal_report *r)
{
	char every[FORMAT_MAX], whose[64] = "all processes";

	if (r->pid)
		snprintf(whose, sizeof(whose), "process %d", r->pid);
	if (r->replayed)
		line(r->out, "STOLEN TIME", "of %s, replayed from %s", whose, r->replayed);
	else
		line(r->out, "STOLEN TIME", "of %s, every %s; Ctrl-C ends it", whose,
		     duration_format(r->interval_ns, every));
	begin_method(r);
	if (r->h)
		line(r->out, "hypervisor", "%s%s%s%s%s: %s", r->h->name,
		     r->h->steal == HYPERVISOR_STEAL_YES  ? ", tells what it steals"
		     : r->h->steal == HYPERVISOR_STEAL_NO ? ", tells nothing"
							  : "",
		     *r->h->clock ? " (" : "", r->h->clock, *r->h->clock ? ")" : "", r->h->why);
	line(r->out, "CPU time",
	     "apparent is with stolen time, corrected without it; what the source tells of threads "
	     "is %s%s%s",
	     r->source->cpu_has_steal ? "with it" : "without it",
	     r->cpu_how ? ", as known from " : "", r->cpu_how ? r->cpu_how : "");
	line(r->out, "share",
	     r->pid ? "what was stolen from its threads, of their apparent CPU time"
		    : "what was stolen, of the time in which CPUs were wanted: they worked, or "
		      "were stolen");
	if (!r->quiet)
		print_text(r->out, "\n%-12s  %9s  %9s  %7s  %-14s  %s\n", "UNTIL", "WANTED",
			   "STOLEN", "SHARE", "WORST CPU", "MOST FROM");
	return 0;
}

/* "cpu1 3.2 %": the one with most stolen. */
static void worst_cpu(const struct steal_span *s, char *buf, size_t size)
{
	const struct steal_cpu_use *worst = NULL;
	char share[FORMAT_MAX];

	for (size_t i = 0; i < s->cpu_count; i++)
		if (s->cpus[i].stolen_ns && (!worst || s->cpus[i].stolen_ns > worst->stolen_ns))
			worst = &s->cpus[i];
	if (!worst)
		snprintf(buf, size, "-");
	else
		snprintf(buf, size, "cpu%" PRIu32 " %s", worst->cpu,
			 share_format(worst->stolen_ns, worst->stolen_ns + worst->busy_ns, share));
}

static int text_interval(const struct steal_report *r, const struct steal_span *s, bool passed)
{
	enum steal_method m = r->method;
	struct steal_measure measure = steal_measure(s, m);
	char clock[CLOCK_MAX], wanted[FORMAT_MAX], stolen[FORMAT_MAX], share[FORMAT_MAX], cpu[64];
	char name[STEAL_NAME_MAX], most[FORMAT_MAX];

	worst_cpu(s, cpu, sizeof(cpu));
	print_text(r->out, "%-12s  %9s  %9s  %7s  %-14s", clock_text(r, s->to_ns, clock),
		   time_format(measure.wanted_ns, wanted), time_format(measure.stolen_ns, stolen),
		   share_format(measure.stolen_ns, measure.wanted_ns, share), cpu);
	if (s->thread_count && s->threads[0].stolen_ns[m])
		print_text(r->out, "  %s %s", steal_use_name(&s->threads[0], name),
			   time_format(s->threads[0].stolen_ns[m], most));
	else
		fputs("  -", r->out);
	fputs(passed ? "  PASSED\n" : "\n", r->out);
	return 0;
}

static void total_line(const struct steal_report *r, const struct steal_report_total *t)
{
	const struct steal_span *s = t->span;
	enum steal_method m = r->method;
	struct steal_measure measure = steal_measure(s, m);
	char time[FORMAT_MAX], wanted[FORMAT_MAX], stolen[FORMAT_MAX], share[FORMAT_MAX];
	char threads[FORMAT_MAX], idle[FORMAT_MAX], others[FORMAT_MAX], count[FORMAT_MAX];

	fputc('\n', r->out);
	line(r->out, "TOTAL", "%s in %s interval%s: wanted %s, stolen %s (%s)",
	     duration_format(s->to_ns - s->from_ns, time), count_format(t->intervals, count),
	     t->intervals == 1 ? "" : "s", duration_format(measure.wanted_ns, wanted),
	     duration_format(measure.stolen_ns, stolen),
	     share_format(measure.stolen_ns, measure.wanted_ns, share));
	duration_format(s->threads_ns[m], threads);
	duration_format(s->others_ns[m], others);
	duration_format(s->stolen_ns, stolen);
	if (m == STEAL_EXACT)
		line(r->out, "of all CPUs'",
		     "%s: from %s threads %s, while a CPU was idle %s, others' %s", stolen,
		     r->pid ? "its" : "the", threads, duration_format(s->idle_stolen_ns, idle),
		     others);
	else
		line(r->out, "of all CPUs'",
		     "%s: %s threads' share %s, others' (interrupts, processes that have "
		     "ended%s) %s",
		     stolen, r->pid ? "its" : "the", threads, r->pid ? ", all other processes" : "",
		     others);
}

static void threshold_line(const struct steal_report *r, const struct steal_report_total *t)
{
	char passed[FORMAT_MAX], all[FORMAT_MAX];

	if (r->threshold_ppm == UINT64_MAX)
		return;
	line(r->out, "threshold", "%g %%: passed in %s of %s intervals, and %s",
	     (double)r->threshold_ppm / 1e4, count_format(t->intervals_passed, passed),
	     count_format(t->intervals, all), t->passed ? "in total" : "not in total");
}

static int cpu_table(const struct steal_report *r, const struct steal_span *s)
{
	static const struct table_column columns[] = {
		{"CPU", true, 5, 0, false},     {"wanted", false, 8, 0, false},
		{"stolen", false, 8, 0, false}, {"share", false, 6, 0, false},
		{"worked", false, 8, 0, false}, {"idle", false, 8, 0, false},
	};
	struct table *t = table_new(columns, sizeof(columns) / sizeof(*columns));
	char buf[FORMAT_MAX];
	int err;

	for (size_t i = 0; i < s->cpu_count; i++) {
		const struct steal_cpu_use *c = &s->cpus[i];
		uint64_t wanted_ns = c->busy_ns + c->stolen_ns;

		table_add(t, "cpu%" PRIu32, c->cpu);
		table_add(t, "%s", time_format(wanted_ns, buf));
		table_add(t, "%s", time_format(c->stolen_ns, buf));
		table_add(t, "%s", share_format(c->stolen_ns, wanted_ns, buf));
		table_add(t, "%s", time_format(c->busy_ns, buf));
		table_add(t, "%s", time_format(c->idle_ns, buf));
	}
	heading(r, "CPUS");
	err = table_print(t, INDENT, r->out);
	table_free(t);
	return err;
}

static const struct table_column thread_columns[] = {
	{"thread", true, 20, 44, false},   {"apparent", false, 8, 0, false},
	{"stolen", false, 8, 0, false},    {"share", false, 6, 0, false},
	{"corrected", false, 9, 0, false}, {"proportional", false, 8, 0, false},
};

static int thread_table(const struct steal_report *r, const struct steal_span *s)
{
	size_t count = s->thread_count < r->top ? s->thread_count : r->top;
	enum steal_method m = r->method;
	unsigned columns = sizeof(thread_columns) / sizeof(*thread_columns) - (r->both ? 0 : 1);
	struct table *t = table_new(thread_columns, columns);
	char buf[FORMAT_MAX], name[STEAL_NAME_MAX];
	int err;

	for (size_t i = 0; i < count; i++) {
		const struct steal_use *u = &s->threads[i];
		uint64_t apparent_ns = steal_apparent_ns(s, u, m);

		table_add(t, "%s", steal_use_name(u, name));
		table_add(t, "%s", time_format(apparent_ns, buf));
		table_add(t, "%s", time_format(u->stolen_ns[m], buf));
		table_add(t, "%s", share_format(u->stolen_ns[m], apparent_ns, buf));
		table_add(t, "%s", time_format(steal_corrected_ns(s, u, m), buf));
		if (r->both)
			table_add(t, "%s", time_format(u->stolen_ns[STEAL_PROPORTIONAL], buf));
	}
	if (count < s->thread_count)
		print_text(r->out, "\nTHREADS (the first %zu of %zu; --top shows more)\n", count,
			   s->thread_count);
	else
		heading(r, "THREADS");
	err = table_print(t, INDENT, r->out);
	table_free(t);
	return err;
}

static int worst_table(const struct steal_report *r, const struct steal_report_total *total)
{
	static const struct table_column columns[] = {
		{"interval", true, 12, 0, false},  {"wanted", false, 8, 0, false},
		{"stolen", false, 8, 0, false},    {"share", false, 6, 0, false},
		{"most from", true, 20, 0, false}, {"of that", false, 8, 0, false},
	};
	struct table *t = table_new(columns, sizeof(columns) / sizeof(*columns));
	char buf[FORMAT_MAX], name[STEAL_NAME_MAX], from[CLOCK_MAX], to[CLOCK_MAX];
	int err;

	for (size_t i = 0; i < total->worst_count && i < r->top; i++) {
		const struct steal_worst *w = &total->worst[i];

		table_add(t, "%s-%s", clock_text(r, w->from_ns, from), clock_text(r, w->to_ns, to));
		table_add(t, "%s", time_format(w->wanted_ns, buf));
		table_add(t, "%s", time_format(w->stolen_ns, buf));
		table_add(t, "%s", share_format(w->stolen_ns, w->wanted_ns, buf));
		if (w->victim.tid || w->victim.pid) {
			table_add(t, "%s", steal_use_name(&w->victim, name));
			table_add(t, "%s", time_format(w->victim.stolen_ns[r->method], buf));
		}
		table_end_row(t);
	}
	heading(r, "WORST INTERVALS");
	err = table_print(t, INDENT, r->out);
	table_free(t);
	return err;
}

/* "1.02 us", a bar as long as the count has a part of the largest. */
static int histogram(const struct steal_report *r, const struct steal_thefts *thefts)
{
	static const struct table_column columns[] = {
		{"from", false, 8, 0, false},
		{"below", false, 8, 0, false},
		{"count", false, 7, 0, false},
		{"relative", true, 0, 0, false},
	};
	static const char bar[] = "########################################";
	struct table *t = table_new(columns, sizeof(columns) / sizeof(*columns));
	char buf[FORMAT_MAX];
	uint64_t most = 0;
	int err;

	_Static_assert(sizeof(bar) == BAR_WIDTH + 1, "a full bar");
	for (int i = 0; i < STEAL_SLOTS; i++)
		most = thefts->counts[i] > most ? thefts->counts[i] : most;
	for (int i = 0; i < STEAL_SLOTS; i++) {
		uint64_t count = thefts->counts[i];

		if (!count)
			continue;
		table_add(t, "%s", time_format(i ? 1ull << i : 0, buf));
		table_add(t, "%s", i < STEAL_SLOTS - 1 ? time_format(2ull << i, buf) : "-");
		table_add(t, "%s", count_format(count, buf));
		table_add(t, "%.*s", (int)((count * BAR_WIDTH + most - 1) / most), bar);
	}
	err = table_print(t, INDENT, r->out);
	table_free(t);
	return err;
}

static int longest_table(const struct steal_report *r, const struct steal_thefts *thefts)
{
	static const struct table_column columns[] = {
		{"until", true, 12, 0, false},
		{"stolen", false, 8, 0, false},
		{"CPU", true, 5, 0, false},
		{"from", true, 20, 0, false},
	};
	struct table *t = table_new(columns, sizeof(columns) / sizeof(*columns));
	char buf[FORMAT_MAX], name[STEAL_NAME_MAX];
	int err;

	for (size_t i = 0; i < thefts->longest_count && i < r->top; i++) {
		const struct steal_theft *one = &thefts->longest[i];
		struct steal_use u = {.tid = one->tid, .pid = one->pid};

		memcpy(u.comm, one->comm, sizeof(u.comm));
		table_add(t, "%s", clock_text(r, one->time_ns, buf));
		table_add(t, "%s", time_format(one->ns, buf));
		table_add(t, "cpu%" PRIu32, one->cpu);
		table_add(t, "%s", one->tid ? steal_use_name(&u, name) : "(idle)");
	}
	print_text(r->out, "  The longest%s:\n", r->pid ? " from this process" : "");
	err = table_print(t, INDENT, r->out);
	table_free(t);
	return err;
}

static int thefts_section(const struct steal_report *r, const struct steal_thefts *thefts)
{
	char buf[FORMAT_MAX];
	uint64_t count = 0;
	int err = 0;

	for (int i = 0; i < STEAL_SLOTS; i++)
		count += thefts->counts[i];
	print_text(r->out, "\nSINGLE THEFTS (all of the machine's): %s\n",
		   count_format(count, buf));
	if (count)
		err = histogram(r, thefts);
	if (!err && thefts->longest_count)
		err = longest_table(r, thefts);
	if (thefts->lost)
		print_text(r->out, "%*s%s long ones are missing here: there was no room for them\n",
			   INDENT, "", count_format(thefts->lost, buf));
	return err;
}

static char *ppm_format(uint64_t ppm, char buf[FORMAT_MAX])
{
	return share_format(ppm, 1000000, buf);
}

static void error_section(const struct steal_report *r, const struct steal_error *e)
{
	char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX], name[STEAL_NAME_MAX];

	heading(r, "ERROR OF THE PROPORTIONAL METHOD");
	line(r->out, "  threads'", "%s stolen by its account, %s in truth",
	     duration_format(e->proportional_ns, a), duration_format(e->exact_ns, b));
	line(r->out, "  misplaced", "%s (%s of what was stolen from threads)",
	     duration_format(e->misplaced_ns, a), share_format(e->misplaced_ns, e->exact_ns, b));
	if (!e->threads)
		return;
	line(r->out, "  per thread",
	     "wrong by %s of the corrected CPU time (median), %s (90 %%), %s (the worst, %s)",
	     ppm_format(e->median_ppm, a), ppm_format(e->p90_ppm, b), ppm_format(e->max_ppm, c),
	     steal_use_name(&e->worst, name));
}

static void faults_section(const struct steal_report *r, const struct steal_report_total *t)
{
	static const char *const words[STEAL_FAULT_COUNT] = {
		[STEAL_WRAPPED] = "counters that went past their end (nothing is missing)",
		[STEAL_WENT_BACK] = "counters that went back (they count as 0 in that interval)",
		[STEAL_JUMPED] = "counters that grew more than time passed (they count as 0 in "
				 "that interval)",
		[STEAL_CPU_WENT] = "CPUs that went offline (what they had since the last sample is "
				   "missing)",
		[STEAL_CPU_CAME] = "CPUs that came online (counted from their first sample on)",
		[STEAL_RESUMED] = "intervals in which the machine was suspended",
		[STEAL_LATE] = "threads older than their first sample (counted from there on)",
		[STEAL_EXCEEDED] = "intervals with more stolen from threads than from CPUs",
		[STEAL_TWICE] = "CPUs and threads that stood twice in a sample (the first one "
				"counts)",
	};
	bool any = t->threads_lost;
	char buf[FORMAT_MAX];

	for (int i = 0; i < STEAL_FAULT_COUNT; i++)
		any |= t->span->faults[i] != 0;
	if (!any)
		return;
	heading(r, "COUNTERS");
	for (int i = 0; i < STEAL_FAULT_COUNT; i++)
		if (t->span->faults[i])
			print_text(r->out, "%*s%s: %s\n", INDENT, "", words[i],
				   count_format(t->span->faults[i], buf));
	if (t->threads_lost)
		print_text(r->out, "%*sthreads without an account (there were too many): %s\n",
			   INDENT, "", count_format(t->threads_lost, buf));
}

static int text_end(const struct steal_report *r, const struct steal_report_total *t)
{
	int err;

	total_line(r, t);
	threshold_line(r, t);
	err = cpu_table(r, t->span);
	if (!err)
		err = thread_table(r, t->span);
	if (!err && t->worst_count)
		err = worst_table(r, t);
	if (!err && t->thefts)
		err = thefts_section(r, t->thefts);
	if (!err && t->error)
		error_section(r, t->error);
	faults_section(r, t);
	return err;
}

const struct steal_format_ops steal_text_ops = {text_begin, text_interval, text_end};
