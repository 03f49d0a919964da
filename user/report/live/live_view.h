/* report/live/live_view.h: what `spoor top` shows of one interval of a recording. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/groups/groups.h"

struct condition;
struct facet_cells;
struct live_early;
struct session_log;

enum live_pane {
	LIVE_LOCKS,   /* by lock, with the methods of most of its blocked time */
	LIVE_HOLDERS, /* by waiter's method and holder's method */
	LIVE_THREADS, /* pools of threads by state */
	LIVE_PAUSES,  /* safepoints, VM operations, collections */
	LIVE_CPUS,    /* what the hypervisor took */
	LIVE_BY,      /* nested by the view's aspects, as spoor report --by */
	LIVE_PANE_COUNT
};

const char *live_pane_title(enum live_pane pane);
static inline bool live_pane_has_chains(enum live_pane pane)
{
	return pane == LIVE_LOCKS || pane == LIVE_HOLDERS;
}

/* An interval, and what is to be seen of it; all pointers are lent. */
struct live_view {
	const struct session_log *log; /* analysed, from from_ns to to_ns */
	uint64_t from_ns, to_ns;       /* in the events' clock */
	uint64_t begin_ns;             /* of the recording */
	uint64_t unseen_ns;            /* before from_ns, and in no interval */
	uint64_t lost;                 /* events, since the recording began */
	uint64_t record_cpu_ns;        /* of the recorder in this interval */
	uint64_t view_cpu_ns;          /* of what analyses and shows */
	const char *note;              /* what the recording lacks; "": nothing */
	bool last;                     /* the recording has ended */
	unsigned top;                  /* rows in each table; 0: all */
	unsigned width;                /* of the screen; 0: any */
	enum group_order order;        /* of locks and holders */
	const enum aspect_id *by;      /* depth of them */
	unsigned depth;                /* 0: text and JSON have no such part */
	const char *where_text;        /* NULL: all contentions */
	const struct condition *where;
	const struct live_early *early; /* NULL: nothing was counted before from_ns */
	const struct facet_cells *facets; /* of the interval; NULL: cells are not cut */
	unsigned cut;                     /* by which facets they are cut: bits of enum facet */
};

/* Who is recorded, when, what was lost, what it came to: some lines. 0 or -ENOMEM, as all. */
int live_header(const struct live_view *v, FILE *out);

/* A table: a line of titles, then a line for each row; nothing if it has no rows. */
int live_pane_text(const struct live_view *v, enum live_pane pane, FILE *out);

#define LIVE_KEY_MAX 1100
/* What identifies the nth row of locks or holders, also in another interval. False: there is
 * none. */
bool live_row_key(const struct live_view *v, enum live_pane pane, uint32_t row,
		  char ret[LIVE_KEY_MAX]);
/* The call chains of both sides of the row with this key. -ENOENT: it is not in this interval. */
int live_chains(const struct live_view *v, enum live_pane pane, const char *key, FILE *out);

/* All panes. */
int live_text(const struct live_view *v, FILE *out);
/* All as one line. */
int live_json(const struct live_view *v, FILE *out);
