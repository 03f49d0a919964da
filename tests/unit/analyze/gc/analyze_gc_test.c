/* Collections one by one, their sums, and the trend: small cases with known answers, and hostile figures. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analyze/gc/gc_series.h"
#include "analyze/gc/gc_sums.h"
#include "analyze/gc/gc_trend.h"
#include "analyze/vm/heap_pool.h"
#include "log/format/event.h"
#include "log/read/names.h"
#include "tests/unit/alloc_fail.h"

#define MINUTE 60000000000ull
#define NO_LIMIT UINT64_MAX

enum { EDEN = 1, SURVIVOR, OLD, META, COPY, FULL, Z, MINOR, MAJOR, YOUNG_OP, CAUSE, NAME_COUNT };

static struct log_names *names_new(void)
{
	static const char *const texts[NAME_COUNT] = {"",
						      "Eden Space",
						      "Survivor Space",
						      "Tenured Gen",
						      "Metaspace",
						      "Copy",
						      "MarkSweepCompact",
						      "ZHeap",
						      "ZGC Minor Cycles",
						      "ZGC Major Cycles",
						      "GenCollectForAllocation",
						      "Allocation Failure"};
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

struct fixture {
	struct log_names *names;
	struct gc_series *series;
	int err;
};

static void begin(struct fixture *f)
{
	*f = (struct fixture){.names = names_new()};
	f->series = f->names ? gc_series_new(f->names, 1000) : NULL;
	f->err = f->series ? 0 : -ENOMEM;
}

static void end(struct fixture *f)
{
	gc_series_free(f->series);
	log_names_free(f->names);
}

static void add(struct fixture *f, const struct event *e)
{
	if (!f->err)
		f->err = gc_series_add(f->series, e);
}

static void gc_begin(struct fixture *f, uint64_t ns, uint32_t thread)
{
	struct event e = {.id = EVENT_GC_BEGIN, .time_ns = ns, .thread = thread};

	e.v[GC_BEGIN_OPERATION].u = YOUNG_OP;
	add(f, &e);
}

static void gc_end(struct fixture *f, uint64_t ns, uint32_t thread, uint64_t kind, uint64_t manager)
{
	struct event e = {.id = EVENT_GC_END, .time_ns = ns, .thread = thread};

	e.v[GC_END_KIND].u = kind;
	e.v[GC_END_COLLECTOR].u = manager;
	add(f, &e);
}

struct reading {
	uint64_t ns;
	uint32_t thread;
	uint64_t moment, manager, pool, used, max;
};

static void pool(struct fixture *f, struct reading r)
{
	struct event e = {.id = EVENT_GC_POOL, .time_ns = r.ns, .thread = r.thread};

	e.v[GC_POOL_MOMENT].u = r.moment;
	e.v[GC_POOL_MANAGER].u = r.manager;
	e.v[GC_POOL_POOL].u = r.pool;
	e.v[GC_POOL_USED_BYTES].u = r.used;
	e.v[GC_POOL_COMMITTED_BYTES].u = 100;
	e.v[GC_POOL_MAX_BYTES].u = r.max ? r.max : NO_LIMIT;
	add(f, &e);
}

static const struct gc_row *finish(struct fixture *f, uint32_t *count)
{
	assert_int_equal(f->err, 0);
	gc_series_finish(f->series);
	return gc_series_rows(f->series, count);
}

/* A young collection that goes on as a full one, in one pause. */
static void young_and_full(struct fixture *f)
{
	static const uint64_t used[][2][4] = {{{COPY, 60, 5, 30}, {COPY, 0, 6, 50}},
					      {{FULL, 0, 6, 50}, {FULL, 0, 0, 20}}};

	gc_begin(f, 1000, 7);
	for (unsigned m = 0; m < 2; m++) {
		for (unsigned side = 0; side < 2; side++) {
			const uint64_t *u = used[m][side];
			uint64_t ns = 1001 + 2 * m + side;

			pool(f, (struct reading){ns, 7, side, u[0], EDEN, u[1], 80});
			pool(f, (struct reading){ns, 7, side, u[0], SURVIVOR, u[2], 10});
			pool(f, (struct reading){ns, 7, side, u[0], OLD, u[3], 200});
			pool(f, (struct reading){ns, 7, side, u[0], META, 1000, 0});
		}
	}
	gc_end(f, 1100, 7, GC_KIND_FULL, FULL);
}

