#include "analyze/registry/rows.h"

#include <stdlib.h>

#include "analyze/park/parking.h"
#include "analyze/registry/contention_row.h"
#include "analyze/registry/facts.h"
#include "analyze/threads/sched.h"
#include "analyze/threads/wall.h"
#include "analyze/vm/pause.h"
#include "analyze/vm/phases.h"
#include "analyze/vm/safepoint.h"
#include "log/read/names.h"

/* The analysis's clock goes past events that it did not subscribe to. */
static void catch_up(uint64_t *now_ns, const struct analysis_input *in)
{
	if (*now_ns < in->last_ns)
		*now_ns = in->last_ns;
}

/* An analysis that is a plain struct, all zero at first. */
#define ZEROED(type, free_it)                                                                      \
	static void *type##_row_new(struct log_names *names)                                       \
	{                                                                                          \
		(void)names;                                                                       \
		return calloc(1, sizeof(struct type));                                             \
	}                                                                                          \
	static void type##_row_free(void *self)                                                    \
	{                                                                                          \
		if (self)                                                                          \
			free_it(self);                                                             \
		free(self);                                                                        \
	}

ZEROED(parking, parking_free)
ZEROED(pauses, pauses_free)
ZEROED(phases, phases_free)
ZEROED(safepoints, safepoints_free)
ZEROED(sched, sched_free)
ZEROED(wall, wall_free)

/* The engine has made them, for all analyses. */
static void *names_row_new(struct log_names *names)
{
	return names;
}

static int names_row_add(void *self, const struct analysis_input *in)
{
	return log_names_add(self, in->event);
}

static void names_row_free(void *self)
{
	(void)self;
}

static int parking_row_add(void *self, const struct analysis_input *in)
{
	struct parking *p = self;

	catch_up(&p->now_ns, in);
	return parking_add(p, in->counted);
}

static int parking_row_hole(void *self, uint64_t from_ns, uint64_t to_ns)
{
	return parking_hole(self, from_ns, to_ns);
}

static int parking_row_finish(void *self, uint64_t end_ns)
{
	return parking_finish(self, end_ns);
}

static int pauses_row_add(void *self, const struct analysis_input *in)
{
	struct pauses *p = self;

	catch_up(&p->now_ns, in);
	return pauses_add(p, in->counted);
}

static int pauses_row_hole(void *self, uint64_t from_ns, uint64_t to_ns)
{
	(void)from_ns;
	(void)to_ns;
	pauses_finish(self);
	return 0;
}

static int pauses_row_finish(void *self, uint64_t end_ns)
{
	return pauses_row_hole(self, end_ns, end_ns);
}

static int phases_row_add(void *self, const struct analysis_input *in)
{
	struct phases *p = self;

	catch_up(&p->now_ns, in);
	return phases_add(p, in->counted);
}

static int phases_row_hole(void *self, uint64_t from_ns, uint64_t to_ns)
{
	(void)from_ns;
	(void)to_ns;
	phases_hole(self);
	return 0;
}

static int phases_row_finish(void *self, uint64_t end_ns)
{
	(void)end_ns;
	phases_finish(self);
	return 0;
}

static int safepoints_row_add(void *self, const struct analysis_input *in)
{
	return safepoints_add(self, in->event);
}

static int sched_row_add(void *self, const struct analysis_input *in)
{
	return sched_add(self, in->event);
}

static int sched_row_hole(void *self, uint64_t from_ns, uint64_t to_ns)
{
	(void)from_ns;
	(void)to_ns;
	sched_hole(self);
	return 0;
}

static int wall_row_add(void *self, const struct analysis_input *in)
{
	return wall_add(self, in->event);
}

static int wall_row_hole(void *self, uint64_t from_ns, uint64_t to_ns)
{
	(void)from_ns;
	wall_hole(self, to_ns);
	return 0;
}

static int wall_row_finish(void *self, uint64_t end_ns)
{
	(void)end_ns;
	return wall_finish(self);
}

#define EVENTS(...) ((const uint16_t[]){__VA_ARGS__, 0})

const struct analysis_row analysis_rows[ANALYSIS_ID_COUNT] = {
	[ANALYSIS_FACTS] = {.name = "facts",
			    .events = EVENTS(EVENT_LOST, EVENT_NOTE, EVENT_STACK_WALK,
					     EVENT_MEMORY_BOUND, EVENT_END),
			    .new = facts_row_new,
			    .begin = facts_row_begin,
			    .add = facts_row_add,
			    .finish = facts_row_finish,
			    .free = facts_row_free},
	[ANALYSIS_NAMES] = {.name = "names",
			    .events = EVENTS(EVENT_THREAD, EVENT_CLASS, EVENT_LOCK, EVENT_STRING,
					     EVENT_METHOD, EVENT_STACK),
			    .new = names_row_new,
			    .add = names_row_add,
			    .free = names_row_free},
	[ANALYSIS_PARKING] = {.name = "parking",
			      .events = EVENTS(EVENT_PARK_BEGIN, EVENT_PARK_END, EVENT_UNPARK,
					       EVENT_MONITOR_WAIT_BEGIN, EVENT_MONITOR_WAIT_END,
					       EVENT_THREAD_END),
			      .new = parking_row_new,
			      .add = parking_row_add,
			      .hole = parking_row_hole,
			      .finish = parking_row_finish,
			      .free = parking_row_free},
	[ANALYSIS_PAUSES] = {.name = "pauses",
			     .events = EVENTS(EVENT_GC_BEGIN, EVENT_GC_END, EVENT_GC_POOL,
					      EVENT_SAFEPOINT_BEGIN, EVENT_SAFEPOINT_END,
					      EVENT_VM_OPERATION_BEGIN, EVENT_VM_OPERATION_END),
			     .new = pauses_row_new,
			     .add = pauses_row_add,
			     .hole = pauses_row_hole,
			     .finish = pauses_row_finish,
			     .free = pauses_row_free},
	[ANALYSIS_PHASES] = {.name = "phases",
			     .events = EVENTS(EVENT_COLLECTION_BEGIN, EVENT_COLLECTION_END,
					      EVENT_GC_PHASE_BEGIN, EVENT_GC_PHASE_END),
			     .new = phases_row_new,
			     .add = phases_row_add,
			     .hole = phases_row_hole,
			     .finish = phases_row_finish,
			     .free = phases_row_free},
	[ANALYSIS_SAFEPOINTS] = {.name = "safepoints",
				 .events = EVENTS(EVENT_SAFEPOINT),
				 .new = safepoints_row_new,
				 .add = safepoints_row_add,
				 .free = safepoints_row_free},
	[ANALYSIS_SCHED] = {.name = "sched",
			    .events = EVENTS(EVENT_CPU_SAMPLE),
			    .new = sched_row_new,
			    .add = sched_row_add,
			    .hole = sched_row_hole,
			    .free = sched_row_free},
	[ANALYSIS_WALL] = {.name = "wall",
			   .events = EVENTS(EVENT_THREAD, EVENT_THREAD_END, EVENT_THREAD_SAMPLE),
			   .first = true,
			   .new = wall_row_new,
			   .add = wall_row_add,
			   .hole = wall_row_hole,
			   .finish = wall_row_finish,
			   .free = wall_row_free},
	/* It goes by the time of all events. */
	[ANALYSIS_CONTENTION] = {.name = "contention",
				 .new = contention_row_new,
				 .begin = contention_row_begin,
				 .add = contention_row_add,
				 .hole = contention_row_hole,
				 .finish = contention_row_finish,
				 .free = contention_row_free},
};
