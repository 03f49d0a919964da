/* heap/replay: random heaps whose objects are known one by one (object_model.h), at each moment; lifetimes, counted
 * object by object. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "heap/replay/object_replay.h"
#include "heap/snapshot/replay_state.h"
#include "heap/state/heap_state.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/heap/object_model.h"

#define HEAP_BYTES (64 << 20)
#define SEEDS 3
#define COLLECTIONS 16

static struct model *story(unsigned seed)
{
	struct model *m = model_new(seed);

	for (uint32_t i = 0; i < COLLECTIONS; i++) {
		static const enum model_gc kinds[] = {MODEL_YOUNG, MODEL_YOUNG, MODEL_YOUNG, MODEL_FULL,
						      MODEL_REMARK, MODEL_FULL_BY_SPACES};

		model_run_program(m);
		model_collect(m, kinds[model_random(m, sizeof(kinds) / sizeof(*kinds))]);
	}
	model_run_program(m);
	return m;
}

static void assert_heap(const struct object_replay *r, const struct model *m, const struct model_snapshot *s)
{
	const struct object_names *n = object_replay_names(r);
	struct object_found f;
	uint64_t unit = 0;
	uint32_t i = 0;

	for (; object_replay_next(r, &unit, &f); i++) {
		const struct model_object *o;

		assert_true(i < s->count);
		o = &m->objects[s->object[i]];
		assert_int_equal(f.address, MODEL_BASE + ((uint64_t)s->at[i] << MODEL_SHIFT));
		assert_int_equal(f.bytes, 8 * o->units);
		assert_int_equal(f.length, o->length);
		assert_int_equal(n->classes[f.class].id, o->class);
		assert_int_equal(n->sites[n->kinds[f.kind].site].id, o->site + 1);
		assert_int_equal(f.birth, o->birth);
		assert_int_equal(f.age, s->age[i] < 15 ? s->age[i] : 15);
	}
	assert_int_equal(i, s->count);
}

static void assert_sound(const struct object_replay *r)
{
	const struct object_sums *s = object_replay_sums(r);

	assert_false(s->heap_given_up);
	assert_int_equal(s->unknown_moves, 0);
	assert_int_equal(s->over, 0);
	assert_int_equal(s->bad_words, 0);
	assert_int_equal(s->chains_wrong, 0);
	assert_int_equal(s->no_place, 0);
	assert_int_equal(s->holes, 0);
}

static void each_moment_is_the_models(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		struct model *m = story(seed);

		for (uint32_t i = 0; i < 2 * COLLECTIONS; i++) {
			struct object_replay *r = object_replay_new(HEAP_BYTES);

			object_replay_stop(r, i / 2, i % 2 == 0);
			assert_int_equal(model_replay(m, r), 0);
			assert_true(object_replay_stopped(r));
			assert_sound(r);
			assert_heap(r, m, i % 2 ? &m->after[i / 2] : &m->before[i / 2]);
			object_replay_free(r);
		}
		model_free(m);
	}
}

static void the_sums_of_collections(void **state)
{
	struct model *m = story(77);
	struct object_replay *r = object_replay_new(HEAP_BYTES);
	struct model_snapshot end = model_snapshot(m);
	const struct object_collection *c;
	uint32_t count;

	(void)state;
	assert_int_equal(model_replay(m, r), 0);
	assert_heap(r, m, &end);
	c = object_replay_collections(r, &count);
	assert_int_equal(count, COLLECTIONS);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t bytes = 0;

		assert_int_equal(c[i].before, m->before[i].count);
		assert_int_equal(c[i].after, m->after[i].count);
		for (uint32_t k = 0; k < m->after[i].count; k++)
			bytes += 8 * m->objects[m->after[i].object[k]].units;
		assert_int_equal(c[i].after_bytes, bytes);
	}
	assert_int_equal(object_replay_sums(r)->count, m->object_count);
	assert_int_equal(object_replay_sums(r)->live, end.count);
	model_snapshot_free(&end);
	object_replay_free(r);
	model_free(m);
}

/* Of some objects more collections than can be counted. */
static void ages_have_an_end(void **state)
{
	struct object_replay *r = object_replay_new(HEAP_BYTES);
	struct model *m = model_new(12);
	uint32_t older = 0;

	(void)state;
	for (int i = 0; i < 18; i++) {
		if (i)
			model_next_phase(m); /* in which the program allocates nothing */
		else
			model_run_program(m);
		model_collect(m, MODEL_FULL);
	}
	for (uint32_t i = 0; i < m->after[17].count; i++)
		older += m->after[17].age[i] > 15;
	assert_true(older > 0);
	assert_int_equal(model_replay(m, r), 0);
	assert_sound(r);
	assert_heap(r, m, &m->after[17]);
	object_replay_free(r);
	model_free(m);
}

