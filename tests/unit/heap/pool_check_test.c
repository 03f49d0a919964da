/* heap/check/pool_check: a random heap of regions beside what its regions hold; small heaps of Serial and Parallel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "heap/check/pool_check.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/heap/object_model.h"

#define HEAP_BYTES (64 << 20)
#define COLLECTIONS 12

static const struct pool_check_options regions = {
	.spaces = {.collector = HEAP_G1, .region_bytes = MODEL_REGION << MODEL_SHIFT}};

static struct model *story(unsigned seed)
{
	struct model *m = model_new(seed);

	for (uint32_t i = 0; i < COLLECTIONS; i++) {
		static const enum model_gc kinds[] = {MODEL_YOUNG, MODEL_YOUNG, MODEL_FULL, MODEL_REMARK};

		model_run_program(m);
		model_collect(m, kinds[model_random(m, 4)]);
	}
	return m;
}

static void samples_of(const struct model *m, uint64_t after_ns, struct pool_sample *ret)
{
	for (uint32_t i = 0; i < COLLECTIONS; i++)
		ret[i] = (struct pool_sample){MODEL_BEGIN_NS(i) + after_ns, m->used[i]};
}

static int check(struct model *m, const struct pool_check_options *o, const struct pool_sample *samples, uint32_t count,
		 struct pool_check *ret)
{
	struct object_replay *r = object_replay_new(HEAP_BYTES);
	int err = r ? 0 : -ENOMEM;

	*ret = (struct pool_check){0};
	if (r)
		pool_check_begin(ret, o, r);
	if (!err)
		err = model_replay(m, r);
	if (!err)
		err = pool_check_finish(ret, samples, count);
	object_replay_free(r);
	return err;
}

static void a_heap_of_regions_agrees(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 3; seed++) {
		struct model *m = story(seed);
		struct pool_sample samples[COLLECTIONS];
		struct pool_check c;
		uint64_t ends = 0;

		samples_of(m, seed % 2 ? 50 : 150, samples); /* within the collection, or after it */
		assert_int_equal(check(m, &regions, samples, COLLECTIONS, &c), 0);
		assert_int_equal(c.count, COLLECTIONS);
		assert_int_equal(c.verdicts[POOL_AGREES], COLLECTIONS);
		for (uint32_t i = 0; i < COLLECTIONS; i++) {
			uint64_t bytes = 0;

			for (uint32_t k = 0; k < m->after[i].count; k++)
				bytes += (uint64_t)m->objects[m->after[i].object[k]].units << MODEL_SHIFT;
			assert_int_equal(c.rows[i].object_bytes, bytes);
			assert_int_equal(c.rows[i].used_bytes, m->used[i]);
			ends += c.rows[i].end_bytes;
		}
		assert_true(ends > 0);
		pool_check_free(&c);
		model_free(m);
	}
}

static void what_is_not_there_is_noticed(void **state)
{
	struct model *m = story(7);
	struct pool_sample samples[COLLECTIONS];
	struct pool_check c, again;

	(void)state;
	samples_of(m, 50, samples);
	assert_int_equal(check(m, &regions, samples, COLLECTIONS, &c), 0);
	samples[1].used_bytes = pool_check_least(&c, &c.rows[1]) - 8;
	samples[2].used_bytes = pool_check_least(&c, &c.rows[2]) + c.rows[2].end_bytes + 8;
	samples[3].used_bytes = pool_check_least(&c, &c.rows[3]);
	samples[4] = samples[5]; /* there is none of the collection itself */
	assert_int_equal(check(m, &regions, samples, COLLECTIONS, &again), 0);
	assert_int_equal(again.rows[1].verdict, POOL_DIFFERS);
	assert_int_equal(again.rows[2].verdict, POOL_DIFFERS);
	assert_int_equal(again.rows[3].verdict, POOL_AGREES);
	assert_true(again.exact >= 1);
	assert_int_equal(again.rows[4].verdict, POOL_NO_FIGURES);
	assert_int_equal(again.verdicts[POOL_DIFFERS], 2);
	assert_int_equal(again.verdicts[POOL_NO_FIGURES], 1);
	assert_int_equal(again.verdicts[POOL_AGREES], COLLECTIONS - 3);
	pool_check_free(&c);
	pool_check_free(&again);
	model_free(m);
}

