/* report/heap: growth, churn and lifetimes in groups in groups, beside sums over a model's objects one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <jansson.h>

#include "heap/replay/object_replay.h"
#include "report/heap/lives/heap_lives_report.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/heap/object_model.h"

#define HEAP_BYTES (64 << 20)
#define COLLECTIONS 12
#define CLASSES 5
#define FROM 3u
#define TO 9u

static struct model *story(void)
{
	struct model *m = model_new(5);

	for (uint32_t i = 0; i < COLLECTIONS; i++) {
		model_run_program(m);
		model_collect(m, i % 5 == 4 ? MODEL_FULL : MODEL_YOUNG);
	}
	return m;
}

struct truth {
	uint64_t objects[LIFETIME_CLASS_COUNT + 1], bytes[LIFETIME_CLASS_COUNT + 1];
};

/* Birth and death as the model has them: collections. */
static enum lifetime_class class_of(const struct model_object *o)
{
	bool at_from = o->birth < FROM && (o->death == MODEL_ALIVE || o->death > FROM),
	     at_to = o->birth < TO && (o->death == MODEL_ALIVE || o->death > TO);

	if (o->birth >= TO || (o->death != MODEL_ALIVE && o->death <= FROM))
		return LIFETIME_OUTSIDE;
	return at_from ? at_to ? LIFETIME_PERMANENT : LIFETIME_DIED : at_to ? LIFETIME_BORN : LIFETIME_TEMPORARY;
}

static struct truth count(const struct model *m, uint32_t class, uint32_t site)
{
	struct truth t = {0};

	for (uint32_t i = 0; i < m->object_count; i++) {
		const struct model_object *o = &m->objects[i];
		enum lifetime_class c = class_of(o);

		if (o->class != class || (site != UINT32_MAX && o->site != site))
			continue;
		t.objects[c]++;
		t.bytes[c] += 8 * o->units;
	}
	return t;
}

static const char *thread_name(const void *ctx, int64_t java_tid)
{
	static const char *const names[] = {"zero", "one", "two", "three", "four", "five", "six", "seven", "eight"};

	assert_non_null(ctx);
	return java_tid > 0 && java_tid < 9 ? names[java_tid] : NULL;
}

static json_t *ask(const struct object_replay *r, const char *by, enum heap_lives_view view)
{
	struct heap_lives_report report = {
		.name = "model", .log = r, .view = view, .from = FROM, .to = TO, .format = HEAP_JSON, .top = 20};
	char *text = NULL, error[HEAP_LEVELS_ERROR_MAX];
	struct heap_levels levels;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *o;

	assert_int_equal(heap_levels_parse(by, NULL, &levels, error), 0);
	assert_null(heap_levels_of_objects(&levels));
	report.levels = &levels;
	report.thread_name = thread_name;
	report.thread_ctx = &report;
	assert_int_equal(view == HEAP_LIVES_TIME ? heap_report_time(&report, out) : heap_report_lives(&report, out), 0);
	fclose(out);
	o = json_loads(text, 0, NULL);
	assert_non_null(o);
	free(text);
	return o;
}

static uint64_t number_at(const json_t *row, const char *key, uint32_t i)
{
	return (uint64_t)json_integer_value(json_array_get(json_object_get(row, key), i));
}

static uint64_t number(const json_t *row, const char *key)
{
	assert_non_null(json_object_get(row, key));
	return (uint64_t)json_integer_value(json_object_get(row, key));
}

static void assert_truth(const json_t *row, const struct truth *t)
{
	static const char *const names[LIFETIME_CLASS_COUNT] = {
		[LIFETIME_PERMANENT] = "permanent", [LIFETIME_DIED] = "died", [LIFETIME_BORN] = "born",
		[LIFETIME_TEMPORARY] = "temporary"};
	char key[64];

	for (int i = 0; i < LIFETIME_CLASS_COUNT; i++) {
		snprintf(key, sizeof(key), "%s_objects", names[i]);
		assert_int_equal(number(row, key), t->objects[i]);
		snprintf(key, sizeof(key), "%s_bytes", names[i]);
		assert_int_equal(number(row, key), t->bytes[i]);
	}
}

static const json_t *find(const json_t *groups, const char *key)
{
	size_t i;
	json_t *row;

	json_array_foreach(groups, i, row)
		if (!strcmp(json_string_value(json_object_get(row, "key")), key))
			return row;
	return NULL;
}

