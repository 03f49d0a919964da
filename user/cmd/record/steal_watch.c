#include "cmd/record/steal_watch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/create.h"
#include "base/text/msg.h"
#include "base/text/units.h"
#include "cmd/cmd.h"
#include "cmd/rights.h"
#include "cmd/signals.h"
#include "record/kernel/steal_audit.h"
#include "session/analyze_log.h"
#include "session/owner.h"
#include "steal/sources/recording.h"

#define KEEP_LEAST 10
#define TOP_TEXT 15
#define THEFT_NS NS_PER_MS                  /* from this on, thefts are reported one by one */
#define LEAST_COMPARED_NS (100 * NS_PER_MS) /* corrected CPU time of a thread that is judged */

/* The audit of one source; its last span is lent by it. */
struct side {
	struct steal_source *source;
	struct steal_audit *audit;
	const struct steal_sample *sample;
	const struct steal_span *span;
};

struct run {
	const struct steal_options *o;
	struct side main, other; /* other: of proportional, if it has a source of its own */
	bool both;
	struct recording *recording;
	FILE *out, *save;
	struct steal_report report;
	struct hypervisor hypervisor;
	uint64_t intervals, intervals_exceeded;
	int signals;
};

static int open_proc(const struct steal_options *o, struct steal_source **ret)
{
	int err = steal_source_proc(o->pid, ret);

	if (err == -ESRCH)
		msg_error("there is no process %d, or it is not shown to this user (hidepid)",
			  o->pid);
	else if (err)
		msg_error("the kernel's counters in /proc cannot be read: %s", strerror(-err));
	return err;
}

/* A source that knows what was stolen from each thread; why it cannot be had. */
static int open_exact(const struct steal_options *o, struct steal_source **ret,
		      char why[AUDIT_WHY_MAX])
{
	struct audit_options options = {.pid = o->pid, .theft_ns = THEFT_NS};
	struct steal_source *source;
	int err = audit_open(&options, &source, why);

	if (err)
		return err;
	if (source->exact) {
		*ret = source;
		return 0;
	}
	snprintf(why, AUDIT_WHY_MAX,
		 "the only steal clock that BPF can read on this kernel (%s) moves in steps of "
		 "%llu ms, too coarse to tell from which thread was stolen",
		 source->clock, (unsigned long long)(source->resolution_ns / NS_PER_MS));
	steal_source_free(source);
	return -ENOTSUP;
}

/* The best method that can be had; what could not, and what to do, is said. */
static int open_live(struct run *run)
{
	const struct steal_options *o = run->o;
	char why[AUDIT_WHY_MAX] = "";
	int err = 0;

	if (o->method != STEAL_WANT_PROPORTIONAL)
		err = open_exact(o, &run->main.source, why);
	if (err == -ESRCH || (err && o->method != STEAL_WANT_BEST)) {
		msg_error("%s%s", why,
			  err == -ESRCH ? "" : "; or take the estimate: --method proportional");
		return err;
	}
	if (err)
		msg_warning("stolen time of threads is an estimate (--method proportional): %s",
			    why);
	if (err || o->method == STEAL_WANT_PROPORTIONAL)
		return open_proc(o, &run->main.source);
	return o->method == STEAL_WANT_BOTH ? open_proc(o, &run->other.source) : 0;
}

static int open_input(const struct steal_options *o, unsigned n, struct steal_source **ret)
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
	const struct steal_options *o = run->o;
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
	if (o->method != STEAL_WANT_PROPORTIONAL && o->method != STEAL_WANT_BEST && !first->exact) {
		msg_error("%s: it does not tell what was stolen from each thread: only "
			  "--method proportional can be had from it",
			  o->input);
		err = -ENODEV;
		goto fail;
	}
	/* The estimate is made from the counters that it is made from live, if they are there. */
	if (o->method == STEAL_WANT_PROPORTIONAL && second) {
		run->main.source = second;
		steal_source_free(first);
		return 0;
	}
	run->main.source = first;
	if (o->method == STEAL_WANT_BOTH)
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

