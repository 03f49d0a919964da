/* report/model/sections/commands/profile_window.h: which part of a log a profile is of. */
#pragma once

#include <jansson.h>

struct profile_options;
struct range;

/* Sets from_ns, to_ns and from_begin, and everything else to zero. The range is that of the log's
 * source once it is open. */
void profile_window_set(struct profile_options *o, const json_t *header, const struct range *r);
