/* Virtual threads that are pinned, and how many carriers are left meanwhile. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/park/pins.h"
#include "tests/unit/alloc_fail.h"

static struct event enter(uint64_t ns, uint32_t thread, uint64_t carrier, bool pinned)
{
	struct event e = {.id = EVENT_MONITOR_CONTENDED_ENTER, .time_ns = ns, .thread = thread};

	e.v[MONITOR_CONTENDED_ENTER_LOCK].u = 7;
	e.v[MONITOR_CONTENDED_ENTER_CARRIER].u = carrier;
	e.v[MONITOR_CONTENDED_ENTER_PINNED].u = pinned;
	return e;
}

static struct event park(uint64_t ns, uint32_t thread, uint64_t carrier)
{
	struct event e = {.id = EVENT_PARK_BEGIN, .time_ns = ns, .thread = thread};

	e.v[PARK_BEGIN_CARRIER].u = carrier;
	return e;
}

static struct event end(uint16_t id, uint64_t ns, uint32_t thread)
{
	return (struct event){.id = id, .time_ns = ns, .thread = thread};
}

static void feed(struct pins *p, const struct event *events, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_int_equal(pins_add(p, &events[i]), 0);
}

#define FEED(p, events) feed(p, events, sizeof(events) / sizeof(*(events)))

static void assert_level(const struct pins *p, uint32_t level, uint64_t count, uint64_t total,
			 uint64_t max)
{
	struct pause_times t = pins_at_least(p, level);

	assert_int_equal(t.count, count);
	assert_int_equal(t.total_ns, total);
	assert_int_equal(t.max_ns, max);
}

static void how_many_at_once(void **state)
{
	const struct event events[] = {
		park(100, 1, 11),
		enter(150, 2, 12, true),
		end(EVENT_PARK_END, 250, 1),
		end(EVENT_MONITOR_CONTENDED_ENTERED, 300, 2),
		enter(400, 1, 12, true),
		park(410, 2, 11),
		end(EVENT_MONITOR_CONTENDED_ENTERED, 420, 1),
		end(EVENT_PARK_END, 500, 2),
	};
	struct pins p = {0};

	(void)state;
	FEED(&p, events);
	pins_finish(&p, 1000);
	assert_level(&p, 0, 0, 0, 0);
	assert_level(&p, 1, 2, 300, 200);
	assert_level(&p, 2, 2, 110, 100);
	assert_level(&p, 3, 0, 0, 0);
	assert_int_equal(p.carrier_map.count, 2);
	assert_int_equal(p.row_map.count, 2);
	assert_int_equal(p.rows[0].reason, PIN_PARK);
	assert_int_equal(p.rows[0].times.total_ns, 240);
	assert_int_equal(p.rows[1].lock, 7);
	assert_int_equal(p.rows[1].times.total_ns, 170);
	assert_int_equal(p.rows[1].times.max_ns, 150);
	pins_free(&p);
}

/* A platform thread, one that may leave its carrier, an end without a begin, a begin without an end,
 * and one that is open at the end. */
static void what_does_not_pin(void **state)
{
	const struct event events[] = {
		enter(100, 1, 0, false),
		park(110, 2, 0),
		enter(120, 3, 11, false),
		end(EVENT_MONITOR_CONTENDED_ENTERED, 200, 3),
		end(EVENT_MONITOR_WAIT_END, 210, 4),
		park(300, 5, 12),
		park(400, 5, 12),
	};
	struct pins p = {0};

	(void)state;
	FEED(&p, events);
	assert_int_equal(p.now, 1);
	pins_finish(&p, 450);
	assert_int_equal(p.now, 0);
	assert_level(&p, 1, 2, 150, 100);
	assert_int_equal(p.row_map.count, 1);
	assert_int_equal(p.rows[0].times.count, 1);
	assert_int_equal(p.rows[0].times.total_ns, 50);
	assert_int_equal(p.carrier_map.count, 2);
	pins_free(&p);
}

/* As a forged log may have it. */
static void more_than_anybody_has(void **state)
{
	struct pins p = {0};

	(void)state;
	for (uint32_t i = 1; i <= PIN_LEVELS_MAX + 10; i++) {
		struct event e = park(100, i, 1);

		assert_int_equal(pins_add(&p, &e), 0);
	}
	assert_int_equal(p.level_count, PIN_LEVELS_MAX);
	pins_finish(&p, 200);
	assert_level(&p, PIN_LEVELS_MAX, 1, 100, 100);
	assert_int_equal(p.now, 0);
	pins_free(&p);
}

static void without_memory(void **state)
{
	const struct event events[] = {park(100, 1, 11), enter(150, 2, 12, true)};
	unsigned long n = 0;
	bool failed = true;

	(void)state;
	for (; failed; n++) {
		struct pins p = {0};
		int err = 0;

		alloc_fail_at(n);
		for (size_t i = 0; i < 2 && !err; i++)
			err = pins_add(&p, &events[i]);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		pins_free(&p);
	}
	assert_true(n > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(how_many_at_once),
		cmocka_unit_test(what_does_not_pin),
		cmocka_unit_test(more_than_anybody_has),
		cmocka_unit_test(without_memory),
	};

	return cmocka_run_group_tests_name("analyze_pins", tests, NULL, NULL);
}
