/* analyze/profile/in_spans.h: marked spans of threads, and which of them are wanted. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/tables/keymap.h"

struct event;
struct log_names;

struct in_spans_options {
	const char *pattern; /* fnmatch(3) of the spans' names; NULL: spans do not matter */
	const struct log_names *names; /* lent */
	uint64_t least_ns;             /* only spans that took so long, */
	unsigned least_per_mille;      /* or as long as this many of 1,000 of them do not exceed */
};

/* A span of such a name that is in no other. */
struct marked_span {
	uint64_t thread, begin_ns, ns;
	uint64_t name;   /* a string; 0: "" */
	uint64_t cpu_ns; /* the thread's counter at the begin, then what it has grown by */
	bool ended;
};

struct in_spans {
	struct in_spans_options options;
	struct keymap thread_map;
	struct in_spans_thread *threads;
	struct marked_span *spans;
	uint32_t threads_capacity, span_count, spans_capacity;
	uint32_t ended, chosen; /* spans; after in_spans_finish */
	uint64_t least_ns;      /* what the chosen ones have at least */
};

/* A begin or an end of a span. *ret: one that is wanted has begun: samples count from now on. */
int in_spans_add(struct in_spans *s, const struct event *e, uint64_t cpu_ns, bool *ret);
/* The span that the thread is in; false: in no such span. */
bool in_spans_now(const struct in_spans *s, uint64_t thread, uint32_t *ret);
/* Events are missing: what is open is forgotten. */
void in_spans_hole(struct in_spans *s);
/* 0 or -ENOMEM. */
int in_spans_finish(struct in_spans *s);
/* After that. */
bool in_spans_is_chosen(const struct in_spans *s, uint32_t span);
void in_spans_free(struct in_spans *s);
