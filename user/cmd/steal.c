#include <argp.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/units.h"
#include "cmd/analyze_log.h"
#include "cmd/cmd.h"
#include "probe/audit.h"
#include "report/steal_report.h"
#include "steal/kernel.h"
#include "steal/recording.h"

#define INTERVAL_LEAST_NS (10 * NS_PER_MS)
#define KEEP_LEAST 10
#define TOP_TEXT 15
#define TOP_MAX 100000
#define THEFT_NS NS_PER_MS                  /* from this on, single thefts are told one by one */
#define LEAST_COMPARED_NS (100 * NS_PER_MS) /* corrected CPU time of a thread that is judged */

enum method { METHOD_BEST, METHOD_EXACT, METHOD_PROPORTIONAL, METHOD_BOTH };

enum { KEY_THRESHOLD = 0x100, KEY_TOP, KEY_INPUT, KEY_SAVE };

struct options {
	pid_t pid;
	uint64_t interval_ns, duration_ns; /* 0: to the end */
	enum method method;
	enum steal_format format;
	uint64_t threshold_ppm;
	size_t top; /* 0: as the format has it */
	const char *input, *output, *save;
	bool quiet;
};

/* The audit of one source; its last span is lent by it. */
struct side {
	struct steal_source *source;
	struct steal_audit *audit;
	const struct steal_sample *sample;
	const struct steal_span *span;
};

struct run {
	const struct options *o;
	struct side main, other; /* other: of proportional, if it has a source of its own */
	bool both;
	struct recording *recording;
	FILE *out, *save;
	struct steal_report report;
	struct hypervisor hypervisor;
	uint64_t intervals, intervals_passed;
	int signals;
};

static const struct argp_option option_table[] = {
	{"pid", 'p', "PID", 0, "Only the threads of this process; to its end", 0},
	{"interval", 'i', "TIME", 0, "Sample this often: 1s (the default), 100ms, ...", 0},
	{"duration", 'd', "TIME", 0, "Stop after TIME: 30s, 5m, 1h (default: Ctrl-C ends it)", 0},
	{"method", 'm', "exact|proportional|both", 0,
	 "exact: read from the scheduler's or the hypervisor's clock whenever a thread leaves its "
	 "CPU (needs CAP_BPF and CAP_PERFMON). proportional: an estimate from files that everybody "
	 "may read: what was stolen, divided by use of CPU. both: exact, and how far the estimate "
	 "is from it. If not given: exact if it can be had, else proportional",
	 0},
	{"format", 'f', "text|json|csv", 0, "json: an object per line; csv: a line per thing", 0},
	{"threshold", KEY_THRESHOLD, "PCT", 0,
	 "Exit with status 3 if more than this share was stolen in an interval, or in total: 5%",
	 0},
	{"top", KEY_TOP, "N", 0,
	 "So many threads, worst intervals and longest thefts (default: 15; all threads in json "
	 "and csv)",
	 0},
	{"input", KEY_INPUT, "FILE", 0, "Replay what --save has written", 0},
	{"save", KEY_SAVE, "FILE", 0, "Write all samples to FILE, too, to be replayed", 0},
	{"output", 'o', "FILE", 0, "Write to FILE and not to stdout", 0},
	{"quiet", 'q', NULL, 0, "Only the total, not each interval", 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Says how much CPU time the hypervisor takes from this machine, and from which threads: "
	"per interval and in total, per virtual CPU and per thread.\v"
	"  spoor steal                       the machine; Ctrl-C shows the total\n"
	"  spoor steal -p 4711 -d 60s        one process for a minute\n"
	"  spoor steal --format csv -d 10m -o steal.csv\n"
	"  spoor steal --method both -d 5m   how good is the estimate here?\n"
	"  spoor steal -q -d 1h --threshold 5%\n"
	"      an audit from cron: status 3 if there is more\n"
	"\n"
	"No JVM is needed; proportional needs no privilege. The share is what was stolen, of the "
	"time in which the CPUs were wanted: they worked, or were stolen. An interval passes the "
	"threshold only if the steps of the clock (10 ms per CPU in /proc) cannot be the "
	"reason.\n"
	"\n"
	"Exit status: 0 done; 1 it could not be done, or only in part; 2 wrong usage; 3 the "
	"threshold was passed.\n";

static void parse_time(const char *arg, uint64_t least_ns, uint64_t *ret, struct argp_state *state)
{
	char least[UNITS_TEXT_MAX];

	if (duration_parse(arg, ret) || !*ret)
		argp_error(state, "'%s' is no time such as 100ms, 1s or 1h", arg);
	if (*ret < least_ns)
		argp_error(state, "'%s' is too short: %s at least", arg,
			   duration_format(least_ns, least));
}

/* Where arg stands in the list; that it does not is an error. */
static int choose(const char *option, const char *arg, const char *const *words,
		  struct argp_state *state)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(arg, words[i]))
			return i;
	argp_error(state, "--%s is %s, %s or %s, not '%s'", option, words[0], words[1], words[2],
		   arg);
	return 0;
}