/* By sets of objects, without births and deaths: who is in the heap at which moment. */
static enum lifetime_class class_by_sets(const struct model_object *o, uint32_t from, uint32_t to)
{
	bool in[MODEL_COLLECTIONS_MAX + 2], any = false;

	for (uint32_t moment = 0; moment <= COLLECTIONS + 1; moment++)
		in[moment] = moment > o->birth && (o->death == MODEL_ALIVE || moment < o->death);
	if (in[from] && in[to])
		return LIFETIME_PERMANENT;
	if (in[from])
		return LIFETIME_DIED;
	if (in[to])
		return LIFETIME_BORN;
	/* Born after the one moment, and not found any more at the other. */
	any = o->birth >= from && o->death <= to;
	return any ? LIFETIME_TEMPORARY : LIFETIME_OUTSIDE;
}

static void lifetimes_are_those_of_sets(void **state)
{
	(void)state;
	for (unsigned seed = 100; seed < 100 + SEEDS / 2; seed++) {
		struct model *m = story(seed);
		struct object_replay *r = object_replay_new(HEAP_BYTES);
		const struct object_names *n = object_replay_names(r);
		const struct object_lifetimes *l = object_replay_lifetimes(r);

		assert_int_equal(model_replay(m, r), 0);
		for (uint32_t from = 0; from <= COLLECTIONS; from++)
			for (uint32_t to = from + 1; to <= COLLECTIONS + 1; to++) {
				uint64_t found[MODEL_SITES][LIFETIME_CLASS_COUNT + 1] = {0};
				uint64_t wanted[MODEL_SITES][LIFETIME_CLASS_COUNT + 1] = {0};

				for (uint32_t i = 0; i < l->count; i++)
					found[n->kinds[l->rows[i].kind].site]
					     [object_lifetime_class(&l->rows[i], from, to)] += l->rows[i].bytes;
				for (uint32_t i = 0; i < m->object_count; i++)
					wanted[m->objects[i].site][class_by_sets(&m->objects[i], from, to)] +=
						8 * m->objects[i].units;
				assert_memory_equal(found, wanted, sizeof(found));
			}
		object_replay_free(r);
		model_free(m);
	}
}

/* A born object dies at a moment; lives between; set algebra of a moment is that of the snapshot. */
static void alive_at_each_moment(void **state)
{
	struct model *m = story(5);
	struct object_replay *r = object_replay_new(HEAP_BYTES);
	const struct object_lifetimes *l = object_replay_lifetimes(r);

	(void)state;
	assert_int_equal(model_replay(m, r), 0);
	for (uint32_t moment = 1; moment <= COLLECTIONS; moment++) {
		uint64_t objects = 0;

		for (uint32_t i = 0; i < l->count; i++)
			if (object_lifetime_alive(&l->rows[i], moment))
				objects += l->rows[i].objects;
		assert_int_equal(objects, m->after[moment - 1].count);
	}
	object_replay_free(r);
	model_free(m);
}

static void with_few_rows_nothing_is_lost(void **state)
{
	struct object_lifetimes l = {.rows_max = 64};
	uint64_t objects = 0, bytes = 0, others = 0;

	(void)state;
	for (uint32_t moment = 1; moment <= 40; moment++) {
		for (uint32_t kind = 1; kind <= 30; kind++)
			for (uint32_t i = 0; i < kind; i++)
				assert_int_equal(object_lifetimes_add(&l, kind, moment - 1, 8 * kind), 0);
		assert_int_equal(object_lifetimes_close(&l, moment), 0);
		assert_true(l.count <= l.rows_max + 30);
	}
	for (uint32_t i = 0; i < l.count; i++) {
		assert_true(!i || l.rows[i - 1].death <= l.rows[i].death);
		objects += l.rows[i].objects;
		bytes += l.rows[i].bytes;
		others += l.rows[i].kind ? 0 : l.rows[i].objects;
	}
	assert_int_equal(objects, 40 * 465);
	assert_int_equal(bytes, 40 * 8 * 9455);
	assert_true(others && l.folded_kinds);
	object_lifetimes_free(&l);
}

