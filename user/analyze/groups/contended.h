/* analyze/groups/contended.h: which locks' blocked time is contention. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct log_names;

/* By the events that used it, else by the lock's group. */
bool lock_is_contended(const struct log_names *names, uint64_t lock, bool monitor);
