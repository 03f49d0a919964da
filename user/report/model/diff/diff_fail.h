/* report/model/diff/diff_fail.h: --fail-if, a limit of a change. */
#pragma once

#include <stdbool.h>

#include "report/model/diff/diff_report.h"

#define DIFF_FAIL_NAME_MAX 256

/* A figure, and by which part it may grow; or shrink, if is_less. */
struct diff_fail {
	enum measure_part part;
	char name[DIFF_FAIL_NAME_MAX];
	bool is_less;
	double limit;
};

/* "blocked>10%", "gc_pauses>+5%", "cpu<-20%", "p99:GET /orders>10%". 0; -EINVAL: it is not. */
int diff_fail_parse(const char *text, struct diff_fail *ret);
/* The names of figures that it takes, one after the other; NULL: no more. */
const char *diff_fail_name(unsigned n);

enum diff_failed { DIFF_FAIL_NOT, DIFF_FAIL_YES, DIFF_FAIL_UNKNOWN /* no log has the figure */ };
/* A figure that was 0 grows without limit. *ret_row: the row it is about; NULL where unknown. */
enum diff_failed diff_fail_is(const struct diff_fail *f, const struct comparison *c,
			      const struct comparison_row **ret_row);
