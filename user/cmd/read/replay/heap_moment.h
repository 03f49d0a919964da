/* cmd/read/replay/heap_moment.h: which moment of a log a user means: that of --at, --from, --to. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct object_replay;

enum heap_moment_kind {
	MOMENT_DUMP,  /* the end of the last collection that a dump has asked for */
	MOMENT_BEGIN, /* of the log */
	MOMENT_END,   /* of the log */
	MOMENT_PEAK,  /* when the heap had most bytes, before a collection or after one */
	MOMENT_GC_END,
	MOMENT_GC_BEGIN,
	MOMENT_TIME,  /* the end of the last collection before it */
	MOMENT_GRAPH, /* the end of the last collection of which pointers were recorded */
};

struct heap_moment {
	enum heap_moment_kind kind;
	uint64_t number; /* of the JVM's collection; ns since the log began */
};

/* "dump", "begin", "end", "peak", "gc:41", "before:41", "12.5"; false: none of these. */
bool heap_moment_parse(const char *arg, struct heap_moment *ret);
#define HEAP_MOMENT_WORDS                                                                          \
	"dump, begin, end, peak, gc:N, before:N or a time since the log began, as 12.5s"

/* Where the replay is to stop. */
struct heap_stop {
	bool has_collection; /* else the log's end, or its begin */
	uint32_t collection; /* index */
	bool before;         /* at its begin */
	uint64_t at_ns;      /* of that, since the log began; 0: the log does not say */
	uint64_t early_ns;   /* before the time that was asked for */
};

/*
 * In a log that has been replayed to its end. -ENOENT: there is no such moment, which has been
 * said, with the name of the log.
 */
int heap_moment_find(const struct heap_moment *m, const struct object_replay *r, const char *log,
		     struct heap_stop *ret);