static void a_pause_has_the_first_before_and_the_last_after(void **state)
{
	struct fixture f;
	struct gc_facts facts;
	const struct gc_row *r;
	uint32_t count;

	(void)state;
	begin(&f);
	young_and_full(&f);
	r = finish(&f, &count);
	assert_int_equal(count, 1);
	assert_true(r->has_heap && r->has_old && r->has_survivor && !r->is_cycle);
	assert_int_equal(r->begin_ns, 1000);
	assert_int_equal(gc_row_ns(r), 100);
	assert_int_equal(r->operation, YOUNG_OP);
	assert_int_equal(r->before.used_bytes, 95); /* metaspace is not the heap */
	assert_int_equal(r->after.used_bytes, 20);
	assert_int_equal(r->before.old_bytes, 30);
	assert_int_equal(r->after.committed_bytes, 300);
	assert_int_equal(gc_row_freed(r), 75);
	facts = gc_series_facts(f.series);
	assert_int_equal(facts.limits.heap_bytes, 290);
	assert_int_equal(facts.limits.old_bytes, 200);
	assert_int_equal(facts.incomplete, 0);
	end(&f);
}

/* Two drivers side by side, pauses of the VM's thread in between. */
static void cycles_are_told_apart(void **state)
{
	struct fixture f;
	const struct gc_row *r;
	uint32_t count;

	(void)state;
	begin(&f);
	pool(&f, (struct reading){100, 1, GC_MOMENT_AFTER, MAJOR, Z, 9, 0}); /* begun before the log */
	pool(&f, (struct reading){1000, 1, GC_MOMENT_BEFORE, MAJOR, Z, 50, 0});
	pool(&f, (struct reading){1100, 2, GC_MOMENT_BEFORE, MINOR, Z, 60, 0});
	gc_begin(&f, 1200, 7);
	pool(&f, (struct reading){1250, 2, GC_MOMENT_AFTER, MINOR, Z, 40, 0}); /* not of this pause */
	gc_end(&f, 1300, 7, GC_KIND_CONCURRENT_PAUSE, 0);
	pool(&f, (struct reading){2000, 1, GC_MOMENT_AFTER, MAJOR, Z, 30, 0});
	r = finish(&f, &count);
	assert_int_equal(count, 3);
	assert_true(r[0].is_cycle && r[0].is_minor && r[0].has_heap);
	assert_int_equal(gc_row_freed(&r[0]), 20);
	assert_false(r[1].is_cycle || r[1].has_heap);
	assert_true(r[2].is_cycle && !r[2].is_minor);
	assert_int_equal(gc_row_ns(&r[2]), 1000);
	assert_int_equal(gc_series_facts(f.series).incomplete, 1);
	end(&f);
}

static void parts_are_counted_and_in_no_sum(void **state)
{
	struct fixture f;
	const struct gc_row *r;
	uint32_t count;

	(void)state;
	begin(&f);
	gc_end(&f, 10, 7, GC_KIND_YOUNG, COPY); /* no begin */
	gc_begin(&f, 20, 7);
	gc_begin(&f, 30, 7); /* the end of the last one is lost */
	pool(&f, (struct reading){31, 7, GC_MOMENT_BEFORE, COPY, EDEN, 5, 0});
	gc_series_hole(f.series);
	young_and_full(&f);
	gc_begin(&f, 5000, 7);
	pool(&f, (struct reading){5001, 7, GC_MOMENT_BEFORE, COPY, EDEN, 5, 0});
	pool(&f, (struct reading){5002, 7, GC_MOMENT_AFTER, COPY, EDEN, 0, 0}); /* the others are lost */
	gc_end(&f, 5003, 7, GC_KIND_YOUNG, COPY);
	gc_begin(&f, 6000, 7);
	r = finish(&f, &count);
	assert_int_equal(count, 2);
	assert_true(r[0].has_heap);
	assert_false(r[1].has_heap);
	assert_int_equal(gc_row_freed(&r[1]), 0);
	assert_true(r[0].after_gap && !r[1].after_gap);
	assert_int_equal(gc_series_facts(f.series).incomplete, 4);
	end(&f);
}

