/* base/text/format.h: counts, shares and sums for people. */
#pragma once

#include <stdint.h>

#include "base/text/units.h"

#define FORMAT_MAX UNITS_TEXT_MAX

/* "1,234,567". Returns buf, as all of these. */
char *count_format(uint64_t count, char buf[FORMAT_MAX]);
/* "93.4 %", "<0.1 %", "0 %"; "-" when there is no whole. */
char *share_format(uint64_t part, uint64_t whole, char buf[FORMAT_MAX]);
/* The same without digits after the point, for sentences: "93 %". */
char *share_round(uint64_t part, uint64_t whole, char buf[FORMAT_MAX]);
/* total / count as a duration; "-" when there is nothing. */
char *mean_format(uint64_t total_ns, uint64_t count, char buf[FORMAT_MAX]);
/* As duration_format, but "0" and not "0 ns": in a table most of these mean "none". */
char *time_format(uint64_t ns, char buf[FORMAT_MAX]);
