/* analyze/registry/contention_row.h: the analysis of contention, from hole to hole of a log. */
#pragma once

#include "analyze/registry/row.h"

struct cell_key;
struct contention;

/* Functions of the row. */
void *contention_row_new(struct log_names *names);
void contention_row_begin(void *self, uint64_t begin_ns);
int contention_row_add(void *self, const struct analysis_input *in);
int contention_row_hole(void *self, uint64_t from_ns, uint64_t to_ns);
int contention_row_finish(void *self, uint64_t end_ns);
void contention_row_free(void *self);

/* Before the first event: see contention_observe(). */
void contention_row_observe(void *self,
			    void (*observe)(void *context, const struct cell_key *key,
					    uint64_t from_ns, uint64_t to_ns),
			    void *context);
/* After contention_row_finish(): that of the whole log. */
const struct contention *contention_row_get(const void *self);
