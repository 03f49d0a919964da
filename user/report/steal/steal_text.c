#include <errno.h>
#include <inttypes.h>

#include "base/text/format.h"
#include "base/text/print.h"
#include "report/steal/steal_formats.h"
#include "report/steal/steal_tables.h"
#include "report/text/findings_text.h"
#include "report/text/text_report.h"

#define INDENT 2
#define LABEL 15 /* where the words of a line begin */

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
static void top_cpu(const struct steal_span *s, char *buf, size_t size)
{
	const struct steal_cpu_use *top = NULL;
	char share[FORMAT_MAX];

	for (size_t i = 0; i < s->cpu_count; i++)
		if (s->cpus[i].stolen_ns && (!top || s->cpus[i].stolen_ns > top->stolen_ns))
			top = &s->cpus[i];
	if (!top)
		snprintf(buf, size, "-");
	else
		snprintf(buf, size, "cpu%" PRIu32 " %s", top->cpu,
			 share_format(top->stolen_ns, top->stolen_ns + top->busy_ns, share));
}

/* An interval is shown when it ends, and the widths of a table come from all of its rows. */
static int text_interval(const struct steal_report *r, const struct steal_span *s, bool passed)
{
	enum steal_method m = r->method;
	struct steal_measure measure = steal_measure(s, m);
	char clock[STEAL_CLOCK_MAX], wanted[FORMAT_MAX], stolen[FORMAT_MAX], share[FORMAT_MAX],
		cpu[64];
	char name[STEAL_NAME_MAX], most[FORMAT_MAX];

	top_cpu(s, cpu, sizeof(cpu));
	print_text(r->out, "%-12s  %9s  %9s  %7s  %-14s", steal_clock(r, s->to_ns, clock),
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
	     (double)r->threshold_ppm / 1e4, count_format(t->intervals_exceeded, passed),
	     count_format(t->intervals, all), t->passed ? "in total" : "not in total");
}

/* Takes f. title: above it, if it has rows; NULL: none. noun: of the rows that --top limits; NULL:
 * it does not. */
static int table(const struct steal_report *r, struct findings *f, const char *title,
		 const char *noun)
{
	char others[64];
	const struct findings_view view = {.indent = INDENT,
					   .top = noun ? (unsigned)r->top : 0,
					   .noun = others,
					   .view = r->both ? STEAL_VIEW_BOTH : STEAL_VIEW_ONE};
	int err;

	snprintf(others, sizeof(others), "%s (--top shows more)", noun ? noun : "");
	if (title && f && f->row_count)
		heading(r, title);
	err = findings_to_text(f, &view, r->out);
	findings_free(f);
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
		err = table(r, steal_table_slots(thefts), NULL, NULL);
	if (thefts->longest_count)
		print_text(r->out, "  The longest%s:\n", r->pid ? " from this process" : "");
	if (!err)
		err = table(r, steal_table_longest(r, thefts), NULL, "thefts");
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
	     steal_use_name(&e->top, name));
}

static void faults_section(const struct steal_report *r, const struct steal_report_total *t)
{
	static const char *const words[STEAL_FAULT_COUNT] = {
		[STEAL_WRAPPED] = "counters that went past their end (nothing is missing)",
		[STEAL_DECREASED] = "counters that went back (they count as 0 in that interval)",
		[STEAL_JUMPED] = "counters that grew more than time passed (they count as 0 in "
				 "that interval)",
		[STEAL_CPU_OFFLINE] =
			"CPUs that went offline (what they had since the last sample is "
			"missing)",
		[STEAL_CPU_ONLINE] = "CPUs that came online (counted from their first sample on)",
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
	err = table(r, steal_table_cpus(t->span), "CPUS", NULL);
	if (!err)
		err = table(r, steal_table_threads(r, t->span, SIZE_MAX), "THREADS", "threads");
	if (!err)
		err = table(r, steal_table_top(r, t), "WORST INTERVALS", "intervals");
	if (!err && t->thefts)
		err = thefts_section(r, t->thefts);
	if (!err && t->error)
		error_section(r, t->error);
	faults_section(r, t);
	return err;
}

const struct steal_format_ops steal_text_ops = {text_begin, text_interval, text_end};