static bool is_any(const struct truth *t)
{
	return t->objects[LIFETIME_BORN] || t->objects[LIFETIME_TEMPORARY] || t->objects[LIFETIME_DIED];
}

/* All groups, and in each the sites; sites of the model have no frames. */
static void groups_are_the_models(void **state)
{
	static const char *const types[CLASSES] = {"", "Small", "Large", "byte[]", "Late"};
	struct model *m = story();
	struct object_replay *r = object_replay_new(HEAP_BYTES);
	uint32_t checked = 0;
	json_t *o;

	(void)state;
	assert_int_equal(model_replay(m, r), 0);
	o = ask(r, "type,code,site", HEAP_LIVES_DIFF);
	for (uint32_t class = 1; class < CLASSES; class++) {
		struct truth t = count(m, class, UINT32_MAX);
		const json_t *row = find(json_object_get(o, "groups"), types[class]), *within;

		if (!is_any(&t))
			continue;
		assert_non_null(row);
		assert_truth(row, &t);
		assert_string_equal(json_string_value(json_object_get(row, "by")), "type");
		within = json_object_get(row, "children");
		while (json_array_size(within)) {
			uint64_t sum = 0;
			size_t i;
			json_t *child;

			json_array_foreach(within, i, child)
				sum += number(child, "temporary_bytes");
			assert_int_equal(sum, t.bytes[LIFETIME_TEMPORARY]);
			within = json_object_get(json_array_get(within, 0), "children");
			if (i > 1)
				break;
		}
		checked++;
	}
	assert_true(checked >= 3);
	json_decref(o);
	object_replay_free(r);
	model_free(m);
}

/* The order of levels changes no sum: those of a type within a thread add up to those of the type. */
static void levels_commute(void **state)
{
	struct model *m = story();
	struct object_replay *r = object_replay_new(HEAP_BYTES);
	struct truth t = count(m, 1, UINT32_MAX);
	uint64_t objects = 0, bytes = 0;
	json_t *o, *row;
	size_t i;

	(void)state;
	object_replay_by_thread(r);
	assert_int_equal(model_replay(m, r), 0);
	o = ask(r, "thread,type", HEAP_LIVES_CHURN);
	assert_true(json_array_size(json_object_get(o, "groups")) >= MODEL_THREADS);
	json_array_foreach(json_object_get(o, "groups"), i, row) {
		const json_t *small = find(json_object_get(row, "children"), "Small");

		objects += small ? number(small, "temporary_objects") : 0;
		bytes += small ? number(small, "temporary_bytes") : 0;
	}
	assert_true(objects > 0);
	assert_int_equal(objects, t.objects[LIFETIME_TEMPORARY]);
	assert_int_equal(bytes, t.bytes[LIFETIME_TEMPORARY]);
	json_decref(o);
	object_replay_free(r);
	model_free(m);
}

/* Each moment of the interval, of each type and of all. */
static void times_are_the_models(void **state)
{
	static const char *const types[CLASSES] = {"", "Small", "Large", "byte[]", "Late"};
	struct model *m = story();
	struct object_replay *r = object_replay_new(HEAP_BYTES);
	json_t *o;

	(void)state;
	assert_int_equal(model_replay(m, r), 0);
	o = ask(r, "type", HEAP_LIVES_TIME);
	assert_int_equal(json_array_size(json_object_get(o, "moments")), TO - FROM + 1);
	for (uint32_t moment = FROM; moment <= TO; moment++) {
		const json_t *at = json_array_get(json_object_get(o, "moments"), moment - FROM);
		uint64_t sum = 0, bytes[CLASSES] = {0}, objects[CLASSES] = {0};

		for (uint32_t i = 0; i < m->object_count; i++) {
			const struct model_object *x = &m->objects[i];

			if (x->birth >= moment || (x->death != MODEL_ALIVE && x->death <= moment))
				continue;
			objects[x->class]++;
			bytes[x->class] += 8 * x->units;
			sum += 8 * x->units;
		}
		assert_int_equal(number(at, "moment"), moment);
		assert_int_equal(number(at, "time_ns"),
				 MODEL_BEGIN_NS(moment - 1) + 100 - object_replay_sums(r)->begin_ns);
		assert_int_equal(number_at(json_object_get(o, "all"), "bytes", moment - FROM), sum);
		for (uint32_t class = 1; class < CLASSES; class++) {
			const json_t *row = find(json_object_get(o, "groups"), types[class]);

			assert_int_equal(number_at(row, "bytes_at", moment - FROM), bytes[class]);
			assert_int_equal(number_at(row, "objects_at", moment - FROM), objects[class]);
		}
	}
	json_decref(o);
	object_replay_free(r);
	model_free(m);
}

