/* log/write/pack.h: packs events into the body of a block that is open. */
#pragma once

#include <stdint.h>

#include "log/format/counters.h"
#include "log/write/writer_thread.h"

struct event;
struct event_desc;

struct open_block {
	struct packet *packet; /* NULL: not begun */
	uint64_t time_ns;      /* of the last event */
	uint64_t stack;        /* the last one that was defined */
	struct delta_table counters;
};

void open_block_free(struct open_block *b);
/* With an empty packet. The block owns it until somebody takes it. */
void open_block_begin(struct open_block *b, struct packet *packet);
/* -EINVAL: no such event. -ENOMEM: what the block had before is still whole. */
int open_block_add(struct open_block *b, const struct event *e);
