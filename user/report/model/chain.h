/* report/model/chain.h: call chains, as rows of text and as a table. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "analyze/stacks/stacks.h"
#include "report/model/findings.h"
#include "report/model/label.h"

struct chain {
	const struct stacks *stacks;
	uint64_t stack; /* of the next row */
	bool full; /* a row for every frame; else internal ones are folded into their callers */
	bool end;  /* the last row was no frame, but says that frames are missing */
};

/*
 * From the innermost frame: "a.b.Table.lookUp:42 [+3]", where [+3] stands for three internal frames
 * that were called from there. "~" before a line that was inferred. false: there are no more rows.
 */
bool chain_next(struct chain *c, char buf[LABEL_MAX]);

/* All frames of a chain, from the innermost, for programs. To be freed with findings_free(). */
struct findings *chain_findings(const struct stacks *s, uint64_t stack);

/* New references. NULL: no memory. A method as a text; the method of a group by waiter_method or
 * owner_method, which may be "(hand-over)". */
json_t *method_json(const struct stacks *s, uint32_t method);
json_t *group_method_json(const struct stacks *s, const struct group *g);
