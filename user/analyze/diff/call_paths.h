/* analyze/diff/call_paths.h: the calling context tree of a recording, with the weights of its
 * edges. */
#pragma once

#include <stdint.h>

/*
 * An edge of a calling context tree (Hofer 3.1.2), by a hash of the names of the frames from the
 * outermost one to the callee. Its weight is that of the samples, or contentions, in which the
 * callee was the innermost frame. An outermost frame is called by a virtual root.
 */
struct call_path {
	uint64_t path;
	uint64_t ns, count; /* of all samples of the edge */
};

/* All zero at first. Edges beyond CALL_PATHS_MAX count in all_ns only. */
#define CALL_PATHS_MAX (1u << 20)
struct call_paths {
	struct call_path *paths; /* after call_paths_sort: each once, by path */
	uint32_t count, capacity;
	uint64_t all_ns;
};

#define CALL_PATH_ROOT 0x9e3779b97f4a7c15ull

/* The path that is one frame longer. */
uint64_t call_path_of(uint64_t caller, const char *frame);
/* 0 or -ENOMEM. */
int call_paths_add(struct call_paths *c, uint64_t path, uint64_t ns, uint64_t count);
void call_paths_sort(struct call_paths *c);
void call_paths_free(struct call_paths *c);
