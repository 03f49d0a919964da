/* report/text.h: the sections of the text report; each prints nothing when it has no data. */
#pragma once

#include "report/label.h"
#include "report/report.h"

struct text {
	const struct report_input *in;
	struct labels *labels;
	const struct stacks *stacks;
	FILE *out;
	uint64_t duration_ns; /* of the recording */
	unsigned sections;    /* printed so far */
};

/* A heading, with a line between it and the section above. */
void text_heading(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* 0 or -ENOMEM. */
int text_recorded(struct text *t);
int text_locks(struct text *t);
int text_parking(struct text *t);
int text_pauses(struct text *t);
int text_cpus(struct text *t);
int text_threads(struct text *t);

/* Members of the header; "" and 0 where it has none. */
const char *header_text(const json_t *header, const char *object, const char *key);
uint64_t header_number(const json_t *header, const char *object, const char *key);
/* "G1", "Serial", ...; "" when the flags do not tell. */
const char *header_collector(const json_t *header);
/* From the header's start, else from the first event, to the last event. */
uint64_t report_duration(const struct report_input *in);
