/* cmd/read/export/export_heatmap.h: what a page's maps of time are made of, as CSV. */
#pragma once

#include <sys/types.h>

struct condition;
struct log_source;

/* An exit status; output NULL: to stdout; mode 0: 0600; where NULL: all contentions. */
int export_heatmap(struct log_source *source, const char *output, mode_t mode,
		   const struct condition *where);
