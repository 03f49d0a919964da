/* Parking, pauses, scheduling, groups: what the streams of events add up to. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/contention/contention.h"
#include "analyze/groups/groups.h"
#include "analyze/park/parking.h"
#include "analyze/stacks/stacks.h"
#include "analyze/threads/sched.h"
#include "analyze/vm/pause.h"
#include "tests/unit/analyze/analyze_events.h"
#include "base/tables/keymap.h"
#include "log/read/names.h"
#include "tests/unit/alloc_fail.h"

static const struct times none;

static void keymap_keep_their_order(void **state)
{
	struct keymap p = {0};
	uint32_t index;

	(void)state;
	assert_int_equal(keymap_find(&p, (struct keymap_key){.a = 1, .b = 2, .c = 3}), INDEX_NONE);
	for (uint32_t i = 0; i < 5000; i++) {
		assert_int_equal(
			keymap_add(&p, (struct keymap_key){.a = i % 7, .b = i / 7, .c = i}, &index),
			0);
		assert_int_equal(index, i);
	}
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(
			keymap_find(&p, (struct keymap_key){.a = i % 7, .b = i / 7, .c = i}), i);
	assert_int_equal(keymap_find(&p, (struct keymap_key){.a = 1}), INDEX_NONE);
	keymap_free(&p);
}

static const struct parking_row *row(const struct parking *p, enum parking_kind kind, uint64_t lock)
{
	uint32_t index = keymap_find(&p->row_map, parking_key(kind, lock));

	assert_int_not_equal(index, INDEX_NONE);
	return &p->rows[index];
}

static void parking_adds_up(void **state)
{
	const struct event events[] = {
		parked(5, 1, 3, none, 0, none), /* it began before */
		park(10, 1, 3, 0, 0, none),
		own(EVENT_MONITOR_WAIT_BEGIN, 12, 2, 4, none),
		parked(40, 1, 3, none, 0, none),
		park(50, 1, 0, 0, 0, none),
		parked(51, 1, 0, none, 0, none),
		park(60, 1, 3, 0, 0, none), /* its end is lost */
		park(70, 1, 3, 0, 0, none),
		parked(80, 1, 3, none, 0, none),
		own(EVENT_MONITOR_WAIT_END, 90, 2, 4, none),
		own(EVENT_MONITOR_WAIT_BEGIN, 95, 2, 4, none),
	};
	struct parking p = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		assert_int_equal(parking_add(&p, &events[i]), 0);
	assert_int_equal(parking_finish(&p, 100), 0);
	assert_int_equal(row(&p, PARKING_PARK, 3)->count, 2);
	assert_int_equal(row(&p, PARKING_PARK, 3)->total_ns, 40);
	assert_int_equal(row(&p, PARKING_PARK, 3)->max_ns, 30);
	assert_int_equal(row(&p, PARKING_PARK, 3)->begin_missing, 1);
	assert_int_equal(row(&p, PARKING_PARK, 3)->end_missing, 1);
	assert_int_equal(row(&p, PARKING_PARK, 0)->total_ns, 1);
	assert_int_equal(row(&p, PARKING_WAIT, 4)->total_ns, 78);
	assert_int_equal(row(&p, PARKING_WAIT, 4)->open, 1);
	assert_int_equal(row(&p, PARKING_WAIT, 4)->open_ns, 5);
	parking_free(&p);
}

static struct event plain(uint16_t id, uint64_t ns, uint64_t first, uint64_t second, uint64_t third,
			  uint64_t fourth)
{
	return (struct event){
		.id = id, .time_ns = ns, .thread = 1, .v = {{first}, {second}, {third}, {fourth}}};
}

