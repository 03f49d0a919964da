/* report/protobuf/perfetto.h: contentions as a trace of Perfetto. */
#pragma once

#include <stdint.h>
#include <stdio.h>

struct contention_events;

/*
 * A slice for each contention, on the track of the thread that was blocked. Where it is known who
 * held the lock for most of it, it is called as perfetto_name.h says. Writes to out, whose error
 * flag tells the rest. 0 or -ENOMEM.
 */
int perfetto_contentions(const struct contention_events *in, FILE *out);
