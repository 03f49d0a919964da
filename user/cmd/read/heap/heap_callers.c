#include "cmd/read/heap/heap_callers.h"

#include <argp.h>
#include <errno.h>
#include <string.h>

#include "base/text/msg.h"
#include "cmd/cmd.h"
#include "cmd/parse.h"
#include "cmd/read/log_options.h"
#include "cmd/read/replay/heap_log.h"
#include "cmd/read/replay/object_log.h"
#include "heap/code/site_samples.h"
#include "heap/replay/object_replay.h"
#include "log/format/event.h"
#include "log/read/names.h"
#include "log/read/reader.h"
#include "report/heap/lives/heap_callers_report.h"
#include "session/analyze_log.h"
#include "session/owner.h"

#define TOP_DEFAULT 20

enum { KEY_FORCE = 0x4000 };

struct options {
	const char *log;
	enum heap_format format;
	unsigned top, jobs;
	bool force;
};

static const struct argp_option option_table[] = {
	{"top", 't', "N", 0, "So many sites, those that allocated most, in text (default 20)", 0},
	{"format", 'f', "text|json|csv", 0, "For people (default) or for programs, in bytes", 0},
	{"force", KEY_FORCE, NULL, 0,
	 "Read the log also if it belongs to another user than you or root", 0},
	JOBS_OPTION,
	MAX_MEMORY_OPTION,
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Says who has called the methods that allocated most, of a log of spoor record --objects "
	"--sample: an estimate, by the samples in which threads ran there.\v"
	"  spoor record --objects --sample=1ms -p 4711 -d 30s -o app.spoor\n"
	"  spoor heap callers app.spoor\n"
	"\n"
	"Exit status: 0 done; 1 the log cannot be read, or a part of it is missing, or collections "
	"do not agree with the JVM's pools, and what could be read has been reported; 2 wrong "
	"usage.\n";

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	static const char *const formats[HEAP_FORMAT_COUNT + 1] = {"text", "json", "csv"};
	struct options *o = state->input;

	if (max_memory_option(key, arg, state) || jobs_option(key, arg, state, &o->jobs))
		return 0;
	switch (key) {
	case 'f':
		o->format = (enum heap_format)parse_word("format", arg, formats, state);
		return 0;
	case 't':
		o->top = parse_top(arg, state);
		return 0;
	case KEY_FORCE:
		o->force = true;
		return 0;
	case ARGP_KEY_ARG:
		if (o->log || !strcmp(arg, "-"))
			argp_error(state, "one FILE of spoor record --objects --sample");
		o->log = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which FILE? It is what 'spoor record --objects --sample -o "
				  "FILE' wrote");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* What the log has of them, though parts of it are missing. */
static int read_samples(const char *log, struct log_names *names, struct stack_samples *samples)
{
	struct log_reader *reader;
	const struct event *e;
	int err = log_reader_open(log, &reader);

	if (err)
		return err;
	while ((err = log_reader_next(reader, &e)) == 1) {
		err = log_names_add(names, e);
		if (!err && e->id == EVENT_RUN_SAMPLE)
			err = stack_samples_add(samples, e->v[RUN_SAMPLE_STACK].u);
		if (err)
			break;
	}
	log_reader_close(reader);
	return err == -EBADMSG ? 0 : err;
}

static int report(const struct options *o, const struct heap_log *l, int damaged)
{
	struct log_names *names = log_names_new();
	struct stack_samples samples = {0};
	struct site_samples seen = {0};
	int err = names ? read_samples(o->log, names, &samples) : -ENOMEM;

	if (!err && !samples.all) {
		msg_error("%s has no samples of running threads, which that needs: record them "
			  "with spoor record --objects --sample",
			  o->log);
		log_names_free(names);
		return -ENODATA;
	}
	if (!err)
		err = site_samples_make(object_replay_names(l->replay), names, &samples, &seen);
	if (!err) {
		const struct heap_callers_report r = {.name = o->log,
						      .log = l->replay,
						      .names = names,
						      .seen = &seen,
						      .samples = samples.all,
						      .agreement = &l->agreement,
						      .damaged = damaged,
						      .top = o->top,
						      .format = o->format};

		err = heap_report_callers(&r, stdout);
	}
	site_samples_free(&seen);
	stack_samples_free(&samples);
	log_names_free(names);
	if (err)
		msg_error("%s: cannot report on it: %s", o->log, object_log_error(err));
	return err ? err : finish_output(stdout);
}

static int run(const struct options *o)
{
	const struct heap_log_options options = {.jobs = o->jobs};
	struct heap_log l;
	int damaged, err;

	if (!o->force && owner_check(o->log))
		return -EPERM;
	damaged = heap_log_open(o->log, &options, &l);
	if (damaged < 0)
		return damaged;
	err = report(o, &l, damaged);
	if (damaged)
		msg_warning("%s: parts of it are missing; what could be read has been reported",
			    o->log);
	if (!err)
		err = damaged || heap_log_differs(&l);
	heap_log_close(&l);
	return err;
}

int heap_callers_command(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "FILE", doc, NULL, NULL, NULL};
	static char name[] = "spoor heap callers";
	struct options o = {.top = TOP_DEFAULT};

	argv[0] = name; /* what argp calls it in its messages */
	if (parse_arguments(&argp, argc, argv, 0, &o))
		return CMD_FAILED;
	return run(&o) ? CMD_FAILED : CMD_OK;
}
