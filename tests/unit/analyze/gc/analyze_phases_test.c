/* Collections, their phases and safepoints as a patched JVM tells them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/vm/phases.h"
#include "analyze/vm/safepoint.h"
#include "tests/unit/alloc_fail.h"

enum { VM = 1, WORKER_1, WORKER_2, MARKER, MAIN };
enum { YOUNG = 10, REMARK, CYCLE, MARK, REFS, SOFT, COPY, NEW, OLD, CAUSE };

static struct event collection(uint64_t ns, uint64_t gc, uint64_t collector)
{
	struct event e = {.id = EVENT_COLLECTION_BEGIN, .time_ns = ns, .thread = VM};

	e.v[COLLECTION_BEGIN_GC].u = gc;
	e.v[COLLECTION_BEGIN_COLLECTOR].u = collector;
	e.v[COLLECTION_BEGIN_CAUSE].u = CAUSE;
	return e;
}

static struct event collected(uint64_t ns, uint64_t gc)
{
	struct event e = {.id = EVENT_COLLECTION_END, .time_ns = ns, .thread = VM};

	e.v[COLLECTION_END_GC].u = gc;
	return e;
}

static struct event phase(uint16_t id, uint64_t ns, uint32_t thread, uint64_t gc, uint64_t name,
			  uint64_t level, uint64_t kind)
{
	struct event e = {.id = id, .time_ns = ns, .thread = thread};

	_Static_assert(GC_PHASE_BEGIN_GC == (int)GC_PHASE_END_GC, "");
	_Static_assert(GC_PHASE_BEGIN_PHASE == (int)GC_PHASE_END_PHASE, "");
	_Static_assert(GC_PHASE_BEGIN_LEVEL == (int)GC_PHASE_END_LEVEL, "");
	_Static_assert(GC_PHASE_BEGIN_KIND == (int)GC_PHASE_END_KIND, "");
	e.v[GC_PHASE_BEGIN_GC].u = gc;
	e.v[GC_PHASE_BEGIN_PHASE].u = name;
	e.v[GC_PHASE_BEGIN_LEVEL].u = level;
	e.v[GC_PHASE_BEGIN_KIND].u = kind;
	return e;
}

#define BEGIN(ns, thread, gc, name, level, kind)                                                   \
	phase(EVENT_GC_PHASE_BEGIN, ns, thread, gc, name, level, GC_PHASE_KIND_##kind)
#define END(ns, thread, gc, name, level, kind)                                                     \
	phase(EVENT_GC_PHASE_END, ns, thread, gc, name, level, GC_PHASE_KIND_##kind)

static struct phases after(const struct event *events, size_t count)
{
	struct phases p = {0};

	for (size_t i = 0; i < count; i++)
		assert_int_equal(phases_add(&p, &events[i]), 0);
	phases_finish(&p);
	return p;
}

#define AFTER(events) after(events, sizeof(events) / sizeof(*(events)))

/* The row of a phase below another one, 0: outermost. */
static uint32_t row_of(const struct phases *p, uint64_t parent, uint64_t name)
{
	for (uint32_t i = 0; i < p->row_map.count; i++) {
		uint32_t above = p->rows[i].parent;

		if (p->rows[i].phase == name &&
		    (above == INDEX_NONE ? 0 : p->rows[above].phase) == parent)
			return i;
	}
	return INDEX_NONE;
}

static void assert_times(const struct phases *p, uint64_t parent, uint64_t name, uint64_t count,
			 uint64_t total_ns, uint64_t max_ns)
{
	uint32_t row = row_of(p, parent, name);

	assert_int_not_equal(row, INDEX_NONE);
	assert_int_equal(p->rows[row].times.count, count);
	assert_int_equal(p->rows[row].times.total_ns, total_ns);
	assert_int_equal(p->rows[row].times.max_ns, max_ns);
	assert_int_equal(p->rows[row].shown, count > 0);
}

#define YOUNG_COUNT 14

