/* cmd/analyze_log.h: a log, opened and analysed to its end, for commands that print findings. */
#pragma once

#include <stdio.h>

#include "report/report.h"

struct event;

struct analyzed_log {
	const char *path;
	struct log_reader *reader;
	struct analysis *analysis;
	struct report_input input;
};

/* Says on stderr what went wrong. 0: to be closed; or negative errno. path is lent until then. */
int analyze_log(const char *path, struct analyzed_log *ret);

/* What else a command wants of the events; any may be NULL. 0 or negative errno, which ends it. */
struct log_watch {
	int (*begin)(void *ctx, struct analysis *a);    /* before the first event */
	int (*event)(void *ctx, const struct event *e); /* when the analysis has it; in order */
	void *ctx;
};

int analyze_log_watched(const char *path, const struct log_watch *w, struct analyzed_log *ret);
void analyzed_log_close(struct analyzed_log *l);

/*
 * To be called when the findings are out: says what the log lacks, and that the rest has been done
 * ("reported"). 0, or -EBADMSG: it lacks something.
 */
int analyzed_log_tell(const struct analyzed_log *l, const char *done);

/* The same for a log that a command reads itself; what opening it has failed with. */
int log_tell(const char *path, const struct report_input *in, bool ended, const char *done);
void log_tell_open(const char *path, int err);

/* 0; 1: a reader of a pipe that has seen enough, which is no failure; or -EIO, and it is said. */
int finish_output(FILE *out);
