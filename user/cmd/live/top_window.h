/* cmd/live/top_window.h: intervals of a recording, one after the other, each analysed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cmd/live/top_source.h"
#include "report/live/live_view.h"
#include "session/analyze_log.h"
#include "session/log_source.h"

/* All zero at first. */
struct top_window {
	char path[256], from[32], to[32];
	struct log_source source;
	struct analyzed_log log;
	struct live_view view; /* of the last one; lent until the next call */
	bool open;
	uint64_t start_ns;   /* of the recording */
	uint64_t from_ns;    /* of the interval that is analysed */
	uint64_t seen_to_ns; /* how far the intervals go; 0: there is none yet */
	uint64_t record_cpu_ns, view_cpu_ns;
	const struct log_watch *watch; /* of the events of the next interval; NULL: none */
	uint64_t skip_ns; /* not 0: the next interval is of this length, whatever was before */
};

/*
 * Analyses what was told (TOP_WINDOW, TOP_LAST), from where the last interval ended on, and removes
 * its file. 0; -ENODATA: there is nothing new; or negative errno, which has been said.
 */
int top_window_next(struct top_window *w, const struct top_message *message);
void top_window_free(struct top_window *w);
