/* cmd/read/replay/heap_log_facts.h: what a log says besides its object events: how the heap is
 * laid out, how threads are called. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "heap/snapshot/heap_spaces.h"

struct log_names;

struct heap_log_facts {
	struct heap_spaces spaces; /* HEAP_OTHER: the header says too little */
	struct log_names *names;   /* NULL: not asked for */
};

/* names: of threads, too, for which the log's definitions are read. 0; -ENOMEM; what opening said.
 * *ret is to be freed in any case. */
int heap_log_facts_read(const char *log, bool names, struct heap_log_facts *ret);
void heap_log_facts_free(struct heap_log_facts *f);
/* ctx: the facts. NULL: not known; lent until they are freed. */
const char *heap_log_thread(const void *ctx, int64_t java_tid);