/* An archive of classes: the JVM always has more. */
static void an_archive_is_inferred(void **state)
{
	struct pool_check_options o = regions;
	struct model *m = story(5);
	struct pool_sample samples[COLLECTIONS];
	struct pool_check c;

	(void)state;
	samples_of(m, 50, samples);
	for (uint32_t i = 0; i < COLLECTIONS; i++)
		samples[i].used_bytes += 1 << 20;
	assert_int_equal(check(m, &o, samples, COLLECTIONS, &c), 0);
	assert_true(c.verdicts[POOL_DIFFERS] > 0);
	pool_check_free(&c);
	o.archive = true;
	assert_int_equal(check(m, &o, samples, COLLECTIONS, &c), 0);
	assert_int_equal(c.verdicts[POOL_AGREES], COLLECTIONS);
	assert_true(c.archive_bytes >= 1 << 20);
	pool_check_free(&c);
	model_free(m);
}

static void a_layout_that_is_not_known(void **state)
{
	const struct pool_check_options o = {.spaces.collector = HEAP_OTHER};
	struct model *m = story(5);
	struct pool_check c;

	(void)state;
	assert_int_equal(check(m, &o, NULL, 0, &c), 0);
	assert_int_equal(c.verdicts[POOL_NOT_FOLLOWED], COLLECTIONS);
	pool_check_free(&c);
	model_free(m);
}

/* --- spaces that are contiguous ----------------------------------------------------------------------------- */

#define SMALL 2u /* units of an object of the first site */

static void born(struct model *m, uint32_t at)
{
	MODEL_PUT(m, 0, MODEL_KIND(SPOOR_OBJ_AT), at);
	MODEL_PUT(m, 0, MODEL_KIND(SPOOR_OBJ_NEW) | 1);
}

static void collection_begins(struct model *m, uint32_t flags)
{
	model_next_phase(m);
	MODEL_PUT(m, MODEL_VM, MODEL_KIND(SPOOR_OBJ_GC) | SPOOR_GC_BEGIN << 24 | flags << 8 | 4, m->collections,
		  MODEL_TIME(MODEL_BEGIN_NS(m->collections)));
}

static void space(struct model *m, uint32_t at, uint32_t units)
{
	MODEL_PUT(m, MODEL_VM, MODEL_KIND(SPOOR_OBJ_GC) | SPOOR_GC_SPACE << 24, 0, at, units);
}

static void moves(struct model *m, uint32_t from, uint32_t to)
{
	MODEL_PUT(m, MODEL_VM, MODEL_KIND(SPOOR_OBJ_MOVEX), from, 0, to);
}

static void collection_ends(struct model *m)
{
	MODEL_PUT(m, MODEL_VM, MODEL_KIND(SPOOR_OBJ_GC) | SPOOR_GC_END << 24 | 4, m->collections,
		  MODEL_TIME(MODEL_BEGIN_NS(m->collections) + 100));
	model_next_phase(m);
	m->collections++;
}

/* Eden at eden, survivors after it at survivor, old objects at old, in units. */
static struct model *generations(uint32_t eden, uint32_t survivor, uint32_t old)
{
	struct model *m = model_new(1);

	for (uint32_t i = 0; i < 100; i++)
		born(m, eden + SMALL * i);
	collection_begins(m, 0);
	space(m, eden, 400); /* what threads had left of their buffers, too */
	for (uint32_t i = 0; i < 10; i++)
		moves(m, eden + SMALL * i, survivor + SMALL * i);
	for (uint32_t i = 0; i < 5; i++)
		moves(m, eden + SMALL * (90 + i), old + SMALL * i);
	collection_ends(m);
	for (uint32_t i = 0; i < 3; i++)
		born(m, eden + SMALL * i);
	/* A full one: the first old object is dead, and so is the third; both stay where they were. */
	collection_begins(m, SPOOR_GC_ALL);
	moves(m, old + SMALL, old + SMALL);
	moves(m, old + 3 * SMALL, old + 3 * SMALL);
	moves(m, survivor, old + 4 * SMALL);
	collection_ends(m);
	return m;
}

