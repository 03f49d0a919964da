#include "cmd/cmd.h"
#include "cmd/read/heap/heap_callers.h"
#include "cmd/read/heap/heap_check_run.h"
#include "cmd/read/heap/heap_dump.h"
#include "cmd/read/heap/heap_life.h"
#include "cmd/read/heap/heap_own.h"
#include "cmd/read/heap/heap_page_run.h"
#include "cmd/read/heap/heap_sql_run.h"
#include "cmd/read/heap/pool_check_run.h"
#include "cmd/read/log_options.h"
#include "cmd/read/replay/class_path.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/msg.h"
#include "cmd/parse.h"
#include "cmd/rights.h"
#include "heap/classify/heap_filter.h"
#include "heap/classify/heap_levels.h"
#include "report/heap/heap_diff.h"
#include "report/heap/heap_report.h"
#include "report/sql/heap_sql.h"
#include "session/analyze_log.h"

#define TOP_DEFAULT 20
#define DUMPS_MAX 2

enum {
	KEY_LIST = 0x4000,
	KEY_FORCE,
	KEY_RETAINED,
	KEY_AT,
	KEY_SCRIPT,
	KEY_FEATURES,
	KEY_SAVE,
	KEY_SORT,
	KEY_FIND,
	KEY_COLLAPSE,
	KEY_CLASS_PATH,
	KEY_FROM,
	KEY_TO
};

struct options {
	const char *dumps[DUMPS_MAX], *by, *where;
	const char *save, *features, *scripts[HEAP_OWN_FILES_MAX];
	unsigned script_count;
	struct heap_own_files own;
	unsigned dump_count;
	struct heap_levels levels; /* --by */
	struct condition *condition;
	enum heap_format format;
	unsigned top;
	struct heap_moment from, to; /* of diff: two moments of one log */
	bool has_from, has_to;
	bool list, force, keep, diff, check, sql, retained, has_at;
	bool by_objects; /* --sort */
	bool collapse;
	const char *find;
	unsigned jobs;
	const char *class_path;
	bool failed; /* a file of classifiers cannot be read, which has been said */
	struct heap_check_options moment; /* of check */
};

