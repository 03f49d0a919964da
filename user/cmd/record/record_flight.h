/* cmd/record/record_flight.h: options of `spoor record` for a flight recorder, and what
 * it has written. */
#pragma once

#include <argp.h>
#include <stdbool.h>

#include "record/session/recorder.h"

/* A child of the command's own parser; its input is the recorder's options. */
extern const struct argp record_flight_argp;

/* When all options are known: what does not go together ends with the usage error. */
void record_flight_check(struct recorder_options *o, struct argp_state *state);

/* For recorder_options.dumped; ctx is a struct flight_report. */
struct flight_report {
	bool quiet, failed; /* failed: a file could not be written */
};
void record_flight_report(void *ctx, const struct dump *d);
/* Before and after. */
void record_flight_intro(const struct recorder_options *o);
void record_flight_summary(const struct recorder_stats *s);