static void a_patched_jvm_gives_the_cause(void **state)
{
	struct event e = {.id = EVENT_COLLECTION_BEGIN, .time_ns = 900, .thread = 7};
	struct fixture f;
	const struct gc_row *r;
	uint32_t count;

	(void)state;
	begin(&f);
	e.v[COLLECTION_BEGIN_GC].u = 3;
	e.v[COLLECTION_BEGIN_CAUSE].u = CAUSE;
	add(&f, &e);
	young_and_full(&f);
	e = (struct event){.id = EVENT_COLLECTION_END, .time_ns = 1200, .thread = 7};
	e.v[COLLECTION_END_GC].u = 3;
	add(&f, &e);
	gc_begin(&f, 1300, 7);
	gc_end(&f, 1400, 7, GC_KIND_YOUNG, COPY);
	r = finish(&f, &count);
	assert_int_equal(count, 2);
	assert_int_equal(r[0].cause, CAUSE);
	assert_int_equal(r[1].cause, 0);
	end(&f);
}

static void pools_have_names(void **state)
{
	(void)state;
	assert_int_equal(heap_pool_of("G1 Old Gen"), HEAP_POOL_OLD);
	assert_int_equal(heap_pool_of("ZGC Old Generation"), HEAP_POOL_OLD);
	assert_int_equal(heap_pool_of("Tenured Gen"), HEAP_POOL_OLD);
	assert_int_equal(heap_pool_of("PS Survivor Space"), HEAP_POOL_SURVIVOR);
	assert_int_equal(heap_pool_of("ZHeap"), HEAP_POOL_OTHER);
	assert_int_equal(heap_pool_of("CodeHeap 'non-nmethods'"), HEAP_POOL_NONE);
	assert_int_equal(heap_pool_of("Compressed Class Space"), HEAP_POOL_NONE);
	assert_int_equal(heap_pool_of(NULL), HEAP_POOL_NONE);
}

/* --- sums and trend: of rows that are made up ------------------------------------------------ */

static struct gc_row row(uint64_t ns, uint64_t kind, uint64_t old_before, uint64_t after)
{
	return (struct gc_row){.begin_ns = ns - 10,
			       .end_ns = ns,
			       .kind = kind,
			       .has_heap = true,
			       .has_old = true,
			       .before = {.used_bytes = after + 50, .old_bytes = old_before},
			       .after = {.used_bytes = after, .old_bytes = after}};
}

static struct gc_trend trend(const struct gc_row *rows, uint32_t count, uint64_t limit)
{
	const struct gc_limits limits = {.heap_bytes = limit, .old_bytes = limit / 2};
	struct gc_trend t;

	assert_int_equal(gc_trend_find(rows, count, &limits, &t), 0);
	return t;
}

static void sums_are_exact(void **state)
{
	struct gc_row rows[10];
	struct gc_sums s;

	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		rows[i] = row(1000 * (i + 1), GC_KIND_YOUNG, 100, 100);
		rows[i].begin_ns = rows[i].end_ns - (i + 1);
		rows[i].operation = i % 2;
	}
	rows[9].is_cycle = true;
	rows[8].has_heap = false;
	assert_int_equal(gc_sums_make(rows, 10, &s), 0);
	assert_int_equal(s.group_count, 3);
	assert_int_equal(s.pauses.count, 9);
	assert_int_equal(s.pauses.total_ns, 45);
	assert_int_equal(s.pauses.max_ns, 9);
	assert_int_equal(s.cycles, 1);
	assert_int_equal(s.quantiles.p50_ns, 5);
	assert_int_equal(s.quantiles.p90_ns, 9);
	assert_int_equal(s.quantiles.p999_ns, 9);
	assert_int_equal(s.freed_bytes, 9 * 50);
	assert_int_equal(s.allocated_bytes, 7 * 50); /* not around the one without a heap */
	assert_int_equal(s.allocated_ns, 7000 - 2 - 3 - 4 - 5 - 6 - 7 - 8); /* from end to begin */
	gc_sums_free(&s);
	assert_int_equal(gc_sums_make(NULL, 0, &s), 0);
	assert_int_equal(s.pauses.count + s.group_count, 0);
	gc_sums_free(&s);
}

