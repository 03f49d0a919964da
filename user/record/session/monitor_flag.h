/* record/session/monitor_flag.h: DTraceMonitorProbes for the time of a recording. */
#pragma once

#include "jvm/flag/flag_hold.h"

#include <stdbool.h>

#define MONITOR_FLAG "DTraceMonitorProbes"
#define MONITOR_WHY_MAX 256

struct monitor_flag {
	struct flag_hold *hold; /* NULL: nothing is to be put back */
	const char *state; /* "on", "was_on", "missing", or of no use: sources.monitor of the log */
	char why[MONITOR_WHY_MAX]; /* it is missing; else "" */
	bool left;                 /* it was found on, left behind by a killed recorder */
};

/* Has the guardian turn it on, unless no_write. What does not work is said in ret->why: a recording
 * without monitor events is worth having. */
void monitor_flag_hold(const struct jvm *j, struct flag_guard *g, bool no_write,
		       struct monitor_flag *ret);
/* Of a recording that needs no flag. state: "hooks" or "switches", static: what reports instead. */
void monitor_flag_not_needed(struct monitor_flag *ret, const char *state);
/* As flag_hold_release. */
int monitor_flag_release(struct monitor_flag *f, struct flag_hold_end *ret);

#define MONITOR_FLAG_OTHERS                                                                        \
	"the flag " MONITOR_FLAG " stays on in the JVM: another recorder holds it"
/* Sentences for the log's notes and the user. */
#define MONITOR_FLAG_LEFT                                                                          \
	"the flag " MONITOR_FLAG " was already on, and nobody had set it: a recorder that was "    \
	"killed has left it on; it is turned off at the end of this recording"
#define MONITOR_FLAG_FOUND_OFF                                                                     \
	"somebody else turned the flag " MONITOR_FLAG " off %u times during the recording; each "  \
	"time it was turned on again within a second: monitor events of these times are missing"
