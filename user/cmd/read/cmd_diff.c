#include "cmd/cmd.h"
#include "cmd/read/diff_page.h"
#include "cmd/read/export_output.h"
#include "cmd/read/log_options.h"
#include "cmd/read/where_option.h"
#include "cmd/rights.h"

#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/tables/array.h"
#include "base/text/msg.h"
#include "base/text/strbuf.h"
#include "cmd/parse.h"
#include "report/model/by_list.h"
#include "report/model/diff/diff_fail.h"
#include "report/model/diff/diff_report.h"
#include "session/analyze_log.h"
#include "session/log_source.h"
#include "session/max_memory.h"

#define TOP_DEFAULT 10
#define LEAST_DEFAULT 0.02
#define WORSE 3 /* exit status */

enum {
	KEY_BEFORE = 0x4000,
	KEY_AFTER,
	KEY_PER,
	KEY_SPAN,
	KEY_LEAST,
	KEY_ALL,
	KEY_FAIL_IF,
	KEY_TITLE,
	KEY_MODE,
};

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_HTML, FORMAT_COUNT };

struct options {
	struct log_source common; /* what all logs are read with; no files */
	const char **files;
	struct log_source *sources; /* of the files, each with its stretch */
	unsigned file_count, file_capacity;
	unsigned before_count; /* of the files; 0: not said by a -- */
	char *before, *after;  /* stretches, FROM..TO; NULL: all */
	struct diff_selection selection;
	const char *by;
	struct condition *where;
	const char *where_text;
	enum measure_per per;
	double least;
	bool all;
	unsigned top;
	enum format format;
	const char *output; /* "-" or NULL: stdout */
	const char *title;  /* of the page; NULL: the logs' names */
	mode_t mode;        /* of output; 0: 0600 */
	struct diff_fail *fails;
	const char **fail_texts;
	unsigned fail_count, fails_capacity, texts_capacity;
};

