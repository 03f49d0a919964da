/* report/holes.h: which parts of a recording are not there, in words and in JSON. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

struct log_set;

#define HOLES_TEXT_MAX 256

/*
 * The nth sentence: "part 5 is not there: 10:00:01 to 10:00:17 UTC (16.0 s)". set may be NULL;
 * ended: the log has its end.
 * false: there are no more.
 */
bool holes_text(const json_t *header, const struct log_set *set, bool ended, unsigned n,
		char buf[HOLES_TEXT_MAX]);
/* NULL: the log is not in parts. */
json_t *holes_json(const json_t *header, const struct log_set *set, bool ended);
