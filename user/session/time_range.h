/* session/time_range.h: --from and --to, the stretch of a recording that a command is about. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

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

/* 0, or -EINVAL: this is no time such as 10s, 1m30s or 12:34:56. */
int range_time_check(const char *text);

/* Finds the moments, by a log's header. -EINVAL: --to is not after --from; it has been said. */
int range_resolve(struct range *r, const json_t *header);