static void check_generations(enum heap_collector collector, uint32_t eden, uint32_t survivor, uint32_t old)
{
	const struct pool_check_options o = {.spaces = {.collector = collector, .young_bytes = 8000ul << MODEL_SHIFT}};
	struct model *m = generations(eden, survivor, old);
	const struct pool_sample samples[] = {{MODEL_BEGIN_NS(0) + 110, 15 * SMALL << MODEL_SHIFT},
					      {MODEL_BEGIN_NS(1) + 110, 5 * SMALL << MODEL_SHIFT}};
	struct pool_check c;

	assert_int_equal(check(m, &o, samples, 2, &c), 0);
	assert_int_equal(c.verdicts[POOL_AGREES], 2);
	assert_int_equal(c.exact, 2);
	assert_int_equal(c.rows[0].gap_bytes, 0);
	assert_int_equal(c.rows[1].object_bytes, 3 * SMALL << MODEL_SHIFT);
	assert_int_equal(c.rows[1].gap_bytes, 2 * SMALL << MODEL_SHIFT);
	pool_check_free(&c);
	model_free(m);
}

static void generations_of_serial(void **state)
{
	(void)state;
	check_generations(HEAP_SERIAL, 0, 6000, 8000);
}

static void generations_of_parallel(void **state)
{
	(void)state;
	check_generations(HEAP_PARALLEL, 20000, 26000, 0);
}

/* One object was left where it was; the pools hold those that moved twice. */
static void promotions_that_failed(void **state)
{
	const struct pool_sample sample = {MODEL_BEGIN_NS(0) + 110, 110 * SMALL << MODEL_SHIFT};
	struct pool_check_options o = {.spaces = {.collector = HEAP_SERIAL, .young_bytes = 8000ul << MODEL_SHIFT}};
	struct model *m = model_new(1);
	struct pool_check c;

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		born(m, SMALL * i);
	collection_begins(m, 0);
	space(m, 0, 400);
	for (uint32_t i = 0; i < 10; i++)
		moves(m, SMALL * i, 6000 + SMALL * i);
	MODEL_PUT(m, MODEL_VM, MODEL_KIND(SPOOR_OBJ_KEEP), 50 * SMALL);
	collection_ends(m);
	assert_int_equal(check(m, &o, &sample, 1, &c), 0);
	assert_int_equal(c.verdicts[POOL_FAILED], 1);
	assert_int_equal(c.rows[0].object_bytes, 11 * SMALL << MODEL_SHIFT);
	pool_check_free(&c);
	/* A region that objects stay in is emptied of the others. */
	o.spaces = (struct heap_spaces){.collector = HEAP_G1, .region_bytes = 1 << 20};
	assert_int_equal(check(m, &o, &sample, 1, &c), 0);
	assert_int_equal(c.verdicts[POOL_FAILED], 0);
	assert_int_equal(c.verdicts[POOL_DIFFERS], 1);
	pool_check_free(&c);
	model_free(m);
}

/* A young collection in which an array has moved: the verdict, if the pools hold that. */
static enum pool_verdict copied_to(const struct heap_spaces *spaces, uint32_t array_bytes, uint64_t used_bytes)
{
	const uint32_t eden = 20000, survivor = 40000, units = model_array_units(array_bytes);
	const struct pool_check_options o = {.spaces = *spaces};
	const struct pool_sample sample = {MODEL_BEGIN_NS(0) + 110, used_bytes};
	struct model *m = model_new(1);
	enum pool_verdict verdict;
	struct pool_check c;

	born(m, eden);
	MODEL_PUT(m, 0, MODEL_KIND(SPOOR_OBJ_AT), eden + SMALL);
	MODEL_PUT(m, 0, MODEL_KIND(SPOOR_OBJ_ARR) | 4 << 8 | 255, array_bytes);
	collection_begins(m, 0);
	space(m, eden, 10000);
	moves(m, eden, survivor);
	moves(m, eden + SMALL, survivor + SMALL);
	collection_ends(m);
	assert_int_equal(check(m, &o, &sample, 1, &c), 0);
	assert_int_equal(c.rows[0].object_bytes, (SMALL + units) << MODEL_SHIFT);
	verdict = c.rows[0].verdict;
	pool_check_free(&c);
	model_free(m);
	return verdict;
}

