/* report/model/by_tree.h: the groups of contentions that --by asks for. */
#pragma once

#include "report/model/report.h"

/* *ret is to be freed with groups_free(). 0 or -ENOMEM. */
int by_tree_make(const struct report_input *in, const enum aspect_id *by, unsigned depth,
		 struct group *ret);