static void young_events(struct event events[YOUNG_COUNT])
{
	const struct event young[YOUNG_COUNT] = {
		BEGIN(100, VM, 1, YOUNG, 0, PAUSE), /* a little before its collection */
		collection(110, 1, NEW),
		BEGIN(120, WORKER_1, 1, COPY, 0, WORKER),
		BEGIN(120, WORKER_2, 1, COPY, 0, WORKER),
		END(150, WORKER_1, 1, COPY, 0, WORKER),
		END(160, WORKER_2, 1, COPY, 0, WORKER),
		BEGIN(170, VM, 1, REFS, 1, PAUSE),
		BEGIN(175, VM, 1, SOFT, 2, PAUSE),
		END(177, VM, 1, SOFT, 2, PAUSE),
		BEGIN(178, VM, 1, SOFT, 2, PAUSE),
		END(179, VM, 1, SOFT, 2, PAUSE),
		END(180, VM, 1, REFS, 1, PAUSE),
		collected(190, 1),
		END(200, VM, 1, YOUNG, 0, PAUSE),
	};

	memcpy(events, young, sizeof(young));
}

static void phases_are_a_tree(void **state)
{
	struct event young[YOUNG_COUNT];
	struct phases p;

	(void)state;
	young_events(young);
	p = AFTER(young);
	assert_int_equal(p.collection_map.count, 1);
	assert_int_equal(p.collections[0].collector, NEW);
	assert_int_equal(p.collections[0].cause, CAUSE);
	assert_int_equal(p.collections[0].times.total_ns, 80);
	assert_times(&p, 0, YOUNG, 1, 100, 100);
	assert_times(&p, YOUNG, COPY, 2, 70, 40);
	assert_times(&p, YOUNG, REFS, 1, 10, 10);
	assert_times(&p, REFS, SOFT, 2, 3, 2);
	assert_int_equal(p.row_map.count, 4);
	assert_int_equal(p.first, row_of(&p, 0, YOUNG));
	assert_int_equal(p.rows[p.first].next, INDEX_NONE);
	assert_int_equal(p.rows[p.first].first, row_of(&p, YOUNG, COPY));
	assert_int_equal(p.rows[row_of(&p, YOUNG, COPY)].next, row_of(&p, YOUNG, REFS));
	assert_int_equal(p.rows[row_of(&p, YOUNG, REFS)].next, INDEX_NONE);
	assert_int_equal(p.incomplete, 0);
	phases_free(&p);
}

/* Rows that are linked from first on; a circle fails. */
static unsigned linked(const struct phases *p, uint32_t first)
{
	unsigned count = 0;

	for (uint32_t i = first; i != INDEX_NONE; i = p->rows[i].next) {
		assert_true(i < p->row_map.count);
		assert_true(count <= p->row_map.count);
		count += 1 + linked(p, p->rows[i].first);
	}
	return count;
}

/* What is open where events are missing is in no sum; each row stands once in the tree. */
static void events_may_be_missing(void **state)
{
	struct event young[YOUNG_COUNT];
	struct phases p = {0};

	(void)state;
	young_events(young);
	for (unsigned i = 0; i < YOUNG_COUNT - 2; i++)
		assert_int_equal(phases_add(&p, &young[i]), 0);
	phases_hole(&p);
	assert_int_equal(p.incomplete, 2); /* the collection, and its pause */
	for (unsigned i = 0; i < YOUNG_COUNT; i++) {
		young[i].time_ns += 1000;
		assert_int_equal(phases_add(&p, &young[i]), 0);
	}
	phases_finish(&p);
	assert_times(&p, 0, YOUNG, 1, 100, 100);
	assert_times(&p, YOUNG, COPY, 4, 140, 40);
	assert_int_equal(linked(&p, p.first), 4);
	assert_int_equal(p.incomplete, 2);
	phases_free(&p);
}