static void pauses_find_their_operations(void **state)
{
	const struct event events[] = {
		plain(EVENT_SAFEPOINT_BEGIN, 100, 0, 0, 0, 0),
		plain(EVENT_VM_OPERATION_BEGIN, 110, 1, 0, 0, 0),
		plain(EVENT_GC_BEGIN, 120, 1, 0, 0, 0),
		plain(EVENT_GC_POOL, 121, GC_MOMENT_BEFORE, 5, 6, 1000),
		plain(EVENT_GC_POOL, 122, GC_MOMENT_BEFORE, 7, 6,
		      900), /* a second manager: too late */
		plain(EVENT_GC_POOL, 130, GC_MOMENT_AFTER, 7, 6, 500),
		plain(EVENT_GC_POOL, 131, GC_MOMENT_AFTER, 5, 6, 400),
		plain(EVENT_GC_END, 140, 1, GC_KIND_FULL, 7, 0),
		plain(EVENT_VM_OPERATION_END, 150, 1, 0, 0, 0),
		plain(EVENT_SAFEPOINT_END, 160, 0, 0, 0, 0),
		plain(EVENT_SAFEPOINT_BEGIN, 200, 0, 0, 0, 0), /* nothing in it */
		plain(EVENT_SAFEPOINT_END, 210, 0, 0, 0, 0),
		plain(EVENT_SAFEPOINT_END, 220, 0, 0, 0, 0), /* no begin */
		plain(EVENT_VM_OPERATION_END, 230, 9, 0, 0, 0),
		plain(EVENT_GC_BEGIN, 300, 1, 0, 0, 0), /* no end */
	};
	struct pauses p = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		assert_int_equal(pauses_add(&p, &events[i]), 0);
	pauses_finish(&p);
	assert_int_equal(p.gc_map.count, 1);
	assert_int_equal(p.gcs[0].collector, 7);
	assert_int_equal(p.gcs[0].times.total_ns, 20);
	assert_int_equal(p.pool_map.count, 1);
	assert_int_equal(p.pools[0].before_bytes, 1000);
	assert_int_equal(p.pools[0].after_bytes, 400);
	assert_int_equal(p.safepoint_map.count, 2);
	assert_int_equal(p.safepoints[0].operation[0], 1);
	assert_int_equal(p.safepoints[0].times.max_ns, 60);
	assert_int_equal(p.safepoints[1].operation[0], 0);
	assert_int_equal(p.safepoints[1].times.total_ns, 10);
	assert_int_equal(p.operations[0].times.total_ns, 40);
	assert_int_equal(p.incomplete, 3);
	pauses_free(&p);
}

static void pauses_bound_the_depth(void **state)
{
	struct pauses p = {0};

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		struct event e = plain(EVENT_VM_OPERATION_BEGIN, i, i, 0, 0, 0);

		assert_int_equal(pauses_add(&p, &e), 0);
	}
	pauses_finish(&p);
	assert_int_equal(p.incomplete, 100);
	pauses_free(&p);
}

static void sched_counts_from_sample_to_sample(void **state)
{
	const struct event events[] = {
		{.id = EVENT_CPU_SAMPLE, .time_ns = 1000, .v = {{1}, {500}, {400}, {90}, {10}}},
		{.id = EVENT_THREAD_SAMPLE, .time_ns = 1000, .thread = 1, .v = {{1}, {7}}},
		{.id = EVENT_CPU_SAMPLE, .time_ns = 2000, .v = {{0}, {30}, {30}}},
		{.id = EVENT_CPU_SAMPLE, .time_ns = 2000, .v = {{1}, {560}, {440}, {95}, {25}}},
	};
	struct sched s = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		assert_int_equal(sched_add(&s, &events[i]), 0);
	assert_int_equal(s.cpu_map.count, 2);
	assert_int_equal(s.cpus[0].cpu, 1);
	assert_int_equal(sched_cpu_growth(&s.cpus[0], SCHED_CPU_CLOCK_NS), 60);
	assert_int_equal(sched_cpu_growth(&s.cpus[0], SCHED_CPU_JVM_NS), 40);
	assert_int_equal(sched_cpu_growth(&s.cpus[0], SCHED_CPU_OTHER_NS), 5);
	assert_int_equal(sched_cpu_growth(&s.cpus[0], SCHED_CPU_IDLE_NS), 15);
	assert_int_equal(sched_cpu_growth(&s.cpus[1], SCHED_CPU_CLOCK_NS), 0); /* only one */
	sched_free(&s);
}

static void check_sums(const struct group *g)
{
	uint64_t count = 0, blocked_ns = 0;

	for (uint32_t i = 0; i < g->group_count; i++) {
		count += g->groups[i].count;
		blocked_ns += g->groups[i].blocked_ns;
		assert_true(!i || g->groups[i - 1].blocked_ns >= g->groups[i].blocked_ns);
		assert_true(g->groups[i].max_ns <= g->max_ns);
		check_sums(&g->groups[i]);
	}
	if (!g->group_count)
		return;
	assert_int_equal(count, g->count);
	assert_int_equal(blocked_ns, g->blocked_ns);
}

/* Three chains of one frame each. */
static struct log_names *some_names(void)
{
	struct log_names *names = log_names_new();

