/* report/model/diff/diff_log.h: what recordings have of everything that can be compared. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/diff/call_paths.h"
#include "analyze/diff/comparison.h"
#include "analyze/groups/facets.h"
#include "analyze/groups/groups.h"

/* What cells may be cut by: windows are not the same ones on both sides. */
#define DIFF_FACETS (~(unsigned)FACET_WINDOW)

struct log_source;
struct condition;

/* What is compared of both sides. */
struct diff_selection {
	enum aspect_id by[ASPECT_COUNT];
	unsigned depth;            /* 0: by class of lock, and by methods */
	const struct condition *where; /* NULL: all contentions */
	const char *span;          /* fnmatch(3): spans of these names; NULL: all */
};

/* What is to be said of a log before anything else. */
struct diff_log_facts {
	char *name, *jvm; /* "app.spoor"; "17.0.15+6, G1, stock" */
	uint64_t recorded_ns, missing_ns, lost;
	bool damaged, no_end;
};

/* Calling context trees. */
enum diff_chains {
	DIFF_CHAINS_WAITERS, /* by time blocked, without idle turn-taking */
	DIFF_CHAINS_OWNERS,  /* of what they waited for: the chains of the holders */
	DIFF_CHAINS_RUNNING, /* by CPU time, of samples */
	DIFF_CHAINS_WHOLE,   /* of that: whole chains of Java frames */
	DIFF_CHAINS_COUNT,
};

/* All zero at first. Logs have the same index in all. */
struct diff_side {
	struct comparison_side figures;
	struct diff_log_facts logs[COMPARISON_LOGS_MAX];
	struct call_paths chains[DIFF_CHAINS_COUNT][COMPARISON_LOGS_MAX];
};

/* One more log, of COMPARISON_LOGS_MAX. Says on stderr what went wrong. 0 or negative errno; the
 * side is to be freed in any case. */
int diff_side_add(struct diff_side *side, struct log_source *source,
		  const struct diff_selection *selection);
void diff_side_free(struct diff_side *side);
