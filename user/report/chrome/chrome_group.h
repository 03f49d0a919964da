/* report/chrome/chrome_group.h: slices that belong together, on one track, or more where they
 * overlap. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/threads/states.h"
#include "analyze/tracks/lanes.h"

struct chrome;

/* One slice; what is not said here is its putter's. */
struct chrome_row {
	uint64_t begin_ns, end_ns;
	bool open;
	uint32_t outer; /* 1 + index of the one that was open before; 0: none */
	bool lost;      /* its end was not seen */
	bool open_end; /* the log, or its thread, ended before it */
	uint64_t name; /* a string */
	uint64_t v[5];
	struct states from, to;
};

/* What is said of a slice, within its event. */
struct chrome_putter {
	void (*name)(struct chrome *c, const struct chrome_row *row);
	void (*rest)(struct chrome *c, const struct chrome_row *row); /* category, arguments */
};

struct chrome_group {
	struct chrome_group *next; /* of all */
	struct chrome_group **used, *next_used;
	bool is_used; /* it is in that list */
	const struct chrome_putter *put;
	uint64_t kind, key; /* what it is found by */
	uint64_t sort;
	bool hidden;
	char *name;
	uint64_t tracks[LANES_MAX]; /* 0: none yet */
	struct chrome_row *rows;
	uint32_t count, capacity;
	uint32_t open;
	uint32_t innermost; /* 1 + index of the last that may be open; 0: none is */
};

/* NULL: no memory. The group is c's; name is copied, put is lent. */
struct chrome_group *chrome_group_new(struct chrome *c, const char *name, uint64_t sort,
				      const struct chrome_putter *put);
void chrome_groups_free(struct chrome *c);

/* Takes in a slice; an open one is to be closed. 0 or -ENOMEM. */
int chrome_group_add(struct chrome_group *g, const struct chrome_row *row);
/* The innermost open one, by name; 0: any. NULL: none. Lent until the next add or settle. */
struct chrome_row *chrome_group_open(struct chrome_group *g, uint64_t name);
void chrome_group_close(struct chrome_group *g, struct chrome_row *row, uint64_t end_ns);
/* The open one around an open row; of NULL, the innermost one. NULL: none. Lent likewise. */
struct chrome_row *chrome_group_outer(struct chrome_group *g, const struct chrome_row *row);
/* Closes a row and those that began after it: their ends are lost. How many were open. */
uint32_t chrome_group_lose(struct chrome_group *g, struct chrome_row *row, uint64_t end_ns);
/* Puts out what is complete, if nothing is open or there is a lot. 0 or -ENOMEM. */
int chrome_group_settle(struct chrome *c, struct chrome_group *g);
/* The log has ended, or the thread: so has what is open. 0 or -ENOMEM. */
int chrome_group_finish(struct chrome *c, struct chrome_group *g, uint64_t end_ns);