static void threads_are_told_apart(void **state)
{
	struct model *m = story(9);
	struct object_replay *r = object_replay_new(HEAP_BYTES);
	const struct object_names *n = object_replay_names(r);
	uint64_t of[MODEL_WORDERS] = {0};

	(void)state;
	object_replay_by_thread(r);
	assert_int_equal(model_replay(m, r), 0);
	for (uint32_t i = 1; i < n->kind_count; i++) {
		assert_true(n->kinds[i].thread < object_replay_thread_count(r));
		of[n->kinds[i].thread] += n->kinds[i].of.count;
	}
	for (uint32_t i = 0; i < object_replay_thread_count(r); i++)
		assert_int_equal(of[i], object_replay_thread(r, i)->count);
	object_replay_free(r);
	model_free(m);
}

/* Objects are many, so that what is there per page and per description does not count. */
static void the_memory_of_an_object(void **state)
{
	const struct object_sums *s;
	struct object_replay *r = object_replay_new(HEAP_BYTES);
	struct model *m = model_new(3);
	uint64_t most = 0;

	(void)state;
	for (int i = 0; i < 6; i++) {
		model_run_program(m);
		model_collect(m, MODEL_FULL);
		most = m->before[i].count > most ? m->before[i].count : most;
	}
	assert_int_equal(model_replay(m, r), 0);
	s = object_replay_sums(r);
	assert_true(s->map_bytes_most < most * 25 / 2 + (64 << 10));
	assert_true(s->map_bytes <= s->live * 25 / 2);
	object_replay_free(r);
	model_free(m);
}

/* As a state: each object with its class, size, site and age. */
static void as_a_state(void **state)
{
	struct model *m = story(21);
	const struct model_snapshot *s = &m->after[COLLECTIONS - 1];
	struct object_replay *r = object_replay_new(HEAP_BYTES);
	const struct replay_state_options options = {.objects = true, .spaces.collector = HEAP_OTHER};
	struct heap_state h;
	bool failed = true;

	(void)state;
	object_replay_stop(r, COLLECTIONS - 1, false);
	assert_int_equal(model_replay(m, r), 0);
	for (unsigned long n = 0; failed; n++) {
		int err;

		alloc_fail_at(n);
		err = replay_state_make(r, &options, &h);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		if (failed)
			heap_state_free(&h);
	}
	assert_int_equal(h.object_count, s->count);
	for (uint32_t i = 0; i < s->count; i++) {
		const struct model_object *o = &m->objects[s->object[i]];
		const struct heap_desc *d = &h.descs[h.objects.desc[i]];
		static const char *const names[] = {"", "Small", "Large", "byte[]", "Late"};

		assert_int_equal(h.objects.address[i], MODEL_BASE + ((uint64_t)s->at[i] << MODEL_SHIFT));
		assert_string_equal(heap_type_name(&h.types, d->type), names[o->class]);
		assert_int_equal(d->bytes, 8 * o->units);
		assert_int_equal(d->length, o->length);
		assert_int_equal(h.origins[d->origin - 1].age, s->age[i] < 15 ? s->age[i] : 15);
	}
	heap_state_free(&h);
	object_replay_free(r);
	model_free(m);
}

static void no_memory(void **state)
{
	struct model *m = model_new(4);
	bool failed = true;

	(void)state;
	model_run_program(m);
	model_collect(m, MODEL_YOUNG);
	model_run_program(m);
	model_collect(m, MODEL_FULL);
	for (unsigned long n = 0; failed; n += 1 + n / 8) {
		struct object_replay *r;
		int err = -ENOMEM;

		alloc_fail_at(n);
		r = object_replay_new(HEAP_BYTES);
		if (r)
			err = model_replay(m, r);
		failed = alloc_fail_off();
		assert_true(!err || err == -ENOMEM);
		assert_true(err || !failed || object_replay_sums(r)->heap_given_up);
		if (!failed)
			assert_heap(r, m, &m->after[1]);
		object_replay_free(r);
	}
	model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_moment_is_the_models),  cmocka_unit_test(the_sums_of_collections),
		cmocka_unit_test(lifetimes_are_those_of_sets), cmocka_unit_test(alive_at_each_moment),
		cmocka_unit_test(with_few_rows_nothing_is_lost), cmocka_unit_test(threads_are_told_apart),
		cmocka_unit_test(the_memory_of_an_object), cmocka_unit_test(no_memory),
		cmocka_unit_test(as_a_state),              cmocka_unit_test(ages_have_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