static void a_leak_is_full_at_its_time(void **state)
{
	struct gc_row rows[11];
	struct gc_trend t;

	(void)state;
	for (uint64_t i = 0; i < 11; i++) /* 1,000,000 bytes a minute */
		rows[i] = row((i + 1) * MINUTE, GC_KIND_FULL, 0, (i + 1) * 1000000);
	rows[4].after.used_bytes = 90000000; /* one in the middle of something large */
	t = trend(rows, 11, 21000000);
	assert_int_equal(t.basis, GC_TREND_OLD);
	assert_int_equal(t.course, GC_COURSE_GROWS);
	assert_int_equal(t.count, 11);
	assert_int_equal(t.bytes_per_min, 1000000);
	assert_int_equal(t.first_bytes, 1000000);
	assert_int_equal(t.last_bytes, 11000000);
	assert_true(t.fills);
	assert_int_equal(t.full_ns, 10 * MINUTE);
	assert_false(trend(rows, 11, 1012000000).fills); /* 1,001 minutes off, after 10 */
	assert_true(trend(rows, 11, 1010000000).fills);
	t = trend(rows, 11, 5000000); /* it is beyond the limit */
	assert_false(t.fills);
	t = trend(rows, 11, 0);
	assert_false(t.fills);
}

static void steady_and_falling(void **state)
{
	struct gc_row rows[12];
	struct gc_trend t;

	(void)state;
	for (uint64_t i = 0; i < 12; i++)
		rows[i] = row((i + 1) * MINUTE, GC_KIND_FULL, 0, 1000000 + (i % 3) * 1000);
	t = trend(rows, 12, 5000000);
	assert_int_equal(t.course, GC_COURSE_STEADY);
	assert_false(t.fills);
	for (uint64_t i = 0; i < 12; i++)
		rows[i] = row((i + 1) * MINUTE, GC_KIND_FULL, 0, 1000000 - i * 50000);
	t = trend(rows, 12, 5000000);
	assert_int_equal(t.course, GC_COURSE_FALLS);
	for (uint64_t i = 0; i < 12; i++) /* up and down, and up in the end */
		rows[i] = row((i + 1) * MINUTE, GC_KIND_FULL, 0,
			      1000000 + i * 30000 - i % 2 * 400000);
	assert_int_equal(trend(rows, 12, 5000000).course, GC_COURSE_UNCLEAR);
	for (uint64_t i = 0; i < 12; i++)
		rows[i] = row((i + 1) * MINUTE, GC_KIND_FULL, 0, 1000000 - i * 50000);
	t = trend(rows, 12, 5000000);
	assert_int_equal(t.bytes_per_min, -50000);
}

/* Of mixed ones in a row, the last counts; young ones that only promote are not asked. */
static void mixed_collections_free_old_objects(void **state)
{
	struct gc_row rows[30];
	struct gc_trend t;
	uint32_t n = 0;

	(void)state;
	for (uint64_t i = 0; i < 5; i++) {
		uint64_t ns = (i + 1) * MINUTE, live = (i + 1) * 1000;

		rows[n++] = row(ns, GC_KIND_YOUNG, live, live + 90000);
		rows[n++] = row(ns + 1000, GC_KIND_YOUNG, live + 90000, live + 50000);
		rows[n++] = row(ns + 2000, GC_KIND_CONCURRENT_PAUSE, 0, 0);
		rows[n - 1].has_heap = false;
		rows[n++] = row(ns + 3000, GC_KIND_YOUNG, live + 50000, live);
	}
	t = trend(rows, n, 100000);
	assert_int_equal(t.basis, GC_TREND_OLD);
	assert_int_equal(t.count, 5);
	assert_int_equal(t.bytes_per_min, 1000);
	assert_int_equal(t.last_bytes, 5000);
}

