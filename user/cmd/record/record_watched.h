/* cmd/record/record_watched.h: `spoor record` as `spoor watch` runs it, for one JVM of many. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct relay;

/* A pid that stands for each JVM, in arguments that are only checked. */
#define RECORD_WATCHED_ANY 1

struct record_watched {
	pid_t pid;
	const char *path; /* of the log, which is written in parts: without "-000001" */
	uint64_t max_bytes;
	struct relay *relay;
	unsigned relay_slot;
	bool starting; /* the JVM has begun just now */
};

/* Whether these arguments of record, which must have -p RECORD_WATCHED_ANY, can be used for all:
 * NULL, or why not. Wrong usage ends the program, as it does in record. */
const char *record_watched_check(int argc, char **argv);

/* In a process of its own, forked from whoever has opened the relay: records to the end of the JVM,
 * or until a signal. An exit status. */
int record_watched(const struct record_watched *w, int argc, char **argv);
