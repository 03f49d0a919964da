/* cmd/live/top_source.h: the recorder of `spoor top`, in a process of its own. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/session/recorder.h"

enum top_message_kind {
	TOP_ATTACHED, /* text: what the recording lacks; "": nothing */
	TOP_WINDOW,   /* path: a log of what the recorder has in memory; the receiver's to remove */
	TOP_LAST,     /* likewise, and the recording has ended */
	TOP_FAILED,   /* text: why */
};

/* What the recorder reports; less than PIPE_BUF, so that it comes whole. */
struct top_message {
	enum top_message_kind kind;
	uint64_t from_ns, to_ns; /* of the log, in the events' clock */
	uint64_t lost;           /* events, so far */
	uint64_t cpu_ns;         /* of the recorder, so far */
	char path[256];
	char text[1024];
};

struct top_source {
	pid_t pid;
	int ask, from_recorder; /* descriptors; from_recorder can be waited for */
	int messages;  /* what the recorder has said on its stderr; -1: it went to ours */
};

/* How long what happens may take until it can be asked for: readers put into order what comes up to
 * a second late. */
#define TOP_LATE_NS 1200000000ull

/*
 * Forks the recorder, which is to write into folder. quiet: its messages are kept for later. To be
 * called before this process has threads. Negative errno.
 */
int top_source_start(const struct recorder_options *o, const char *folder, bool quiet,
		     struct top_source *ret);
/* Asks for a TOP_WINDOW. */
void top_source_ask(const struct top_source *s);
/* The next message of the recorder; waits for it. False: the recorder is no more. */
bool top_source_read(const struct top_source *s, struct top_message *ret);
/* Has it end the recording; TOP_LAST or TOP_FAILED comes yet. */
void top_source_stop(struct top_source *s);
/* Waits for its end; prints what it has said. Its exit status. */
int top_source_end(struct top_source *s);
/* The folder with all that is in it. 0, or -1 and errno. */
int top_source_remove(const char *folder);
