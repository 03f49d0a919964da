/* cmd/read/log_options.h: options of the commands that read logs: which files, which time, how much
 * memory. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "session/log_source.h"

struct argp_state;

enum range_key { RANGE_KEY_FROM = 0x5000, RANGE_KEY_TO, RANGE_KEY_UNTIL };

enum { MAX_MEMORY_KEY = 0x5180 };

/* Rows of a command's table of options. */
#define RANGE_FROM                                                                                 \
	{                                                                                          \
		"from", RANGE_KEY_FROM, "TIME", 0,                                                 \
			"Leave out what was before: 10s, 1m30s since the recording began, or a "   \
			"time of day: 12:34:56, 2026-11-21T12:34:56 (local time; with a Z behind " \
			"it UTC)",                                                                 \
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

/* A row of a command's table of options. */
#define MAX_MEMORY_OPTION                                                                          \
	{                                                                                          \
		"max-memory", MAX_MEMORY_KEY, "SIZE", 0,                                           \
			"Give up rather than use more memory than SIZE; if not given, 4G, or "     \
			"half of the machine's if that is less",                                   \
			0                                                                          \
	}

enum { LOG_SOURCE_KEY_JOBS = 0x5100, LOG_SOURCE_KEY_FORCE };

#define LOG_SOURCE_JOBS_MAX 256

/* A row of a command's table of options. */
#define JOBS_OPTION                                                                                \
	{                                                                                          \
		"jobs", LOG_SOURCE_KEY_JOBS, "N", 0,                                               \
			"Threads that decode the log; if not given, one per CPU", 0                \
	}
/* Rows of a command's table of options. */
#define LOG_SOURCE_OPTIONS                                                                         \
	JOBS_OPTION,                                                                               \
		{"force",                                                                          \
		 LOG_SOURCE_KEY_FORCE,                                                             \
		 NULL,                                                                             \
		 0,                                                                                \
		 "Read the log also if it belongs to another user than you or root",               \
		 0},                                                                               \
		MAX_MEMORY_OPTION

/* For a parser of options. True: the key was that of MAX_MEMORY_OPTION, and holds from now on. */
bool max_memory_option(int key, const char *arg, struct argp_state *state);

/* The same of JOBS_OPTION; *ret is the number then. */
bool jobs_option(int key, const char *arg, struct argp_state *state, unsigned *ret);

/* True: the key was one of the rows above. A bad argument ends the parser with the usage error. */
bool log_source_option(struct log_source *s, int key, const char *arg, struct argp_state *state);

/* The same, and the files of the log, of which there is one at least: ARGP_KEY_ARG and
 * ARGP_KEY_NO_ARGS. */
bool log_files_option(struct log_source *s, int key, const char *arg, struct argp_state *state);

/* For a parser of options: an argument that is no option. */
void log_source_argument(struct log_source *s, const char *arg, struct argp_state *state);

/* err: of printing findings to out. Says what went wrong, also at out's end. 0; 1: who reads a pipe
 * has seen enough; or negative errno. */
int report_finish(const struct log_source *s, FILE *out, int err);
