/* cmd/record/record_memory.h: the option of `spoor record` for what it may keep in memory. */
#pragma once

#include <argp.h>

#include "record/session/recorder.h"

/* A child of the command's own parser; its input is the recorder's options. */
extern const struct argp record_memory_argp;

/* When all options are known: fills in the default; what does not go together ends with the usage
 * error. */
void record_memory_check(struct recorder_options *o, struct argp_state *state);
void record_memory_summary(const struct recorder_options *o, const struct recorder_stats *s);
