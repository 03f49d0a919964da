#include "cmd/parse.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/msg.h"
#include "base/text/print.h"
#include "base/text/strbuf.h"
#include "base/text/units.h"
#include "cmd/cmd.h"
#include "log/format/event.h"

#define WORDS_TEXT_MAX 512
#define WINDOW_MOST_NS (366 * 24 * 3600 * NS_PER_S)

bool parse_arguments(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
	argp_err_exit_status = CMD_USAGE;
	if (!argp_parse(argp, argc, argv, flags, NULL, input))
		return false;
	msg_error("the arguments cannot be read: out of memory");
	return true;
}

unsigned parse_top(const char *arg, struct argp_state *state)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(arg, &end, 10);
	if (errno || end == arg || *end || *arg == '-' || !n || n > 1000000)
		argp_error(state, "--top wants a number from 1 to 1000000, not '%s'", arg);
	return (unsigned)n;
}

mode_t parse_mode(const char *arg, struct argp_state *state)
{
	char *end;
	unsigned long mode = strtoul(arg, &end, 8);

	if (*arg < '0' || *arg > '7' || *end || mode > 0666 || (mode & 0700) != 0600)
		argp_error(state, "--mode is from 0600 to 0666, such as 0640 or 0644, not '%s'",
			   arg);
	return (mode_t)mode;
}

static void print_event_names(struct argp_state *state)
{
	unsigned count, i;
	const struct event_desc *events = schema_events(&count);

	print_text(state->err_stream, "spoor: the events are:");
	for (i = 0; i < count; i++)
		print_text(state->err_stream, " %s", events[i].name);
	fputc('\n', state->err_stream);
}

void parse_events(char *arg, bool *selected, struct argp_state *state)
{
	const struct event_desc *desc;
	char *save, *name;

	for (name = strtok_r(arg, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		desc = schema_event_by_name(name);
		if (desc) {
			selected[desc->id] = true;
			continue;
		}
		print_event_names(state);
		argp_error(state, "there is no event '%s'", name);
	}
}

pid_t parse_jvm(const char *arg, struct argp_state *state)
{
	char *end;
	long pid = strtol(arg, &end, 10);

	if (*end && end == arg)
		return 0;
	if (*end || end == arg || pid <= 0 || pid > 1 << 22)
		argp_error(state, "'%s' is neither a process id nor a name", arg);
	return (pid_t)pid;
}

int word_index(const char *const *words, int count, const char *arg)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(arg, words[i]))
			return i;
	return -1;
}

int parse_word(const char *option, const char *arg, const char *const *words,
	       struct argp_state *state)
{
	char list[WORDS_TEXT_MAX] = "";

	for (int i = 0; words[i]; i++)
		if (!strcmp(arg, words[i]))
			return i;
	for (int i = 0; words[i]; i++)
		buffer_add(list, sizeof(list), "%s%s", !i ? "" : words[i + 1] ? ", " : " or ",
			   words[i]);
	argp_error(state, "--%s is %s, not '%s'", option, list, arg);
	return -1;
}

bool parse_is_json(const char *arg, struct argp_state *state)
{
	static const char *const formats[] = {"text", "json", NULL};

	return parse_word("format", arg, formats, state) == 1;
}

int parse_found(const char *option, const char *arg, int found, const char *all,
		struct argp_state *state)
{
	if (found < 0)
		argp_error(state, "--%s is %s, not '%s'", option, all, arg);
	return found;
}

uint64_t parse_window(const char *arg, struct argp_state *state)
{
	uint64_t ns = 0;

	if (duration_parse(arg, &ns) || ns > WINDOW_MOST_NS)
		argp_error(state, "--window wants a time like 10s, 500ms or 2m, not '%s'", arg);
	if (ns < NS_PER_MS)
		argp_error(state, "--window is 1ms at least, not '%s'", arg);
	return ns;
}

/* Below, the clock's interrupts would be most of what runs. */
#define SAMPLE_LEAST_NS 50000
#define SAMPLE_MOST_NS NS_PER_S

uint64_t parse_period(const char *arg, struct argp_state *state)
{
	uint64_t ns = 10 * NS_PER_MS;

	if (arg && duration_parse(arg, &ns))
		argp_error(state, "'%s' is not a duration such as 10ms", arg);
	if (ns < SAMPLE_LEAST_NS || ns > SAMPLE_MOST_NS)
		argp_error(state, "--sample: from 50us to 1s, not %s", arg);
	return ns;
}
