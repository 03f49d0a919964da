/* cmd/read/where_option.h: --where, of commands that tell of contentions. */
#pragma once

#include <argp.h>
#include <stdint.h>

#include "report/model/where.h"

struct analysis;

/* Replaces *where; or ends with what is wrong. */
void set_where(struct condition **where, const char *arg, struct argp_state *state);

/* The contentions' cells that are chosen; *ret is to be freed. 0 or -ENOMEM. */
int where_chosen(const struct condition *where, const struct analysis *analysis, struct cell **ret,
		 uint32_t *ret_count);
