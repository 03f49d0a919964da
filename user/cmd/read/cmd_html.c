#include "cmd/cmd.h"
#include "cmd/read/export_output.h"
#include "cmd/read/log_options.h"
#include "cmd/read/page_log.h"
#include "cmd/read/where_option.h"
#include "cmd/rights.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/msg.h"
#include "cmd/parse.h"
#include "report/web/page.h"
#include "session/analyze_log.h"
#include "session/log_source.h"
#include "session/max_memory.h"

enum { KEY_MODE = 0x100, KEY_TITLE };

struct options {
	struct log_source source;
	const char *output; /* "-": stdout */
	const char *title;  /* NULL: the log's name */
	const char *where_text;
	struct condition *where; /* NULL: all contentions */
	mode_t mode;             /* of what is written; 0: 0600 */
};

static const struct argp_option option_table[] = {
	{"output", 'o', "FILE", 0,
	 "Where the page goes; an older FILE is replaced. - is standard output", 0},
	{"title", KEY_TITLE, "TEXT", 0, "The page's title; if not given, the log's name", 0},
	{"where", 'w', "CONDITION", 0,
	 "Only contentions of which it holds, such as 'owner_thread=http-* and "
	 "waiter_stack=*Cache*'; as report has it. The page itself can filter, too",
	 0},
	{"mode", KEY_MODE, "MODE", 0,
	 "Who may read FILE, in octal as for chmod (0600: nobody but its owner), such as 0644", 0},
	RANGE_OPTIONS,
	LOG_SOURCE_OPTIONS,
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Writes a page for a browser: one file with all in it, which opens from disk, asks nothing "
	"of the network, and can be sent to others. It says first what was found and what was "
	"lost; then blocked time can be looked at by any aspects in any order, filtered, and cut "
	"down to a part of the time, with flame graphs, with who blocked whom, with pauses and "
	"threads.\v"
	"  spoor html -o app.html app.spoor\n"
	"      the page of a log\n"
	"  spoor html -o - app.spoor | gzip > app.html.gz\n"
	"  spoor html --from 20s --to 30s -o app.html app.spoor\n"
	"      ten seconds of it, in finer steps\n"
	"  spoor html --where 'waiter_thread=http-*' -o http.html app.spoor\n"
	"      what one pool of threads waited for, and nothing else\n"
	"  spoor export --anonymize -o anonymous.spoor app.spoor &&\n"
	"      spoor html -o app.html anonymous.spoor\n"
	"      a page for others, without the names of your own code\n"
	"\n"
	"The page has the names of threads, classes and methods, as the log has. All figures are "
	"those of 'spoor report' of the same log. docs/html.md explains the page.\n"
	"\n"
	"Exit status: 0 done; 1 the log cannot be read, or a part of it is missing, and what could "
	"be read is in the page; 2 wrong usage.\n";

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	if (log_files_option(&o->source, key, arg, state))
		return 0;
	switch (key) {
	case 'o':
		o->output = arg;
		return 0;
	case KEY_TITLE:
		o->title = arg;
		return 0;
	case 'w':
		set_where(&o->where, arg, PAGE_FACETS, state);
		o->where_text = arg;
		return 0;
	case KEY_MODE:
		o->mode = parse_mode(arg, state);
		return 0;
	case ARGP_KEY_SUCCESS:
		page_output_check(o->output, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int page_write(void *ctx, struct page_input *page)
{
	const struct options *o = ctx;
	const char *output = strcmp(o->output, "-") ? o->output : NULL;
	FILE *out = export_output_open(&o->source, output, o->mode);
	int err;

	if (!out)
		return -EIO;
	page->title = o->title ? o->title : page->source;
	err = report_page(page, out);
	if (err)
		msg_error("%s: cannot make a page of it: %s", o->source.name,
			  max_memory_error(err));
	else
		err = finish_output(out);
	return export_output_close(out, output, err);
}

static int run(struct options *o)
{
	const struct page_log log = {.source = &o->source,
				     .where_text = o->where_text,
				     .where = o->where,
				     .write = page_write,
				     .ctx = o};

	return page_log_read(&log);
}

int cmd_html(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "FILE...", doc,
					 NULL,         NULL,         NULL};
	struct options o = {.output = NULL};
	int err;

	if (parse_arguments(&argp, argc, argv, 0, &o))
		return CMD_FAILED;
	if (rights_write_to(o.output))
		return CMD_FAILED;
	err = run(&o);
	where_free(o.where);
	log_source_free(&o.source);
	return err < 0 ? CMD_FAILED : CMD_OK;
}
