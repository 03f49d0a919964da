#include "cmd/record/record_flight.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/create.h"
#include "base/text/msg.h"
#include "base/text/units.h"
#include "log/write/output.h"

#define MAX_BYTES_DEFAULT (256ull << 20)
#define AFTER_NS_DEFAULT (5 * NS_PER_S)
#define KEEP_NS_MIN NS_PER_S

enum { OPT_FLIGHT = 1200, OPT_TRIGGER, OPT_AFTER };

static const struct argp_option options[] = {
	{"flight-recorder", OPT_FLIGHT, "TIME", 0,
	 "keep the last TIME, e.g. 60s, in memory (--max-size of it at most, default 256M), and "
	 "write it to FILE-000001.spoor, FILE-000002.spoor, ... on SIGUSR1, on a trigger, when the "
	 "JVM ends or is killed, and at Ctrl-C",
	 0},
	{"trigger", OPT_TRIGGER, "WHAT", 0,
	 "with --flight-recorder: write it when a thread is blocked for so long (blocked:100ms), a "
	 "pause lasts so long (pause:200ms), or the hypervisor takes so much of the CPUs' time in "
	 "a window (steal:5%); at most once in each TIME. May be given several times",
	 0},
	{"after", OPT_AFTER, "TIME", 0,
	 "with --trigger: what comes so long after it is written, too (default: 5s)", 0},
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct recorder_options *o = state->input;
	struct dumps_options *f = &o->flight;

	switch (key) {
	case OPT_FLIGHT:
		if (duration_parse(arg, &f->keep_ns) || f->keep_ns < KEEP_NS_MIN)
			argp_error(state,
				   "--flight-recorder is a time such as 60s, 1s at least, not '%s'",
				   arg);
		return 0;
	case OPT_TRIGGER:
		if (f->trigger_count == TRIGGERS_MAX)
			argp_error(state, "there are more than %d triggers", TRIGGERS_MAX);
		if (trigger_parse(arg, &f->triggers[f->trigger_count]))
			argp_error(state,
				   "--trigger is blocked:TIME, pause:TIME or steal:PERCENT%%, such "
				   "as blocked:100ms, not '%s'",
				   arg);
		f->trigger_count++;
		return 0;
	case OPT_AFTER:
		o->flight_after = true;
		if (duration_parse(arg, &f->after_ns))
			argp_error(state, "'%s' is not a duration such as 5s", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp record_flight_argp = {options, parse_option, NULL, NULL, NULL, NULL, NULL};

void record_flight_check(struct recorder_options *o, struct argp_state *state)
{
	struct dumps_options *f = &o->flight;

	if (f->trigger_count && !f->keep_ns)
		argp_error(state,
			   "--trigger says when to write what --flight-recorder keeps: that is "
			   "missing");
	if (o->flight_after && !f->trigger_count)
		argp_error(state, "--after goes with --trigger");
	if (!f->keep_ns)
		return;
	if (o->log.path && !strcmp(o->log.path, "-"))
		argp_error(state, "--flight-recorder makes files: it does not go with -o -");
	if (o->log.overwrite)
		argp_error(state, "--flight-recorder overwrites nothing: -f has no meaning");
	if (!o->flight_after)
		f->after_ns = AFTER_NS_DEFAULT;
	if (f->trigger_count && f->after_ns >= f->keep_ns)
		argp_error(
			state,
			"--after must be shorter than --flight-recorder, or the moment itself is "
			"gone by then");
	if (!o->log.max_bytes)
		o->log.max_bytes = MAX_BYTES_DEFAULT;
	o->log.keep_ns = f->keep_ns;
	f->max_bytes = o->log.max_bytes;
}

void record_flight_report(void *ctx, const struct dump *d)
{
	char range[UNITS_TEXT_MAX], bytes[UNITS_TEXT_MAX];
	struct flight_report *report = ctx;

	if (d->err) {
		report->failed = true;
		msg_error("the flight recorder's memory could not be written (%s): %s", d->why,
			  file_create_error(d->err));
		return;
	}
	if (report->quiet)
		return;
	msg_info("wrote %s, the last %s, %s: %s", d->path,
		 duration_format(d->to_ns - d->from_ns, range), size_format(d->bytes, bytes),
		 d->why);
	if (d->short_of)
		msg_warning("%s: that is less than --flight-recorder asks for: a larger --max-size "
			    "has room for more",
			    d->path);
}

void record_flight_intro(const struct recorder_options *o)
{
	char keep[UNITS_TEXT_MAX], most[UNITS_TEXT_MAX];
	char *first = output_part_path(o->log.path, 1);

	msg_info("recording %d: the last %s are in memory (%s at most); kill -USR1 %d writes them, "
		 "first to %s",
		 o->pid, duration_format(o->flight.keep_ns, keep),
		 size_format(o->log.max_bytes, most), getpid(), first ? first : o->log.path);
	free(first);
}

void record_flight_summary(const struct recorder_stats *s)
{
	if (s->passed_over)
		msg_info("%llu trigger%s came too soon after another one to get a file",
			 (unsigned long long)s->passed_over, s->passed_over == 1 ? "" : "s");
}
