#include "report/model/sections/section_internal.h"

#include "analyze/vm/pause.h"
#include "log/read/names.h"
#include "report/model/sections/wall_rows.h"

void section_string(struct findings *f, const struct log_names *names, uint64_t string,
		    const char *unknown)
{
	const char *text = string ? log_names_string(names, string) : NULL;

	findings_text(f, text ? text : "", text ? NULL : unknown);
}

void section_times(struct findings *f, const struct pause_times *t)
{
	FINDINGS_NUMBERS(f, t->count, t->total_ns, t->max_ns);
}

void section_states(struct findings_column columns[STATE_COUNT], const struct findings_column *like,
		    bool has_reasons)
{
	static const char *const keys[STATE_COUNT] = {[STATE_RUNNING] = "running_ns",
						      [STATE_STOLEN] = "stolen_ns",
						      [STATE_RUNNABLE] = "runnable_ns",
						      [STATE_THROTTLED] = "throttled_ns",
						      [STATE_LOCK] = "lock_ns",
						      [STATE_WAIT] = "wait_ns",
						      [STATE_PARK] = "park_ns",
						      [STATE_SLEEP] = "sleep_ns",
						      [STATE_IO] = "io_ns",
						      [STATE_PAUSE] = "pause_ns",
						      [STATE_OTHER] = "other_ns"};

	for (int i = 0; i < STATE_COUNT; i++) {
		columns[i] = *like;
		columns[i].unit = FINDINGS_NS;
		columns[i].per = like->per ? like->per - i : 0;
		if (!has_reasons && i >= STATE_THROTTLED && i < STATE_OTHER)
			continue;
		columns[i].key = i == STATE_OTHER && !has_reasons ? "blocked_ns" : keys[i];
		columns[i].title = state_title(i, has_reasons);
	}
}
