/* record/decode/losses.h: what a recording has lost or could not keep, as its log says it. */
#pragma once

#include <stdint.h>

#include "bpf/wire/wire_kinds.h"
#include "log/format/event.h"

struct chains;
struct log_writer;
struct memory;
struct translate;

#define LOSSES_KEYS (WIRE_KIND_COUNT * WIRE_LOSS_STAGE_COUNT)

struct losses {
	uint64_t lost[LOSSES_KEYS], memory[SCHEMA_ID_MAX + 1], unknown[SCHEMA_ID_MAX + 1];
	uint64_t walks[WALK_RESULT_COUNT];
	uint64_t total, ring; /* events; of these, for want of room in the ring buffer */
};

/* Each writes the counts that have changed since it was called last. now: by kind and loss stage,
 * as BPF counts. */
void losses_write_lost(struct losses *l, const uint64_t now[LOSSES_KEYS], const struct translate *t,
		       struct log_writer *w);
/* now: as BPF counts; those that user space counts are filled in here. */
void losses_write_walks(struct losses *l, uint64_t now[WALK_RESULT_COUNT], const struct chains *c,
			struct log_writer *w);