static void young_ones_alone_speak_of_the_old_generation(void **state)
{
	struct gc_row rows[5];
	struct gc_trend t;

	(void)state;
	for (uint64_t i = 0; i < 5; i++)
		rows[i] = row((i + 1) * MINUTE, GC_KIND_YOUNG, i * 1000, (i + 1) * 1000);
	t = trend(rows, 5, 40000);
	assert_int_equal(t.basis, GC_TREND_YOUNG);
	assert_int_equal(t.limit_bytes, 20000); /* the old generation's */
	assert_int_equal(t.full_ns, 15 * MINUTE);
	t = trend(rows, 2, 40000);
	assert_int_equal(t.basis, GC_TREND_NONE);
	t = trend(rows, 0, 0);
	assert_int_equal(t.basis, GC_TREND_NONE);
	for (uint64_t i = 0; i < 5; i++) /* all at once */
		rows[i] = row(MINUTE, GC_KIND_FULL, 0, i);
	assert_int_equal(trend(rows, 5, 0).basis, GC_TREND_NONE);
}

/* Whatever a log says: UBSan looks on. */
static void hostile_figures(void **state)
{
	static const uint64_t odd[] = {0, 1, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX - 1, UINT64_MAX};
	enum { N = sizeof(odd) / sizeof(*odd), COUNT = 400 };
	struct gc_row rows[COUNT];
	uint64_t seed = 1;
	struct gc_sums s;

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		for (unsigned i = 0; i < COUNT; i++) {
			uint64_t pick[8];

			for (unsigned k = 0; k < 8; k++) {
				seed = seed * 6364136223846793005ull + 1442695040888963407ull;
				pick[k] = round % 2 ? odd[(seed >> 33) % N] : seed;
			}
			rows[i] = (struct gc_row){.begin_ns = pick[0],
						  .end_ns = pick[1],
						  .kind = pick[2] % 5,
						  .is_cycle = pick[3] & 1,
						  .has_heap = pick[3] & 2,
						  .has_old = true,
						  .before = {pick[4], pick[5], 0, pick[6]},
						  .after = {pick[5], pick[4], pick[7], pick[7]}};
		}
		trend(rows, round % 7 ? round : COUNT, odd[round % N]);
		assert_int_equal(gc_sums_make(rows, COUNT, &s), 0);
		gc_sums_free(&s);
	}
}

static int all(struct gc_sums *sums)
{
	struct gc_limits limits = {0};
	struct gc_trend t;
	struct fixture f;
	uint32_t count;
	const struct gc_row *rows;

	begin(&f);
	for (unsigned i = 0; i < 40 && !f.err; i++)
		young_and_full(&f);
	if (!f.err) {
		gc_series_finish(f.series);
		rows = gc_series_rows(f.series, &count);
		f.err = gc_sums_make(rows, count, sums);
		if (!f.err)
			f.err = gc_trend_find(rows, count, &limits, &t);
	}
	end(&f);
	return f.err;
}

static void without_memory(void **state)
{
	unsigned long n = 0;
	bool failed;

	(void)state;
	do {
		struct gc_sums sums = {0};
		int err;

		alloc_fail_at(n++);
		err = all(&sums);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		gc_sums_free(&sums);
	} while (failed);
	assert_true(n > 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pause_has_the_first_before_and_the_last_after),
		cmocka_unit_test(cycles_are_told_apart),
		cmocka_unit_test(parts_are_counted_and_in_no_sum),
		cmocka_unit_test(a_patched_jvm_gives_the_cause),
		cmocka_unit_test(pools_have_names),
		cmocka_unit_test(sums_are_exact),
		cmocka_unit_test(a_leak_is_full_at_its_time),
		cmocka_unit_test(steady_and_falling),
		cmocka_unit_test(mixed_collections_free_old_objects),
		cmocka_unit_test(young_ones_alone_speak_of_the_old_generation),
		cmocka_unit_test(hostile_figures),
		cmocka_unit_test(without_memory),
	};

	return cmocka_run_group_tests_name("analyze_gc", tests, NULL, NULL);
}
