/* analyze/row.h: what an analysis is to the registry, which runs all analyses. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "log/format/event.h"

struct log_names;

/* An event, as its subscribers get it. */
struct analysis_input {
	const struct event *event;
	/* The same event with the time from which on it counts: another one only for what was open
	 * at the end of a hole. */
	const struct event *counted;
	uint64_t last_ns; /* the greatest time so far: time never runs backwards */
};

/*
 * An analysis defines "const struct analysis_row NAME_analysis = {" next to its functions. By that
 * line the build finds it (registry/rows.def), and analysis_NAME() gives its struct NAME. All
 * functions but new, add and free may be NULL. Those that return int: 0 or -ENOMEM, after which the
 * analysis can only be freed.
 */
struct analysis_row {
	/* The events that it subscribes to, ended by 0; NULL: all of them. */
	const uint16_t *events;
	bool first; /* the log's first event, too, whatever it is: it says when the log begins */
	/* NULL: no memory. The names are the log's, lent, and complete up to the event at hand. */
	void *(*new)(struct log_names *names);
	/* Before the first event: those from before this time say only what was open then. */
	void (*begin)(void *self, uint64_t begin_ns);
	int (*add)(void *self, const struct analysis_input *in);
	/* Events of that time are missing. */
	int (*hole)(void *self, uint64_t from_ns, uint64_t to_ns);
	int (*finish)(void *self, uint64_t end_ns);
	void (*free)(void *self); /* takes NULL */
};

#define ROW_EVENTS(...) ((const uint16_t[]){__VA_ARGS__, 0})

/* The row's new and free of an analysis that is a plain struct, all zero at first. */
#define ROW_ZEROED(type)                                                                           \
	static void *type##_row_new(struct log_names *names)                                       \
	{                                                                                          \
		(void)names;                                                                       \
		return calloc(1, sizeof(struct type));                                             \
	}                                                                                          \
	static void type##_row_free(void *self)                                                    \
	{                                                                                          \
		if (self)                                                                          \
			type##_free(self);                                                         \
		free(self);                                                                        \
	}

/* Advances an analysis's clock past events that the analysis did not subscribe to. */
static inline void row_catch_up(uint64_t *now_ns, const struct analysis_input *in)
{
	if (*now_ns < in->last_ns)
		*now_ns = in->last_ns;
}
