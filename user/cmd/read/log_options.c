#include "cmd/read/log_options.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>

#include "base/text/msg.h"
#include "base/text/units.h"
#include "session/analyze_log.h"
#include "session/max_memory.h"

bool max_memory_option(int key, const char *arg, struct argp_state *state)
{
	uint64_t bytes;

	if (key != MAX_MEMORY_KEY)
		return false;
	if (size_parse(arg, &bytes) || max_memory_set(bytes))
		argp_error(state, "--max-memory is a size from 32M on, as 512M or 8G, not '%s'",
			   arg);
	return true;
}

static bool range_option(struct range *r, int key, const char *arg, struct argp_state *state)
{
	if (key < RANGE_KEY_FROM || key > RANGE_KEY_UNTIL)
		return false;
	if (key != RANGE_KEY_FROM)
		r->until = key == RANGE_KEY_UNTIL;
	if (range_time_check(arg))
		argp_error(state, "--%s is a time such as 10s, 1m30s or 12:34:56, not '%s'",
			   key == RANGE_KEY_FROM ? "from"
			   : r->until            ? "until"
						 : "to",
			   arg);
	*(key == RANGE_KEY_FROM ? &r->from : &r->to) = arg;
	return true;
}

bool jobs_option(int key, const char *arg, struct argp_state *state, unsigned *ret)
{
	unsigned long jobs;
	char *end;

	if (key != LOG_SOURCE_KEY_JOBS)
		return false;
	jobs = strtoul(arg, &end, 10);
	if (*arg < '0' || *arg > '9' || *end || !jobs || jobs > LOG_SOURCE_JOBS_MAX)
		argp_error(state, "--jobs is a number from 1 to %d, not '%s'", LOG_SOURCE_JOBS_MAX,
			   arg);
	*ret = (unsigned)jobs;
	return true;
}

bool log_source_option(struct log_source *s, int key, const char *arg, struct argp_state *state)
{
	if (key == LOG_SOURCE_KEY_FORCE)
		return s->force = true;
	if (max_memory_option(key, arg, state))
		return true;
	return jobs_option(key, arg, state, &s->jobs) ||
	       range_option(&s->range, key, arg, state);
}

bool log_files_option(struct log_source *s, int key, const char *arg, struct argp_state *state)
{
	if (key == ARGP_KEY_NO_ARGS)
		argp_error(state, "which FILE? It is what 'spoor record -o FILE' wrote");
	else if (key == ARGP_KEY_ARG)
		log_source_argument(s, arg, state);
	else
		return log_source_option(s, key, arg, state);
	return true;
}

void log_source_argument(struct log_source *s, const char *arg, struct argp_state *state)
{
	if (log_source_add(s, arg))
		argp_failure(state, 1, ENOMEM, "%s", arg);
}

int report_finish(const struct log_source *s, FILE *out, int err)
{
	if (!err)
		return finish_output(out);
	msg_error("%s: cannot report on it: %s", s->name, max_memory_error(err));
	return err;
}