/* A concurrent cycle has other collections, and pauses of its own, within its time. */
static void cycles_have_others_within(void **state)
{
	const struct event events[] = {
		BEGIN(1000, MARKER, 2, CYCLE, 0, CONCURRENT),
		collection(1010, 2, OLD),
		BEGIN(1020, MARKER, 2, MARK, 1, CONCURRENT),
		BEGIN(1030, WORKER_1, 2, COPY, 0, WORKER),
		END(1035, WORKER_1, 2, COPY, 0, WORKER),
		BEGIN(1100, VM, 3, YOUNG, 0, PAUSE),
		collection(1101, 3, NEW),
		BEGIN(1110, WORKER_1, 3, COPY, 0, WORKER),
		END(1117, WORKER_1, 3, COPY, 0, WORKER),
		collected(1120, 3),
		END(1121, VM, 3, YOUNG, 0, PAUSE),
		BEGIN(1200, VM, 2, REMARK, 0, PAUSE),
		BEGIN(1210, WORKER_2, 2, COPY, 0, WORKER),
		END(1213, WORKER_2, 2, COPY, 0, WORKER),
		END(1220, VM, 2, REMARK, 0, PAUSE),
		/* the JVM takes it for a pause, because of a safepoint of somebody else */
		END(1300, MARKER, 2, MARK, 0, PAUSE),
		collected(1400, 2),
		END(1410, MARKER, 2, CYCLE, 0, CONCURRENT),
	};
	struct phases p = AFTER(events);

	(void)state;
	assert_times(&p, 0, CYCLE, 1, 410, 410);
	assert_times(&p, CYCLE, MARK, 1, 280, 280);
	assert_times(&p, MARK, COPY, 1, 5, 5);
	assert_times(&p, 0, YOUNG, 1, 21, 21);
	assert_times(&p, YOUNG, COPY, 1, 7, 7);
	assert_times(&p, 0, REMARK, 1, 20, 20);
	assert_times(&p, REMARK, COPY, 1, 3, 3);
	assert_int_equal(p.collection_map.count, 2);
	assert_int_equal(p.collection_times.max_ns, 390);
	assert_int_equal(p.incomplete, 0);
	phases_free(&p);
}

/* Workers tell no level. */
static void workers_have_phases_within(void **state)
{
	const struct event events[] = {
		collection(100, 1, NEW),
		BEGIN(110, WORKER_1, 1, YOUNG, 0, WORKER),
		BEGIN(111, WORKER_1, 1, REFS, 0, WORKER),
		END(115, WORKER_1, 1, REFS, 0, WORKER),
		BEGIN(116, WORKER_1, 1, COPY, 0, WORKER), /* its end is lost: 1 */
		END(130, WORKER_1, 1, YOUNG, 0, WORKER),
		BEGIN(131, WORKER_1, 1, MARK, 0, WORKER), /* too: 2 */
		collected(200, 1),
		collection(300, 2, NEW),
		BEGIN(310, WORKER_1, 2, YOUNG, 0, WORKER),
		END(330, WORKER_1, 2, YOUNG, 0, WORKER),
		collected(400, 2),
	};
	struct phases p = AFTER(events);

	(void)state;
	assert_times(&p, 0, YOUNG, 2, 40, 20);
	assert_times(&p, YOUNG, REFS, 1, 4, 4);
	assert_times(&p, YOUNG, COPY, 0, 0, 0);
	assert_times(&p, COPY, MARK, 0, 0, 0);
	assert_int_equal(p.incomplete, 2);
	phases_free(&p);
}

static void what_is_seen_in_part_is_in_no_sum(void **state)
{
	const struct event events[] = {
		/* attached within a pause: what is within seems to be outermost */
		BEGIN(10, VM, 1, REFS, 0, PAUSE),
		END(20, VM, 1, REFS, 0, PAUSE),  /* 1 */
		END(30, VM, 1, YOUNG, 0, PAUSE), /* 2 */
		collected(31, 1),                /* 3 */
		BEGIN(100, VM, 2, YOUNG, 0, PAUSE),
		collection(110, 2, NEW),
		BEGIN(120, VM, 2, REFS, 1, PAUSE), /* 4: its end is lost */
		BEGIN(125, VM, 2, SOFT, 2, PAUSE), /* 5: too */
		BEGIN(130, VM, 2, REFS, 1, PAUSE),
		END(140, VM, 2, REFS, 1, PAUSE),
		BEGIN(150, VM, 2, COPY, 1, PAUSE), /* 6: too, as the next collection tells */
		END(200, VM, 2, YOUNG, 0, PAUSE),
		BEGIN(300, VM, 3, YOUNG, 0, PAUSE), /* 7 */
		collection(310, 3, NEW),            /* 8; and that of 2 is lost: 9 */
	};
	struct phases p = AFTER(events);

	(void)state;
	assert_times(&p, 0, YOUNG, 1, 100, 100);
	assert_times(&p, YOUNG, REFS, 1, 10, 10);
	assert_times(&p, YOUNG, COPY, 0, 0, 0);
	assert_times(&p, REFS, SOFT, 0, 0, 0);
	assert_times(&p, 0, REFS, 0, 0, 0);
	assert_int_equal(p.collection_times.count, 0);
	assert_int_equal(p.incomplete, 9);
	phases_free(&p);
}

