/* report/by.h: the contention tree as JSON, alone and within the whole report. */
#pragma once

#include <jansson.h>

#include "report/report.h"

/* A new reference. 0 or -ENOMEM. */
int by_json(const struct report_input *in, const enum aspect_id *by, unsigned depth, json_t **ret);
/* One line. -ENOMEM; what out says of writing is the caller's. */
int json_dump_write(const json_t *o, FILE *out);
