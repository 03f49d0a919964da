/* report/flame/export.h: blocked time by call chain, in the formats that flame graph tools read. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/cells/cells.h"

struct log_names;

enum export_side {
	EXPORT_WAITER, /* where threads were blocked */
	EXPORT_OWNER,  /* where those were who held the locks meanwhile */
	EXPORT_BOTH,   /* the waiter's chain, "(blocked by)", the holder's chain */
	EXPORT_SIDE_COUNT,
};

struct export_input {
	const struct log_names *names;
	const struct cell *cells; /* those of locks that threads only park on are left out */
	uint32_t cell_count;
	const char *lock_class; /* fnmatch(3) pattern; NULL: all */
	bool lines;             /* a method at two lines is two frames */
	bool threads;           /* each chain begins with its thread's name */
	bool locks;             /* the chain ends with the lock's class; with both, the waiter's */
	bool hidden;            /* hidden frames, too */
};

/* Whether a cell is exported, if it has anything. */
bool export_selects(const struct export_input *in, const struct cell *cell);
/* Blocked time of what is exported: the sum of all weights of each side. */
uint64_t export_total(const struct export_input *in);

/*
 * All chains from the thread's first frame to the innermost, weighted with blocked ns. A tree with
 * the heaviest branch first gives their order. What is not known is a frame in parentheses, so that
 * no time is missing. They write to out, whose error flag says the rest. 0 or -ENOMEM.
 */
int export_collapsed(const struct export_input *in, enum export_side side, FILE *out);
/* A frame's text, with what would be read as something else replaced. */
void collapsed_put(const char *text, FILE *out);

/* A file of count profiles, one per side. */
int export_speedscope(const struct export_input *in, const enum export_side *sides, unsigned count,
		      const char *title, FILE *out);
/* The same for Firefox Profiler: a thread per side. */
int export_firefox(const struct export_input *in, const enum export_side *sides, unsigned count,
		   const char *title, FILE *out);
