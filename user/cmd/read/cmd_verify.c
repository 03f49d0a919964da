#include "cmd/cmd.h"
#include "cmd/read/log_options.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "base/text/msg.h"
#include "base/text/print.h"
#include "cmd/parse.h"
#include "log/read/paths.h"
#include "report/text/commands/verify_text.h"
#include "session/analyze_log.h"
#include "session/log_source.h"
#include "session/max_memory.h"
#include "session/owner.h"

enum { KEY_STRICT = 0x100, KEY_FORCE };

struct options {
	char **args;
	unsigned arg_count;
	char **paths;  /* of the files that these stand for */
	bool left_out; /* something that is no file */
	unsigned count, capacity;
	bool json;
	bool strict;
	bool quiet;
	bool force;
};

static const struct argp_option option_table[] = {
	{"format", 'f', "text|json", 0, "How to print it: text, or one JSON object", 0},
	{"quiet", 'q', NULL, 0, "Only the exit status, and what cannot be read", 0},
	{"strict", KEY_STRICT, NULL, 0, "Doubts are as bad as damage", 0},
	{"force", KEY_FORCE, NULL, 0,
	 "Read the log also if it belongs to another user than you or root", 0},
	MAX_MEMORY_OPTION,
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char doc[] =
	"Checks logs against the description of their format, byte by byte, and says what is in "
	"them.\v"
	"  spoor verify app.spoor\n"
	"  spoor verify -q app-*.spoor || echo damaged\n"
	"  spoor verify logs/\n"
	"      all logs of a folder; also quoted patterns\n"
	"  ssh host cat app.spoor | spoor verify -\n"
	"  spoor verify -f json app.spoor | jq '.files[].findings[]'\n"
	"\n"
	"Damage: bytes are not what was written, or are missing. 'spoor repair' makes a clean log "
	"of the rest. Doubt: they are what was written, but cannot be quite right, or are not "
	"whole: a number that nothing defines, a counter that runs backwards, a recorder that did "
	"not come to its end.\n"
	"\n"
	"Exit status: 0 all are sound; 1 one is damaged, or cannot be read; 2 wrong usage.\n";

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'f':
		o->json = parse_is_json(arg, state);
		return 0;
	case 'q':
		o->quiet = true;
		return 0;
	case KEY_FORCE:
		o->force = true;
		return 0;
	case KEY_STRICT:
		o->strict = true;
		return 0;
	case ARGP_KEY_ARGS:
		o->args = state->argv + state->next;
		o->arg_count = (unsigned)(state->argc - state->next);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which FILE? It is what 'spoor record -o FILE' wrote");
		return 0;
	default:
		return max_memory_option(key, arg, state) ? 0 : ARGP_ERR_UNKNOWN;
	}
}

static int add_path(void *ctx, const char *path, bool of_folder)
{
	struct options *o = ctx;
	int err;

	if (of_folder && log_path_is_special(path)) {
		msg_error("%s: is a pipe or a device: left out", path);
		o->left_out = true;
		return 0;
	}
	err = array_grow(&o->paths, &o->capacity, o->count, sizeof(*o->paths));
	if (err)
		return err;
	o->paths[o->count] = strdup(path);
	if (!o->paths[o->count])
		return -ENOMEM;
	o->count++;
	return 0;
}

/* True: each argument stands for a file at least; the others have been reported. */
static bool find_files(struct options *o)
{
	bool found = true;
	const char *why;

	for (unsigned i = 0; i < o->arg_count; i++) {
		int err = o->force ? 0 : owner_check(o->args[i]);

		if (err) {
			found = false;
			continue;
		}
		err = log_paths_each(o->args[i], add_path, o, &why);
		if (err && *why)
			msg_error("%s: %s", o->args[i], why);
		else if (err)
			log_report_open(o->args[i], err);
		found &= !err;
	}
	return found && !o->left_out;
}

static void paths_free(struct options *o)
{
	for (unsigned i = 0; i < o->count; i++)
		free(o->paths[i]);
	free(o->paths);
}

struct findings {
	unsigned count;
	struct check_finding list[VERIFY_FINDINGS_MAX];
};

static void keep_finding(void *ctx, const struct check_finding *f)
{
	struct findings *findings = ctx;

	if (findings->count < VERIFY_FINDINGS_MAX)
		findings->list[findings->count++] = *f;
}

/* True: it is sound. */
static bool verify(const struct options *o, const char *path, json_t *files, struct log_check *ret)
{
	struct findings *findings = calloc(1, sizeof(*findings));
	struct verify_input in = {.path = path, .check = ret, .strict = o->strict};
	int err = findings ? log_check(path, keep_finding, findings, ret) : -ENOMEM;
	bool sound;

	if (err) {
		log_report_open(path, err);
		free(findings);
		return false;
	}
	in.findings = findings->list;
	in.finding_count = findings->count;
	if (!files && !o->quiet)
		verify_text(&in, stdout);
	sound = verify_is_sound(&in);
	if (files && json_array_append_new(files, verify_json(&in))) {
		msg_error("%s: cannot print what is in it: %s", path, max_memory_error(-ENOMEM));
		sound = false;
	}
	free(findings);
	return sound;
}

static void warn(void *ctx, const char *text)
{
	(void)ctx;
	msg_warning("%s", text);
}

static bool verify_all(const struct options *o, struct log_check *checks, json_t *files)
{
	bool sound = true;

	for (unsigned i = 0; i < o->count; i++)
		sound &= verify(o, o->paths[i], files, &checks[i]);
	if (!verify_parts(checks, o->paths, o->count, &(struct verify_say){warn, NULL}))
		return sound;
	msg_error("cannot compare the parts: %s", max_memory_error(-ENOMEM));
	return false;
}

/* Takes files, which may be NULL. False: without memory, which has been said. */
static bool print_files(json_t *files)
{
	json_t *json = files ? json_pack("{so}", "files", files) : NULL;
	bool printed = json && !print_json_value(stdout, json, JSON_INDENT(2));

	if (printed)
		putchar('\n');
	json_decref(json);
	/* finish_output() says what is wrong with the file. */
	if (!files || printed || ferror(stdout))
		return true;
	msg_error("cannot print what was found: %s", max_memory_error(-ENOMEM));
	return false;
}

int cmd_verify(int argc, char **argv)
{
	static const struct argp argp = {option_table, parse_option, "FILE...", doc,
					 NULL,         NULL,         NULL};
	struct options o = {0};
	struct log_check *checks;
	json_t *files = NULL;
	bool sound, found;

	if (parse_arguments(&argp, argc, argv, 0, &o))
		return CMD_FAILED;
	found = find_files(&o);
	checks = calloc(o.count + 1, sizeof(*checks));
	if (o.json && !o.quiet)
		files = json_array();
	if (!checks || (o.json && !o.quiet && !files)) {
		msg_error("cannot verify it: %s", max_memory_error(-ENOMEM));
		free(checks);
		paths_free(&o);
		return CMD_FAILED;
	}
	sound = verify_all(&o, checks, files) && found;
	sound &= print_files(files);
	for (unsigned i = 0; i < o.count; i++)
		log_check_free(&checks[i]);
	free(checks);
	paths_free(&o);
	return finish_output(stdout) < 0 || !sound ? CMD_FAILED : CMD_OK;
}
