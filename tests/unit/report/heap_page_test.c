/* report/heap/heap_page: with few cells, and with few lifetimes, no object is lost, and each counts at its moments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/heap/heap_page_cells.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/heap/object_model.h"

#define HEAP_BYTES (64 << 20)
#define COLLECTIONS 12

static struct model *story(unsigned seed)
{
	struct model *m = model_new(seed);

	for (uint32_t i = 0; i < COLLECTIONS; i++) {
		model_run_program(m);
		model_collect(m, i % 3 ? MODEL_YOUNG : MODEL_FULL);
	}
	return m;
}

/* Of the page's moment, which is the log's step-th of it. */
static void check_moment(const struct page_heap *p, const struct model *m, uint32_t moment)
{
	const struct model_snapshot *s = &m->after[moment * p->step - 1];
	uint64_t objects = 0, bytes = 0, wanted = 0;

	for (uint32_t i = 0; i < p->life_keys.count; i++) {
		if (p->lives[i].birth >= moment || p->lives[i].death <= moment)
			continue;
		objects += p->lives[i].objects;
		bytes += p->lives[i].bytes;
	}
	for (uint32_t i = 0; i < s->count; i++)
		wanted += (uint64_t)m->objects[s->object[i]].units << MODEL_SHIFT;
	assert_int_equal(objects, s->count);
	assert_int_equal(bytes, wanted);
}

static void check(const struct model *m, const struct heap_page_input *in, uint32_t cells, uint32_t step)
{
	struct page_heap p;
	uint64_t objects = 0;

	assert_int_equal(page_heap_make(in, &p), 0);
	assert_int_equal(p.cell_count, cells);
	assert_int_equal(p.step, step);
	for (uint32_t i = 0; i < p.life_keys.count; i++) {
		assert_true(p.lives[i].cell < cells);
		objects += p.lives[i].objects;
	}
	assert_int_equal(objects, m->object_count);
	for (uint32_t moment = 1; moment <= COLLECTIONS / p.step; moment++)
		check_moment(&p, m, moment);
	for (unsigned a = 0; a < p.aspect_count; a++)
		for (uint32_t i = 0; i < cells; i++)
			assert_true(p.aspects[a].of_cell[i] < p.aspects[a].keys.count);
	page_heap_free(&p);
}

static void nothing_is_lost(void **state)
{
	struct model *m = story(3);
	struct object_replay *r = object_replay_new(HEAP_BYTES);
	struct heap_page_input in = {.title = "t", .source = "s", .log = r};

	(void)state;
	assert_int_equal(model_replay(m, r), 0);
	check(m, &in, MODEL_SITES, 1);
	in.cells_max = 3;
	check(m, &in, 3, 1);
	in.cells_max = 0;
	in.lives_max = 150;
	check(m, &in, MODEL_SITES, 2);
	in.lives_max = 2 * MODEL_SITES; /* dead, alive */
	check(m, &in, MODEL_SITES, 16);
	in.lives_max = 1;
	check(m, &in, MODEL_SITES, 16);
	object_replay_free(r);
	model_free(m);
}

static void no_memory(void **state)
{
	struct model *m = story(4);
	struct object_replay *r = object_replay_new(HEAP_BYTES);
	const struct heap_page_input in = {.title = "t", .source = "s", .log = r};
	FILE *out = fopen("/dev/null", "w");
	bool failed = true;

	(void)state;
	assert_non_null(out);
	assert_int_equal(model_replay(m, r), 0);
	for (unsigned long n = 0; failed; n++) {
		int err;

		alloc_fail_at(n);
		err = heap_report_page(&in, out);
		failed = alloc_fail_off();
		assert_true(!err || (failed && err == -ENOMEM));
	}
	fclose(out);
	object_replay_free(r);
	model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
