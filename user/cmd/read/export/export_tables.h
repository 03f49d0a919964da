/* cmd/read/export/export_tables.h: `spoor export --to csv` and `--to jsonl`. */
#pragma once

#include <sys/types.h>

#include "report/csv/event_tables.h"

struct log_source;

struct tables_options {
	struct event_tables_options events; /* but for open */
	mode_t mode;                        /* of the files; 0: 0600 */
};

/*
 * source: the log. output: a folder, which gets a file per kind of event that there is, or a file;
 * NULL for stdout. CSV of several kinds needs a folder. Says what goes wrong; returns an exit
 * status.
 */
int export_tables(struct log_source *source, const char *output, const struct tables_options *o);
