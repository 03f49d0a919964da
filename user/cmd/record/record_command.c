#include "cmd/record/record_command.h"

#include <stdlib.h>
#include <string.h>

enum { OPT_COMMAND_LINE = 1400 };

static const struct argp_option options[] = {
	{"command-line", OPT_COMMAND_LINE, "HOW", 0,
	 "what the log keeps of command lines, the JVM's and spoor's own: redacted (the default; "
	 "without what looks like a password, token or key), full, or none",
	 0},
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	static const char *const names[] = {[COMMAND_LINE_REDACTED] = "redacted",
					    [COMMAND_LINE_FULL] = "full",
					    [COMMAND_LINE_NONE] = "none"};
	struct recorder_options *o = state->input;

	if (key != OPT_COMMAND_LINE)
		return ARGP_ERR_UNKNOWN;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(arg, names[i]))
			continue;
		o->command_line = (enum command_line)i;
		return 0;
	}
	argp_error(state, "--command-line is redacted, full or none, not '%s'", arg);
	return 0;
}

const struct argp record_command_argp = {options, parse_option, NULL, NULL, NULL, NULL, NULL};

/* Three times the bytes are what "key=a&key=b" can grow to. */
static int append(json_t *list, struct redact *r, enum command_line how, const char *argument)
{
	size_t size = 3 * strlen(argument) + 8 * sizeof(REDACTED);
	char *text = malloc(size);
	json_t *string;

	if (!text)
		return -1;
	redact_argument(r, argument, text, size);
	string = json_string(how == COMMAND_LINE_FULL ? argument : text);
	free(text);
	/* What is not UTF-8 is no JSON. */
	return json_array_append_new(list, string ? string : json_string("?"));
}

json_t *record_command_json(const struct recorder_options *o, int argc, char *const *argv)
{
	json_t *list = o->command_line == COMMAND_LINE_NONE ? NULL : json_array();
	struct redact r = {0};
	int err = list ? 0 : -1;

	if (!err)
		err = json_array_append_new(list, json_string("spoor")) |
		      json_array_append_new(list, json_string("record"));
	for (int i = 0; i < argc && !err; i++)
		err = append(list, &r, o->command_line, argv[i]);
	if (!err)
		return list;
	json_decref(list);
	return NULL;
}
