/* cmd/range.h: --from and --to, the stretch of a recording that a command is about. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct argp_state;

enum range_key { RANGE_KEY_FROM = 0x5000, RANGE_KEY_TO, RANGE_KEY_UNTIL };

/* Rows of a command's table of options. */
#define RANGE_FROM                                                                                 \
	{                                                                                          \
		"from", RANGE_KEY_FROM, "TIME", 0,                                                 \
			"Leave out what was before: 10s, 1m30s since the recording began, or a "   \
			"time of day: "                                                            \
			"12:34:56, 2026-11-21T12:34:56 (local time; with a Z behind it UTC)",      \
			0                                                                          \
	}
#define RANGE_OPTIONS                                                                              \
	RANGE_FROM,                                                                                \
	{                                                                                          \
		"to", RANGE_KEY_TO, "TIME", 0, "Leave out what was after", 0                       \
	}
/* Of a command of which --to is something else. */
#define RANGE_OPTIONS_UNTIL                                                                        \
	RANGE_FROM,                                                                                \
	{                                                                                          \
		"until", RANGE_KEY_UNTIL, "TIME", 0, "Leave out what was after", 0                 \
	}

/* All zero: everything. */
struct range {
	const char *from, *to;             /* as given; NULL: not given */
	bool until;                        /* to was given as --until */
	unsigned samples;                  /* of the threads, that are needed from around it */
	uint64_t from_ns, to_ns;           /* in the clock of the events, by range_resolve */
	uint64_t read_from_ns, read_to_ns; /* what is to be read for it */
};

static inline bool range_is_given(const struct range *r)
{
	return r->from || r->to;
}

static inline bool range_has(const struct range *r, uint64_t ns)
{
	return !range_is_given(r) || (ns >= r->from_ns && ns <= r->to_ns);
}

/* True: the key was one of them. What is no time ends it with the usage error. */
bool range_option(struct range *r, int key, const char *arg, struct argp_state *state);

/* Finds the moments, by a log's header. -EINVAL: --to is not behind --from; it has been said. */
int range_resolve(struct range *r, const json_t *header);
