#include "cmd/read/heap/heap_life.h"

#include <argp.h>
#include <errno.h>
#include <string.h>

#include "base/text/msg.h"
#include "cmd/cmd.h"
#include "cmd/parse.h"
#include "cmd/read/heap/heap_own.h"
#include "cmd/read/log_options.h"
#include "cmd/read/replay/class_path.h"
#include "cmd/read/replay/heap_log.h"
#include "cmd/read/replay/heap_log_facts.h"
#include "cmd/read/replay/object_log.h"
#include "report/heap/lives/heap_lives_report.h"
#include "session/analyze_log.h"
#include "session/owner.h"

#define TOP_DEFAULT 20

enum { KEY_FORCE = 0x4000, KEY_FROM, KEY_TO, KEY_CLASS_PATH, KEY_FEATURES };

struct options {
	const char *log;
	enum heap_lives_view view;
	enum heap_lives_by by;
	struct heap_levels levels; /* count 0: by */
	struct heap_moment from, to;
	enum heap_format format;
	unsigned top;
	unsigned jobs;
	const char *class_path, *features, *by_text;
	struct heap_own_files own;
	bool has_from, has_to, force, failed;
};

static const char *const words[HEAP_LIVES_VIEW_COUNT] = {"grow", "churn", "life", "diff", "time"};

