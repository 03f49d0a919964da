/* report/model/spans_report.h: spans, written out as text or JSON. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "analyze/spans/spans.h"

struct report_input;
struct stacks;

/* in is finished, and so is s; both write to out, whose error flag tells the rest. 0 or -ENOMEM. */
int report_spans_text(const struct report_input *in, const struct spans *s, FILE *out);
int report_spans_json(const struct report_input *in, const struct spans *s, FILE *out);

/* Events of spans that the log has lost, by its own count: the nesting may be wrong. */
uint64_t spans_lost(const struct report_input *in);

/* A span's blockers, those whose holder was in the same method as one. */
struct spans_row {
	uint64_t lock;
	uint64_t holder;
	uint32_t method; /* of the holder, as stacks_method() has it */
	uint64_t ns;
};

/*
 * By time; their number. Parks that are no locks (nobody held them, or nothing tells who) are left
 * out.
 */
unsigned spans_rows(const struct span_blockers *b, const struct stacks *stacks,
		    struct spans_row ret[SPAN_BLOCKERS_MAX]);