	for (uint64_t i = 1; i <= 3; i++) {
		struct event method = {.id = EVENT_METHOD}, stack = {.id = EVENT_STACK};

		method.v[METHOD_METHOD].u = i;
		method.v[METHOD_CLASS_NAME].s = "Table";
		method.v[METHOD_NAME].s = i == 1 ? "put" : "get";
		method.v[METHOD_SIGNATURE].s = i == 2 ? "(I)V" : "()V";
		method.v[METHOD_SOURCE].s = "";
		stack.v[STACK_STACK].u = i;
		stack.v[STACK_FRAME].u = FRAME_TYPE_C1;
		stack.v[STACK_METHOD].u = i;
		assert_int_equal(log_names_add(names, &method) | log_names_add(names, &stack), 0);
	}
	return names;
}

static struct contention *some_contention(void)
{
	struct contention *c = contention_new(NULL);
	uint64_t ns = 1;

	for (uint32_t i = 0; i < 300 && c; i++) {
		uint32_t thread = 1 + i % 5, owner = 1 + (i + 1 + i % 3) % 5;
		struct event begin = enter(ns += 3, thread, 1 + i % 4, owner,
					   OWNER_SOURCE_JAVA_THREAD, (struct times){ns, 1, 0});
		struct event end =
			entered(ns += i % 17, thread, 1 + i % 4, (struct times){ns, 0, 0}, owner,
				(struct times){ns, 1, 0});

		begin = at_stacks(begin, i % 4, i / 4 % 4);
		assert_int_equal(contention_add(c, &begin) | contention_add(c, &end), 0);
	}
	return c;
}

static void groups_add_up_in_every_order(void **state)
{
	struct contention *c = some_contention();
	struct log_names *names = some_names();
	struct stacks *stacks = stacks_new(names);
	const struct cell *cells;
	uint32_t count;

	(void)state;
	cells = contention_cells(c, &count);
	for (unsigned order = 0; order < ASPECT_COUNT * ASPECT_COUNT * ASPECT_COUNT; order++) {
		const enum aspect_id by[] = {order % ASPECT_COUNT,
					     order / ASPECT_COUNT % ASPECT_COUNT,
					     order / ASPECT_COUNT / ASPECT_COUNT};
		struct group root;

		assert_int_equal(groups_make(stacks, cells, count, by, 3, GROUP_BY_WORK, &root), 0);
		assert_int_equal(root.count, 300);
		check_sums(&root);
		groups_free(&root);
	}
	stacks_free(stacks);
	log_names_free(names);
	contention_free(c);
}

static void groups_survive_without_memory(void **state)
{
	static const enum aspect_id by[] = {ASPECT_LOCK, ASPECT_OWNER_STACK, ASPECT_WAITER_THREAD};
	struct contention *c = some_contention();
	struct log_names *names = some_names();
	struct stacks *stacks = stacks_new(names);
	const struct cell *cells;
	struct group root = {0};
	unsigned long n = 0;
	uint32_t count;
	int err;

	(void)state;
	cells = contention_cells(c, &count);
	for (;; n++) {
		alloc_fail_at(n);
		err = groups_make(stacks, cells, count, by, 3, GROUP_BY_WORK, &root);
		if (!alloc_fail_off())
			break;
		assert_int_equal(err, -ENOMEM);
	}
	assert_int_equal(err, 0);
	assert_true(n > 5);
	groups_free(&root);
	stacks_free(stacks);
	log_names_free(names);
	contention_free(c);
}

static void aspects_have_names(void **state)
{
	(void)state;
	assert_int_equal(aspect_by_name("lock", 4), ASPECT_LOCK);
	assert_int_equal(aspect_by_name("lock_class,lock", 10), ASPECT_LOCK_CLASS);
	assert_int_equal(aspect_by_name("loc", 3), -1);
	assert_int_equal(aspect_by_name("", 0), -1);
	for (int i = 0; i < ASPECT_COUNT; i++)
		assert_int_equal(aspect_by_name(aspect_get(i)->name, strlen(aspect_get(i)->name)),
				 i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keymap_keep_their_order),
		cmocka_unit_test(parking_adds_up),
		cmocka_unit_test(pauses_find_their_operations),
		cmocka_unit_test(pauses_bound_the_depth),
		cmocka_unit_test(sched_counts_from_sample_to_sample),
		cmocka_unit_test(groups_add_up_in_every_order),
		cmocka_unit_test(groups_survive_without_memory),
		cmocka_unit_test(aspects_have_names),
	};

	return cmocka_run_group_tests_name("analyze_findings", tests, NULL, NULL);
}