static const struct argp_option option_table[] = {
	{"by", 'b', "NAME[,NAME...]", 0,
	 "type, site (type and the bytecode that allocates), chain (with inlined callers), method, "
	 "code (interpreter, C1, C2, the JVM's runtime), and of life also age, which it begins "
	 "with; the others begin with site. Several, and others of spoor heap --list: groups in "
	 "groups, as type,site,callers",
	 0},
	{"from", KEY_FROM, "MOMENT", 0,
	 "The interval's begin: gc:N (the end of that collection), begin, or a time since the log "
	 "began, as 12.5s; if not given, the end of the first collection, of grow of the second",
	 0},
	{"to", KEY_TO, "MOMENT", 0,
	 "Its end, likewise; if not given, the end of the last collection", 0},
	{"top", 't', "N", 0, "So many groups, in text (default 20)", 0},
	{"format", 'f', "text|json|csv", 0, "For people (default) or for programs, in bytes", 0},
	{"features", KEY_FEATURES, "FILE", 0,
	 "Features of your program for --by feature: lines such as Orders { com.acme.order.* }; "
	 "the innermost frame of a site that has any decides, of feature_any all frames",
	 0},
	{"force", KEY_FORCE, NULL, 0,
	 "Read the log also if it belongs to another user than you or root", 0},
	JOBS_OPTION,
	CLASS_PATH_OPTION(KEY_CLASS_PATH),
	MAX_MEMORY_OPTION,
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Says what came, stayed and went between two collections, of a log of spoor record "
	"--objects: no object is sampled.\v"
	"  spoor heap grow app.spoor\n"
	"      what grows: objects that have survived two collections, by allocation site\n"
	"  spoor heap churn app.spoor\n"
	"      what makes garbage: objects that were born and have died\n"
	"  spoor heap diff --from gc:3 --to end app.spoor\n"
	"      what stayed, died, was born, and both, between two moments\n"
	"  spoor heap life app.spoor\n"
	"      how many collections objects survive; --by site: whose\n"
	"  spoor heap time --features features.txt --by feature app.spoor\n"
	"      what was alive at the end of each collection: a chart for each group\n"
	"\n"
	"Exit status: 0 done; 1 the log cannot be read, or a part of it is missing, or collections "
	"do not agree with the JVM's pools, and what could be read has been reported; 2 wrong "
	"usage.\n";

static void parse_by(struct options *o, const char *arg, struct argp_state *state)
{
	int i = word_index(heap_lives_by_names, HEAP_LIVES_BY_COUNT, arg);
	char error[HEAP_LEVELS_ERROR_MAX];
	const char *wrong;

	o->levels.count = 0;
	if (i >= 0 && (i != HEAP_LIVES_BY_AGE || o->view == HEAP_LIVES_LIFE)) {
		o->by = (enum heap_lives_by)i;
		return;
	}
	if (heap_levels_parse(arg, &o->own.classifiers, &o->levels, error))
		argp_error(state, "--by '%s': %s", arg, error);
	wrong = heap_levels_of_objects(&o->levels);
	if (wrong)
		argp_error(state,
			   "--by '%s': %s is not known of objects that are dead; type, package, "
			   "site, method, chain, callers, code, thread and the like are",
			   arg, wrong);
}

/* What --by may name is known when the file of features has been read. */
static void finish_by(struct options *o, struct argp_state *state)
{
	if (o->features && heap_own_features(&o->own, o->features, o->force)) {
		o->failed = true;
		return;
	}
	if (o->by_text)
		parse_by(o, o->by_text, state);
}

static bool parse_moment(struct heap_moment *ret, const char *option, const char *arg,
			 struct argp_state *state)
{
	if (!heap_moment_parse(arg, ret) || ret->kind == MOMENT_GC_BEGIN ||
	    ret->kind == MOMENT_PEAK)
		argp_error(state,
			   "%s is gc:N, dump, begin, end or a time since the log began, not '%s'",
			   option, arg);
	return true;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	static const char *const formats[HEAP_FORMAT_COUNT + 1] = {"text", "json", "csv"};
	struct options *o = state->input;

	if (max_memory_option(key, arg, state) || jobs_option(key, arg, state, &o->jobs))
		return 0;
	switch (key) {
	case 'b':
		o->by_text = arg;
		return 0;
	case 'f':
		o->format = (enum heap_format)parse_word("format", arg, formats, state);
		return 0;
	case 't':
		o->top = parse_top(arg, state);
		return 0;
	case KEY_FROM:
		o->has_from = parse_moment(&o->from, "--from", arg, state);
		return 0;
	case KEY_TO:
		o->has_to = parse_moment(&o->to, "--to", arg, state);
		return 0;
	case KEY_CLASS_PATH:
		o->class_path = arg;
		return 0;
	case KEY_FEATURES:
		o->features = arg;
		return 0;
	case KEY_FORCE:
		o->force = true;
		return 0;
	case ARGP_KEY_ARG:
		if (o->log || !strcmp(arg, "-"))
			argp_error(state, "one FILE of spoor record --objects");
		o->log = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which FILE? It is what 'spoor record --objects -o FILE' wrote");
		return 0;
	case ARGP_KEY_END:
		finish_by(o, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Moments as lifetimes count them: collections that have ended. */
static int find_moment(const struct options *o, const struct heap_moment *m,
		       const struct object_replay *r, uint32_t *ret, uint64_t *ret_early_ns)
{
	struct heap_stop stop;
	uint32_t count;
	int err = heap_moment_find(m, r, o->log, &stop);

	object_replay_collections(r, &count);
	if (!err)
		*ret_early_ns = stop.early_ns;
	if (!err && stop.has_collection)
		*ret = stop.collection + 1;
	else if (!err)
		*ret = m->kind == MOMENT_BEGIN ? 0 : count + 1;
	return err;
}

static int find_interval(const struct options *o, struct heap_lives_report *r)
{
	uint32_t count;
	int err = 0;

	object_replay_collections(r->log, &count);
	if (count < (o->view == HEAP_LIVES_GROW ? 3 : 2) && !(o->has_from && o->has_to)) {
		msg_error("%s has %s: lifetimes are known by collections, and need %s at least",
			  o->log, count ? "too few collections" : "no collection",
			  o->view == HEAP_LIVES_GROW ? "three" : "two");
		return -ENODATA;
	}
	/* Nothing can have survived two collections before the second one. */
	r->from = o->view == HEAP_LIVES_GROW ? 2 : 1;
	r->to = count;
	if (o->has_from)
		err = find_moment(o, &o->from, r->log, &r->from, &r->from_early_ns);
	if (!err && o->has_to)
		err = find_moment(o, &o->to, r->log, &r->to, &r->to_early_ns);
	if (!err && r->from >= r->to) {
		msg_error("%s: the interval's end is not after its begin", o->log);
		err = -EINVAL;
	}
	return err;
}

static bool by_thread(const struct heap_levels *l)
{
	const struct heap_classifier *thread = heap_classifier_find("thread", strlen("thread"));

	for (unsigned i = 0; i < l->count; i++)
		if (l->all[i] == thread)
			return true;
	return false;
}

static int report(const struct options *o, struct heap_lives_report *r)
{
	struct heap_log_facts facts = {0};
	int err = by_thread(&o->levels) ? heap_log_facts_read(o->log, true, &facts) : 0;

	r->thread_name = heap_log_thread;
	r->thread_ctx = &facts;
	if (!err)
		err = r->view == HEAP_LIVES_TIME ? heap_report_time(r, stdout)
						 : heap_report_lives(r, stdout);
	heap_log_facts_free(&facts);
	if (err)
		msg_error("%s: cannot report on it: %s", o->log, object_log_error(err));
	return err ? err : finish_output(stdout);
}

static int run(const struct options *o)
{
	struct heap_lives_report r = {
		.name = o->log, .view = o->view, .by = o->by, .top = o->top, .format = o->format};
	const struct heap_log_options options = {
		.jobs = o->jobs, .class_path = o->class_path, .threads = by_thread(&o->levels)};
	struct heap_log l;
	int damaged, err;

	if (!o->force && owner_check(o->log))
		return -EPERM;
	damaged = heap_log_open(o->log, &options, &l);
	if (damaged < 0)
		return damaged;
	r.log = l.replay;
	r.levels = o->levels.count ? &o->levels : NULL;
	r.own = &o->own.classifiers;
	r.agreement = &l.agreement;
	r.callers = l.callers;
	r.damaged = damaged;
	err = find_interval(o, &r);
	if (!err)
		err = report(o, &r);
	if (damaged)
		msg_warning("%s: parts of it are missing; what could be read has been reported",
			    o->log);
	if (!err)
		err = damaged || heap_log_differs(&l);
	heap_log_close(&l);
	return err;
}

/* What --by says, the last one; NULL: nothing. */
static const char *find_by(int argc, char **argv)
{
	const char *by = NULL;

	for (int i = 2; i < argc; i++) {
		if (!strncmp(argv[i], "--by=", 5))
			by = argv[i] + 5;
		else if (!strncmp(argv[i], "-b", 2) && argv[i][2])
			by = argv[i] + 2;
		else if ((!strcmp(argv[i], "--by") || !strcmp(argv[i], "-b")) && i + 1 < argc)
			by = argv[i + 1];
	}
	return by;
}

/* Does --by look at objects one by one? Then diff compares two heaps. */
static bool by_objects(int argc, char **argv)
{
	const char *by = find_by(argc, argv);
	char error[HEAP_LEVELS_ERROR_MAX];
	struct heap_levels levels;

	return by && word_index(heap_lives_by_names, HEAP_LIVES_BY_COUNT, by) < 0 &&
	       !heap_levels_parse(by, NULL, &levels, error) && heap_levels_of_objects(&levels);
}

/* Of dumps, the two that diff compares are moments themselves. */
bool heap_life_is(int argc, char **argv)
{
	int view = argc > 1 ? word_index(words, HEAP_LIVES_VIEW_COUNT, argv[1]) : -1;

	for (int i = 2; view == HEAP_LIVES_DIFF && i < argc; i++)
		if (!strncmp(argv[i], "--from", 6) || !strncmp(argv[i], "--to=", 5) ||
		    !strcmp(argv[i], "--to"))
			return !by_objects(argc, argv);
	return view >= 0 && view != HEAP_LIVES_DIFF;
}

int heap_life_command(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "FILE", doc, NULL, NULL, NULL};
	static char names[HEAP_LIVES_VIEW_COUNT][32] = {"spoor heap grow", "spoor heap churn",
							"spoor heap life", "spoor heap diff",
							"spoor heap time"};
	int view = word_index(words, HEAP_LIVES_VIEW_COUNT, argv[0]);
	bool failed;
	struct options o = {
		.top = TOP_DEFAULT, .view = (enum heap_lives_view)view, .by = HEAP_LIVES_BY_SITE};

	if (o.view == HEAP_LIVES_LIFE)
		o.by = HEAP_LIVES_BY_AGE;
	argv[0] = names[view]; /* what argp calls it in its messages */
	if (parse_arguments(&argp, argc, argv, 0, &o))
		return CMD_FAILED;
	failed = o.failed || run(&o);
	heap_own_free(&o.own);
	return failed ? CMD_FAILED : CMD_OK;
}
