/* report/chrome/chrome.h: a log as a timeline: Trace Event JSON, for Perfetto and
 * chrome://tracing. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct chrome;
struct event;
struct log_names;
struct log_reader_stats;

struct chrome_options {
	uint64_t first_ns, last_ns; /* times of the log's first and last event */
	uint64_t from_ns, until_ns; /* only this, in the same clock; until_ns 0: to the end */
	uint64_t min_ns;            /* slices at least that long */
	const char *threads;        /* fnmatch(3) pattern of their names; NULL: all */
	unsigned frames;            /* of a call chain, at most */
	const char *title;          /* the log's name */
};

/* What is not in the timeline, beside what the log itself counts as lost. */
struct chrome_facts {
	bool ended;         /* there was an end event */
	uint64_t threads;   /* with a track */
	uint64_t half_seen; /* begins without an end, or ends without a begin */
	uint64_t events;    /* written */
};

/*
 * All that is not plain is lent until chrome_free: names are complete, header is the log's. Writes
 * to out, whose error flag says the rest. NULL: no memory.
 */
struct chrome *chrome_new(const struct chrome_options *options, const struct log_names *names,
			  const json_t *header, FILE *out);
void chrome_free(struct chrome *c);

/* Events in time order; the file is written as they come. 0 or -ENOMEM. */
int chrome_add(struct chrome *c, const struct event *e);
/* There are no events from from_ns to to_ns: nothing is drawn there. Those from before to_ns that
 * come next say what was open then. 0 or -ENOMEM. */
int chrome_hole(struct chrome *c, uint64_t from_ns, uint64_t to_ns);
/* What the reader has come past in the meantime. */
void chrome_gaps(struct chrome *c, const struct log_reader_stats *stats);
/* Writes the end of the file, also when something has failed: it is valid then. */
int chrome_finish(struct chrome *c, struct chrome_facts *ret);
