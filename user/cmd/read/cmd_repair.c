#include "base/create.h"
#include "cmd/cmd.h"
#include "cmd/read/log_options.h"
#include "cmd/rights.h"
#include "session/owner.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/msg.h"
#include "base/text/units.h"
#include "cmd/parse.h"
#include "log/check/check.h"
#include "log/check/log_repair.h"
#include "log/read/reader.h"
#include "session/analyze_log.h"
#include "session/log_source.h"
#include "session/max_memory.h"

enum { KEY_HEADER_FROM = 0x100 };

struct options {
	const char *path;
	const char *output;
	const char *header_from;
	bool force;
};

static const struct argp_option option_table[] = {
	{"output", 'o', "OUT", 0, "The clean log; - is standard output", 0},
	{"force", 'f', NULL, 0,
	 "Overwrite OUT if it is there; read FILE also if it belongs to another user than you or "
	 "root",
	 0},
	{"header-from", KEY_HEADER_FROM, "OTHER", 0,
	 "If the header is damaged, take that of this log: another part of the same recording, or "
	 "another one of the same JVM",
	 0},
	MAX_MEMORY_OPTION,
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Makes a clean log of a damaged one: of all that is intact in it.\v"
	"  spoor repair app.spoor -o clean.spoor\n"
	"  spoor repair app-000003.spoor --header-from app-000002.spoor -o clean.spoor\n"
	"\n"
	"Blocks are kept as they are, or left out with all that is in them, if anything in them "
	"cannot be vouched for. The new log says so: in its header, and by a note where something "
	"is missing, which reports show. 'spoor verify' says beforehand what is damaged. The "
	"damaged log is not changed.\n"
	"\n"
	"Exit status: 0 done, whatever was missing; 1 it could not be done; 2 wrong usage.\n";

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'o':
		o->output = arg;
		return 0;
	case 'f':
		o->force = true;
		return 0;
	case KEY_HEADER_FROM:
		o->header_from = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (o->path)
			argp_error(state, "one FILE at a time, not also '%s'", arg);
		if (!strcmp(arg, "-"))
			argp_error(state, "FILE is read twice: put what comes out of a pipe into "
					  "a file");
		o->path = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which FILE? It is a log that 'spoor verify' calls damaged");
		return 0;
	case ARGP_KEY_SUCCESS:
		if (!o->output)
			argp_error(state, "where to? -o OUT is the clean log");
		return 0;
	default:
		return max_memory_option(key, arg, state) ? 0 : ARGP_ERR_UNKNOWN;
	}
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat of_a, of_b;

	return !stat(a, &of_a) && !stat(b, &of_b) && of_a.st_dev == of_b.st_dev &&
	       of_a.st_ino == of_b.st_ino;
}

/* NULL: none is needed, or it has been said that there is none (*ret_err is set). */
static json_t *header_from(const struct options *o, const struct log_check *sum, int *ret_err)
{
	struct log_reader *r;
	json_t *header;

	*ret_err = 0;
	if (sum->header) {
		if (o->header_from)
			msg_info("%s: its own header is intact, and is kept", o->path);
		return NULL;
	}
	if (!o->header_from) {
		msg_warning("%s: its header is damaged, and a new one lacks what only that said: "
			    "host, JVM, clocks; --header-from OTHER takes another log's",
			    o->path);
		return NULL;
	}
	*ret_err = log_reader_open(o->header_from, &r);
	if (*ret_err) {
		log_report_open(o->header_from, *ret_err);
		return NULL;
	}
	header = json_deep_copy(log_reader_header(r));
	/* A copy lacks, in silence, the keys for which there was no memory. */
	if (!json_equal(header, log_reader_header(r))) {
		*ret_err = -ENOMEM;
		log_report_open(o->header_from, *ret_err);
	}
	log_reader_close(r);
	return header;
}

static void report_done(const struct options *o, const struct log_check *sum,
			const struct log_repair *done)
{
	char size[UNITS_TEXT_MAX], skipped[UNITS_TEXT_MAX];

	if (!sum->damage)
		msg_info("%s: nothing was damaged", o->path);
	else
		msg_info("%s: left out: %" PRIu64 " damaged and %" PRIu64
			 " missing blocks, %s that are none",
			 o->path, sum->blocks_damaged, sum->blocks_missing,
			 size_format(sum->bytes_skipped, skipped));
	msg_info("%s: %" PRIu64 " events in %" PRIu64 " blocks, %s; notes in it tell of %" PRIu64
		 " holes",
		 o->output, done->events, done->blocks, size_format(done->bytes, size),
		 done->holes);
}

static int repair(const struct options *o)
{
	struct log_repair_options options = {o->path, o->output,     o->force,
					     NULL,    SPOOR_VERSION, NULL};
	struct log_repair done;
	struct log_check sum;
	json_t *header;
	int err = o->force ? 0 : owner_check(o->path);

	if (!err && o->header_from && !o->force)
		err = owner_check(o->header_from);
	if (err)
		return err;
	err = log_check(o->path, NULL, NULL, &sum);
	if (err) {
		log_report_open(o->path, err);
		return err;
	}
	header = header_from(o, &sum, &err);
	options.header = header;
	if (!err) {
		err = log_repair(&options, &sum, &done);
		if (err == -EEXIST)
			msg_error("%s: there is such a file; -f overwrites it", o->output);
		else if (err && done.write_failed)
			msg_error("%s: cannot write it: %s", o->output, file_create_error(err));
		else if (err)
			msg_error("%s: cannot repair it: %s", o->path, max_memory_error(err));
	}
	if (!err)
		report_done(o, &sum, &done);
	json_decref(header);
	log_check_free(&sum);
	return err;
}

int cmd_repair(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "FILE", doc, NULL, NULL, NULL};
	struct options o = {0};

	if (parse_arguments(&argp, argc, argv, 0, &o))
		return CMD_FAILED;
	if (rights_write_to(o.output))
		return CMD_FAILED;
	if (!strcmp(o.output, "-") && isatty(STDOUT_FILENO)) {
		msg_error("a log is not for a terminal: -o FILE, or into a pipe");
		return CMD_FAILED;
	}
	if (is_same_file(o.path, o.output)) {
		msg_error("%s: this is the damaged log itself; choose another OUT", o.output);
		return CMD_FAILED;
	}
	return repair(&o) ? CMD_FAILED : CMD_OK;
}
