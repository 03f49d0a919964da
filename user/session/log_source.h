/* session/log_source.h: the files of a recording that a command line names, read as one log. */
#pragma once

#include <stdbool.h>

#include "log/read/set.h"
#include "session/time_range.h"

struct log_reader;

/* All zero at first. */
struct log_source {
	const char **args; /* each lent */
	unsigned count, capacity;
	char name[256]; /* for messages: "a.spoor", or "a.spoor and others" */
	struct log_set *set;
	struct range range; /* of the time: only blocks that are needed for it are read */
	unsigned jobs;      /* 0: not given */
	bool force;         /* whoever it belongs to */
	bool holes;         /* the reader is to report them */
	/* What came out of pipes, in files without names, by the args' indexes. */
	struct log_source_spool {
		int fd; /* 0: there is none */
		char path[32];
	} * spools;
};

/* One more file, lent. 0 or -ENOMEM. */
int log_source_add(struct log_source *s, const char *arg);

/* Says on stderr what went wrong. To be called for each pass. 0 or negative errno. */
int log_source_open(struct log_source *s, struct log_reader **ret);
/* The same for several passes: what a pipe gives is kept in a file meanwhile. */
int log_source_open_again(struct log_source *s, struct log_reader **ret);
void log_source_free(struct log_source *s);

/* The file's name without its folders, or name. Lent. */
const char *log_source_title(const struct log_source *s);

/* Says on stderr why a log could not be opened; err is what opening it returned. */
void log_report_open(const char *path, int err);
