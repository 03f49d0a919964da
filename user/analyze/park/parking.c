#include "analyze/park/parking.h"

#include <stdlib.h>

#include "analyze/row.h"
#include "base/tables/saturate.h"

static int row_find(struct parking *p, enum parking_kind kind, uint64_t lock,
		    struct parking_row **ret)
{
	struct keymap_key key = parking_key(kind, lock);
	uint32_t index;
	int err = keymap_add_row(&p->row_map, key, &p->rows, &p->rows_capacity, sizeof(*p->rows),
				 &index);

	if (err)
		return err;
	*ret = &p->rows[index];
	(*ret)->kind = kind;
	(*ret)->lock = lock;
	return 0;
}

static int thread_add(struct parking *p, uint64_t thread, struct parking_thread **ret)
{
	struct keymap_key key = {.a = thread};
	uint32_t index;
	int err = keymap_add_row(&p->thread_map, key, &p->threads, &p->threads_capacity,
				 sizeof(*p->threads), &index);

	if (err)
		return err;
	*ret = &p->threads[index];
	(*ret)->thread = thread;
	return touched_add(&p->touched, &(*ret)->touched, index);
}

static int thread_find(struct parking *p, uint64_t thread, struct parking_thread **ret)
{
	uint32_t index = keymap_find_number(&p->thread_map, thread);

	if (index == INDEX_NONE)
		return thread_add(p, thread, ret);
	*ret = &p->threads[index];
	return touched_add(&p->touched, &(*ret)->touched, index);
}

static int begin(struct parking *p, const struct event *e, enum parking_kind kind, uint64_t lock)
{
	struct parking_thread *t;
	struct parking_row *row;
	int err = thread_find(p, e->thread, &t);

	if (!err && t->active[kind]) {
		err = row_find(p, kind, t->lock[kind], &row);
		if (!err)
			row->end_missing++;
	}
	if (err)
		return err;
	t->active[kind] = 1;
	t->lock[kind] = lock;
	t->since_ns[kind] = p->now_ns;
	return 0;
}

_Static_assert((int)PARKING_HOW_COUNT == (int)PARK_END_COUNT &&
		       (int)PARKING_WOKEN == (int)PARK_END_UNPARKED &&
		       (int)PARKING_WOKEN == (int)WAIT_END_NOTIFIED &&
		       (int)PARKING_INTERRUPTED == (int)PARK_END_INTERRUPTED &&
		       (int)PARKING_INTERRUPTED == (int)WAIT_END_INTERRUPTED,
	       "the same order");

/* So many waits, of total_ns together, are over. */
static void count(struct parking_row *row, uint64_t waits, uint64_t total_ns, uint64_t longest_ns,
		  uint64_t how)
{
	uint64_t *ended = &row->how[how < PARKING_HOW_COUNT ? how : PARKING_HOW_NOT_KNOWN];

	row->count = sum_saturated(row->count, waits);
	row->total_ns = sum_saturated(row->total_ns, total_ns);
	row->max_ns = longest_ns > row->max_ns ? longest_ns : row->max_ns;
	*ended = sum_saturated(*ended, waits);
}

/* by: the number of the unpark that ended it; 0: none. */
static int end(struct parking *p, struct parking_thread *t, enum parking_kind kind, uint64_t lock,
	       uint64_t how, uint64_t by)
{
	struct parking_row *row;
	uint64_t since_ns;
	int err = row_find(p, kind, t->active[kind] ? t->lock[kind] : lock, &row);

	if (err)
		return err;
	if (!t->active[kind]) {
		row->begin_missing++;
		return 0;
	}
	t->active[kind] = 0;
	if (lock && lock != t->lock[kind]) {
		row->end_missing++;
		err = row_find(p, kind, lock, &row);
		if (!err)
			row->begin_missing++;
		return err;
	}
	since_ns = t->since_ns[kind];
	count(row, 1, p->now_ns - since_ns, p->now_ns - since_ns, how);
	if (by && by == t->unpark)
		row->back_ns += p->now_ns - (t->unpark_ns > since_ns ? t->unpark_ns : since_ns);
	return 0;
}

static int park_end(struct parking *p, const struct event *e)
{
	struct parking_thread *t;
	int err = thread_find(p, e->thread, &t);

	if (err)
		return err;
	err = end(p, t, PARKING_PARK, e->v[PARK_END_LOCK].u, e->v[PARK_END_HOW].u,
		  e->v[PARK_END_BY].u);
	t->unpark = 0;
	return err;
}

static int wait_end(struct parking *p, const struct event *e)
{
	struct parking_thread *t;
	int err = thread_find(p, e->thread, &t);

	return err ? err
		   : end(p, t, PARKING_WAIT, e->v[MONITOR_WAIT_END_LOCK].u,
			 e->v[MONITOR_WAIT_END_HOW].u, 0);
}

/* A thread has one permit: further unparks change nothing. */
static int unpark(struct parking *p, const struct event *e)
{
	struct parking_thread *t;
	int err = e->v[UNPARK_SEQUENCE].u ? thread_find(p, e->v[UNPARK_TARGET].u, &t) : 0;

	if (err || !e->v[UNPARK_SEQUENCE].u || t->unpark)
		return err;
	t->unpark = e->v[UNPARK_SEQUENCE].u;
	t->unpark_ns = p->now_ns;
	return 0;
}

