/* report/model/diff/diff_paths.h: blocked time of a log by calling context; for diff_blocked.c. */
#pragma once

#include <stdint.h>

#include "analyze/diff/call_paths.h"

struct cell;
struct diff_paths;
struct log_names;

/* names is lent until diff_paths_free. NULL: no memory. */
struct diff_paths *diff_paths_new(const struct log_names *names);
/* So much of a cell's time. */
void diff_paths_add(struct diff_paths *p, const struct cell *cell, uint64_t ns);
/* Adds to the waiters' and the owners' paths what each chain has itself. 0 or -ENOMEM. */
int diff_paths_finish(const struct diff_paths *p, struct call_paths *waiters,
		      struct call_paths *owners);
void diff_paths_free(struct diff_paths *p);
