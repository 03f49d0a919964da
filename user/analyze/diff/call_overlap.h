/* analyze/diff/call_overlap.h: how alike two sets of call chains with times are. */
#pragma once

#include <stdint.h>

/* A calling context: a path from the outermost method inwards, by a hash of the names. */
struct call_path {
	uint64_t path;
	uint64_t ns; /* of all chains that begin with it */
};

/* All zero at first. Paths of chains; those beyond CALL_PATHS_MAX count in all_ns only. */
#define CALL_PATHS_MAX (1u << 20)
struct call_paths {
	struct call_path *paths; /* after call_paths_sort: each once, by path */
	uint32_t count, capacity;
	uint64_t all_ns, left_out_ns;
};

#define CALL_PATH_ROOT 0x9e3779b97f4a7c15ull

/* The path that is one method longer. */
uint64_t call_path_of(uint64_t caller, const char *class_name, const char *method);
/* 0 or -ENOMEM. */
int call_paths_add(struct call_paths *c, uint64_t path, uint64_t ns);
void call_paths_sort(struct call_paths *c);
void call_paths_free(struct call_paths *c);

struct call_likeness {
	/* The sum over all edges of the smaller of both shares, 0 to 1: the degree of overlap
	 * (Hofer 3.4.2, after Arnold and Grove). The share is that of the time of all edges. */
	double overlap;
	/* Of the edges that have at least a tenth of what the hottest has, the part that is as hot
	 * on the other side: hot-edge coverage with T = 0.1. */
	double hot_before, hot_after;
};

/* Both are sorted. A side without time is unlike everything, and like another such side. */
struct call_likeness call_likeness_of(const struct call_paths *before,
				      const struct call_paths *after);
