/* report/report.h: findings, written out as text or JSON. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "analyze/groups.h"
#include "log/reader.h"

struct analysis;
struct log_set;

struct report_input {
	const struct analysis *analysis; /* finished */
	const json_t *header;
	const struct log_set *set; /* of the files it is in; NULL: not told */
	struct log_reader_stats stats;
	uint64_t from_ns, to_ns; /* only of this part of it, in the clock of the events; 0: not
				  * limited */
	bool damaged;            /* the reader said so */
	uint64_t late;           /* events that came too late to be sorted */
	unsigned top;            /* rows in each list */
	bool full;               /* call chains with all their frames */
	bool parked; /* --by is about parking on what is no lock, and who has ended it */
};

/* All write to out, whose error flag tells the rest. 0 or -ENOMEM. */
int report_text(const struct report_input *in, FILE *out);
int report_json(const struct report_input *in, FILE *out);
int report_by_text(const struct report_input *in, const enum aspect_id *by, unsigned depth,
		   FILE *out);
int report_by_json(const struct report_input *in, const enum aspect_id *by, unsigned depth,
		   FILE *out);

/* What a damaged log lacks, as a sentence for a person. */
void report_damage(const struct report_input *in, char *buf, size_t size);
