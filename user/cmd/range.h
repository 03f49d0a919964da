/* cmd/range.h: --from and --to, the stretch of a recording that a command is about. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct argp_state;

enum range_key { RANGE_KEY_FROM = 0x5000, RANGE_KEY_TO };

/* Rows of a command's table of options. */
#define RANGE_OPTIONS                                                                              \
	{"from",                                                                                   \
	 RANGE_KEY_FROM,                                                                           \
	 "TIME",                                                                                   \
	 0,                                                                                        \
	 "Leave out what was before: 10s, 1m30s since the recording began, or a time of day: "     \
	 "12:34:56, 2026-11-21T12:34:56 (local time; with a Z behind it UTC)",                     \
	 0},                                                                                       \
	{                                                                                          \
		"to", RANGE_KEY_TO, "TIME", 0, "Leave out what was after", 0                       \
	}

/* All zero: everything. */
struct range {
	const char *from, *to;   /* as given; NULL: not given */
	uint64_t from_ns, to_ns; /* in the clock of the events, by range_resolve */
};

static inline bool range_is_given(const struct range *r)
{
	return r->from || r->to;
}

/* True: the key was one of the two. What is no time ends it with the usage error. */
bool range_option(struct range *r, int key, const char *arg, struct argp_state *state);

/* Finds the moments, by a log's header. -EINVAL: --to is not behind --from; it has been said. */
int range_resolve(struct range *r, const json_t *header);
