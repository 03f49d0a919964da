/* report/model/sections/commands/profile_report.h: a profile of threads, as a tree and as tables.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/profile/profile.h"
#include "base/tables/keymap.h"

struct report_input;
struct text_set;

enum profile_view {
	PROFILE_TREE,    /* from the outermost frame */
	PROFILE_FLAT,    /* methods, with and without what they have called */
	PROFILE_CALLERS, /* of a method, outwards */
	PROFILE_CALLEES, /* of a method, inwards */
	PROFILE_THREADS,
	PROFILE_VIEW_COUNT,
};

enum profile_by {
	PROFILE_BY_METHOD,
	PROFILE_BY_THREAD,  /* each chain begins with its thread's name, */
	PROFILE_BY_STATE,   /* or with its state, */
	PROFILE_BY_LOCK,    /* or with the lock that was held then, and waited for, */
	PROFILE_BY_POOL,    /* or with its thread's pool, */
	PROFILE_BY_PACKAGE, /* or with the package of the innermost method, */
	PROFILE_BY_SPAN,    /* or with the marked span that the thread was in */
	PROFILE_BY_COUNT
};

#define PROFILE_RUNNING (1u << STATE_RUNNING)
#define PROFILE_ALL_STATES ((1u << STATE_COUNT) - 1)

struct profile_input {
	const struct report_input *in; /* its top is rows for people; 0: all */
	const struct profile *profile;
	enum profile_view view;
	const char *method;  /* of callers, callees: with or without class, or a pattern */
	const char *threads; /* only those whose name matches; NULL: all */
	uint32_t states;     /* those that are wanted: a bit for each enum state */
	enum profile_by by;
	bool lines;         /* a method at two lines is two frames */
	unsigned least_pct; /* what is less is left out for people; 0: nothing is */
};

/* Time in all states that are wanted; of that what samples stand for. */
struct profile_time {
	uint64_t ns, sampled_ns, samples;
};

struct profile_frame {
	const char *name;
	const char *file; /* lent by the log; "": not known */
	uint64_t line;    /* 0: not wanted, or not known */
	struct profile_time self;
	struct profile_time total; /* once for a chain, however often it is in it */
};

struct profile_node {
	uint32_t parent, frame; /* a parent's index is smaller; that of the first ones is 0 */
	struct profile_time self, total;
	uint32_t first, next; /* children, the heaviest first; 0: none */
	uint32_t depth;
};

/* What is shown, and sums of all of it. */
struct profile_tree {
	struct text_set *texts;
	struct keymap frame_map, node_map;
	struct profile_frame *frames;
	struct profile_node *nodes; /* nodes[0] is the root, and no frame */
	uint32_t *cell_nodes; /* by the profile's cells: the innermost node; 0: it is in none */
	uint32_t frames_capacity, nodes_capacity;
	struct profile_time all;
	uint64_t run_ns;
	struct states states;   /* of all.ns */
	struct states no_chain; /* of that: nothing says where the thread was */
	/* Of all.sampled_ns, of threads that held a lock for which another waited; of that, where
	 * no numbered event says who held the lock. */
	uint64_t lock_ns, lock_inferred_ns;
	uint64_t inferred; /* samples whose innermost frame is */
	uint64_t failed;   /* samples of which no chain is known, though their thread has some */
	double effective;  /* so many samples of equal weight would say as much */
	uint64_t mode_ns[SAMPLE_MODE_COUNT];
	/* Samples of threads that have Java frames. */
	uint64_t via[WALK_BEGIN_COUNT], result[WALK_RESULT_COUNT];
};

/* 0 or -ENOMEM; to be freed in any case. */
int profile_tree_make(const struct profile_input *in, struct profile_tree *ret);
void profile_tree_free(struct profile_tree *t);
/* The node after this one, parents first; 0: no more. deeper: with its children. */
uint32_t profile_tree_next(const struct profile_tree *t, uint32_t node, bool deeper);
/* The frames of a node's chain, the innermost first, in an array that is enough for each node
 * (free() it; NULL: no memory); returns how many. */
uint32_t *profile_chain_new(const struct profile_tree *t);
uint32_t profile_chain_of(const struct profile_tree *t, uint32_t node, uint32_t *ret);
bool profile_thread_is_selected(const struct profile_input *in, uint64_t thread);
/* One standard deviation of a share of all, by the number of samples: only they are estimates. */
double profile_deviation(const struct profile_tree *t, const struct profile_time *part);
bool profile_only_running(const struct profile_input *in);
/* A row per method; per node, with the number of its parent; per thread. */
struct findings;
struct findings *profile_section(const struct profile_input *in, const struct profile_tree *t);

/* 0 or -ENOMEM; out's error flag says the rest. */
int report_profile_text(const struct profile_input *in, FILE *out);
int report_profile_json(const struct profile_input *in, FILE *out);
int report_profile_csv(const struct profile_input *in, FILE *out);
