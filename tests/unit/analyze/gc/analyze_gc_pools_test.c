/* analyze/gc/gc_pools: what the pools of the heap held after each collection. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/gc/gc_pools.h"
#include "log/format/event.h"
#include "log/read/names.h"
#include "tests/unit/alloc_fail.h"

enum { EDEN = 1, SURVIVOR, OLD, META, COPY, FULL, NAME_COUNT };
#define VM 7

static struct log_names *names_new(void)
{
	static const char *const texts[NAME_COUNT] = {"", "Eden Space", "Survivor Space", "Tenured Gen",
						      "Metaspace", "Copy", "MarkSweepCompact"};
	struct log_names *n = log_names_new();

	for (unsigned i = 1; n && i < NAME_COUNT; i++) {
		struct event e = {.id = EVENT_STRING};

		e.v[STRING_STRING].u = i;
		e.v[STRING_TEXT].s = texts[i];
		if (log_names_add(n, &e)) {
			log_names_free(n);
			return NULL;
		}
	}
	return n;
}

static int pool(struct gc_pools *p, const struct log_names *names, uint64_t ns, uint64_t moment, uint64_t manager,
		uint64_t pool, uint64_t used)
{
	struct event e = {.id = EVENT_GC_POOL, .time_ns = ns, .thread = VM};

	e.v[GC_POOL_MOMENT].u = moment;
	e.v[GC_POOL_MANAGER].u = manager;
	e.v[GC_POOL_POOL].u = pool;
	e.v[GC_POOL_USED_BYTES].u = used;
	return gc_pools_add(p, names, &e);
}

/* 0 or -ENOMEM. */
static int collection(struct gc_pools *p, const struct log_names *names, uint64_t ns, uint64_t manager, uint64_t old)
{
	int err = 0;

	for (uint64_t moment = GC_MOMENT_BEFORE; !err && moment <= GC_MOMENT_AFTER; moment++) {
		bool after = moment == GC_MOMENT_AFTER;

		err = pool(p, names, ns + after, moment, manager, EDEN, after ? 0 : 500);
		if (!err)
			err = pool(p, names, ns + after, moment, manager, SURVIVOR, after ? 20 : 10);
		if (!err)
			err = pool(p, names, ns + after, moment, manager, META, 9999);
		if (!err)
			err = pool(p, names, ns + after, moment, manager, OLD, after ? old : 1);
	}
	return err;
}

static void each_manager_has_a_row(void **state)
{
	struct log_names *names = names_new();
	struct gc_pools p = {0};

	(void)state;
	assert_int_equal(collection(&p, names, 100, COPY, 300), 0);
	/* A young collection, and a full one right after it. */
	assert_int_equal(collection(&p, names, 200, COPY, 400), 0);
	assert_int_equal(collection(&p, names, 210, FULL, 200), 0);
	assert_int_equal(p.count, 3);
	assert_int_equal(p.pools_most, 3);
	assert_int_equal(p.rows[0].time_ns, 101);
	assert_int_equal(gc_pools_used(&p.rows[0]), 320);
	assert_int_equal(p.rows[0].used_bytes[HEAP_POOL_OLD], 300);
	assert_int_equal(p.rows[0].used_bytes[HEAP_POOL_SURVIVOR], 20);
	assert_int_equal(gc_pools_used(&p.rows[1]), 420);
	assert_int_equal(gc_pools_used(&p.rows[2]), 220);
	gc_pools_free(&p);
	log_names_free(names);
}

/* Two ends without a begin between them are two; one that lacks a pool shows that. */
static void what_is_lost_is_seen(void **state)
{
	struct log_names *names = names_new();
	struct gc_pools p = {0};

	(void)state;
	assert_int_equal(collection(&p, names, 100, COPY, 300), 0);
	assert_int_equal(pool(&p, names, 200, GC_MOMENT_AFTER, COPY, SURVIVOR, 30), 0);
	assert_int_equal(pool(&p, names, 200, GC_MOMENT_AFTER, COPY, OLD, 310), 0);
	assert_int_equal(pool(&p, names, 300, GC_MOMENT_AFTER, COPY, SURVIVOR, UINT64_MAX), 0);
	assert_int_equal(pool(&p, names, 300, GC_MOMENT_AFTER, COPY, OLD, 2), 0);
	assert_int_equal(p.count, 3);
	assert_int_equal(p.rows[1].pools, 2);
	assert_int_equal(gc_pools_used(&p.rows[1]), 340);
	assert_int_equal(gc_pools_used(&p.rows[2]), UINT64_MAX);
	gc_pools_free(&p);
	log_names_free(names);
}

static void no_memory(void **state)
{
	struct log_names *names = names_new();
	bool failed = true;

	(void)state;
	for (unsigned long n = 0; failed; n++) {
		struct gc_pools p = {0};
		int err = 0;

		alloc_fail_at(n);
		for (unsigned i = 0; !err && i < 40; i++)
			err = collection(&p, names, 100 * i, COPY, i);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		assert_true(failed || p.count == 40);
		gc_pools_free(&p);
	}
	log_names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_manager_has_a_row),
		cmocka_unit_test(what_is_lost_is_seen),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
