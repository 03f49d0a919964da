/* cmd/read/heap/pool_check_run.h: spoor heap check of a log alone: its heap beside the JVM's
 * pools. */
#pragma once

struct heap_check_options;

/* 0: all collections that could be compared agree; 1: some do not, or parts of the log are missing;
 * negative: it could not be done. All has been said. */
int pool_check_run(const struct heap_check_options *o);