/* HotSpot's timer begins before the collection has its id; and its levels are apart from those of
 * the log's phases, which may be within. */
static void levels_of_the_timer_are_apart(void **state)
{
	const struct event events[] = {
		BEGIN(10, VM, UINT32_MAX, MARK, 0, PAUSE),
		collection(11, 1, NEW),
		BEGIN(12, VM, 1, YOUNG, 0, PAUSE),
		BEGIN(13, VM, 1, REFS, 2, PAUSE),
		BEGIN(14, VM, 1, REFS, 3, PAUSE), /* one within another of the same name */
		END(15, VM, 1, REFS, 3, PAUSE),
		END(17, VM, 1, REFS, 2, PAUSE),
		END(18, VM, 1, YOUNG, 0, PAUSE),
		BEGIN(18, VM, 1, COPY, 1, PAUSE),
		END(19, VM, 1, MARK, 0, PAUSE),
		collected(20, 1),
		END(21, VM, 1, COPY, 1, PAUSE), /* after the one around it */
	};
	struct phases p = AFTER(events);

	(void)state;
	assert_times(&p, 0, MARK, 1, 9, 9);
	assert_times(&p, MARK, YOUNG, 1, 6, 6);
	assert_times(&p, YOUNG, REFS, 1, 4, 4);
	assert_times(&p, REFS, REFS, 1, 1, 1);
	assert_times(&p, MARK, COPY, 1, 3, 3);
	assert_int_equal(p.incomplete, 0);
	phases_free(&p);
}

/* HotSpot has phases that belong to no collection. */
static void phases_of_no_collection_count(void **state)
{
	const struct event events[] = {
		BEGIN(10, VM, UINT32_MAX, REFS, 0, PAUSE),
		END(20, VM, UINT32_MAX, REFS, 0, PAUSE),
	};
	struct phases p = AFTER(events);

	(void)state;
	assert_times(&p, 0, REFS, 1, 10, 10);
	assert_int_equal(p.incomplete, 0);
	phases_free(&p);
}

static void phases_bound_the_depth(void **state)
{
	struct phases p = {0};
	uint32_t deepest = 0;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		struct event e = BEGIN(i, VM, UINT32_MAX, i, i, PAUSE);

		assert_int_equal(phases_add(&p, &e), 0);
	}
	for (uint64_t i = 1000; i-- > 0;) {
		struct event e = END(2000 - i, VM, UINT32_MAX, i, i, PAUSE);

		assert_int_equal(phases_add(&p, &e), 0);
	}
	phases_finish(&p);
	for (uint32_t i = 0; i < p.row_map.count; i++) {
		deepest = p.rows[i].depth > deepest ? p.rows[i].depth : deepest;
		assert_int_equal(p.rows[i].times.count, 1);
		assert_true(p.rows[i].parent == INDEX_NONE || p.rows[i].parent < i);
	}
	assert_int_equal(deepest, PHASE_DEPTH_MAX - 1);
	assert_int_equal(p.incomplete, 0);
	phases_free(&p);
}

static void phases_survive_without_memory(void **state)
{
	struct event young[YOUNG_COUNT];
	unsigned long n = 0;
	bool failed = true;

	(void)state;
	young_events(young);
	for (; failed; n++) {
		struct phases p = {0};
		int err = 0;

		alloc_fail_at(n);
		for (size_t i = 0; i < YOUNG_COUNT && !err; i++)
			err = phases_add(&p, &young[i]);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		phases_free(&p);
	}
	assert_true(n > 5);
}

