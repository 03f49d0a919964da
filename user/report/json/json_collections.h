/* report/json/json_collections.h: what a patched JVM tells of collections and safepoints, as
 * JSON. */
#pragma once

#include <jansson.h>

struct pause_times;
struct report_input;

/* count, total_ns, max_ns. */
void json_set_times(json_t **o, const struct pause_times *t);
/* Adds collections, phases, phases_incomplete and safepoint_times, as far as the log has any. */
void json_set_collections(json_t **pauses, const struct report_input *in);
