/* report/model/sections/commands/gc_report.h: collections, pauses and the heap over time, written
 * out. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "analyze/gc/gc_sums.h"
#include "analyze/gc/gc_trend.h"

struct findings;
struct report_input;
struct section_input;
struct strbuf;

struct gc_input {
	const struct report_input *in;  /* its top is rows of lists */
	const struct gc_series *series; /* finished */
	uint64_t start_ns;              /* of the recording; times are given from there on */
	bool pauses;                    /* one by one, too; CSV: these only */
	bool ascii;                     /* the chart has no characters but those */
	unsigned width;                 /* of the terminal */
};

/* What is made of the series for all outputs. */
struct gc_model {
	const struct gc_input *in;
	const struct gc_row *rows; /* lent by the series */
	uint32_t row_count;
	struct gc_facts facts;
	struct gc_sums sums;
	struct gc_trend trend;
	uint64_t duration_ns, end_ns; /* of the time that is reported on */
};

/* 0: *ret is to be freed; -ENOMEM. */
int gc_model_make(const struct gc_input *in, struct gc_model *ret);
void gc_model_free(struct gc_model *m);
uint64_t gc_since_start(const struct gc_model *m, uint64_t ns);

/* Which rows a table has. */
enum gc_which {
	GC_WHICH_HEAP = 1, /* of which the heap around is known, or which are cycles */
	GC_WHICH_PAUSES = 2,
};

/* As those of sections.h. Rows from *at on, as many as a table should have at once; *at becomes the
 * first that is not in it. */
struct findings *gc_section_rows(const struct section_input *in, const struct gc_model *m,
				 enum gc_which which, uint32_t *at);
/* The longest pauses, the longest first, as many as are wanted. */
struct findings *gc_section_longest(const struct section_input *in, const struct gc_model *m);
struct findings *gc_section_causes(const struct section_input *in, const struct gc_model *m);
/* Sentences: what the log lacks, and what the figures do not say. */
struct findings *gc_section_not_known(const struct gc_model *m);

/* What the pauses took; where the heap goes; how fast it is filled: sentences, one by one. */
void gc_sentence_pauses(const struct gc_model *m, struct strbuf *o);
/* Why pauses take long, if collections free little. */
void gc_sentence_kept(const struct gc_model *m, struct strbuf *o);
void gc_sentence_heap(const struct gc_model *m, struct strbuf *o);
void gc_sentence_rate(const struct gc_model *m, struct strbuf *o);
const char *gc_basis_name(enum gc_trend_basis basis);
const char *gc_course_name(enum gc_trend_course course);

/* 0 or -ENOMEM; out's error flag says the rest. */
int report_gc_text(const struct gc_input *in, FILE *out);
int report_gc_json(const struct gc_input *in, FILE *out);
int report_gc_csv(const struct gc_input *in, FILE *out);
