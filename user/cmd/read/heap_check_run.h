/* cmd/read/heap_check_run.h: spoor heap check: a log's heap beside a dump. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "report/heap/heap_report.h"

enum heap_moment {
	MOMENT_DUMP, /* the end of the last collection that a dump has asked for */
	MOMENT_END,  /* of the log */
	MOMENT_GC_END,
	MOMENT_GC_BEGIN,
};

struct heap_check_options {
	const char *log, *dump;
	enum heap_moment moment;
	uint64_t gc; /* the JVM's number of the collection */
	enum heap_format format;
	unsigned top;
	bool force;
};

/* dump|end|gc:N|before:N; false: none of these. */
bool heap_moment_parse(const char *arg, struct heap_check_options *ret);
/* 0: there is no difference; 1: there are some, or the dump is damaged; negative: it could not be
 * done. All has been said. */
int heap_check_run(const struct heap_check_options *o);