static struct event safepoint(uint64_t operation, uint64_t requester, uint64_t reach_ns,
			      uint64_t cleanup_ns, uint64_t operation_ns, uint64_t running)
{
	struct event e = {.id = EVENT_SAFEPOINT, .time_ns = 1, .thread = VM};

	e.v[SAFEPOINT_OPERATION].u = operation;
	e.v[SAFEPOINT_REQUESTER].u = requester;
	e.v[SAFEPOINT_REACH_NS].u = reach_ns;
	e.v[SAFEPOINT_CLEANUP_NS].u = cleanup_ns;
	e.v[SAFEPOINT_OPERATION_NS].u = operation_ns;
	e.v[SAFEPOINT_THREADS].u = 10;
	e.v[SAFEPOINT_RUNNING].u = running;
	return e;
}

static void safepoints_add_up(void **state)
{
	const struct event events[] = {
		safepoint(YOUNG, MAIN, 5, 1, 100, 3),
		safepoint(REMARK, 0, 7, 2, 30, 1),
		{.id = EVENT_SAFEPOINT_END, .thread = VM},
		safepoint(YOUNG, WORKER_1, 50, 2, 20, 1),
	};
	struct safepoints s = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		assert_int_equal(safepoints_add(&s, &events[i]), 0);
	assert_int_equal(s.row_map.count, 2);
	assert_int_equal(s.rows[0].operation, YOUNG);
	assert_int_equal(s.rows[0].times.count, 2);
	assert_int_equal(s.rows[0].times.total_ns, 178);
	assert_int_equal(s.rows[0].times.max_ns, 106);
	assert_int_equal(s.rows[0].reach.total_ns, 55);
	assert_int_equal(s.rows[0].reach.max_ns, 50);
	assert_int_equal(s.rows[0].cleanup_ns, 3);
	assert_int_equal(s.rows[0].operation_ns, 120);
	assert_int_equal(s.rows[0].threads, 20);
	assert_int_equal(s.rows[0].running, 4);
	assert_int_equal(s.requester_map.count, 3);
	assert_int_equal(s.requesters[0].thread, MAIN);
	assert_int_equal(s.requesters[0].times.total_ns, 106);
	assert_int_equal(s.rows[0].requester, 0);
	assert_int_equal(s.requesters[0].next, 2);
	assert_int_equal(s.requesters[2].next, INDEX_NONE);
	assert_int_equal(s.rows[1].requester, 1);
	assert_int_equal(s.requesters[1].next, INDEX_NONE);
	assert_int_equal(s.requesters[2].thread, WORKER_1);
	assert_int_equal(s.times.total_ns, 217);
	assert_int_equal(s.reach.total_ns, 62);
	safepoints_free(&s);
}

static void safepoints_survive_without_memory(void **state)
{
	const struct event event = safepoint(YOUNG, MAIN, 5, 1, 100, 3);
	unsigned long n = 0;
	bool failed = true;

	(void)state;
	for (; failed; n++) {
		struct safepoints s = {0};
		int err;

		alloc_fail_at(n);
		err = safepoints_add(&s, &event);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		safepoints_free(&s);
	}
	assert_true(n > 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(phases_are_a_tree),
		cmocka_unit_test(events_may_be_missing),
		cmocka_unit_test(cycles_have_others_within),
		cmocka_unit_test(workers_have_phases_within),
		cmocka_unit_test(what_is_seen_in_part_is_in_no_sum),
		cmocka_unit_test(levels_of_the_timer_are_apart),
		cmocka_unit_test(phases_of_no_collection_count),
		cmocka_unit_test(phases_bound_the_depth),
		cmocka_unit_test(phases_survive_without_memory),
		cmocka_unit_test(safepoints_add_up),
		cmocka_unit_test(safepoints_survive_without_memory),
	};

	return cmocka_run_group_tests_name("analyze_phases", tests, NULL, NULL);
}
