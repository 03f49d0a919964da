/* cmd/record/live_run.h: what the commands share that look at a recording while it goes on. */
#pragma once

#include <stdint.h>

struct recorder_options;

/* What the recorder keeps has room for an interval and for what is late. */
void live_recorder_init(struct recorder_options *r, uint64_t interval_ns);
/* What shows has no rights: it works on names that anybody may have made. 0 or negative errno. */
int live_give_up_rights(const char *folder);
/* A descriptor for the signals that end a command, and those of a terminal; -1 and errno. */
int live_signals_open(void);
/* Runs with a folder in which the recorder's memory is handed over, and into which nobody else can
 * look. An exit status: what run returned, or that of a failure. */
int live_in_folder(int (*run)(const void *options, const char *folder), const void *options);
