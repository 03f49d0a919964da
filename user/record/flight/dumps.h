/* record/flight/dumps.h: a flight recorder's files: when they are written, and by a thread of
 * their own. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/flight/trigger.h"

struct dumps;
struct event;
struct log_output;
struct log_writer;

struct dumps_options {
	const char *path; /* as flight_take_write() has it; lent */
	uint64_t keep_ns, max_bytes;
	uint64_t after_ns; /* what comes so long after a trigger is in its file, too */
	struct trigger triggers[TRIGGERS_MAX];
	unsigned trigger_count;
};

/* The output is for log_writer_open(), which owns it from then on. -ENOMEM. */
int dumps_new(const struct dumps_options *o, struct dumps **ret, struct log_output **ret_output);
void dumps_free(struct dumps *d); /* accepts NULL; waits for what is being written */

/* For struct log_writer_options.watch; ctx is a struct dumps. */
void dumps_watch(void *ctx, const struct event *e);

/* At least every 100 ms: looks at the triggers, begins what is due. 0 or the writer's error. */
int dumps_pass(struct dumps *d, struct log_writer *w, uint64_t now_ns);
/* Begins a file with what there is, as soon as another one is written. ended: the log has its
 * end. */
int dumps_write(struct dumps *d, struct log_writer *w, const char *why, bool ended);
/* Waits until it is written. */
void dumps_wait(struct dumps *d);

struct dump {
	const char *why;
	char *path; /* NULL: it could not be written, see err; lent until the next call */
	int err;
	uint64_t bytes, from_ns, to_ns;
	bool short_of; /* it goes back less than keep_ns, for want of max_bytes */
};

/* True: *ret is the next file that was written, or could not be. */
bool dumps_next(struct dumps *d, struct dump *ret);
/* Triggers that came within keep_ns of the one before, and have no file. */
uint64_t dumps_passed_over(const struct dumps *d);
