/* cmd/export_chrome.h: `spoor export --to chrome`. */
#pragma once

#include "report/chrome.h"

struct log_source;

/* source: the log; output: NULL for stdout. Says what goes wrong; returns an exit status. */
int export_chrome(struct log_source *source, const char *output,
		  const struct chrome_options *wanted);
