#include "report/model/diff/diff_fail.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
	"blocked",     "idle_turns",    "gc_pauses",      "cpu",        "java_running",
	"java_stolen", "java_runnable", "java_throttled", "java_lock",  "java_wait",
	"java_park",   "java_sleep",    "java_io",        "java_pause", "java_other",
};

const char *diff_fail_name(unsigned n)
{
	return n < sizeof(names) / sizeof(*names) ? names[n] : NULL;
}

static bool is_name(const char *name)
{
	const char *one;

	for (unsigned i = 0; (one = diff_fail_name(i)); i++)
		if (!strcmp(one, name))
			return true;
	return false;
}

/* "p99:GET /orders" is the row "GET /orders: p99". */
static int set_name(struct diff_fail *f, const char *name)
{
	static const char *const quantiles[] = {"p50", "p90", "p99"};

	f->part = MEASURE_TOTALS;
	snprintf(f->name, sizeof(f->name), "%s", name);
	if (is_name(name))
		return 0;
	f->part = MEASURE_SPAN_TIMES;
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++) {
		if (strncmp(name, quantiles[i], 3) || name[3] != ':' || !name[4])
			continue;
		snprintf(f->name, sizeof(f->name), "%s: %s", name + 4, quantiles[i]);
		return 0;
	}
	return -EINVAL;
}

static int set_limit(struct diff_fail *f, const char *text)
{
	char *end;

	f->limit = strtod(text, &end) / 100;
	if (end == text || strcmp(end, "%") || !isfinite(f->limit))
		return -EINVAL;
	return f->is_less ? (f->limit < 0 && f->limit >= -1 ? 0 : -EINVAL)
			  : (f->limit >= 0 ? 0 : -EINVAL);
}

int diff_fail_parse(const char *text, struct diff_fail *ret)
{
	/* A span's name may have such signs in it. */
	const char *more = strrchr(text, '>'), *less = strrchr(text, '<');
	const char *at = more > less ? more : less;
	char name[DIFF_FAIL_NAME_MAX - 8];
	size_t length = at ? (size_t)(at - text) : 0;

	while (length && text[length - 1] == ' ')
		length--;
	if (!at || !length || length >= sizeof(name))
		return -EINVAL;
	memcpy(name, text, length);
	name[length] = '\0';
	*ret = (struct diff_fail){.is_less = *at == '<'};
	return set_name(ret, name) ? -EINVAL : set_limit(ret, at + 1);
}

enum diff_failed diff_fail_is(const struct diff_fail *f, const struct comparison *c,
			      const struct comparison_row **ret_row)
{
	const struct comparison_row *r = comparison_find(c, f->part, f->name);
	double change;

	*ret_row = r;
	if (!r)
		return DIFF_FAIL_UNKNOWN;
	change = comparison_change(r);
	if (f->is_less)
		return change < f->limit * r->before.rate ? DIFF_FAIL_YES : DIFF_FAIL_NOT;
	return change > f->limit * r->before.rate ? DIFF_FAIL_YES : DIFF_FAIL_NOT;
}
