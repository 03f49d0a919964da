#include "cmd/cmd.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/analysis.h"
#include "analyze/contention.h"
#include "base/msg.h"
#include "cmd/analyze_log.h"
#include "report/export.h"

enum format { FORMAT_NONE, FORMAT_COLLAPSED, FORMAT_SPEEDSCOPE };

enum {
	KEY_LINES = 0x100,
	KEY_THREADS,
	KEY_LOCKS,
	KEY_HIDDEN,
};

struct options {
	const char *path;
	const char *output; /* NULL: stdout */
	enum format to;
	enum export_side sides[EXPORT_SIDE_COUNT];
	unsigned side_count; /* 0: as the format has it */
	struct export_input wanted;
};

static const struct argp_option option_table[] = {
	{"to", 't', "collapsed|speedscope", 0, "The format: one of the two", 0},
	{"side", 's', "waiter|owner|both", 0,
	 "Whose call chains. waiter: of threads that were blocked. owner: of those that held the "
	 "lock meanwhile. both: the waiter's, and on top of it, behind (blocked by), the owner's. "
	 "If not given: waiter; for speedscope waiter and owner, as two profiles",
	 0},
	{"lock-class", 'c', "PATTERN", 0,
	 "Only time blocked on locks of these classes; * and ? stand for any text, one character",
	 0},
	{"output", 'o', "FILE", 0, "Write to FILE and not to stdout", 0},
	{"lines", KEY_LINES, NULL, 0, "With source lines: a method at two lines is two frames", 0},
	{"threads", KEY_THREADS, NULL, 0, "Begin each call chain with its thread's name", 0},
	{"locks", KEY_LOCKS, NULL, 0,
	 "End each call chain (of both: the waiter's) with the class of the lock", 0},
	{"hidden", KEY_HIDDEN, NULL, 0, "Lambda forms and other frames that Java hides, too", 0},
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Writes the call chains of blocked threads, or of those that blocked them, weighted with "
	"the blocked time in ns, for flame graph tools.\v"
	"  spoor export --to collapsed app.spoor |\n"
	"      flamegraph.pl --countname ns --title 'blocked' > blocked.svg\n"
	"  spoor export --to collapsed --side owner app.spoor |\n"
	"      flamegraph.pl --countname ns --title 'blocking others' > blocking.svg\n"
	"  spoor export --to collapsed --side both --locks -c '*.Table' app.spoor\n"
	"      who was blocked on one class of lock; on top of it what the owner did\n"
	"  spoor export --to speedscope --lines -o app.speedscope.json app.spoor\n"
	"      to be opened in https://www.speedscope.app\n"
	"\n"
	"The weights add up to the blocked time of the report: time of which no call chain is "
	"known is a frame of its own. Frames in parentheses are no methods; the manual page "
	"explains them.\n"
	"\n"
	"Exit status: 0 done; 1 the log cannot be read, or a part of it is missing, and what could "
	"be read has been exported; 2 wrong usage.\n";

static void set_format(struct options *o, const char *arg, struct argp_state *state)
{
	if (!strcmp(arg, "collapsed"))
		o->to = FORMAT_COLLAPSED;
	else if (!strcmp(arg, "speedscope"))
		o->to = FORMAT_SPEEDSCOPE;
	else
		argp_error(state, "--to is collapsed or speedscope, not '%s'", arg);
}

static void set_side(struct options *o, const char *arg, struct argp_state *state)
{
	static const char *const names[EXPORT_SIDE_COUNT] = {"waiter", "owner", "both"};

	for (int i = 0; i < EXPORT_SIDE_COUNT; i++) {
		if (strcmp(arg, names[i]))
			continue;
		o->sides[0] = (enum export_side)i;
		o->side_count = 1;
		return;
	}
	argp_error(state, "--side is waiter, owner or both, not '%s'", arg);
}

static void set_defaults(struct options *o, struct argp_state *state)
{
	if (!o->to)
		argp_error(state, "which format? --to collapsed or --to speedscope");
	if (o->side_count)
		return;
	o->sides[0] = EXPORT_WAITER;
	o->sides[1] = EXPORT_OWNER;
	o->side_count = o->to == FORMAT_SPEEDSCOPE ? 2 : 1;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 't':
		set_format(o, arg, state);
		return 0;
	case 's':
		set_side(o, arg, state);
		return 0;
	case 'c':
		o->wanted.lock_class = arg;
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case KEY_LINES:
		o->wanted.lines = true;
		return 0;
	case KEY_THREADS:
		o->wanted.threads = true;
		return 0;
	case KEY_LOCKS:
		o->wanted.locks = true;
		return 0;
	case KEY_HIDDEN:
		o->wanted.hidden = true;
		return 0;
	case ARGP_KEY_ARG:
		if (o->path)
			argp_error(state, "one FILE at a time, not also '%s'", arg);
		o->path = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which FILE? It is what 'spoor record -o FILE' wrote");
		return 0;
	case ARGP_KEY_SUCCESS:
		set_defaults(o, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* A log must not be overwritten by what is made of it. */
static bool is_same_file(const char *a, const char *b)
{
	struct stat of_a, of_b;

	return !stat(a, &of_a) && !stat(b, &of_b) && of_a.st_dev == of_b.st_dev &&
	       of_a.st_ino == of_b.st_ino;
}

/* NULL: it cannot be opened, and that has been said. */
static FILE *open_output(const struct options *o)
{
	FILE *out;

	if (!o->output)
		return stdout;
	if (is_same_file(o->path, o->output)) {
		msg_error("%s: this is the log itself; choose another FILE for -o", o->output);
		return NULL;
	}
	out = fopen(o->output, "we");
	if (!out)
		msg_error("%s: cannot write it: %s", o->output, strerror(errno));
	return out;
}

static void tell_nothing(const struct options *o)
{
	if (o->wanted.lock_class)
		msg_warning("%s: no time was lost on locks whose class is '%s': nothing to export",
			    o->path, o->wanted.lock_class);
	else
		msg_warning("%s: no time was lost on locks: nothing to export", o->path);
}

/* 0; 1: the reader of a pipe wants no more; or negative errno, and it has been said. */
static int write_output(const struct options *o, const struct export_input *in)
{
	const char *slash = strrchr(o->path, '/');
	FILE *out = open_output(o);
	int err;

	if (!out)
		return -EIO;
	if (o->to == FORMAT_COLLAPSED)
		err = export_collapsed(in, o->sides[0], out);
	else
		err = export_speedscope(in, o->sides, o->side_count, slash ? slash + 1 : o->path,
					out);
	if (err)
		msg_error("%s: cannot export it: %s", o->path, strerror(-err));
	else
		err = finish_output(out);
	if (out != stdout && fclose(out) && err >= 0) {
		msg_error("%s: cannot write it: %s", o->output, strerror(errno));
		err = -EIO;
	}
	return err;
}

static int export(const struct options *o, const struct analyzed_log *log)
{
	struct export_input in = o->wanted;
	int err;

	in.names = analysis_names(log->analysis);
	in.cells = contention_cells(analysis_contention(log->analysis), &in.cell_count);
	err = write_output(o, &in);
	if (err < 0)
		return err;
	if (!export_total(&in))
		tell_nothing(o);
	return analyzed_log_tell(log, "exported");
}

int cmd_export(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "FILE", doc, NULL, NULL, NULL};
	static char name[] = "spoor export";
	struct options o = {0};
	struct analyzed_log log;
	int err;

	argp_err_exit_status = CMD_USAGE;
	argv[0] = name; /* what argp calls it in its messages */
	if (argp_parse(&argp, argc, argv, 0, NULL, &o))
		return CMD_USAGE;
	signal(SIGPIPE, SIG_IGN);
	if (analyze_log(o.path, &log))
		return CMD_FAILED;
	err = export(&o, &log);
	analyzed_log_close(&log);
	return err < 0 ? CMD_FAILED : CMD_OK;
}
