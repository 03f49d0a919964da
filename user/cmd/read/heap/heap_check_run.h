/* cmd/read/heap/heap_check_run.h: spoor heap check: a log's heap beside a dump. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cmd/read/replay/heap_moment.h"
#include "report/heap/heap_report.h"

struct heap_check_options {
	const char *log, *dump;
	struct heap_moment at;
	enum heap_format format;
	unsigned top;
	unsigned jobs;
	bool force;
};

/* 0: there is no difference; 1: there are some, or the dump is damaged; negative: it could not be
 * done. All has been said. */
int heap_check_run(const struct heap_check_options *o);
