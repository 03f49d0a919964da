/* heap/check/graph_check.h: who refers to whom in a log beside a dump of the same moment, object by
 * object, reference by reference. */
#pragma once

#include <stdint.h>

#include "heap/state/heap_state.h"

enum graph_check_kind {
	GRAPH_ONLY_LOG, /* objects */
	GRAPH_ONLY_DUMP,
	GRAPH_OTHER_CLASS,  /* or another length */
	GRAPH_OTHER_REFS,   /* objects that do not refer to the same by the same references */
	GRAPH_ROOT_MISSING, /* roots of the dump that, of that kind and thread, the log lacks */
	GRAPH_CHECK_KIND_COUNT,
};

struct graph_check {
	uint64_t objects, refs, roots; /* of the dump */
	uint64_t kinds[GRAPH_CHECK_KIND_COUNT];
	uint64_t example[GRAPH_CHECK_KIND_COUNT]; /* the address of the first; 0: none */
	/* Roots of the log, by kind; of these, those to objects that are no roots in the dump,
	 * which has local variables of threads, handles, and classes only. */
	uint64_t log_roots[HEAP_ROOT_KIND_COUNT], more_roots[HEAP_ROOT_KIND_COUNT];
	uint64_t frames,
		other_frames; /* local variables of the dump; in another frame in the log */
};

/* Both have objects, and are finished. 0 or -ENOMEM. */
int graph_check(const struct heap_state *log, const struct heap_state *dump,
		struct graph_check *ret);
uint64_t graph_check_differences(const struct graph_check *c);
/* "only_log". Static. */
const char *graph_check_name(enum graph_check_kind kind);
