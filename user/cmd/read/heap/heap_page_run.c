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
#include "cmd/read/heap/heap_log.h"
#include "cmd/read/log_options.h"
#include "cmd/rights.h"
#include "heap/classify/heap_classifier.h"
#include "heap/replay/object_replay.h"
#include "report/heap/heap_page.h"
#include "session/analyze_log.h"
#include "session/log_source.h"
#include "session/owner.h"

enum { KEY_FORCE = 0x4000, KEY_MODE, KEY_TITLE };

struct options {
	const char *input, *output, *title;
	mode_t mode;
	bool force;
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

	if (max_memory_option(key, arg, state))
		return 0;
	switch (key) {
	case 'o':
		o->output = arg;
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
	struct object_replay *r = NULL;
	struct heap_page_input page;
	struct heap_stop stop;
	int damaged, err;

	if (!o->force && owner_check(o->input))
		return -EPERM;
	damaged = heap_log_replay(o->input, NULL, 0, &stop, &r);
	if (damaged < 0)
		return damaged;
	if (damaged)
		msg_warning("%s: parts of it are missing; what could be read is in the page",
			    o->input);
	begin(o, &page);
	page.log = r;
	err = write_page(o, &page);
	object_replay_free(r);
	return err ? err : damaged;
}

/* The same. */
static int page_of_dump(const struct options *o)
{
	struct heap_dump dump;
	struct heap_view view;
	struct heap_page_input page;
	int damaged = heap_dump_open(o->input, false, o->force, &dump), err;

	if (damaged < 0)
		return damaged;
	err = heap_view_init(&view, &dump.state, HEAP_NEEDS_DESC);
	if (err) {
		msg_error("%s: %s", o->input, heap_dump_error(err));
	} else {
		begin(o, &page);
		page.view = &view;
		err = write_page(o, &page);
	}
	heap_view_free(&view);
	heap_dump_close(&dump);
	return err ? err : damaged;
}

int heap_page_command(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "FILE", doc, NULL, NULL, NULL};
	static char name[] = "spoor heap page";
	struct options o = {0};
	int err;

	argv[0] = name; /* what argp calls it in its messages */
	if (parse_arguments(&argp, argc, argv, 0, &o))
		return CMD_FAILED;
	if (rights_write_to(o.output))
		return CMD_FAILED;
	err = heap_dump_is_log(o.input) ? page_of_log(&o) : page_of_dump(&o);
	return err ? CMD_FAILED : CMD_OK;
}
