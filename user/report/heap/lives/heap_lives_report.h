/* report/heap/lives/heap_lives_report.h: lifetimes of objects as text, JSON, CSV: growth, churn,
 * ages. */
#pragma once

#include <stdbool.h>

#include "heap/classify/heap_levels.h"
#include "heap/replay/object_replay.h"
#include "report/heap/heap_report.h"

enum heap_lives_view {
	HEAP_LIVES_GROW,
	HEAP_LIVES_CHURN,
	HEAP_LIVES_LIFE,
	HEAP_LIVES_DIFF, /* what came, stayed and went between two moments */
	HEAP_LIVES_TIME, /* what is alive at each moment */
	HEAP_LIVES_VIEW_COUNT
};

enum heap_lives_by {
	HEAP_LIVES_BY_TYPE,
	HEAP_LIVES_BY_SITE, /* type, and the bytecode that allocates it */
	HEAP_LIVES_BY_CHAIN,
	HEAP_LIVES_BY_METHOD,
	HEAP_LIVES_BY_CODE, /* interpreter, C1, C2, the JVM's runtime */
	HEAP_LIVES_BY_AGE,  /* of life only */
	HEAP_LIVES_BY_COUNT,
};

extern const char *const heap_lives_by_names[HEAP_LIVES_BY_COUNT];

/* All is lent. */
struct heap_lives_report {
	const char *name;
	const struct object_replay *log; /* finished, with its heap */
	enum heap_lives_view view;
	enum heap_lives_by by;
	const struct heap_levels *levels; /* groups in groups by these; NULL: by */
	const struct heap_own_classifiers *own; /* of levels; NULL: none */
	/* Of levels: names of threads, as in replay_state_options. */
	const char *(*thread_name)(const void *ctx, int64_t java_tid);
	const void *thread_ctx;
	uint32_t from, to; /* moments */
	uint64_t from_early_ns, to_early_ns; /* before the times that were asked for */
	bool damaged;
	const struct pool_agreement *agreement;
	const char *callers; /* as in heap_source */
	unsigned top;
	enum heap_format format;
};

/* 0 or -ENOMEM; out's error flag says the rest. time: of its view, and of no other. */
int heap_report_time(const struct heap_lives_report *r, FILE *out);
int heap_report_lives(const struct heap_lives_report *r, FILE *out);
