#include "cmd/read/where_option.h"

#include <errno.h>

#include "analyze/contention/contention.h"
#include "analyze/registry/analysis.h"

void set_where(struct condition **where, const char *arg, struct argp_state *state)
{
	char error[WHERE_ERROR_MAX];
	struct condition *parsed;
	int err = where_parse(arg, &parsed, error);

	if (err == -EINVAL)
		argp_error(state, "--where '%s': %s", arg, error);
	else if (err)
		argp_failure(state, 1, -err, "--where");
	if (err)
		return;
	where_free(*where);
	*where = parsed;
}

int where_chosen(const struct condition *where, const struct analysis *analysis, struct cell **ret,
		 uint32_t *ret_count)
{
	const struct cell *cells;
	uint32_t count;

	cells = contention_cells(analysis_contention(analysis), &count);
	return where_cells(where, analysis_stacks(analysis), cells, count, ret, ret_count);
}
