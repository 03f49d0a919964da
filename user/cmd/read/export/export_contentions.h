/* cmd/read/export/export_contentions.h: a log's contentions one by one, in formats of other
 * tools. */
#pragma once

#include <stdio.h>
#include <sys/types.h>

struct contention_events;
struct log_source;

/* How a format is written: 0 or -ENOMEM; out's error flag says the rest. */
typedef int contention_format(const struct contention_events *in, FILE *out);

/* An exit status; output NULL: to stdout; mode 0: 0600. */
int export_contentions(struct log_source *source, const char *output, mode_t mode,
		       contention_format *format);
