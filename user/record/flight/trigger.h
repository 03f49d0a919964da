/* record/flight/trigger.h: what a flight recorder writes its memory for: looks at events as they
 * pass. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct event;
struct triggers;

enum trigger_kind {
	TRIGGER_BLOCKED, /* a thread, on a monitor or on a lock that somebody owns */
	TRIGGER_PAUSE,   /* a safepoint or a collection's pause */
	TRIGGER_STEAL,   /* of all CPUs, in a window */
	TRIGGER_KIND_COUNT,
};

struct trigger {
	enum trigger_kind kind;
	uint64_t limit; /* ns; of steal: in a million */
};

#define TRIGGERS_MAX 8
#define TRIGGER_TEXT_MAX 512

/* "blocked:100ms", "pause:200ms", "steal:5%". -EINVAL: it is none. */
int trigger_parse(const char *text, struct trigger *ret);

/* list is copied. NULL: no memory. */
struct triggers *triggers_new(const struct trigger *list, unsigned count);
void triggers_free(struct triggers *t); /* accepts NULL */

/* An event, in the order in which they are written. -ENOMEM. */
int triggers_add(struct triggers *t, const struct event *e);
/* What numbers stand for: the event (EVENT_THREAD, ...) that has defined one, lent until the next
 * call. False: nobody knows. */
struct trigger_names {
	bool (*find)(void *ctx, uint16_t event, uint64_t number, struct event *ret);
	void *ctx;
};

/*
 * True: one of them has come true since the last call, or is true now, at now_ns, as what is open
 * lasts that long already; text says which and who: one thing is reported once.
 */
bool triggers_fired(struct triggers *t, const struct trigger_names *names, uint64_t now_ns,
		    char text[TRIGGER_TEXT_MAX]);
