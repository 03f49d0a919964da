/* report/json/by_json.h: the contention tree as JSON, alone and within the whole report. */
#pragma once

#include <jansson.h>

#include "report/model/report.h"

/* A new reference. 0 or -ENOMEM. */
int by_json(const struct report_input *in, const enum aspect_id *by, unsigned depth, json_t **ret);
