/* report/model/sections/commands/spans_report.h: spans, written out as text or JSON. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "analyze/spans/spans.h"

struct findings;
struct labels;
struct report_input;
struct section_input;
struct stacks;

/* in is finished, and so is s; both write to out, whose error flag says the rest. 0 or -ENOMEM. */
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
 * By time; their number. Parks that are no locks (nobody held them, or nothing says who) are left
 * out.
 */
unsigned spans_rows(const struct span_blockers *b, const struct stacks *stacks,
		    struct spans_row ret[SPAN_BLOCKERS_MAX]);

/* Two tables for people are made of the names: how long, and in which states. */
enum spans_view { SPANS_VIEW_TIMES = 1, SPANS_VIEW_STATES = 2, SPANS_VIEW_NONE = 4 };

/* As those of sections.h; in has the stacks of the spans. */
struct findings *spans_section_names(const struct section_input *in, const struct spans *s);
struct findings *spans_section_blockers(const struct section_input *in, const struct spans *s);
struct findings *spans_section_list(const struct section_input *in, const struct span *const *spans,
				    uint32_t count, bool ended);
/* "a.b.Table #3"; returns buf, of LABEL_MAX bytes. */
char *label_span_lock(const struct labels *l, uint64_t lock, char *buf);
