#include "cmd/read/where_option.h"

#include <errno.h>

#include "analyze/contention/contention.h"
#include "analyze/groups/facet_cells.h"
#include "analyze/registry/analysis.h"

void set_where(struct condition **where, const char *arg, unsigned facets, struct argp_state *state)
{
	char error[WHERE_ERROR_MAX];
	struct condition *parsed;
	int err = where_parse(arg, &parsed, error);

	if (err == -EINVAL)
		argp_error(state, "--where '%s': %s", arg, error);
	else if (err)
		argp_failure(state, 1, -err, "--where");
	else if (where_faceted(parsed, ~facets))
		argp_error(state, "--where '%s': 'spoor report' alone has the aspect '%s'", arg,
			   where_faceted(parsed, ~facets));
	if (err)
		return;
	where_free(*where);
	*where = parsed;
}

int where_chosen(const struct condition *where, const struct analysis *analysis,
		 const struct facet_cells *facets, struct cell **ret, uint32_t *ret_count)
{
	struct where_input in = {.stacks = analysis_stacks(analysis), .facets = facets};

	in.cells = contention_cells(analysis_contention(analysis), &in.count);
	if (facets) {
		in.cells = facet_cells(facets)->rows;
		in.count = facet_cells(facets)->count;
	}
	return where_cells(where, &in, ret, ret_count);
}
