/* cmd/log_source.h: the files of a recording that a command line names, read as one log. */
#pragma once

#include <stdbool.h>

#include "cmd/max_memory.h"
#include "cmd/range.h"
#include "log/set.h"

struct argp_state;
struct log_reader;

enum { LOG_SOURCE_KEY_JOBS = 0x5100, LOG_SOURCE_KEY_FORCE };

#define LOG_SOURCE_JOBS_MAX 256

/* Rows of a command's table of options. */
#define LOG_SOURCE_OPTIONS                                                                         \
	{"jobs",                                                                                   \
	 LOG_SOURCE_KEY_JOBS,                                                                      \
	 "N",                                                                                      \
	 0,                                                                                        \
	 "Threads that decode the log; if not given, one per CPU",                                 \
	 0},                                                                                       \
		{"force",                                                                          \
		 LOG_SOURCE_KEY_FORCE,                                                             \
		 NULL,                                                                             \
		 0,                                                                                \
		 "Read the log also if it belongs to another user than you or root",               \
		 0},                                                                               \
		MAX_MEMORY_OPTION

/* All zero at first. */
struct log_source {
	const char **args; /* each lent */
	unsigned count;
	char name[256]; /* for messages: "a.spoor", or "a.spoor and others" */
	struct log_set *set;
	struct range range; /* of the time: only blocks that are needed for it are read */
	unsigned jobs;      /* 0: not given */
	bool force;         /* whoever it belongs to */
	bool holes;         /* the reader is to tell of them */
	/* What came out of pipes, in files without names, by the args' places. */
	struct log_source_spool {
		int fd; /* 0: there is none */
		char path[32];
	} * spools;
};

/* True: the key was one of the range's, or of the rows above. */
bool log_source_option(struct log_source *s, int key, const char *arg, struct argp_state *state);

/* For a parser of options: what is no option. */
void log_source_add(struct log_source *s, const char *arg, struct argp_state *state);

/* Says on stderr what went wrong. To be called for each pass. 0 or negative errno. */
int log_source_open(struct log_source *s, struct log_reader **ret);
/* The same for several passes: what a pipe gives is kept in a file meanwhile. */
int log_source_open_again(struct log_source *s, struct log_reader **ret);
void log_source_free(struct log_source *s);

/* The file's name without its folders, or name. Lent. */
const char *log_source_title(const struct log_source *s);