/* Of Parallel with so many threads; the pools hold so much more than what the log has. */
static enum pool_verdict copied(uint64_t threads, uint32_t array_bytes, uint64_t more)
{
	const struct heap_spaces spaces = {.collector = HEAP_PARALLEL, .threads = threads};

	return copied_to(&spaces, array_bytes, ((SMALL + model_array_units(array_bytes)) << MODEL_SHIFT) + more);
}

/* Of G1, whose only region in use that the log knows is full; the pools hold so much more. */
static enum pool_verdict copied_in_region(uint64_t threads, uint32_t array_bytes, uint64_t more)
{
	const struct heap_spaces spaces = {.collector = HEAP_G1, .threads = threads, .region_bytes = 1 << 20};

	return copied_to(&spaces, array_bytes, (1 << 20) + more);
}

/* A copy of an array that another thread was faster with may be all that a region has. Humongous ones stay. */
static void what_threads_of_g1_leave(void **state)
{
	(void)state;
	assert_int_equal(copied_in_region(1, 20000, 0), POOL_AGREES);
	assert_int_equal(copied_in_region(1, 20000, 8), POOL_DIFFERS);
	assert_int_equal(copied_in_region(3, 10000, 8), POOL_DIFFERS);
	assert_int_equal(copied_in_region(3, 20000, 2 * 20016), POOL_AGREES);
	assert_int_equal(copied_in_region(3, 20000, 2 * 20016 + 8), POOL_DIFFERS);
	assert_int_equal(copied_in_region(3, 600000, 0), POOL_AGREES);
	assert_int_equal(copied_in_region(3, 600000, 8), POOL_DIFFERS);
}

/* Each thread has what is left of a buffer for survivors and of one for old objects, 40 KB; and of a large object
 * there is a copy of each thread but the one that won. */
static void what_threads_of_parallel_leave(void **state)
{
	const uint64_t buffers = 40 << 10, large = 20016, small = 10000;

	(void)state;
	assert_int_equal(copied(1, small, buffers), POOL_AGREES);
	assert_int_equal(copied(1, small, buffers + 8), POOL_DIFFERS);
	assert_int_equal(copied(1, 20000, buffers), POOL_AGREES);
	assert_int_equal(copied(1, 20000, buffers + 8), POOL_DIFFERS);
	assert_int_equal(copied(3, small, 3 * buffers), POOL_AGREES);
	assert_int_equal(copied(3, small, 3 * buffers + 8), POOL_DIFFERS);
	assert_int_equal(copied(3, 20000, 3 * buffers + 2 * large), POOL_AGREES);
	assert_int_equal(copied(3, 20000, 3 * buffers + 2 * large + 8), POOL_DIFFERS);
}

/* After a full collection of Parallel the survivors' space begins somewhere in the gap before its first object: what
 * is in the gap is dead, or is no part of any space. After one of young objects it has been told. */
static void spaces_that_get_other_sizes(void **state)
{
	static const struct {
		uint64_t used_units;
		enum pool_verdict verdict;
	} cases[] = {
		{2 * SMALL, POOL_AGREES}, {2 * SMALL + 1, POOL_AGREES}, {3 * SMALL, POOL_AGREES},
		{2 * SMALL - 1, POOL_DIFFERS}, {3 * SMALL + 1, POOL_DIFFERS},
	};
	const struct pool_check_options o = {.spaces = {.collector = HEAP_PARALLEL}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct pool_sample samples[] = {{MODEL_BEGIN_NS(0) + 110, 3 * SMALL << MODEL_SHIFT},
						      {MODEL_BEGIN_NS(1) + 110, cases[i].used_units << MODEL_SHIFT}};
		struct model *m = model_new(1);
		struct pool_check c;

		for (uint32_t k = 0; k < 3; k++)
			born(m, 20000 + SMALL * k);
		collection_begins(m, 0);
		space(m, 20000, 400);
		for (uint32_t k = 0; k < 3; k++)
			moves(m, 20000 + SMALL * k, SMALL * k);
		collection_ends(m);
		collection_begins(m, SPOOR_GC_ALL);
		moves(m, 0, 0);
		moves(m, 2 * SMALL, 2 * SMALL);
		collection_ends(m);
		assert_int_equal(check(m, &o, samples, 2, &c), 0);
		assert_int_equal(c.rows[0].verdict, POOL_AGREES);
		assert_false(c.rows[0].resized);
		assert_true(c.rows[1].resized);
		assert_int_equal(c.rows[1].gap_bytes, SMALL << MODEL_SHIFT);
		assert_int_equal(c.rows[1].verdict, cases[i].verdict);
		pool_check_free(&c);
		model_free(m);
	}
}

