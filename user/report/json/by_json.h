/* report/json/by_json.h: the contention tree as JSON, alone and within the whole report. */
#pragma once

#include <stdio.h>

struct by_section;

/* The members by, total and groups of an object, without its braces. They are written as they are
 * made: of a million groups, jansson's values would take gigabytes. 0 or -ENOMEM; out's error flag
 * says the rest. */
int by_json_members(const struct by_section *b, FILE *out);
