/* report/chain.h: call chains, as rows of text and as JSON. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "analyze/stacks.h"
#include "report/label.h"

struct chain {
	const struct stacks *stacks;
	uint64_t stack; /* of the next row */
	bool full; /* a row for every frame; else internal ones are folded into their callers */
};

/*
 * From the innermost frame: "a.b.Table.lookUp:42 [+3]", where [+3] stands for three internal frames
 * that were called from there. "~" before a line that was inferred. false: there are no more rows.
 */
bool chain_next(struct chain *c, char buf[LABEL_MAX]);

/* All frames, from the innermost. A new reference. NULL: no memory. */
json_t *chain_json(const struct stacks *s, uint64_t stack);
