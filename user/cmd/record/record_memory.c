#include "cmd/record/record_memory.h"

#include <stdlib.h>

#include "base/text/msg.h"
#include "base/text/units.h"
#include "record/identity/memory.h"

#define BUFFER_DEFAULT (16ull << 20)
#define BUFFER_FAST (64ull << 20) /* some seconds of two CPUs each 100 us, with new chains */
#define SAMPLE_FAST_NS 500000u
#define MAX_THREADS 32768u /* MAP_THREADS_MAX of record/kernel/map_sizes.h */

enum { OPT_MAX_MEMORY = 1300, OPT_MAX_THREADS };

static const struct argp_option options[] = {
	{"max-memory", OPT_MAX_MEMORY, "SIZE", 0,
	 "memory that the recorder may take, e.g. 512M (default: 256M, and what --flight-recorder "
	 "keeps); what it then cannot remember it forgets, counts, and says",
	 0},
	{"max-threads", OPT_MAX_THREADS, "N", 0,
	 "how many threads the JVM may have at a time (default: four times as many as it has when "
	 "the recording begins, 4096 at least; at most 32768); the kernel keeps some 3 KB for each "
	 "of them; of threads beyond it nothing is told, but that they are lost",
	 0},
	{0},
};

static void parse_threads(const char *arg, struct argp_state *state, uint32_t *ret)
{
	char *end;
	unsigned long n = strtoul(arg, &end, 10);

	if (*arg < '0' || *arg > '9' || *end || !n || n > MAX_THREADS)
		argp_error(state, "--max-threads is from 1 to %u, not '%s'", MAX_THREADS, arg);
	*ret = (uint32_t)n;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct recorder_options *o = state->input;

	switch (key) {
	case OPT_MAX_MEMORY:
		if (size_parse(arg, &o->max_memory) || !o->max_memory)
			argp_error(state, "'%s' is not a size such as 512M", arg);
		return 0;
	case OPT_MAX_THREADS:
		parse_threads(arg, state, &o->max_threads);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp record_memory_argp = {options, parse_option, NULL, NULL, NULL, NULL, NULL};

/* Where all CPUs are busy, fast samples fill the ring buffer while the recorder waits for one. */
static uint64_t buffer_bytes(const struct recorder_options *o, uint64_t other)
{
	if (!o->sample.period_ns || o->sample.period_ns >= SAMPLE_FAST_NS)
		return BUFFER_DEFAULT;
	other += BUFFER_FAST - BUFFER_DEFAULT;
	return !o->max_memory || o->max_memory >= MEMORY_LEAST + other ? BUFFER_FAST
								       : BUFFER_DEFAULT;
}

void record_memory_check(struct recorder_options *o, struct argp_state *state)
{
	uint64_t other = o->flight.keep_ns ? o->log.max_bytes : 0;
	char text[UNITS_TEXT_MAX];

	if (!o->buffer_bytes)
		o->buffer_bytes = buffer_bytes(o, other);
	if (o->buffer_bytes > BUFFER_DEFAULT)
		other += o->buffer_bytes - BUFFER_DEFAULT;
	o->max_memory_other = other;
	if (!o->max_memory)
		o->max_memory = MEMORY_DEFAULT + other;
	if (o->max_memory < MEMORY_LEAST + other)
		argp_error(state, "--max-memory is too small: with %s it is %s or more",
			   o->flight.keep_ns ? "what --flight-recorder keeps" : "this --buffer",
			   size_format(MEMORY_LEAST + other, text));
}

void record_memory_summary(const struct recorder_options *o, const struct recorder_stats *s)
{
	char max[UNITS_TEXT_MAX];

	if (s->given_up)
		msg_warning("--max-memory (%s) was reached: %llu locks, names or call chains were "
			    "forgotten, or had no number of their own; the report says which",
			    size_format(o->max_memory, max), (unsigned long long)s->given_up);
}
