/* analyze/registry/contention_row.h: the analysis of contention, from hole to hole of a log. */
#pragma once

#include <stdint.h>

struct cell_interval;
struct cell_key;
struct contention;

/* Before the first event: see contention_observe(). */
void contention_row_observe(void *self,
			    void (*observe)(void *context, const struct cell_key *key,
					    uint64_t from_ns, uint64_t to_ns),
			    void *context);
void contention_row_observe_intervals(void *self,
				      void (*ended)(void *context,
						    const struct cell_interval *interval));
/* After the row's finish(): that of the whole log. */
const struct contention *contention_row_get(const void *self);