static const struct argp_option option_table[] = {
	{"by", 'b', "NAME[,NAME...]", 0,
	 "What to group objects by, and these groups by, and so on: type (default), package, "
	 "loader, ... (--list has all)",
	 0},
	{"where", 'w', "CONDITION", 0,
	 "Only the objects that it chooses: type=*Order, package=com.acme* and not size=\"1*\"", 0},
	{"sort", KEY_SORT, "bytes|objects", 0, "What makes a group large: bytes (default)", 0},
	{"top", 't', "N", 0, "So many groups, the largest (default 20), in text", 0},
	{"find", KEY_FIND, "PATTERN", 0,
	 "In text, only groups whose name is like it, such as '*Cache*', wherever they are, with "
	 "those around them",
	 0},
	{"collapse", KEY_COLLAPSE, NULL, 0,
	 "In text, a group and the only one in it, which has all of its objects, in one row", 0},
	{"retained", KEY_RETAINED, NULL, 0,
	 "Also what would be freed if all objects of a group went, of the --top largest groups", 0},
	{"features", KEY_FEATURES, "FILE", 0,
	 "Features of your program for --by feature: lines such as Orders { com.acme.order.* }", 0},
	{"script", KEY_SCRIPT, "FILE.lua", 0,
	 "Classifiers of your own for --by and --where, in Lua (docs/heap.md); may be given "
	 "several times",
	 0},
	{"save", KEY_SAVE, "FILE", 0,
	 "sql: all tables, in a new file that SQLite and other programs read; with --retained also "
	 "what each object retains",
	 0},
	{"list", KEY_LIST, NULL, 0, "What there is for --by and --where", 0},
	{"format", 'f', "text|json|csv", 0, "For people (default) or for programs, in bytes", 0},
	{"at", KEY_AT, "MOMENT", 0,
	 "The moment of a log; of check, if not given: the end of the last collection that a dump "
	 "has asked for, else the log's end: dump, begin, end or "
	 "peak of the log, gc:N or before:N (the end or the begin of "
	 "collection N), or a time since the log began, as 12.5s",
	 0},
	{"force", KEY_FORCE, NULL, 0,
	 "Read the dump also if it belongs to another user than you or root", 0},
	{"from", KEY_FROM, "MOMENT", 0,
	 "diff of one log: from this moment, as of --at, to that of --to, or the log's end", 0},
	{"to", KEY_TO, "MOMENT", 0, "The same; without --from, from the log's begin", 0},
	JOBS_OPTION,
	CLASS_PATH_OPTION(KEY_CLASS_PATH),
	MAX_MEMORY_OPTION,
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Says what fills the heap of any JVM, from a heap dump (.hprof), which may be compressed "
	"with gzip, or from a log of spoor record --objects; - is the standard input.\v"
	"  jcmd PID GC.heap_dump /tmp/app.hprof\n"
	"      makes a dump; the application stands still meanwhile\n"
	"  spoor heap /tmp/app.hprof\n"
	"      which classes have the most bytes\n"
	"  spoor heap --by package,type --where 'package=com.acme*' /tmp/app.hprof\n"
	"      the same by package, of your own code only\n"
	"  spoor heap keep /tmp/app.hprof\n"
	"      which objects hold the most others, and by which way they are kept\n"
	"  spoor heap keep --where 'type=*Order' /tmp/app.hprof\n"
	"      who keeps these: the ways from roots, merged; what would be freed without them\n"
	"  spoor heap diff /tmp/before.hprof /tmp/after.hprof\n"
	"      what has grown between two dumps\n"
	"  spoor heap diff --from gc:3 --to end app.spoor\n"
	"      what stayed, came and went between two moments of a log\n"
	"  spoor heap check app.spoor\n"
	"      whether the objects of a log of spoor record --objects take, at the end of each\n"
	"      collection, what the JVM's own pools held\n"
	"  spoor heap check app.spoor /tmp/app.hprof\n"
	"      whether they are those of the dump, one by one\n"
	"  spoor heap sql app.hprof 'SELECT name, bytes FROM classes ORDER BY 2 DESC'\n"
	"      any other question; tables and columns: spoor heap sql --list\n"
	"  spoor heap --by type,site --at peak app.spoor\n"
	"      of such a log: what filled the heap, and where it was allocated\n"
	"  spoor heap grow app.spoor\n"
	"  spoor heap churn app.spoor\n"
	"  spoor heap life app.spoor\n"
	"      of such a log: what grows, what becomes garbage, how long objects live\n"
	"  spoor heap time --features features.txt --by feature app.spoor\n"
	"      of such a log: what was alive after each collection, a chart for each group\n"
	"  spoor heap callers app.spoor\n"
	"      of a log of spoor record --objects --sample: who has called for the objects\n"
	"  spoor heap page -o heap.html app.spoor\n"
	"      a page for a browser, of such a log or of a dump\n"
	"  spoor heap --script mine.lua --by mine,type /tmp/app.hprof\n"
	"      by a classifier of your own, which mine.lua declares:\n"
	"      classifier{name = 'mine', f = function(o) return o.package end}\n"
	"\n"
	"Exit status: 0 done; 1 the dump cannot be read, or is damaged, and what could be read has "
	"been reported, or check has found a difference, or collections of a log do not agree "
	"with the JVM's pools; 2 wrong usage.\n";

static void parse_by(struct options *o, const char *arg, struct argp_state *state)
{
	char error[HEAP_LEVELS_ERROR_MAX];

	if (heap_levels_parse(arg, &o->own.classifiers, &o->levels, error))
		argp_error(state, "--by '%s': %s", arg, error);
}

static void parse_where(struct options *o, const char *arg, struct argp_state *state)
{
	char error[CONDITION_ERROR_MAX];
	int err;

	err = heap_condition_parse(arg, &o->own.classifiers, &o->condition, error);
	if (err == -EINVAL)
		argp_error(state, "--where '%s': %s", arg, error);
	else if (err)
		argp_failure(state, CMD_FAILED, -err, "--where");
}

static enum heap_format parse_format(const char *arg, struct argp_state *state)
{
	static const char *const formats[HEAP_FORMAT_COUNT + 1] = {"text", "json", "csv"};

	return (enum heap_format)parse_word("format", arg, formats, state);
}

static bool parse_sort(const char *arg, struct argp_state *state)
{
	if (strcmp(arg, "bytes") && strcmp(arg, "objects"))
		argp_error(state, "--sort is bytes or objects, not '%s'", arg);
	return !strcmp(arg, "objects");
}

static bool is_between(const struct options *o)
{
	return o->diff && (o->has_from || o->has_to);
}

static unsigned dumps_needed(const struct options *o)
{
	if (is_between(o))
		return 1;
	return o->diff || o->check || (o->sql && !o->save) ? 2 : 1;
}

static void check_end(struct options *o, struct argp_state *state)
{
	if (!o->list && o->dump_count < (o->check ? 1 : dumps_needed(o)))
		argp_error(state, "%s",
			   o->check ? "which LOG, and, if there is one, which DUMP?"
			   : o->sql && o->dump_count && !o->save
				   ? "which SELECT? spoor heap sql --list has the tables"
			   : o->diff ? "which two DUMPs, the earlier first?"
				     : "which FILE? A heap dump, which jcmd PID GC.heap_dump FILE "
				       "makes, or a log of spoor record --objects");
	if ((o->has_from || o->has_to) &&
	    (!o->diff || (o->dump_count && !heap_dump_is_log(o->dumps[0]))))
		argp_error(state, "--from and --to are for spoor heap diff LOG");
	if (is_between(o) && o->dump_count == 1)
		o->dumps[o->dump_count++] = o->dumps[0];
	if (o->retained && (o->keep || o->diff || o->check || (o->sql && !o->save)))
		argp_error(state, "--retained is for spoor heap DUMP, and for sql --save");
	if ((o->find || o->collapse) && (o->keep || o->diff || o->check || o->sql))
		argp_error(state, "--find and --collapse are for spoor heap DUMP");
	if (o->by_objects && (o->keep || o->diff || o->check || o->sql))
		argp_error(state, "--sort is for spoor heap DUMP");
	if (o->save && o->dump_count > 1)
		argp_error(state, "--save takes all tables: it has no SELECT");
	if (o->save && !o->sql)
		argp_error(state, "--save is for spoor heap sql");
	if (o->check && o->where)
		argp_error(state, "check compares all objects: it has no --where");
	if (o->check && o->dump_count == 1 && o->has_at)
		argp_error(state, "check of a LOG alone is of all its collections: it has no --at");
}

/* A file that is called as one of these words is: ./keep. */
static void parse_argument(struct options *o, const char *arg, struct argp_state *state)
{
	if (state->arg_num == 0 && !strcmp(arg, "keep"))
		o->keep = true;
	else if (state->arg_num == 0 && !strcmp(arg, "diff"))
		o->diff = true;
	else if (state->arg_num == 0 && !strcmp(arg, "check"))
		o->check = true;
	else if (state->arg_num == 0 && !strcmp(arg, "sql"))
		o->sql = true;
	else if (o->dump_count == (o->sql ? DUMPS_MAX : dumps_needed(o)))
		argp_error(state, "'%s' is one too many: %s at a time%s", arg,
			   o->check  ? "one log and one dump"
			   : o->sql  ? "one dump and one SELECT"
			   : o->diff ? "two dumps"
				     : "one file",
			   o->check || o->sql || o->diff || o->keep
				   ? ""
				   : ", after grow, churn, life, keep, diff, check, sql or page");
	else
		o->dumps[o->dump_count++] = arg;
}

static void add_script(struct options *o, const char *arg, struct argp_state *state)
{
	if (o->script_count == HEAP_OWN_FILES_MAX)
		argp_error(state, "--script may be given %d times at most", HEAP_OWN_FILES_MAX);
	else
		o->scripts[o->script_count++] = arg;
}

/* What --by and --where may name is known when all files have been read. */
static void parse_names(struct options *o, struct argp_state *state)
{
	if (rights_write_to(o->save)) {
		o->failed = true;
		return;
	}
	if (o->features && heap_own_features(&o->own, o->features, o->force)) {
		o->failed = true;
		return;
	}
	for (unsigned i = 0; i < o->script_count; i++)
		if (heap_own_script(&o->own, o->scripts[i], o->force)) {
			o->failed = true;
			return;
		}
	if (o->by)
		parse_by(o, o->by, state);
	if (heap_levels_go_beyond(&o->levels) && (o->keep || o->diff || o->sql || o->retained))
		argp_error(state, "--by points_to(...) and pointed_from(...) are for spoor heap "
				  "DUMP, without --retained");
	if (o->where)
		parse_where(o, o->where, state);
}

static bool parse_moment(const char *option, const char *arg, struct heap_moment *ret,
			 struct argp_state *state)
{
	if (!heap_moment_parse(arg, ret))
		argp_error(state, "%s is %s, not '%s'", option, HEAP_MOMENT_WORDS, arg);
	return true;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	if (max_memory_option(key, arg, state) || jobs_option(key, arg, state, &o->jobs))
		return 0;
	switch (key) {
	case 'b':
		o->by = arg;
		return 0;
	case 'w':
		o->where = arg;
		return 0;
	case 't':
		o->top = parse_top(arg, state);
		return 0;
	case 'f':
		o->format = parse_format(arg, state);
		return 0;
	case KEY_AT:
		o->has_at = parse_moment("--at", arg, &o->moment.at, state);
		return 0;
	case KEY_FROM:
		o->has_from = parse_moment("--from", arg, &o->from, state);
		return 0;
	case KEY_TO:
		o->has_to = parse_moment("--to", arg, &o->to, state);
		return 0;
	case KEY_SORT:
		o->by_objects = parse_sort(arg, state);
		return 0;
	case KEY_FIND:
		o->find = arg;
		return 0;
	case KEY_COLLAPSE:
		o->collapse = true;
		return 0;
	case KEY_CLASS_PATH:
		o->class_path = arg;
		return 0;
	case KEY_SAVE:
		o->save = arg;
		return 0;
	case KEY_FEATURES:
		o->features = arg;
		return 0;
	case KEY_SCRIPT:
		add_script(o, arg, state);
		return 0;
	case KEY_LIST:
		o->list = true;
		return 0;
	case KEY_FORCE:
		o->force = true;
		return 0;
	case KEY_RETAINED:
		o->retained = true;
		return 0;
	case ARGP_KEY_ARG:
		parse_argument(o, arg, state);
		return 0;
	case ARGP_KEY_END:
		check_end(o, state);
		parse_names(o, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Bits of enum heap_needs. */
static unsigned needs_of(const struct options *o)
{
	unsigned needs = heap_condition_needs(o->condition, &o->own.classifiers);

	if (o->retained)
		needs |= HEAP_NEEDS_GRAPH;
	if (o->keep)
		return needs | (o->where ? HEAP_NEEDS_GRAPH : HEAP_NEEDS_DOMINATORS);
	return needs | heap_levels_need(&o->levels);
}

/* A dump, and what is made of it for a report. */
struct subject {
	struct heap_dump dump;
	struct heap_view view;
	struct heap_filter *filter;
	struct heap_tree tree;
	uint64_t *retained; /* NULL: not asked for */
	struct heap_report report;
};

static void subject_close(struct subject *s)
{
	free(s->retained);
	heap_tree_free(&s->tree);
	heap_filter_free(s->filter);
	heap_view_free(&s->view);
	heap_dump_close(&s->dump);
}

static void say_error(const struct options *o, const char *name, int err)
{
	if (err == -ECANCELED)
		heap_own_say_stopped(&o->own);
	else if (err)
		msg_error("%s: cannot report on it: %s", name, heap_dump_error(err));
}

static int look(const struct options *o, struct subject *s)
{
	int err = heap_view_init(&s->view, &s->dump.state, needs_of(o));

	s->report = (struct heap_report){
		.source = heap_dump_source(&s->dump),
		.view = &s->view,
		.tree = &s->tree,
		.where = o->where,
		.top = o->top,
		.find = o->find,
		.collapse = o->collapse,
		.format = o->format,
	};
	s->tree = (struct heap_tree){.by_objects = o->by_objects};
	heap_levels_set(&o->levels, &s->tree);
	s->view.own = &o->own.classifiers;
	if (!err)
		err = heap_filter_new(o->condition, &s->view, &s->filter);
	if (!err && !o->keep)
		err = heap_tree_build(&s->view, s->filter, &s->tree);
	if (!err && o->retained)
		err = heap_tree_retained(&s->view, s->filter, &s->tree, o->top, &s->retained);
	s->report.retained = s->retained;
	say_error(o, s->dump.name, err);
	return err;
}

/* Whether threads are to be distinguished, which makes more kinds of objects: users' own
 * classifiers may ask. */
static bool needs_threads(const struct options *o)
{
	const struct heap_classifier *thread = heap_classifier_find("thread", strlen("thread"));
	bool needs = false;
	unsigned at = 0;
	int n;

	for (unsigned i = 0; i < o->levels.count; i++)
		needs |= o->levels.all[i] == thread || o->levels.all[i]->own;
	while (o->condition && (n = condition_next_name(o->condition, &at)) >= 0) {
		const struct heap_classifier *c =
			heap_classifier_get(&o->own.classifiers, (unsigned)n);

		needs |= c == thread || c->own;
	}
	return needs;
}

/* Of the dump or log that comes first or second; NULL: none was given. */
static const struct heap_moment *moment_of(const struct options *o, unsigned which)
{
	static const struct heap_moment begin = {.kind = MOMENT_BEGIN}, end = {.kind = MOMENT_END};

	if (!is_between(o))
		return o->has_at ? &o->moment.at : NULL;
	if (which)
		return o->has_to ? &o->to : &end;
	return o->has_from ? &o->from : &begin;
}

/* 0; 1: it is damaged, which has been said, as all errors have. */
static int subject_open(const struct options *o, unsigned which, struct subject *s)
{
	const char *name = o->dumps[which];
	bool objects = needs_of(o) != HEAP_NEEDS_DESC, is_log = heap_dump_is_log(name);
	const struct heap_dump_log log = {.at = moment_of(o, which),
					  .objects = objects,
					  .threads = needs_threads(o),
					  .graph = (needs_of(o) & ~HEAP_NEEDS_OBJECTS) != 0,
					  .jobs = o->jobs,
					  .class_path = o->class_path,
					  .force = o->force};
	int damaged, err;

	if (is_log)
		damaged = heap_dump_open_log(name, &log, &s->dump);
	else
		damaged = heap_dump_open(name, objects, o->force, &s->dump);
	if (damaged < 0)
		return damaged;
	err = look(o, s);
	return err ? err : damaged || heap_dump_differs(&s->dump);
}

static int report(const struct options *o, struct subject *s)
{
	const struct heap_diff diff = {&s[0].report, &s[1].report};
	int err;

	if (o->diff)
		err = heap_report_diff(&diff, stdout);
	else if (o->keep)
		err = heap_report_keep(&s->report, s->filter, stdout);
	else
		err = heap_report_tree(&s->report, stdout);
	say_error(o, o->dumps[0], err);
	return err ? err : finish_output(stdout);
}

static int check(const struct options *o)
{
	struct heap_check_options c = o->moment;

	c.log = o->dumps[0];
	c.dump = o->dumps[1];
	c.format = o->format;
	c.top = o->top;
	c.force = o->force;
	c.jobs = o->jobs;
	return c.dump ? heap_check_run(&c) : pool_check_run(&c);
}

static int sql(const struct options *o)
{
	const struct heap_sql_options s = {
		.dump = o->dumps[0],
		.select = o->save ? NULL : o->dumps[1],
		.save = o->save,
		.retained = o->retained,
		.at = o->has_at ? &o->moment.at : NULL,
		.jobs = o->jobs,
		.class_path = o->class_path,
		.force = o->force,
		.format = o->format,
		.top = o->top,
		.own = &o->own.classifiers,
		.condition = o->condition,
		.levels = o->levels.all,
		.level_count = o->levels.count,
	};
	int err = heap_sql_run(&s);

	if (err == -ECANCELED)
		heap_own_say_stopped(&o->own);
	heap_own_say_errors(&o->own);
	return err;
}

/* 0: all is done. */
static int run(const struct options *o)
{
	struct subject s[DUMPS_MAX] = {0};
	int damaged = 0, err = 0;

	if (o->list && o->sql) {
		heap_sql_schema(stdout);
		return finish_output(stdout);
	}
	if (o->list) {
		err = heap_report_classifiers(&o->own.classifiers, o->format, stdout);
		return err ? err : finish_output(stdout);
	}
	if (o->check)
		return check(o);
	if (o->sql)
		return sql(o);
	for (unsigned i = 0; i < o->dump_count && err >= 0; i++) {
		err = subject_open(o, i, &s[i]);
		damaged |= err > 0;
	}
	if (err >= 0)
		err = report(o, s);
	heap_own_say_errors(&o->own);
	for (unsigned i = 0; i < o->dump_count; i++)
		subject_close(&s[i]);
	return err ? err : damaged;
}

int cmd_heap(int argc, char **argv)
{
	static const struct argp argp = {
		option_table,
		parse_option,
		"DUMP\nkeep DUMP\ndiff BEFORE AFTER\ngrow LOG\nchurn LOG\nlife LOG\ntime LOG\n"
		"callers LOG\nsql DUMP SELECT\npage DUMP\ncheck LOG [DUMP]",
		doc,
		NULL,
		NULL,
		NULL};
	struct options o = {.top = TOP_DEFAULT,
			    .levels = {.all = {heap_classifier_get(NULL, 0)}, .count = 1}};
	int err = 0;

	if (heap_life_is(argc, argv))
		return heap_life_command(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "callers"))
		return heap_callers_command(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "page"))
		return heap_page_command(argc - 1, argv + 1);
	if (parse_arguments(&argp, argc, argv, 0, &o))
		err = -ENOMEM;
	if (!err)
		err = o.failed ? -EINVAL : run(&o);
	condition_free(o.condition);
	heap_own_free(&o.own);
	return err ? CMD_FAILED : CMD_OK;
}
