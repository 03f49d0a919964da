/* report/model/sections/wall_rows.h: threads, pools of threads or kinds of threads as
 * rows, with their states. */
#pragma once

#include "analyze/threads/pool.h"
#include "analyze/threads/wall.h"
#include "report/model/report.h"

struct labels;
struct log_names;

enum wall_by {
	WALL_BY_THREAD,
	WALL_BY_POOL,
	WALL_BY_GROUP,
	WALL_BY_COUNT,
};

struct wall_row {
	enum thread_group group;
	const char *name; /* of the pool, lent until wall_rows_free; NULL: it is one thread */
	uint64_t thread;  /* one of its threads */
	uint32_t threads;
	struct states states;
};

struct wall_rows {
	struct wall_row *rows; /* Java threads first; those with the most demand first */
	uint32_t count;
	uint32_t *of; /* by the index of a thread in the analysis: its row, or INDEX_NONE */
	struct pools pools;
};

/*
 * states: by the index of a thread in the analysis. One that was never sampled is in no row; nor,
 * unless idle says so, is one without any time. 0: *ret is to be freed; -ENOMEM.
 */
int wall_rows_make(const struct wall *w, const struct log_names *names, const struct states *states,
		   bool idle, enum wall_by by, struct wall_rows *ret);
void wall_rows_free(struct wall_rows *r);

/* A row's name for a terminal; returns buf, of LABEL_MAX bytes. */
char *label_wall_row(const struct labels *l, const struct wall_row *row, enum wall_by by,
		     char *buf);
/* As it is. */
const char *name_wall_row(const struct log_names *names, const struct wall_row *row,
			  enum wall_by by);
/* "Java threads", "GC", ...: for people. */
const char *thread_group_title(enum thread_group group);

/* Throttled time and the reasons of blocked time are distinguished in this log. */
bool wall_has_reasons(const struct report_input *in);
/* The state as people call it ("I/O"), and its letter. If the reasons of blocked time are not
 * distinguished, all of it is STATE_OTHER. */
const char *state_title(enum state state, bool has_reasons);
char state_letter(enum state state, bool has_reasons);