/* Before the full collection: three objects that none has seen, ten survivors, five old ones. */
static void check_spaces(const struct heap_spaces *spaces, uint32_t eden, uint32_t survivor, uint32_t old,
			 const uint32_t wanted[SPACE_COUNT])
{
	struct object_replay *r = object_replay_new(HEAP_BYTES);
	struct model *m = generations(eden, survivor, old);
	uint32_t found[SPACE_COUNT] = {0};
	struct object_found f;
	uint64_t unit = 0;

	object_replay_stop(r, 1, true);
	assert_int_equal(model_replay(m, r), 0);
	assert_int_equal(object_replay_ended(r), 1);
	while (object_replay_next(r, &unit, &f))
		found[heap_space_of(spaces, MODEL_BASE, object_replay_ended(r), &f)]++;
	assert_memory_equal(found, wanted, sizeof(found));
	object_replay_free(r);
	model_free(m);
}

static void spaces_of_objects(void **state)
{
	const uint64_t young = 8000ul << MODEL_SHIFT;
	const uint32_t contiguous[SPACE_COUNT] = {[SPACE_EDEN] = 3, [SPACE_SURVIVOR] = 10, [SPACE_OLD] = 5};

	(void)state;
	check_spaces(&(struct heap_spaces){.collector = HEAP_SERIAL, .young_bytes = young}, 0, 6000, 8000, contiguous);
	check_spaces(&(struct heap_spaces){.collector = HEAP_PARALLEL, .young_bytes = young,
					   .heap_bytes = (20000ul << MODEL_SHIFT) + young},
		     20000, 26000, 0, contiguous);
	check_spaces(&(struct heap_spaces){.collector = HEAP_G1, .region_bytes = 1 << 20}, 0, 6000, 8000,
		     (uint32_t[SPACE_COUNT]){[SPACE_EDEN] = 3, [SPACE_SURVIVED] = 15});
	check_spaces(&(struct heap_spaces){.collector = HEAP_G1, .region_bytes = 16}, 0, 6000, 8000,
		     (uint32_t[SPACE_COUNT]){[SPACE_HUMONGOUS] = 18});
	check_spaces(&(struct heap_spaces){.collector = HEAP_OTHER}, 0, 6000, 8000,
		     (uint32_t[SPACE_COUNT]){[SPACE_UNKNOWN] = 18});
}

static void no_memory(void **state)
{
	struct model *m = generations(0, 6000, 8000);
	const struct pool_check_options o = {.spaces = {.collector = HEAP_SERIAL, .young_bytes = 64000}};
	const struct pool_sample sample = {MODEL_BEGIN_NS(0) + 110, 15 * SMALL << MODEL_SHIFT};
	bool failed = true;

	(void)state;
	for (unsigned long n = 0; failed; n++) {
		struct pool_check c;
		int err;

		alloc_fail_at(n);
		err = check(m, &o, &sample, 1, &c);
		failed = alloc_fail_off();
		assert_true(!err || (failed && err == -ENOMEM));
		assert_true(failed || c.verdicts[POOL_AGREES] == 1);
		pool_check_free(&c);
	}
	model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_heap_of_regions_agrees),  cmocka_unit_test(what_is_not_there_is_noticed),
		cmocka_unit_test(an_archive_is_inferred),    cmocka_unit_test(a_layout_that_is_not_known),
		cmocka_unit_test(generations_of_serial),     cmocka_unit_test(generations_of_parallel),
		cmocka_unit_test(promotions_that_failed),    cmocka_unit_test(what_threads_of_parallel_leave),
		cmocka_unit_test(what_threads_of_g1_leave),
		cmocka_unit_test(spaces_that_get_other_sizes), cmocka_unit_test(spaces_of_objects),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