static const struct argp_option option_table[] = {
	{"by", 'b', "A[,B...]", 0,
	 "Waiting by these aspects, too, in place of methods in the first sentence; they are those "
	 "of 'spoor report --by'. Locks are told apart by class and by how much is lost on each",
	 0},
	{"where", 'w', "CONDITION", 0, "Only the contentions of which it holds, as of report", 0},
	{"per", KEY_PER, "second|span|cpu", 0,
	 "What figures are divided by: seconds of the recording (default), spans that the "
	 "application has marked, or seconds of CPU time of all its threads",
	 0},
	{"span", KEY_SPAN, "GLOB", 0, "Only spans of these names", 0},
	{"before", KEY_BEFORE, "FROM..TO", 0,
	 "Only this stretch of the logs before; with one FILE, it is compared with --after of the "
	 "same. Times are as those of --from",
	 0},
	{"after", KEY_AFTER, "FROM..TO", 0, "Only this stretch of the logs after", 0},
	{"least", KEY_LEAST, "PERCENT", 0, "Smaller changes are none (default 2%)", 0},
	{"all", KEY_ALL, NULL, 0, "Also the rows that do not stand out of what may be chance", 0},
	{"fail-if", KEY_FAIL_IF, "FIGURE>N%", 0,
	 "Exit with 3 if the figure grew by more than N %; or FIGURE<-N%: if it fell by more. "
	 "May be given several times. FIGURE is p50:SPAN, p90:SPAN, p99:SPAN of a span's name, or",
	 0},
	{"top", 't', "N", 0, "Rows in each list of the text (default 10)", 0},
	{"format", 'f', "text|json|csv|html", 0,
	 "For people (default); for programs, in ns; or a page for a browser, as of 'spoor html', "
	 "in which all is compared",
	 0},
	{"output", 'o', "FILE", 0,
	 "Where it goes in place of standard output; an older FILE is replaced", 0},
	{"title", KEY_TITLE, "TEXT", 0, "The page's title; if not given, the logs' names", 0},
	{"mode", KEY_MODE, "MODE", 0,
	 "Who may read FILE, in octal as for chmod (0600: nobody but its owner), such as 0644", 0},
	LOG_SOURCE_OPTIONS,
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Compares recordings: what is waited for more, or less, than before, where, and what of it "
	"may be chance.\v"
	"  spoor diff before.spoor after.spoor\n"
	"      what has changed, in a sentence, and the rows that stand out\n"
	"  spoor diff b1.spoor b2.spoor -- a1.spoor a2.spoor\n"
	"      several runs a side: chance is told by how the runs differ\n"
	"  spoor diff --before 0s..30s --after 60s..90s app.spoor\n"
	"      two stretches of one recording\n"
	"  spoor diff --per span --by waiter_stack,owner_stack before.spoor after.spoor\n"
	"      for each request that the application has marked, by call chains\n"
	"  spoor diff --format html -o page.html before.spoor after.spoor\n"
	"      a page: the same, and a tree, flame graphs and a matrix of what has changed\n"
	"  spoor diff --fail-if 'blocked>10%' --fail-if 'p99:cart>5%' b.spoor a.spoor\n"
	"      for a build server\n"
	"\n"
	"Logs are aligned by names; numbers in the names of generated classes do not count. A row "
	"stands out if such a difference is hardly chance: by the tenths of each recording, or, "
	"from four recordings a side on, by the recordings. docs/diff.md says how.\n"
	"\n"
	"Exit status: 0 done; 1 a log cannot be read; 2 wrong usage; 3 a --fail-if holds.\n";

static char *help(int key, const char *text, void *input)
{
	struct strbuf b = {.most = 0};
	const char *name;

	(void)input;
	if (key != KEY_FAIL_IF)
		return (char *)text;
	strbuf_add(&b, "%s", text);
	for (unsigned i = 0; (name = diff_fail_name(i)); i++)
		strbuf_add(&b, "%s %s", i ? "," : "", name);
	if (!b.err)
		return b.text; /* argp frees it */
	strbuf_free(&b);
	return (char *)text;
}

/* --- options ------------------------------------------------------------------------------- */

static void set_by(struct options *o, const char *arg, struct argp_state *state)
{
	char error[BY_LIST_ERROR_MAX];
	struct by_list l = {.depth = 0};

	if (by_list_add(&l, arg, error)) {
		argp_error(state, "--by: %s", error);
		return;
	}
	if (aspects_facets(l.by, l.depth) & ~DIFF_FACETS)
		argp_error(state, "--by: windows are not the same ones on both sides: --before "
				  "and --after choose stretches of time");
	memcpy(o->selection.by, l.by, sizeof(l.by));
	o->selection.depth = l.depth;
	o->by = arg;
}

static void set_least(struct options *o, const char *arg, struct argp_state *state)
{
	char *end;
	double percent = strtod(arg, &end);

	if (end == arg || (*end && strcmp(end, "%")) || !(percent >= 0 && percent <= 100))
		argp_error(state, "--least is a percentage from 0 to 100, not '%s'", arg);
	o->least = percent / 100;
}

static void add_fail(struct options *o, const char *arg, struct argp_state *state)
{
	struct diff_fail fail;

	if (diff_fail_parse(arg, &fail)) {
		argp_error(state,
			   "--fail-if is such as 'blocked>10%%', 'cpu<-5%%' or "
			   "'p99:SPAN>10%%', not '%s'; 'spoor diff --help' lists the figures",
			   arg);
		return;
	}
	if (array_grow(&o->fails, &o->fails_capacity, o->fail_count, sizeof(*o->fails)) ||
	    array_grow(&o->fail_texts, &o->texts_capacity, o->fail_count, sizeof(*o->fail_texts))) {
		argp_failure(state, CMD_FAILED, ENOMEM, "--fail-if");
		return;
	}
	o->fail_texts[o->fail_count] = arg;
	o->fails[o->fail_count++] = fail;
}

/* arg is cut at "..". */
static void set_stretch(char **ret, const char *name, char *arg, struct argp_state *state)
{
	char *dots = strstr(arg, "..");

	if (!dots) {
		argp_error(state, "--%s is FROM..TO, such as 10s..40s or ..1m, not '%s'", name,
			   arg);
		return;
	}
	*dots = '\0';
	if ((*arg && range_time_check(arg)) || (dots[2] && range_time_check(dots + 2)))
		argp_error(state,
			   "--%s is FROM..TO, and each is a time as 10s, 1m30s or 12:34:56, or "
			   "nothing: not '%s..%s'",
			   name, arg, dots + 2);
	*ret = arg;
}

static void add_file(struct options *o, const char *arg, struct argp_state *state)
{
	if (array_grow(&o->files, &o->file_capacity, o->file_count, sizeof(*o->files))) {
		argp_failure(state, CMD_FAILED, ENOMEM, "%s", arg);
		return;
	}
	/* next is that of the argument behind this one; quoted that of the first behind "--". */
	if (state->quoted && state->next == state->quoted + 1)
		o->before_count = o->file_count;
	o->files[o->file_count++] = arg;
}

static void check_files(struct options *o, struct argp_state *state)
{
	unsigned after;

	if (!o->before_count && o->file_count == 1 && o->before && o->after) {
		add_file(o, o->files[0], state);
		o->before_count = 1;
	}
	if (!o->before_count && o->file_count > 2) {
		argp_error(state, "of several logs a side, -- is between those of before and those "
				  "of after");
		return;
	}
	o->before_count = o->before_count ? o->before_count : 1;
	if (o->file_count < 2 || o->before_count >= o->file_count) {
		argp_error(state, "which FILEs? One from before and one from after; or one, with "
				  "--before and --after");
		return;
	}
	after = o->file_count - o->before_count;
	if (o->before_count > COMPARISON_LOGS_MAX || after > COMPARISON_LOGS_MAX)
		argp_error(state, "there are more than %d logs of one side", COMPARISON_LOGS_MAX);
}

static void check_output(struct options *o, struct argp_state *state)
{
	struct stat st;

	if (o->output && !strcmp(o->output, "-"))
		o->output = NULL;
	if (o->format != FORMAT_HTML)
		return;
	if (!o->output && isatty(STDOUT_FILENO))
		argp_error(state, "a page is for a browser: not to a terminal; -o FILE.html");
	for (unsigned i = 0; i < o->file_count; i++)
		if (!strcmp(o->files[i], "-") ||
		    (!stat(o->files[i], &st) && S_ISFIFO(st.st_mode)))
			argp_error(state, "%s: a page reads each log twice: not from a pipe",
				   o->files[i]);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	static const char *const pers[MEASURE_PER_COUNT + 1] = {"second", "span", "cpu"};
	static const char *const formats[FORMAT_COUNT + 1] = {"text", "json", "csv", "html"};
	struct options *o = state->input;

	if (log_source_option(&o->common, key, arg, state))
		return 0;
	switch (key) {
	case 'b':
		set_by(o, arg, state);
		return 0;
	case 'w':
		set_where(&o->where, arg, DIFF_FACETS, state);
		o->where_text = arg;
		return 0;
	case 't':
		o->top = parse_top(arg, state);
		return 0;
	case 'f':
		o->format = (enum format)parse_word("format", arg, formats, state);
		return 0;
	case KEY_PER:
		o->per = (enum measure_per)parse_word("per", arg, pers, state);
		return 0;
	case KEY_SPAN:
		o->selection.span = arg;
		return 0;
	case KEY_BEFORE:
		set_stretch(&o->before, "before", arg, state);
		return 0;
	case KEY_AFTER:
		set_stretch(&o->after, "after", arg, state);
		return 0;
	case KEY_LEAST:
		set_least(o, arg, state);
		return 0;
	case KEY_ALL:
		o->all = true;
		return 0;
	case KEY_FAIL_IF:
		add_fail(o, arg, state);
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case KEY_TITLE:
		o->title = arg;
		return 0;
	case KEY_MODE:
		o->mode = parse_mode(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		add_file(o, arg, state);
		return 0;
	case ARGP_KEY_END:
		check_files(o, state);
		check_output(o, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* --- the comparison ------------------------------------------------------------------------ */

/* To be freed, whatever comes back. */
static int source_make(const struct options *o, unsigned i, struct log_source *ret)
{
	const char *stretch = i < o->before_count ? o->before : o->after;
	int err;

	*ret = o->common;
	err = log_source_add(ret, o->files[i]);
	if (stretch) {
		const char *to = stretch + strlen(stretch) + 2;

		ret->range.from = *stretch ? stretch : NULL;
		ret->range.to = *to ? to : NULL;
	}
	if (err)
		msg_error("%s: cannot compare it: %s", o->files[i], max_memory_error(err));
	return err;
}

static int read_logs(const struct options *o, struct diff_side *before, struct diff_side *after)
{
	int err = 0;

	for (unsigned i = 0; i < o->file_count && !err; i++) {
		err = source_make(o, i, &o->sources[i]);
		if (!err)
			err = diff_side_add(i < o->before_count ? before : after, &o->sources[i],
					    &o->selection);
	}
	return err;
}

/* --per span of logs without spans divides by nothing. */
static int check_units(const struct options *o, const struct diff_side *s)
{
	for (unsigned i = 0; i < s->figures.count; i++) {
		if (measures_per(&s->figures.logs[i], o->per) > 0)
			continue;
		if (o->per == MEASURE_PER_SECOND) {
			msg_error("%s: nothing to compare: no time of the recording is in the part "
				  "that was chosen",
				  s->logs[i].name);
			return -ENODATA;
		}
		msg_error("%s: --per %s: it has %s", s->logs[i].name, diff_per_name(o->per),
			  o->per == MEASURE_PER_CPU ? "no CPU time of its threads"
						    : "no such spans; docs/spans.md says how they "
						      "are marked");
		return -ENODATA;
	}
	return 0;
}

/* 0, or WORSE. */
static int judge(const struct options *o, const struct comparison *c)
{
	int worse = 0;

	for (unsigned i = 0; i < o->fail_count; i++) {
		const struct comparison_row *r;
		enum diff_failed failed = diff_fail_is(&o->fails[i], c, &r);

		if (failed == DIFF_FAIL_UNKNOWN)
			msg_warning("--fail-if '%s': none of the logs has that figure",
				    o->fail_texts[i]);
		if (failed != DIFF_FAIL_YES)
			continue;
		msg_error("--fail-if '%s': it does%s", o->fail_texts[i],
			  r->stands_out                 ? ""
			  : r->basis == COMPARISON_NONE ? "; whether by chance is not known"
							: ", but that may be chance");
		worse = WORSE;
	}
	return worse;
}

static int print(const struct options *o, const struct diff_input *in, FILE *out)
{
	static int (*const prints[])(const struct diff_input *, FILE *) = {
		report_diff_text, report_diff_json, report_diff_csv};
	const struct diff_page page = {.diff = in,
				       .sources = o->sources,
				       .before_count = o->before_count,
				       .count = o->file_count,
				       .where_text = o->where_text,
				       .where = o->where,
				       .title = o->title};

	return o->format == FORMAT_HTML ? diff_page_write(&page, out) : prints[o->format](in, out);
}

static int write_out(const struct options *o, const struct diff_input *in)
{
	FILE *out;
	int err;

	for (unsigned i = 0; i < o->file_count && o->output; i++)
		if (export_output_is_log(&o->sources[i], o->output))
			return -EEXIST;
	out = export_output_open(&o->sources[0], o->output, o->mode);
	if (!out)
		return -EIO;
	err = print(o, in, out);
	if (err)
		msg_error("cannot compare them: %s", max_memory_error(err));
	else
		err = finish_output(out);
	return export_output_close(out, o->output, err);
}

static int compare(const struct options *o, const struct diff_side *before,
		   const struct diff_side *after)
{
	struct comparison c;
	const struct diff_input in = {.before = before,
				      .after = after,
				      .comparison = &c,
				      .by = o->by,
				      .least = o->least,
				      .top = o->top,
				      .all = o->all};
	int err = comparison_make(&before->figures, &after->figures, o->per, &c);
	int worse = 0;

	if (err) {
		msg_error("cannot compare them: %s", max_memory_error(err));
		return err;
	}
	err = write_out(o, &in);
	worse = err < 0 ? 0 : judge(o, &c);
	comparison_free(&c);
	return err < 0 ? err : worse;
}

static int run(struct options *o)
{
	struct diff_side *sides = calloc(2, sizeof(*sides));
	int err;

	o->sources = calloc(o->file_count, sizeof(*o->sources));
	if (!sides || !o->sources) {
		msg_error("cannot compare them: %s", max_memory_error(-ENOMEM));
		free(sides);
		return -ENOMEM;
	}
	err = read_logs(o, &sides[0], &sides[1]);
	err = err ? err : check_units(o, &sides[0]);
	err = err ? err : check_units(o, &sides[1]);
	if (!err)
		err = compare(o, &sides[0], &sides[1]);
	diff_side_free(&sides[0]);
	diff_side_free(&sides[1]);
	free(sides);
	for (unsigned i = 0; i < o->file_count; i++)
		log_source_free(&o->sources[i]);
	return err;
}

int cmd_diff(int argc, char **argv)
{
	static const struct argp argp = {
		option_table, parse_option, "BEFORE AFTER\nBEFORE... -- AFTER...\nFILE", doc, NULL,
		help,         NULL};
	struct options o = {.top = TOP_DEFAULT, .least = LEAST_DEFAULT};
	int err;

	if (parse_arguments(&argp, argc, argv, ARGP_IN_ORDER, &o))
		return CMD_FAILED;
	if (rights_write_to(o.output))
		return CMD_FAILED;
	o.selection.where = o.where;
	err = run(&o);
	where_free(o.where);
	free(o.files);
	free(o.sources);
	free(o.fails);
	free(o.fail_texts);
	return err < 0 ? CMD_FAILED : err;
}
