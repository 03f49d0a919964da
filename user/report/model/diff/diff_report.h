/* report/model/diff/diff_report.h: two sides of recordings compared, and written out. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "analyze/diff/call_agreement.h"
#include "analyze/diff/comparison.h"
#include "report/model/diff/diff_log.h"

struct findings;
struct strbuf;

struct diff_input {
	const struct diff_side *before, *after;
	const struct comparison *comparison; /* of both */
	const char *by; /* the aspects that were asked for, as they were given; NULL: none */
	double least;   /* a change below this part of a figure is none */
	unsigned top;   /* rows in each list for people */
	bool all;       /* also those that may be chance */
};

enum diff_verdict {
	DIFF_NO_WAITING, /* on neither side */
	DIFF_NONE,       /* nothing that stands out */
	DIFF_LESS,       /* time is blocked, and that stands out */
	DIFF_MORE,
	DIFF_VERDICT_COUNT,
};

enum diff_verdict diff_verdict(const struct diff_input *in);
const char *diff_verdict_name(enum diff_verdict v);

/* What stands out: of the time blocked; of what else changed most. Nothing is added if there is
 * nothing to be said. */
void diff_sentence_blocked(const struct diff_input *in, struct strbuf *o);
void diff_sentence_other(const struct diff_input *in, struct strbuf *o);
/* "/s", "/span", "/CPU s"; "second", "span", "cpu". */
const char *diff_unit(const struct diff_input *in);
const char *diff_per_name(enum measure_per per);
/* "locks", as in JSON; and what people read above it. */
const char *diff_part_name(enum measure_part part);
const char *diff_part_title(enum measure_part part);
/* "waiters", as in JSON; and what people read of it. */
const char *diff_chains_name(enum diff_chains kind);
const char *diff_chains_title(enum diff_chains kind);
const char *diff_basis_name(enum call_basis basis);
/* Whether a log has any call chains of this kind. */
bool diff_chains_are_there(const struct diff_input *in, enum diff_chains kind);
/* How alike they are. 0 or -ENOMEM. */
int diff_chains_agreement(const struct diff_input *in, enum diff_chains kind,
			  struct call_agreement *ret);

/* All are to be freed with findings_free(); NULL, or an err in them: no memory. */
/* Rows of a part: programs get all, people those that stand out; hidden: how many do not. */
struct findings *diff_section_rows(const struct diff_input *in, enum measure_part part,
				   unsigned *ret_hidden);
struct findings *diff_section_logs(const struct diff_input *in);
/* Sentences: what makes the comparison doubtful. */
struct findings *diff_section_not_known(const struct diff_input *in);

/* 0 or -ENOMEM; out's error flag says the rest. */
int report_diff_text(const struct diff_input *in, FILE *out);
int report_diff_json(const struct diff_input *in, FILE *out);
int report_diff_csv(const struct diff_input *in, FILE *out);
