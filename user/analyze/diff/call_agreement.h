/* analyze/diff/call_agreement.h: how alike the calling context trees of two sides of recordings
 * are, and what of their difference may be chance. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/diff/call_paths.h"

#define CALL_HOT 0.1     /* an edge is hot from this part of the hottest one's weight on */
#define CALL_CHANCE 0.05 /* a measure that chance makes lower as rarely as this is low */

/* How it is known what chance leaves of a measure. */
enum call_basis {
	CALL_BASIS_NONE,    /* it is not: a side has nothing, or there are too many edges */
	CALL_BASIS_SAMPLES, /* samples of all logs are dealt to the logs anew */
	CALL_BASIS_LOGS,    /* logs are dealt to the sides anew */
};

struct call_measure {
	double value;           /* 0 to 1 */
	double expected, least; /* of what chance leaves: the median, and all but CALL_CHANCE */
};

/* Of the logs of one side, each beside the side's average tree. */
struct call_consistency {
	enum call_basis basis;             /* CALL_BASIS_NONE, too: there is one log */
	struct call_measure overlap, hot;  /* medians of the logs; hot: of a log's hot edges, the
					      part that is hot in the average tree */
	double lowest_overlap, lowest_hot; /* of a log */
};

struct call_agreement {
	enum call_basis basis;
	/* Of the average trees of both sides: the degree of overlap; of the edges that are hot
	 * before, the part that is hot after; and the other way round. */
	struct call_measure overlap, hot_before, hot_after;
	struct call_consistency before, after;
	bool differs; /* the overlap is less than chance leaves: basis is known */
};

/* Logs of a side: sorted, side by side in memory. 0 or -ENOMEM. */
struct call_side {
	const struct call_paths *logs;
	unsigned count;
};
int call_agreement_of(struct call_side before, struct call_side after, struct call_agreement *ret);
