#include "cmd/cmd.h"
#include "cmd/read/heap_dump.h"
#include "cmd/read/log_options.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/text/msg.h"
#include "cmd/parse.h"
#include "heap/classify/heap_filter.h"
#include "heap/classify/heap_tree.h"
#include "report/heap/heap_report.h"
#include "session/analyze_log.h"

#define TOP_DEFAULT 20

enum { KEY_LIST = 0x4000, KEY_FORCE };

struct options {
	const char *dump, *where;
	struct heap_tree tree; /* its levels: --by */
	struct condition *condition;
	enum heap_format format;
	unsigned top;
	bool list, force;
};

static const struct argp_option option_table[] = {
	{"by", 'b', "NAME[,NAME...]", 0,
	 "What to group objects by, and these groups by, and so on: type (default), package, "
	 "loader, ... (--list has all)",
	 0},
	{"where", 'w', "CONDITION", 0,
	 "Only the objects that it chooses: type=*Order, package=com.acme* and not size=\"1*\"", 0},
	{"top", 't', "N", 0, "So many groups, the largest (default 20), in text", 0},
	{"list", KEY_LIST, NULL, 0, "What there is for --by and --where", 0},
	{"format", 'f', "text|json|csv", 0, "For people (default) or for programs, in bytes", 0},
	{"force", KEY_FORCE, NULL, 0,
	 "Read the dump also if it belongs to another user than you or root", 0},
	MAX_MEMORY_OPTION,
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Says what fills the heap of any JVM, from a heap dump (.hprof), which may be compressed "
	"with gzip; - is the standard input.\v"
	"  jcmd PID GC.heap_dump /tmp/app.hprof\n"
	"      makes a dump; the application stands still meanwhile\n"
	"  spoor heap /tmp/app.hprof\n"
	"      which classes have the most bytes\n"
	"  spoor heap --by package,type --where 'package=com.acme*' /tmp/app.hprof\n"
	"      the same by package, of your own code only\n"
	"\n"
	"Exit status: 0 done; 1 the dump cannot be read, or is damaged, and what could be read has "
	"been reported; 2 wrong usage.\n";

static void parse_by(struct options *o, const char *arg, struct argp_state *state)
{
	o->tree.level_count = 0;
	for (size_t length; *arg; arg += length + (arg[length] == ',')) {
		const struct heap_classifier *c;

		length = strcspn(arg, ",");
		c = heap_classifier_find(arg, length);
		if (!c)
			argp_error(state, "--by knows no '%.*s'; spoor heap --list has all",
				   (int)length, arg);
		else if (o->tree.level_count == HEAP_LEVELS_MAX)
			argp_error(state, "--by takes %d names at most", HEAP_LEVELS_MAX);
		else
			o->tree.levels[o->tree.level_count++] = c;
	}
	if (!o->tree.level_count)
		argp_error(state, "--by wants a name; spoor heap --list has all");
}

static void parse_where(struct options *o, const char *arg, struct argp_state *state)
{
	char error[CONDITION_ERROR_MAX];
	int err;

	condition_free(o->condition);
	o->condition = NULL;
	err = heap_condition_parse(arg, &o->condition, error);
	if (err == -EINVAL)
		argp_error(state, "--where '%s': %s", arg, error);
	else if (err)
		argp_failure(state, CMD_FAILED, -err, "--where");
	o->where = arg;
}

static enum heap_format parse_format(const char *arg, struct argp_state *state)
{
	static const char *const formats[HEAP_FORMAT_COUNT] = {"text", "json", "csv"};

	for (int i = 0; i < HEAP_FORMAT_COUNT; i++)
		if (!strcmp(arg, formats[i]))
			return (enum heap_format)i;
	argp_error(state, "--format is text, json or csv, not '%s'", arg);
	return HEAP_TEXT;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	if (max_memory_option(key, arg, state))
		return 0;
	switch (key) {
	case 'b':
		parse_by(o, arg, state);
		return 0;
	case 'w':
		parse_where(o, arg, state);
		return 0;
	case 't':
		o->top = parse_top(arg, state);
		return 0;
	case 'f':
		o->format = parse_format(arg, state);
		return 0;
	case KEY_LIST:
		o->list = true;
		return 0;
	case KEY_FORCE:
		o->force = true;
		return 0;
	case ARGP_KEY_ARG:
		if (o->dump)
			argp_error(state, "one dump at a time");
		o->dump = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->dump && !o->list)
			argp_error(state, "which DUMP? jcmd PID GC.heap_dump FILE makes one");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int report(struct options *o, const struct heap_dump *d)
{
	struct heap_report r = {
		.source = {.name = d->name, .state = &d->state, .result = &d->result},
		.tree = &o->tree,
		.where = o->where,
		.top = o->top,
		.format = o->format,
	};
	struct heap_filter *filter = NULL;
	struct heap_view view;
	int err = heap_view_init(&view, &d->state, NULL);

	r.view = &view;
	if (!err)
		err = heap_filter_new(o->condition, &view, &filter);
	if (!err)
		err = heap_tree_build(&view, filter, &o->tree);
	if (!err)
		err = heap_report_tree(&r, stdout);
	heap_filter_free(filter);
	heap_view_free(&view);
	return err;
}

static int run(struct options *o)
{
	struct heap_dump d;
	enum heap_needs needs = heap_tree_needs(&o->tree);
	int damaged, err;

	if (o->list)
		return heap_report_classifiers(o->format, stdout);
	if (heap_condition_needs(o->condition) > needs)
		needs = heap_condition_needs(o->condition);
	damaged = heap_dump_open(o->dump, needs > HEAP_NEEDS_DESC, o->force, &d);
	if (damaged < 0)
		return damaged;
	err = report(o, &d);
	if (err)
		msg_error("%s: cannot report on it: %s", o->dump, strerror(-err));
	else
		err = finish_output(stdout);
	heap_dump_close(&d);
	return err ? err : -damaged;
}

int cmd_heap(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "DUMP", doc, NULL, NULL, NULL};
	struct options o = {.top = TOP_DEFAULT,
			    .tree = {.levels = {heap_classifier_get(0)}, .level_count = 1}};
	static char name[] = "spoor heap";
	int err = 0;

	argp_err_exit_status = CMD_USAGE;
	argv[0] = name; /* what argp calls it in its messages */
	if (parse_arguments(&argp, argc, argv, 0, &o))
		err = -ENOMEM;
	signal(SIGPIPE, SIG_IGN);
	if (!err)
		err = run(&o);
	condition_free(o.condition);
	heap_tree_free(&o.tree);
	return err ? CMD_FAILED : CMD_OK;
}
