/* report/model/sections/commands/time_report.h: the course of threads' states over time, written
 * out. */
#pragma once

#include <stdio.h>

#include "analyze/threads/state_windows.h"
#include "report/model/sections/wall_rows.h"

struct time_input {
	const struct report_input *in; /* its top is rows of windows; 0: all */
	enum wall_by by;
	uint64_t start_ns; /* of the recording; times count from there on */
};

struct time_cell {
	uint32_t threads; /* that had any time in this window */
	struct states states;
};

/* Rows and windows of it; what is in no row of its own is in the last. */
struct time_table {
	struct wall_rows rows;
	const struct state_window *windows; /* lent by the analysis */
	uint32_t window_count;
	uint32_t shown; /* rows that have cells of their own */
	uint32_t more;  /* rows that share the last row of cells; 0: there is none */
	const struct state_windows *course; /* lent */
	/* By the rows of cells, one more than there are: where the row's threads begin among the
	 * threads. Cells are summed up when they are asked for: there are more than fit. */
	uint32_t *first;
	uint32_t *threads;   /* indexes in the analysis */
	struct states *sums; /* of each row of cells */
};

uint64_t time_since_start(const struct time_input *in, uint64_t ns);
/* 0: *ret is to be freed; -ENOMEM. */
int time_table_make(const struct time_input *in, struct time_table *ret);
void time_table_free(struct time_table *t);
struct time_cell time_cell_get(const struct time_table *t, uint32_t row, uint32_t window);
/* Rows of cells. */
uint32_t time_row_count(const struct time_table *t);

/* Part of the table: as many rows of cells and windows from these on. */
struct time_part {
	uint32_t row, row_count, window, window_count;
};

/* As those of sections.h: a row for each window of each row; the windows; one row, with its
 * windows, for JSON. */
struct findings;
struct findings *time_section(const struct time_input *in, const struct time_table *t,
			      const struct time_part *part);
struct findings *time_section_windows(const struct time_input *in, const struct time_table *t);
struct findings *time_section_row(const struct time_input *in, const struct time_table *t,
				  uint32_t row);

/* 0 or -ENOMEM; out's error flag says the rest. */
int report_time_text(const struct time_input *in, FILE *out);
int report_time_json(const struct time_input *in, FILE *out);
int report_time_csv(const struct time_input *in, FILE *out);