static int open_file(const struct steal_options *o, const char *path, FILE **ret)
{
	int fd, err;

	if (is_same_file(path, o->input)) {
		msg_error("%s: this is the input itself; choose another file", path);
		return -EINVAL;
	}
	err = file_create(path, true, CREATE_MODE, &fd);
	if (!err) {
		*ret = fdopen(fd, "w");
		if (*ret)
			return 0;
		err = -errno;
		close(fd);
	}
	msg_error("%s: cannot write it: %s", path, file_create_error(err));
	return err;
}

static int open_outputs(struct run *run)
{
	const struct steal_options *o = run->o;
	const struct steal_source *sources[] = {run->main.source, run->other.source};
	int err = 0;

	run->out = stdout;
	if (o->output)
		err = open_file(o, o->output, &run->out);
	if (!err && o->save)
		err = open_file(o, o->save, &run->save);
	if (err || !run->save)
		return err;
	err = recording_begin(run->save, sources, sources[1] ? 2 : 1, &run->recording);
	if (err)
		msg_error("%s: cannot write it: %s", o->save, strerror(-err));
	return err;
}

static void describe(struct run *run)
{
	const struct steal_options *o = run->o;
	struct steal_report *r = &run->report;
	struct hypervisor_facts facts;

	*r = (struct steal_report){
		.out = run->out,
		.format = o->format,
		.quiet = o->quiet,
		.source = run->main.source,
		.other = run->other.source ? run->other.source : run->main.source,
		.method = run->main.source->exact && o->method != STEAL_WANT_PROPORTIONAL
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

	of.exact = of.exact && run->o->method != STEAL_WANT_PROPORTIONAL;
	return steal_audit_new(&of, run->o->pid != 0, keep, &side->audit);
}

static int begin(struct run *run)
{
	const struct steal_options *o = run->o;
	size_t keep = o->top > KEEP_LEAST ? o->top : KEEP_LEAST;
	int err = open_outputs(run);

	if (!err)
		err = rights_none();
	if (err)
		return err;
	run->both = o->method == STEAL_WANT_BOTH;
	describe(run);
	err = side_begin(&run->main, run, keep);
	if (!err && run->other.source)
		err = side_begin(&run->other, run, keep);
	if (!err)
		err = steal_report_begin(&run->report);
	if (err)
		msg_error("%s", strerror(-err));
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
	run->intervals_exceeded += passed;
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
	const struct steal_options *o = run->o;
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
					   .intervals_exceeded = run->intervals_exceeded};
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
		total.top = steal_audit_top(run->main.audit, &total.top_count);
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
	return err ? err : total.passed || total.intervals_exceeded ? CMD_PASSED : 0;
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
	err = finish_output(run->out);
	if (err)
		return err < 0 ? CMD_FAILED : CMD_OK;
	more = run->o->input ? replay(run) : watch(run);
	if (more == 2) /* a reader of a pipe that has seen enough */
		return run->intervals_exceeded ? CMD_PASSED : CMD_OK;
	/* What was seen until something failed is worth a report. */
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

/* A file may be anybody's; what is live takes rights until its programs are attached. */
static int cut_rights(const struct steal_options *o)
{
	int err = o->input ? rights_none() : rights_attach();

	if (!err && o->input && !o->force)
		err = owner_check(o->input);
	return !err && o->input ? rights_write_to(o->output) : err;
}

int steal_watch(const struct steal_options *o)
{
	static const int which[] = {SIGINT, SIGTERM, SIGHUP, 0};
	struct run run = {.o = o, .signals = signals_open(which)};
	int status = CMD_FAILED;

	if (run.signals < 0)
		msg_error("signalfd: %s", strerror(errno));
	else if (!cut_rights(o) && !(o->input ? open_recorded(&run) : open_live(&run)))
		status = audit(&run);
	recording_end(run.recording);
	free_run(&run);
	if (run.signals >= 0)
		close(run.signals);
	return status;
}
