/* session/holes.h: which parts of a recording are not there, in words and in JSON. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct analysis;
struct log_set;

#define HOLES_TEXT_MAX 256

/*
 * The nth sentence: "part 5 is not there: 10:00:01 to 10:00:17 UTC (16.0 s)". set may be NULL;
 * ended: the log has its end.
 * false: there are no more.
 */
bool holes_text(const json_t *header, const struct log_set *set, bool ended, unsigned n,
		char buf[HOLES_TEXT_MAX]);
/* Adds "parts" to an object, if the log is in parts. */
void holes_json(const json_t *header, const struct log_set *set, bool ended, json_t **o);

/* How much of a time is in holes: nothing is known of it, and it is in no sum. */
uint64_t holes_missing_ns(const struct analysis *a, uint64_t from_ns, uint64_t to_ns);
/* "12.5 s, in 2 holes of the log, is in no sum; ..."; false: there are none. */
bool holes_missing_text(const struct analysis *a, char buf[HOLES_TEXT_MAX]);
/* Adds "missing_ns" and "holes" to an object, if there are any. */
void holes_missing_json(const struct analysis *a, json_t **o);
