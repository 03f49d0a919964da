#include "cmd/read/heap/heap_page_run.h"

#include <argp.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text/msg.h"
#include "cmd/cmd.h"
#include "cmd/parse.h"
#include "cmd/read/export_output.h"
#include "cmd/read/heap/heap_dump.h"
#include "cmd/read/log_options.h"
#include "cmd/read/replay/class_path.h"
#include "cmd/read/replay/heap_log.h"
#include "cmd/rights.h"
#include "heap/classify/heap_classifier.h"
#include "heap/replay/object_replay.h"
#include "report/heap/heap_page.h"
#include "session/analyze_log.h"
#include "session/log_source.h"
#include "session/owner.h"

enum { KEY_FORCE = 0x4000, KEY_MODE, KEY_TITLE, KEY_CLASS_PATH, KEY_AT, KEY_REFERENCES };

struct options {
	const char *input, *output, *title, *class_path;
	mode_t mode;
	struct heap_moment at;
	unsigned jobs;
	bool force, has_at, references;
};

static const struct argp_option option_table[] = {
	{"output", 'o', "FILE", 0,
	 "Where the page goes; an older FILE is replaced. - is standard output", 0},
	{"title", KEY_TITLE, "TEXT", 0, "The page's title; if not given, the name of what it shows",
	 0},
	{"mode", KEY_MODE, "MODE", 0,
	 "Who may read FILE, in octal as for chmod (0600: nobody but its owner), such as 0644", 0},
	{"force", KEY_FORCE, NULL, 0,
	 "Read the file also if it belongs to another user than you or root", 0},
	{"references", KEY_REFERENCES, NULL, 0,
	 "Of one moment, by who refers to objects, and whom they refer to, too: of a dump, or of a "
	 "log that has pointers",
	 0},
	{"at", KEY_AT, "MOMENT", 0,
	 "Of a log, only of this moment: begin, end or peak of the log, gc:N or before:N (the end "
	 "or the begin of collection N), or a time since the log began, as 12.5s; with "
	 "--references, if not given, the last collection of which pointers were recorded",
	 0},
	JOBS_OPTION,
	CLASS_PATH_OPTION(KEY_CLASS_PATH),
	MAX_MEMORY_OPTION,
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Writes a page for a browser, of a log of spoor record --objects or of a heap dump: one "
	"file with all in it, which opens from disk, and asks nothing of the network.\v"
	"  spoor heap page -o heap.html app.spoor\n"
	"      what filled the heap over time; what stayed, came and went between any two "
	"collections\n"
	"  spoor heap page -o heap.html /tmp/app.hprof\n"
	"      of a dump: its objects by package, class, loader, size\n"
	"  spoor heap page --references -o heap.html app.spoor\n"
	"      by who refers to whom, of a log with pointers or of a dump\n"
	"\n"
	"Exit status: 0 done; 1 it cannot be read, or a part of it is missing, and what could be "
	"read is in the page; 2 wrong usage.\n";

static void check(const struct options *o, struct argp_state *state)
{
	if (!o->input)
		argp_error(state, "which FILE? A log of spoor record --objects, or a heap dump");
	page_output_check(o->output, state);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	if (max_memory_option(key, arg, state) || jobs_option(key, arg, state, &o->jobs))
		return 0;
	switch (key) {
	case 'o':
		o->output = arg;
		return 0;
	case KEY_AT:
		if (!heap_moment_parse(arg, &o->at))
			argp_error(state, "--at is %s, not '%s'", HEAP_MOMENT_WORDS, arg);
		o->has_at = true;
		return 0;
	case KEY_REFERENCES:
		o->references = true;
		return 0;
	case KEY_CLASS_PATH:
		o->class_path = arg;
		return 0;
	case KEY_TITLE:
		o->title = arg;
		return 0;
	case KEY_MODE:
		o->mode = parse_mode(arg, state);
		return 0;
	case KEY_FORCE:
		o->force = true;
		return 0;
	case ARGP_KEY_ARG:
		if (o->input)
			argp_error(state, "one log or one dump at a time");
		o->input = arg;
		return 0;
	case ARGP_KEY_END:
		check(o, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool is_input(const struct options *o)
{
	struct stat in, out;

	return !stat(o->input, &in) && !stat(o->output, &out) && in.st_dev == out.st_dev &&
	       in.st_ino == out.st_ino;
}

static int write_page(const struct options *o, const struct heap_page_input *page)
{
	const char *output = strcmp(o->output, "-") ? o->output : NULL;
	const struct log_source none = {0};
	FILE *out;
	int err;

	if (output && is_input(o)) {
		msg_error("%s: this is what the page is of; choose another FILE for -o", output);
		return -EINVAL;
	}
	out = export_output_open(&none, output, o->mode);
	if (!out)
		return -EIO;
	err = heap_report_page(page, out);
	if (err)
		msg_error("%s: cannot make a page of it: %s", o->input, heap_dump_error(err));
	else
		err = finish_output(out);
	return export_output_close(out, output, err);
}

static void begin(const struct options *o, struct heap_page_input *ret)
{
	*ret = (struct heap_page_input){.title = o->title ? o->title : o->input,
					.source = o->input};
}

/* 0; 1: parts are missing. */
static int page_of_log(const struct options *o)
{
	const struct heap_log_options options = {.jobs = o->jobs, .class_path = o->class_path};
	struct heap_page_input page;
	struct heap_log l;
	int damaged, err;

	if (!o->force && owner_check(o->input))
		return -EPERM;
	damaged = heap_log_open(o->input, &options, &l);
	if (damaged < 0)
		return damaged;
	if (damaged)
		msg_warning("%s: parts of it are missing; what could be read is in the page",
			    o->input);
	begin(o, &page);
	page.log = l.replay;
	page.agreement = &l.agreement;
	err = write_page(o, &page);
	if (!err)
		err = damaged || heap_log_differs(&l);
	heap_log_close(&l);
	return err;
}

/* The same. */
static int page_of_moment(const struct options *o, bool is_log)
{
	const struct heap_dump_log log = {.at = o->has_at ? &o->at : NULL,
					  .objects = o->references,
					  .graph = o->references,
					  .jobs = o->jobs,
					  .class_path = o->class_path,
					  .force = o->force};
	struct heap_dump dump;
	struct heap_view view;
	struct heap_page_input page;
	int damaged, err;

	damaged = is_log ? heap_dump_open_log(o->input, &log, &dump)
			 : heap_dump_open(o->input, o->references, o->force, &dump);
	if (damaged < 0)
		return damaged;
	err = heap_view_init(&view, &dump.state,
			     o->references ? HEAP_NEEDS_REFERRERS : HEAP_NEEDS_DESC);
	if (err) {
		msg_error("%s: %s", o->input, heap_dump_error(err));
	} else {
		begin(o, &page);
		page.view = &view;
		page.references = o->references;
		page.agreement = is_log ? &dump.agreement : NULL;
		err = write_page(o, &page);
	}
	heap_view_free(&view);
	damaged |= heap_dump_differs(&dump);
	heap_dump_close(&dump);
	return err ? err : damaged;
}

int heap_page_command(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "FILE", doc, NULL, NULL, NULL};
	static char name[] = "spoor heap page";
	struct options o = {0};
	bool is_log;
	int err;

	argv[0] = name; /* what argp calls it in its messages */
	if (parse_arguments(&argp, argc, argv, 0, &o))
		return CMD_FAILED;
	if (rights_write_to(o.output))
		return CMD_FAILED;
	is_log = heap_dump_is_log(o.input);
	err = is_log && !o.references && !o.has_at ? page_of_log(&o) : page_of_moment(&o, is_log);
	return err ? CMD_FAILED : CMD_OK;
}
