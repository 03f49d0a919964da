/* report/model/sections/commands/profile_basis.h: what a profile's figures rest on. */
#pragma once

#include <stdint.h>

struct profile_input;
struct profile_tree;

/* Period of --sample, by the header; 0: there was none. */
uint64_t profile_period_ns(const struct profile_input *in);
/* What made samples due: "timer", "cpu-clock", "tick", as the log's header has it; "": none, or the
 * header does not say. */
const char *profile_event(const struct profile_input *in);
uint64_t profile_lost(const struct profile_input *in);
/* So many samples are due in the time that the threads ran. Fewer were taken if a clock was late,
 * as when its CPU was stolen; that time is in the next sample's weight. 0: there is no period. */
uint64_t profile_expected(const struct profile_input *in, const struct profile_tree *t);
