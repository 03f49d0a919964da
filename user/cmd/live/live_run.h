/* cmd/live/live_run.h: what the commands share that look at a recording while it goes on. */
#pragma once

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "cmd/live/top_source.h"

/* Keys of options; each command's own begin at LIVE_OWN. */
enum { LIVE_NO_WRITE = 1000, LIVE_PROBES, LIVE_VIRTUAL_PARKS, LIVE_OWN };

#define LIVE_PROBES_OPTION                                                                         \
	{"probes", LIVE_PROBES, "none|usdt|hooks|monitors|auto", 0,                                \
	 "What tells of locks and waits, as spoor record has it (default: auto)", 0}
#define LIVE_VIRTUAL_PARKS_OPTION                                                                  \
	{"virtual-parks", LIVE_VIRTUAL_PARKS, NULL, 0, LIVE_VIRTUAL_PARKS_HELP, 0}
#define LIVE_VIRTUAL_PARKS_HELP                                                                    \
	"Also virtual threads that park and leave their carriers, as spoor record has it; it "     \
	"costs a program that has many of them"

struct live_options {
	struct recorder_options recorder;
	const char *jvm; /* a process id, or a name */
	uint64_t interval_ns;
};

/* -p, --no-write, --probes, --virtual-parks, and that the JVM has to be named: what these commands
 * have in common. */
error_t live_parse(int key, const char *arg, struct argp_state *state, struct live_options *o);

struct live_recorder {
	const char *folder; /* in which its memory is handed over; nobody else can look into it */
	struct top_source source;
	int signals; /* a descriptor for those that end a command, and those of a terminal */
	char failed[sizeof((struct top_message){0}.text)]; /* why: TOP_FAILED; "": it has not */
};

/*
 * Starts the recorder, in memory that has room for an interval and for what is late, and calls run,
 * until which this process must have no threads; then waits for the recorder's end. quiet: as for
 * top_source_start. An exit status: a failure has been reported, but for that of run.
 */
int live_record(struct live_options *o, bool quiet,
		int (*run)(void *ctx, struct live_recorder *r), void *ctx);
/* What shows has no rights: it works on names that anybody may have made. 0 or negative errno. */
int live_give_up_rights(const struct live_recorder *r);