static int leave_open(struct parking *p, struct parking_thread *t)
{
	struct parking_row *row;
	int err;

	for (int kind = 0; kind < PARKING_KIND_COUNT; kind++) {
		if (!t->active[kind])
			continue;
		err = row_find(p, kind, t->lock[kind], &row);
		if (err)
			return err;
		row->open++;
		row->open_ns += p->now_ns - t->since_ns[kind];
		t->active[kind] = 0;
	}
	return 0;
}

static int on_thread_end(struct parking *p, const struct event *e)
{
	uint32_t index = keymap_find(&p->thread_map, (struct keymap_key){.a = e->thread});

	return index == INDEX_NONE ? 0 : leave_open(p, &p->threads[index]);
}

/* Waits that were too short to be reported one by one. How they ended is not known. */
static int add_sum(struct parking *p, const struct event *e)
{
	uint64_t reason = e->v[WAIT_SUM_REASON].u;
	struct parking_row *row;
	int err;

	if (reason != BLOCKED_REASON_PARK && reason != BLOCKED_REASON_WAIT)
		return 0;
	err = row_find(p, reason == BLOCKED_REASON_PARK ? PARKING_PARK : PARKING_WAIT,
		       e->v[WAIT_SUM_LOCK].u, &row);
	if (err)
		return err;
	count(row, e->v[WAIT_SUM_COUNT].u, e->v[WAIT_SUM_OFF_NS].u, e->v[WAIT_SUM_LONGEST_NS].u,
	      PARKING_HOW_NOT_KNOWN);
	return 0;
}

/* Nothing reports its end. */
static int virtual_block(struct parking *p, const struct event *e)
{
	struct parking_row *row;
	int err;

	if (e->v[VIRTUAL_BLOCK_REASON].u != BLOCKED_REASON_WAIT)
		return 0;
	err = row_find(p, PARKING_WAIT, e->v[VIRTUAL_BLOCK_LOCK].u, &row);
	if (!err)
		row->end_missing++;
	return err;
}

int parking_add(struct parking *p, const struct event *e)
{
	if (e->time_ns > p->now_ns)
		p->now_ns = e->time_ns;
	switch (e->id) {
	case EVENT_PARK_BEGIN:
		return begin(p, e, PARKING_PARK, e->v[PARK_BEGIN_LOCK].u);
	case EVENT_PARK_END:
		return park_end(p, e);
	case EVENT_UNPARK:
		return unpark(p, e);
	case EVENT_MONITOR_WAIT_BEGIN:
		return begin(p, e, PARKING_WAIT, e->v[MONITOR_WAIT_BEGIN_LOCK].u);
	case EVENT_MONITOR_WAIT_END:
		return wait_end(p, e);
	case EVENT_WAIT_SUM:
		return add_sum(p, e);
	case EVENT_VIRTUAL_BLOCK:
		return virtual_block(p, e);
	case EVENT_THREAD_END:
		return on_thread_end(p, e);
	default:
		return 0;
	}
}

int parking_finish(struct parking *p, uint64_t end_ns)
{
	int err = 0;

	if (end_ns > p->now_ns)
		p->now_ns = end_ns;
	for (uint32_t i = 0; i < p->touched.count && !err; i++)
		err = leave_open(p, &p->threads[p->touched.rows[i]]);
	return err;
}

void parking_free(struct parking *p)
{
	keymap_free(&p->row_map);
	keymap_free(&p->thread_map);
	free(p->rows);
	free(p->threads);
	touched_free(&p->touched);
	*p = (struct parking){0};
}

ROW_ZEROED(parking)

static int parking_row_add(void *self, const struct analysis_input *in)
{
	struct parking *p = self;

	row_catch_up(&p->now_ns, in);
	return parking_add(p, in->counted);
}

/* What is open is open at from_ns; then parts of the recording are missing, up to to_ns. */
static int parking_row_hole(void *self, uint64_t from_ns, uint64_t to_ns)
{
	struct parking *p = self;
	int err = parking_finish(p, from_ns);

	for (uint32_t i = 0; i < p->touched.count; i++)
		p->threads[p->touched.rows[i]].unpark = 0;
	touched_next_round(&p->touched);
	if (to_ns > p->now_ns)
		p->now_ns = to_ns;
	return err;
}

static int parking_row_finish(void *self, uint64_t end_ns)
{
	return parking_finish(self, end_ns);
}

const struct analysis_row parking_analysis = {
	.events = ROW_EVENTS(EVENT_PARK_BEGIN, EVENT_PARK_END, EVENT_UNPARK,
			     EVENT_MONITOR_WAIT_BEGIN, EVENT_MONITOR_WAIT_END, EVENT_WAIT_SUM,
			     EVENT_VIRTUAL_BLOCK, EVENT_THREAD_END),
	.new = parking_row_new,
	.add = parking_row_add,
	.hole = parking_row_hole,
	.finish = parking_row_finish,
	.free = parking_row_free,
};
