/* report/model/by_list.h: --by and --sort, of commands that group contentions. */
#pragma once

#include "analyze/groups/groups.h"

#define BY_LIST_ERROR_MAX 1536 /* as WHERE_ERROR_MAX */

struct by_list {
	enum aspect_id by[ASPECT_COUNT]; /* each once */
	unsigned depth;
};

/* Appends the aspects of "A,B". -EINVAL: error says why not, and some may be there. */
int by_list_add(struct by_list *l, const char *text, char error[BY_LIST_ERROR_MAX]);

/* The order that --sort calls so; -1: it is none of BY_ORDERS. */
#define BY_ORDERS "work, blocked, count, max, p50, p90, p99, p999 or value"
int by_order(const char *name);
