/* analyze/park/park_runs.h: the facts about a lock, made into the holders that it had one after the
 * other. */
#pragma once

#include "analyze/park/park_lock.h"

/* From the end of the one before, or of what is charged. */
struct park_run {
	uint64_t to_ns;
	struct held held;
	bool alone; /* HELD_SHARED: nobody else did */
};

struct park_runs {
	struct park_run *rows;
	uint32_t count, capacity;
	struct park_left left; /* after them */
};

/*
 * The runs that the first fact_count facts of a lock make, and the release that ends them; or with
 * release NULL, as far as is known, up to end_ns. 0 or -ENOMEM. The result is the caller's, to be
 * freed (and used again, if it likes).
 */
int park_runs_make(const struct park_lock *l, uint32_t fact_count, const struct lock_fact *release,
		   uint64_t end_ns, struct park_runs *ret);