static void parse_threshold(struct options *o, const char *arg, struct argp_state *state)
{
	char *end;
	double pct = strtod(arg, &end);

	if (end == arg || (*end && strcmp(end, "%") != 0) || !(pct >= 0 && pct <= 100))
		argp_error(state, "'%s' is no share such as 5%%", arg);
	o->threshold_ppm = (uint64_t)(pct * 1e4 + 0.5);
}

static long parse_number(const char *what, const char *arg, long most, struct argp_state *state)
{
	char *end;
	long n = strtol(arg, &end, 10);

	if (*end || end == arg || n <= 0 || n > most)
		argp_error(state, "'%s' is not a %s", arg, what);
	return n;
}

static void check_together(const struct options *o, struct argp_state *state)
{
	if (o->input && o->save)
		argp_error(state, "--save is for a live audit; what --input reads is saved");
	if (o->input && o->duration_ns)
		argp_error(state, "--duration is for a live audit; --input is read to its end");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	static const char *const methods[] = {"exact", "proportional", "both", NULL};
	static const char *const formats[] = {"text", "json", "csv", NULL};
	struct options *o = state->input;

	switch (key) {
	case 'p':
		o->pid = (pid_t)parse_number("process id", arg, 1 << 22, state);
		return 0;
	case 'i':
		parse_time(arg, INTERVAL_LEAST_NS, &o->interval_ns, state);
		return 0;
	case 'd':
		parse_time(arg, 1, &o->duration_ns, state);
		return 0;
	case 'm':
		o->method = METHOD_EXACT + (unsigned)choose("method", arg, methods, state);
		return 0;
	case 'f':
		o->format = (enum steal_format)choose("format", arg, formats, state);
		return 0;
	case KEY_THRESHOLD:
		parse_threshold(o, arg, state);
		return 0;
	case KEY_TOP:
		o->top = (size_t)parse_number("number of rows", arg, TOP_MAX, state);
		return 0;
	case KEY_INPUT:
		o->input = arg;
		return 0;
	case KEY_SAVE:
		o->save = arg;
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case 'q':
		o->quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "what is '%s' for? A process is chosen by -p PID", arg);
		return 0;
	case ARGP_KEY_SUCCESS:
		check_together(o, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int open_proc(const struct options *o, struct steal_source **ret)
{
	int err = steal_source_proc(o->pid, ret);

	if (err == -ESRCH)
		msg_error("there is no process %d, or it is not shown to this user (hidepid)",
			  o->pid);
	else if (err)
		msg_error("the kernel's counters in /proc cannot be read: %s", strerror(-err));
	return err;
}

/* The best method that can be had; what could not, and what to do, is said. */
static int open_live(struct run *run)
{
	const struct options *o = run->o;
	struct audit_options wanted = {.pid = o->pid, .theft_ns = THEFT_NS};
	char why[AUDIT_WHY_MAX] = "";
	int err = 0;

	if (o->method != METHOD_PROPORTIONAL)
		err = audit_open(&wanted, &run->main.source, why);
	if (err == -ESRCH || (err && o->method != METHOD_BEST)) {
		msg_error("%s%s", why,
			  err == -ESRCH ? "" : "; or take the estimate: --method proportional");
		return err;
	}
	if (err)
		msg_warning("stolen time of threads is an estimate (--method proportional): %s",
			    why);
	if (err || o->method == METHOD_PROPORTIONAL)
		return open_proc(o, &run->main.source);
	return o->method == METHOD_BOTH ? open_proc(o, &run->other.source) : 0;
}

static int open_input(const struct options *o, unsigned n, struct steal_source **ret)
{
	int err = steal_source_recorded(o->input, n, o->pid, ret);

	if (err == -EPROTO)
		msg_error("%s: not what `spoor steal --save` writes, or of a newer spoor",
			  o->input);
	else if (err && err != -ENODEV)
		msg_error("%s: cannot read it: %s", o->input, strerror(-err));
	return err;
}

/* Of the one or two sources in the file, those that the method needs. */
static int open_recorded(struct run *run)
{
	const struct options *o = run->o;
	struct steal_source *first = NULL, *second = NULL;
	int err = open_input(o, 0, &first);

	if (!err)
		err = open_input(o, 1, &second);
	if (err == -ENODEV && first)
		err = 0;
	if (err == -ENODEV)
		msg_error("%s: there is no source of samples in it", o->input);
	if (err)
		goto fail;
	if (o->method != METHOD_PROPORTIONAL && o->method != METHOD_BEST && !first->exact) {
		msg_error("%s: it does not tell what was stolen from each thread: only "
			  "--method proportional can be had from it",
			  o->input);
		err = -ENODEV;
		goto fail;
	}
	/* The estimate is made from the counters that it is made from live, if they are there. */
	if (o->method == METHOD_PROPORTIONAL && second) {
		run->main.source = second;
		steal_source_free(first);
		return 0;
	}
	run->main.source = first;
	if (o->method == METHOD_BOTH)
		run->other.source = second;
	else
		steal_source_free(second);
	return 0;
fail:
	steal_source_free(first);
	steal_source_free(second);
	return err;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat of_a, of_b;

	return a && b && !stat(a, &of_a) && !stat(b, &of_b) && of_a.st_dev == of_b.st_dev &&
	       of_a.st_ino == of_b.st_ino;
}

static int open_file(const struct options *o, const char *path, FILE **ret)
{
	if (is_same_file(path, o->input)) {
		msg_error("%s: this is the input itself; choose another file", path);
		return -EINVAL;
	}
	*ret = fopen(path, "we");
	if (*ret)
		return 0;
	msg_error("%s: cannot write it: %s", path, strerror(errno));
	return -errno;
}

static int open_outputs(struct run *run)
{
	const struct options *o = run->o;
	const struct steal_source *sources[] = {run->main.source, run->other.source};
	int err = 0;

	run->out = stdout;
	if (o->output)
		err = open_file(o, o->output, &run->out);
	if (!err && o->save)
		err = open_file(o, o->save, &run->save);
	if (!err && run->save)
		err = recording_begin(run->save, sources, sources[1] ? 2 : 1, &run->recording);
	return err;
}

static void describe(struct run *run)
{
	const struct options *o = run->o;
	struct steal_report *r = &run->report;
	struct hypervisor_facts facts;

	*r = (struct steal_report){
		.out = run->out,
		.format = o->format,
		.quiet = o->quiet,
		.source = run->main.source,
		.other = run->other.source ? run->other.source : run->main.source,
		.method = run->main.source->exact && o->method != METHOD_PROPORTIONAL
				  ? STEAL_EXACT
				  : STEAL_PROPORTIONAL,
		.both = run->both,
		.replayed = o->input,
		.pid = o->pid,
		.interval_ns = o->interval_ns,
		.threshold_ppm = o->threshold_ppm,
		.top = o->top                    ? o->top
		       : o->format == STEAL_TEXT ? TOP_TEXT
						 : SIZE_MAX,
	};
	if (o->input)
		return;
	hypervisor_read(&facts);
	hypervisor_judge(&facts, &run->hypervisor);
	r->h = &run->hypervisor;
	if (!run->main.source->exact)
		steal_kernel_cpu_has_steal(&r->cpu_how);
}

static int side_begin(struct side *side, const struct run *run, size_t keep)
{
	struct steal_source of = *side->source;

	of.exact = of.exact && run->o->method != METHOD_PROPORTIONAL;
	return steal_audit_new(&of, run->o->pid != 0, keep, &side->audit);
}

static int begin(struct run *run)
{
	const struct options *o = run->o;
	size_t keep = o->top > KEEP_LEAST ? o->top : KEEP_LEAST;
	int err = open_outputs(run);

	run->both = o->method == METHOD_BOTH;
	if (!err) {
		describe(run);
		err = side_begin(&run->main, run, keep);
	}
	if (!err && run->other.source)
		err = side_begin(&run->other, run, keep);
	return err;
}

static int say_sample_error(const struct run *run, const struct steal_source *s, int err)
{
	const char *why = steal_source_why(s);

	if (run->o->input)
		msg_error("%s: %s", run->o->input, *why ? why : strerror(-err));
	else
		msg_error("the counters cannot be read any more: %s", *why ? why : strerror(-err));
	return err;
}

/* 1: there is a sample; it is recorded, if wanted, and there may be a span. 0: no more. */
static int side_step(struct run *run, struct side *side, unsigned number)
{
	const struct steal_sample *sample;
	int more = steal_source_sample(side->source, &sample), err;

	side->span = NULL;
	if (more < 0)
		return say_sample_error(run, side->source, more);
	if (!more)
		return 0;
	if (run->recording)
		recording_add(run->recording, number, sample);
	err = steal_audit_add(side->audit, sample, &side->span);
	if (err == -EINVAL)
		msg_error("%s: a sample is not later than the one before it",
			  run->o->input ? run->o->input : side->source->name);
	else if (err < 0)
		msg_error("%s", strerror(-err));
	return err < 0 ? err : 1;
}

static int report_interval(struct run *run)
{
	struct steal_span span = *run->main.span;
	struct steal_measure measure = steal_measure(&span, run->report.method);
	bool passed = run->o->threshold_ppm != UINT64_MAX &&
		      steal_passed(&measure, run->o->threshold_ppm);
	bool joined = run->other.span != NULL;
	int err = joined ? steal_span_join(run->main.span, run->other.span, &span) : 0;

	run->intervals++;
	run->intervals_passed += passed;
	if (!err)
		err = steal_report_interval(&run->report, &span, passed);
	if (joined && span.threads != run->main.span->threads)
		free(span.threads);
	if (err)
		msg_error("%s", strerror(-err));
	return err;
}

/* 1: go on; 0: there is no more; 2: nobody reads the output any more. */
static int step(struct run *run)
{
	int more = side_step(run, &run->main, 0), err;

	if (more == 1 && run->other.source)
		more = side_step(run, &run->other, 1);
	if (more != 1 || !run->main.span || (run->other.source && !run->other.span))
		return more;
	err = report_interval(run);
	if (err)
		return err;
	err = finish_output(run->out);
	return err < 0 ? err : err ? 2 : 1;
}

/* False: a signal has come meanwhile. */
static bool wait_until(const struct run *run, uint64_t ns)
{
	struct pollfd fd = {.fd = run->signals, .events = POLLIN};
	uint64_t now = clock_mono_ns(), left = ns > now ? ns - now : 0;
	struct timespec ts = {(time_t)(left / NS_PER_S), (long)(left % NS_PER_S)};

	return ppoll(&fd, 1, &ts, NULL) <= 0;
}

static int watch(struct run *run)
{
	const struct options *o = run->o;
	uint64_t begin_ns = clock_mono_ns(), next_ns = begin_ns;
	uint64_t end_ns = o->duration_ns ? begin_ns + o->duration_ns : UINT64_MAX;
	bool stopped = false;
	int more = step(run);

	while (more == 1 && next_ns < end_ns && !stopped) {
		/* What has been missed (a machine that was suspended) is not made up for. */
		do
			next_ns += o->interval_ns;
		while (next_ns <= clock_mono_ns());
		if (next_ns > end_ns)
			next_ns = end_ns;
		/* A signal ends the audit, with what has been since the last sample. */
		stopped = !wait_until(run, next_ns);
		more = step(run);
	}
	return more;
}

static int replay(struct run *run)
{
	int more;

	do
		more = step(run);
	while (more == 1);
	return more;
}

/* The span of all of it; joined: its threads are to be freed. */
static int total_span(struct run *run, struct steal_span *ret, bool *ret_joined)
{
	const struct steal_span *main, *other;
	int err = steal_audit_total(run->main.audit, &main);

	*ret_joined = false;
	if (err)
		return err;
	*ret = *main;
	if (!run->other.source)
		return 0;
	err = steal_audit_total(run->other.audit, &other);
	if (!err)
		err = steal_span_join(main, other, ret);
	*ret_joined = !err;
	return err;
}

/* 0, CMD_PASSED, or negative errno. */
static int report_total(struct run *run)
{
	struct steal_report_total total = {.intervals = run->intervals,
					   .intervals_passed = run->intervals_passed};
	struct steal_thefts thefts;
	struct steal_measure measure;
	struct steal_error error;
	struct steal_span span;
	bool joined;
	int err = total_span(run, &span, &joined);

	if (!err && run->both)
		err = steal_compare(&span, LEAST_COMPARED_NS, &error);
	if (!err) {
		measure = steal_measure(&span, run->report.method);
		total.span = &span;
		total.error = run->both ? &error : NULL;
		total.passed = run->o->threshold_ppm != UINT64_MAX &&
			       steal_passed(&measure, run->o->threshold_ppm);
		total.worst = steal_audit_worst(run->main.audit, &total.worst_count);
		if (run->report.method == STEAL_EXACT) {
			steal_audit_thefts(run->main.audit, &thefts);
			total.thefts = &thefts;
			total.threads_lost = steal_audit_threads_lost(run->main.audit);
		}
		err = steal_report_end(&run->report, &total);
	}
	if (joined)
		free(span.threads);
	if (err)
		msg_error("%s", strerror(-err));
	return err ? err : total.passed || total.intervals_passed ? CMD_PASSED : 0;
}

static void free_run(struct run *run)
{
	steal_audit_free(run->main.audit);
	steal_audit_free(run->other.audit);
	steal_source_free(run->main.source);
	steal_source_free(run->other.source);
	if (run->out && run->out != stdout)
		fclose(run->out);
	if (run->save)
		fclose(run->save);
}

/* What has been asked for is all written. */
static int finish(struct run *run)
{
	int err = finish_output(run->out), saved;

	saved = recording_end(run->recording);
	run->recording = NULL;
	if (saved)
		msg_error("%s: cannot write it: %s", run->o->save, strerror(-saved));
	return err < 0 ? err : saved;
}

static int audit(struct run *run)
{
	int more, end, err;

	if (begin(run))
		return CMD_FAILED;
	err = steal_report_begin(&run->report);
	if (!err)
		err = finish_output(run->out);
	if (err)
		return err < 0 ? CMD_FAILED : CMD_OK;
	more = run->o->input ? replay(run) : watch(run);
	if (more == 2) /* a reader of a pipe that has seen enough */
		return run->intervals_passed ? CMD_PASSED : CMD_OK;
	/* What was seen until something failed is worth being told. */
	end = report_total(run);
	err = finish(run);
	if (more < 0 || end < 0 || err < 0)
		return CMD_FAILED;
	if (!run->intervals) {
		msg_error("there was not one whole interval: nothing can be said");
		return CMD_FAILED;
	}
	return end;
}

static int signals_open(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

int cmd_steal(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "", doc, NULL, NULL, NULL};
	static char name[] = "spoor steal";
	struct options o = {.interval_ns = NS_PER_S, .threshold_ppm = UINT64_MAX};
	struct run run = {.o = &o};
	int status = CMD_FAILED;

	argp_err_exit_status = CMD_USAGE;
	argv[0] = name; /* what argp calls it in its messages */
	if (argp_parse(&argp, argc, argv, 0, NULL, &o))
		return CMD_USAGE;
	run.signals = signals_open();
	if (run.signals < 0)
		msg_error("signalfd: %s", strerror(errno));
	else if (!(o.input ? open_recorded(&run) : open_live(&run)))
		status = audit(&run);
	recording_end(run.recording);
	free_run(&run);
	if (run.signals >= 0)
		close(run.signals);
	return status;
}
