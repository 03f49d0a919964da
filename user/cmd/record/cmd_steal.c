#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/units.h"
#include "cmd/cmd.h"
#include "cmd/parse.h"
#include "cmd/record/steal_watch.h"

#define INTERVAL_LEAST_NS (10 * NS_PER_MS)
#define TOP_MAX 100000

enum { KEY_THRESHOLD = 0x100, KEY_TOP, KEY_INPUT, KEY_SAVE, KEY_FORCE };

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
	{"force", KEY_FORCE, NULL, 0, "With --input: read FILE also if it belongs to another user",
	 0},
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

static void parse_threshold(struct steal_options *o, const char *arg, struct argp_state *state)
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

static void check_together(const struct steal_options *o, struct argp_state *state)
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
	struct steal_options *o = state->input;

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
		o->method = STEAL_WANT_EXACT + (unsigned)choose("method", arg, methods, state);
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
	case KEY_FORCE:
		o->force = true;
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

int cmd_steal(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "", doc, NULL, NULL, NULL};
	struct steal_options o = {.interval_ns = NS_PER_S, .threshold_ppm = UINT64_MAX};

	if (parse_arguments(&argp, argc, argv, 0, &o))
		return CMD_FAILED;
	return steal_watch(&o);
}
