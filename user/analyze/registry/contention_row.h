/* analyze/registry/contention_row.h: the analysis of contention, from hole to hole of a log. */
#pragma once

#include <stdint.h>

#include "analyze/cells/cell_part.h"

struct contention;

/* Before the first event: see contention_observe(). */
void contention_row_observe(void *self, cell_part_observer *observe, void *context);
void contention_row_observe_intervals(void *self, cell_interval_observer *ended);
/* After the row's finish(): that of the whole log. */
const struct contention *contention_row_get(const void *self);
