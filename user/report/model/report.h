/* report/model/report.h: findings, written out as text or JSON. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "analyze/groups/groups.h"
#include "session/session_log.h"

struct facet_cells;

/* What a report is about, and how much of it is wanted. */
struct report_input {
	const struct session_log *log; /* analysed */
	unsigned top;                  /* rows in each list */
	bool full;                     /* call chains with all their frames */
	enum group_order order; /* of locks, groups and methods; GROUP_BY_TIME also reports idle
				   turn-taking as of all other waiting */
	/* The contentions that it is about; where and cells NULL: all. where is --where as it was
	 * given, and cells are what it has chosen, or those of an interval. */
	const char *where;
	const struct cell *cells;
	uint32_t cell_count;
	const struct facet_cells *facets; /* the cells are some of these; NULL: they are not cut */
	bool parked; /* --by is about parking on what is no lock, and who has ended it */
};

/* The cells that it is about. */
const struct cell *report_cells(const struct report_input *in, uint32_t *ret_count);
/* How long their contentions were. */
const struct lengths *report_lengths(const struct report_input *in);
/* Their groups, with quantiles. 0 or -ENOMEM. */
int report_groups(const struct report_input *in, const enum aspect_id *by, unsigned depth,
		  struct group *ret);

/* All write to out, whose error flag says the rest. 0 or -ENOMEM. */
int report_text(const struct report_input *in, FILE *out);
int report_json(const struct report_input *in, FILE *out);
/* One section alone. by: of contention only; depth 0: as in JSON. -ENOENT: there is none of this
 * name. */
int report_csv(const struct report_input *in, const char *name, const enum aspect_id *by,
	       unsigned depth, FILE *out);
/* A row for each cell, by all aspects for which cells need not be cut. */
int report_cells_csv(const struct report_input *in, FILE *out);
/* The names, "contention, gc, ..."; returns buf, of REPORT_SECTIONS_MAX bytes. */
#define REPORT_SECTIONS_MAX 256
char *report_sections(char *buf);
bool report_has_section(const char *name);
/* Whether --by says of which groups it is. */
bool report_section_takes_by(const char *name);
int report_by_text(const struct report_input *in, const enum aspect_id *by, unsigned depth,
		   FILE *out);
int report_by_json(const struct report_input *in, const enum aspect_id *by, unsigned depth,
		   FILE *out);
