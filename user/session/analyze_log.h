/* session/analyze_log.h: a log, opened and analysed to its end, for commands that print
 * findings. */
#pragma once

#include <stdio.h>

#include "session/session_log.h"

struct event;
struct log_source;

struct analyzed_log {
	const char *name; /* the source's; lent until then */
	struct log_reader *reader;
	struct analysis *analysis;
	struct session_log log;
};

/* What else a command wants of the events; any may be NULL. 0 or negative errno, which ends it. */
struct log_watch {
	/* before the first event */
	int (*begin)(void *ctx, struct analysis *a, const json_t *header);
	int (*event)(void *ctx, const struct event *e); /* when the analysis has it; in order */
	int (*hole)(void *ctx, uint64_t from_ns, uint64_t to_ns); /* as analysis_hole() */
	void *ctx;
};

/* w NULL: nothing. Says on stderr what went wrong. 0: *ret is to be closed, before the source is;
 * or negative errno. */
int analyze_log_watched(struct log_source *source, const struct log_watch *w,
			struct analyzed_log *ret);
void analyzed_log_close(struct analyzed_log *l);

/*
 * To be called when the findings are out: says what the log lacks, and that the rest has been done
 * ("reported"). 0, or -EBADMSG: it lacks something.
 */
int analyzed_log_report(const struct analyzed_log *l, const char *done);

/*
 * The same for a log that a command reads itself. Parts of the recording that are not there are
 * told and no failure: nobody asked for them.
 */
int log_report(const char *name, const struct session_log *l, bool ended, const char *done);
void log_report_holes(const json_t *header, const struct log_set *set, bool ended);

/* 0; 1: a reader of a pipe that has seen enough, which is no failure; or -EIO, and it is said. */
int finish_output(FILE *out);
