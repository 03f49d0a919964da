/* record/watch/watcher.h: follows JVMs as they begin and end, each in a recorder of its own. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "jvm/target/labels.h"
#include "record/watch/jvm_name.h"
#include "record/watch/log_room.h"

struct relay;
struct rules;

#define WATCH_JVMS_MAX 255 /* as many slots as a relay has */
#define WATCH_WHY_MAX 1024

struct watch_jvm {
	pid_t pid;
	char name[JVM_NAME_MAX];
	struct labels labels;
	uint64_t age_ms; /* since the process began, when it was found; in steps of 10 ms */
	char path[4096]; /* of its log, without the parts' numbers; "": it is not recorded */
	bool starting;   /* it had just begun */
};

enum watch_event {
	WATCH_FOUND,    /* it is recorded from now on */
	WATCH_NO_PLACE, /* not recorded before another one ends: max_jvms are */
	WATCH_NO_ROOM,  /* likewise: those that are recorded may need all of max_total */
	WATCH_FAILED,   /* not recorded; see err */
	WATCH_ENDED,    /* its recorder has ended; see status */
};

struct watch_report {
	enum watch_event event;
	const struct watch_jvm *jvm;
	int err;                     /* WATCH_FAILED: negative errno */
	int status;                  /* WATCH_ENDED: of waitpid(2) */
	struct log_room_freed freed; /* WATCH_FOUND: what was deleted for its log */
};

struct watch_options {
	const struct rules *rules; /* lent */
	const char *folder;        /* of the logs; lent. It is created if need be */
	unsigned max_jvms;         /* at a time; WATCH_JVMS_MAX at most */
	uint64_t max_bytes;        /* of a log */
	uint64_t max_total;        /* of all parts of logs in the folder */
	/* Records a JVM, in a process of its own; its exit status is what it returns. */
	int (*record)(void *ctx, const struct watch_jvm *jvm, struct relay *relay, unsigned slot);
	/* Lent for the call. */
	void (*report)(void *ctx, const struct watch_report *t);
	void *ctx;
};

/*
 * Until a signal can be read from the descriptor `signals` (of a signalfd with SIGCHLD and those
 * that end it): then all recorders are asked to end, and waited for; at a second signal
 * they are killed.
 * ready is called with what is followed when all is attached. 0, or a negative errno, and why.
 */
int watch_run(const struct watch_options *o, int signals, void (*ready)(void *ctx),
	      char why[WATCH_WHY_MAX]);

/* Calls take with each JVM that there is now; fits: by the rules it would be followed. */
int watch_list(const struct rules *rules,
	       void (*take)(void *ctx, const struct watch_jvm *jvm, bool fits), void *ctx);
