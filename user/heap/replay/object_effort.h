/* heap/replay/object_effort.h: what a replay may do in vain: a log that makes no sense ends. */
#pragma once

#include "heap/replay/object_replay_internal.h"

/* Steps that no word stands for: threads that wait for their phase, pages that are gone through. A
 * log that takes more than its records allow makes no sense: false, and err is -EFBIG. */
#define EFFORT_THREAD 64
#define EFFORT_PAGE 16    /* that a collection goes through */
#define EFFORT_BIRTH 1024 /* is given for each */
#define EFFORT_NAME 16    /* that a further ring finds */
#define EFFORT_SORT 64    /* an object, when a page is sorted */
static inline bool object_replay_spend(struct object_replay *r, uint64_t steps)
{
	if (steps > r->effort) {
		r->err = r->err ? r->err : -EFBIG;
		return false;
	}
	r->effort -= steps;
	return true;
}

/* Pages of the heap are sorted when something is looked up in them. */
static inline void object_replay_spend_sorting(struct object_replay *r)
{
	object_replay_spend(r, EFFORT_SORT * r->heap.sorted);
	r->heap.sorted = 0;
}