/* The model has the time of each birth: the average life is between the bounds, which are as far apart as collections
 * are. */
static void lives_are_within_their_bounds(void **state)
{
	static const char *const types[CLASSES] = {"", "Small", "Large", "byte[]", "Late"};
	struct model *m = story();
	struct object_replay *r = object_replay_new(HEAP_BYTES);
	uint32_t checked = 0;
	json_t *o;

	(void)state;
	assert_int_equal(model_replay(m, r), 0);
	o = ask(r, "type", HEAP_LIVES_LIFE);
	for (uint32_t class = 1; class < CLASSES; class++) {
		const json_t *row = find(json_object_get(o, "groups"), types[class]);
		uint64_t ns = 0, least = 0, most = 0, dead = 0;

		for (uint32_t i = 0; i < m->object_count; i++) {
			const struct model_object *x = &m->objects[i];
			enum lifetime_class c = class_of(x);

			if (x->class != class || (c != LIFETIME_DIED && c != LIFETIME_TEMPORARY))
				continue;
			dead++;
			ns += MODEL_BEGIN_NS(x->death - 1) - x->ns;
			least += MODEL_BEGIN_NS(x->death - 1) - MODEL_BEGIN_NS(x->birth);
			most += MODEL_BEGIN_NS(x->death - 1) -
				(x->birth ? MODEL_BEGIN_NS(x->birth - 1) + 100 : object_replay_sums(r)->begin_ns);
		}
		if (!dead)
			continue;
		assert_int_equal(number(row, "timed_objects"), dead);
		/* Sums are kept in microseconds for each kind, birth and death. */
		assert_in_range(number(row, "lived_least_ns"), least / dead - 1000, least / dead);
		assert_in_range(number(row, "lived_most_ns"), most / dead - 1000, most / dead);
		assert_in_range(ns / dead, number(row, "lived_least_ns"), number(row, "lived_most_ns") + 1000);
		checked++;
	}
	assert_true(checked >= 3);
	json_decref(o);
	object_replay_free(r);
	model_free(m);
}

static void of_each_object_is_not_known(void **state)
{
	static const char *const names[] = {"age", "type,size", "space,type", "points_to", "type,address", "length"};
	char error[HEAP_LEVELS_ERROR_MAX];
	struct heap_levels levels;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		assert_int_equal(heap_levels_parse(names[i], NULL, &levels, error), 0);
		assert_non_null(heap_levels_of_objects(&levels));
	}
}

static void without_memory_of(enum heap_lives_view view)
{
	struct model *m = story();
	struct object_replay *r = object_replay_new(HEAP_BYTES);
	struct heap_lives_report report = {
		.name = "model", .log = r, .view = view, .from = FROM, .to = TO, .top = 5};
	char error[HEAP_LEVELS_ERROR_MAX];
	struct heap_levels levels;
	int err = -ENOMEM;

	assert_int_equal(model_replay(m, r), 0);
	assert_int_equal(heap_levels_parse("type,chain", NULL, &levels, error), 0);
	report.levels = &levels;
	for (unsigned long n = 0; err == -ENOMEM; n++) {
		FILE *out = fopen("/dev/null", "w");

		alloc_fail_at(n);
		err = view == HEAP_LIVES_TIME ? heap_report_time(&report, out) : heap_report_lives(&report, out);
		alloc_fail_off();
		fclose(out);
		assert_true(!err || err == -ENOMEM);
	}
	object_replay_free(r);
	model_free(m);
}

static void without_memory(void **state)
{
	(void)state;
	without_memory_of(HEAP_LIVES_GROW);
	without_memory_of(HEAP_LIVES_TIME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_are_the_models),
		cmocka_unit_test(levels_commute),
		cmocka_unit_test(times_are_the_models),
		cmocka_unit_test(lives_are_within_their_bounds),
		cmocka_unit_test(of_each_object_is_not_known),
		cmocka_unit_test(without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
