/* cmd/read/export/export_chrome.h: `spoor export --to chrome`. */
#pragma once

#include <sys/types.h>

#include "report/chrome/chrome.h"

struct log_source;

/* source: the log; output: NULL for stdout; mode: of the file, 0 for 0600. Says what goes wrong;
 * returns an exit status. */
int export_chrome(struct log_source *source, const char *output, mode_t mode,
		  const struct chrome_options *options);
