/* report/model/sections/commands/objects_filter: which objects count, beside a heap of which each object is known
 * (heap/object_model.h), with its time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "log/format/event.h"
#include "log/read/names.h"
#include "report/model/findings.h"
#include "report/model/sections/commands/objects_filter.h"
#include "report/model/sections/commands/objects_spans.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/heap/object_model.h"

#define HEAP_BYTES (64 << 20)
#define COLLECTIONS 6
#define BEGIN_NS 1000000000ull /* of the model */

struct found {
	struct object_replay *replay;
	struct objects_filter *filter;
	struct objects_input in;
};

static struct model *story(void)
{
	struct model *m = model_new(11);

	for (int i = 0; i < COLLECTIONS; i++) {
		model_run_program(m);
		model_collect(m, i % 3 == 2 ? MODEL_FULL : MODEL_YOUNG);
	}
	model_run_program(m);
	return m;
}

static struct objects_filter_options everything(enum objects_by by)
{
	return (struct objects_filter_options){.by = by, .to_ns = UINT64_MAX, .begin_ns = BEGIN_NS};
}

static struct found find(struct model *m, struct objects_filter_options o)
{
	struct found f = {.replay = object_replay_new(HEAP_BYTES)};

	o.replay = f.replay;
	f.filter = objects_filter_new(&o);
	assert_non_null(f.filter);
	object_replay_choose(f.replay, objects_filter_choice(f.filter));
	assert_int_equal(model_replay(m, f.replay), 0);
	assert_int_equal(objects_filter_error(f.filter), 0);
	f.in = (struct objects_input){.replay = f.replay, .filter = f.filter, .by = o.by};
	return f;
}

static void found_free(struct found *f)
{
	objects_filter_free(f->filter);
	object_replay_free(f->replay);
}

static struct condition *condition(const char *text)
{
	char error[CONDITION_ERROR_MAX] = "";
	struct condition *c;

	if (objects_where_parse(text, &c, error))
		fail_msg("%s: %s", text, error);
	return c;
}

static const struct object_sums *sums(const struct found *f)
{
	return object_replay_sums(f->replay);
}

/* --- time --------------------------------------------------------------------------------------------------- */

/* What the time of the objects says, which no event does: at an edge are those of which it is not known. */
static void assert_range(struct model *m, uint64_t from, uint64_t to)
{
	struct objects_filter_options o = everything(OBJECTS_BY_CLASS);
	uint64_t count = 0, bytes = 0;
	struct found f;

	o.from_ns = from;
	o.to_ns = to;
	f = find(m, o);
	for (uint32_t i = 0; i < m->object_count; i++) {
		bool in = m->objects[i].ns >= from && m->objects[i].ns < to;

		count += in;
		bytes += in ? 8 * m->objects[i].units : 0;
	}
	assert_true(sums(&f)->count <= count + sums(&f)->at_edge && count <= sums(&f)->count + sums(&f)->at_edge);
	assert_true(sums(&f)->bytes <= bytes + sums(&f)->at_edge_bytes &&
		    bytes <= sums(&f)->bytes + sums(&f)->at_edge_bytes);
	assert_int_equal(sums(&f)->count + sums(&f)->left_out, m->object_count);
	assert_true(sums(&f)->at_edge < 2 * MODEL_THREADS * 500); /* a buffer has that many at most */
	found_free(&f);
}

static void a_range_of_time(void **state)
{
	struct model *m = story();
	uint64_t all = m->clock_ns - BEGIN_NS;

	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		uint64_t from = BEGIN_NS + all / 50 * i;

		assert_range(m, from, from + all / 7);
		assert_range(m, from, UINT64_MAX);
		assert_range(m, 0, from);
	}
	model_free(m);
}

/* All buffers end with a collection: it divides the objects without a rest. */
static void a_range_between_collections(void **state)
{
	struct model *m = story();
	struct found all = find(m, everything(OBJECTS_BY_COLLECTION));
	struct condition *where = condition("tlab=yes");
	const struct object_collection *c;
	uint32_t count;

	(void)state;
	c = object_replay_collections(all.replay, &count);
	assert_int_equal(count, COLLECTIONS);
	for (uint32_t i = 0; i + 1 < count; i++) {
		struct objects_filter_options o = everything(OBJECTS_BY_CLASS);
		uint64_t wanted = 0, survived = 0, seen = 0;
		struct found f;

		o.from_ns = c[i].end_ns;
		o.to_ns = c[i + 1].end_ns;
		o.where = where; /* a young collection does not look at all large ones */
		f = find(m, o);
		for (uint32_t k = 0; k < m->object_count; k++) {
			bool in = m->objects[k].birth == i + 1 && !m->objects[k].large;

			wanted += in;
			survived += in && m->objects[k].death > i + 2;
		}
		for (uint32_t k = 1; k < object_replay_names(f.replay)->kind_count; k++)
			seen += object_replay_names(f.replay)->kinds[k].of.survived;
		assert_int_equal(sums(&f)->count, wanted);
		assert_int_equal(sums(&f)->at_edge, 0);
		assert_int_equal(seen, survived);
		found_free(&f);
	}
	found_free(&all);
	condition_free(where);
	model_free(m);
}

static void seconds_add_up(void **state)
{
	struct objects_filter_options o = everything(OBJECTS_BY_SECOND);
	struct model *m = story();
	const struct objects_second *s;
	uint64_t sum = 0, bytes = 0;
	struct found f;
	uint32_t count;

	(void)state;
	o.begin_ns = BEGIN_NS + 100000000; /* some are of before */
	f = find(m, o);
	s = objects_filter_seconds(f.filter, &count);
	assert_true(count > 1);
	assert_int_equal(s[0].second, -1);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t wanted = 0;

		for (uint32_t k = 0; k < m->object_count; k++) {
			int64_t since = (int64_t)m->objects[k].ns - (int64_t)o.begin_ns;

			wanted += since >= s[i].second * 1000000000 && since < (s[i].second + 1) * 1000000000;
		}
		assert_true(s[i].count <= wanted + sums(&f)->at_edge && wanted <= s[i].count + sums(&f)->at_edge);
		assert_true(!i || s[i].second > s[i - 1].second);
		sum += s[i].count;
		bytes += s[i].bytes;
	}
	assert_int_equal(sum, m->object_count);
	assert_int_equal(bytes, sums(&f)->bytes);
	assert_true(sums(&f)->at_edge && sums(&f)->at_edge < m->object_count / 10);
	found_free(&f);
	model_free(m);
}

/* --- conditions --------------------------------------------------------------------------------------------- */

static bool is_small(const struct model_object *o)
{
	return o->class == 1;
}

static bool is_long_array(const struct model_object *o)
{
	return o->class == 3 && o->length >= 16 && o->length < 32;
}

static bool is_empty_array(const struct model_object *o)
{
	return o->class == 3 && !o->length;
}

static bool is_large(const struct model_object *o)
{
	return o->large;
}

static bool is_no_large_array(const struct model_object *o)
{
	return o->class == 3 && !o->large && o->thread != 1;
}

static bool is_none(const struct model_object *o)
{
	(void)o;
	return false;
}

static void conditions_choose(void **state)
{
	static const struct {
		const char *text;
		bool (*holds)(const struct model_object *o);
	} cases[] = {{"class=Small", is_small},
		     {"not (class!=Sm*l) and thread=*", is_small},
		     {"length='16 to 31'", is_long_array},
		     {"length=1[6-9] or length=2? or length=3[01]", is_long_array},
		     {"length=0", is_empty_array},
		     {"tlab=no", is_large},
		     {"class=byte\\[\\] and tlab=yes and thread!=second", is_no_large_array},
		     {"method=*Nowhere*", is_none}};
	struct model *m = story();
	struct log_names *names = log_names_new();
	struct event e = {.id = EVENT_THREAD, .thread = 7};

	(void)state;
	e.v[THREAD_JAVA_ID].u = 2;
	e.v[THREAD_NAME].s = "second";
	assert_int_equal(log_names_add(names, &e), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct objects_filter_options o = everything(OBJECTS_BY_CLASS);
		struct condition *where = condition(cases[i].text);
		uint64_t wanted = 0, survived = 0, seen = 0;
		struct found f;

		o.where = where;
		o.names = names;
		f = find(m, o);
		for (uint32_t k = 0; k < m->object_count; k++) {
			const struct model_object *is = &m->objects[k];
			bool found = is->death > is->birth + 1 && is->birth < m->collections;

			wanted += cases[i].holds(is);
			survived += cases[i].holds(is) && found;
		}
		for (uint32_t k = 1; k < object_replay_names(f.replay)->kind_count; k++)
			seen += object_replay_names(f.replay)->kinds[k].of.survived;
		assert_int_equal(sums(&f)->count, wanted);
		assert_int_equal(sums(&f)->left_out, m->object_count - wanted);
		if (cases[i].holds != is_large && cases[i].holds != is_no_large_array)
			assert_int_equal(seen, survived);
		found_free(&f);
		condition_free(where);
	}
	log_names_free(names);
	model_free(m);
}

static void conditions_that_are_none(void **state)
{
	char error[CONDITION_ERROR_MAX];
	struct condition *c;

	(void)state;
	assert_int_equal(objects_where_parse("second=1", &c, error), -EINVAL);
	assert_non_null(strstr(error, "class"));
	assert_non_null(strstr(error, "span"));
	assert_null(strstr(error, "collection"));
	c = condition("class=a or span=b");
	assert_true(objects_where_has_spans(c));
	condition_free(c);
}

/* --- parts -------------------------------------------------------------------------------------------------- */

static void rows_of_lengths(void **state)
{
	struct model *m = story();
	struct found f = find(m, everything(OBJECTS_BY_LENGTH));
	struct findings *rows = objects_section(&f.in);
	uint64_t all = 0;

	(void)state;
	for (uint32_t row = 0; row < rows->row_count; row++) {
		const char *name = findings_cell(rows, row, rows->column_count - 1)->text;
		unsigned long long least = 0, most = 0;
		uint64_t count = findings_cell(rows, row, 2)->number, wanted = 0;
		int n = sscanf(name, "%llu to %llu", &least, &most);

		most = n == 2 ? most : least;
		for (uint32_t k = 0; k < m->object_count; k++)
			wanted += n > 0 ? m->objects[k].class == 3 && m->objects[k].length >= least &&
						  m->objects[k].length <= most
					: m->objects[k].class != 3;
		assert_int_equal(count, wanted);
		all += count;
	}
	assert_int_equal(all, m->object_count);
	findings_free(rows);
	found_free(&f);
	model_free(m);
}

/* --- spans -------------------------------------------------------------------------------------------------- */

static void define(struct log_names *names, uint64_t id, const char *text)
{
	struct event e = {.id = EVENT_STRING};

	e.v[STRING_STRING].u = id;
	e.v[STRING_TEXT].s = text;
	assert_int_equal(log_names_add(names, &e), 0);
}

static int mark(struct objects_spans *s, uint64_t ns, uint64_t name)
{
	struct event e = {.id = name ? EVENT_SPAN_BEGIN : EVENT_SPAN_END, .thread = 7, .time_ns = ns};

	if (name)
		e.v[SPAN_BEGIN_NAME].u = name;
	return objects_spans_add(s, &e);
}

static struct log_names *two_names(void)
{
	struct log_names *names = log_names_new();
	struct event e = {.id = EVENT_THREAD, .thread = 7};

	e.v[THREAD_JAVA_ID].u = 2;
	e.v[THREAD_NAME].s = "second";
	assert_int_equal(log_names_add(names, &e), 0);
	define(names, 1, "outer");
	define(names, 2, "inner");
	return names;
}

static void spans_of_a_thread(void **state)
{
	struct log_names *names = two_names();
	struct objects_spans *s = objects_spans_new(names);
	static const struct {
		uint64_t ns;
		const char *name;
	} at[] = {{99, ""}, {100, "outer"}, {199, "outer"}, {200, "inner"}, {299, "inner"}, {300, "outer"}, {400, ""}};

	(void)state;
	assert_int_equal(mark(s, 50, 0) | mark(s, 100, 1) | mark(s, 200, 2) | mark(s, 300, 0) | mark(s, 400, 0), 0);
	assert_int_equal(mark(s, 500, 1) | objects_spans_hole(s, 600), 0);
	assert_int_equal(objects_spans_finish(s), 0);
	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
		uint32_t name = objects_spans_at(s, 2, at[i].ns);

		assert_string_equal(name ? objects_spans_name(s, name) : "", at[i].name);
		assert_int_equal(objects_spans_at(s, 3, at[i].ns), 0);
	}
	assert_int_equal(objects_spans_at(s, 2, 600), 0);
	assert_int_equal(objects_spans_count(s, objects_spans_at(s, 2, 550)), 2);
	assert_false(objects_spans_change(s, 2, 100, 200));
	assert_true(objects_spans_change(s, 2, 100, 201));
	assert_false(objects_spans_change(s, 2, 700, UINT64_MAX));
	objects_spans_free(s);
	log_names_free(names);
}

static void rows_of_spans(void **state)
{
	struct objects_filter_options o = everything(OBJECTS_BY_SPAN);
	struct log_names *names = two_names();
	struct objects_spans *spans = objects_spans_new(names);
	struct model *m = story();
	uint64_t from = BEGIN_NS + (m->clock_ns - BEGIN_NS) / 3, to = from + (m->clock_ns - BEGIN_NS) / 4;
	uint64_t wanted = 0, seen = 0;
	struct findings *rows;
	struct found f;

	(void)state;
	assert_int_equal(mark(spans, from, 1) | mark(spans, to, 0) | objects_spans_finish(spans), 0);
	o.spans = spans;
	f = find(m, o);
	for (uint32_t k = 0; k < m->object_count; k++)
		wanted += m->objects[k].thread == 1 && m->objects[k].ns >= from && m->objects[k].ns < to;
	rows = objects_section(&f.in);
	assert_int_equal(rows->row_count, 2);
	for (uint32_t row = 0; row < rows->row_count; row++)
		if (!strcmp(findings_cell(rows, row, rows->column_count - 1)->text, "outer")) {
			seen = findings_cell(rows, row, 2)->number;
			assert_int_equal(findings_cell(rows, row, rows->column_count - 2)->number, 1);
		}
	assert_true(seen > 1000 && sums(&f)->at_edge < 1000);
	assert_true(seen <= wanted + sums(&f)->at_edge && wanted <= seen + sums(&f)->at_edge);
	findings_free(rows);
	found_free(&f);
	objects_spans_free(spans);
	log_names_free(names);
	model_free(m);
}

static void no_memory(void **state)
{
	struct condition *where = condition("class=Small or length=4? or thread=x");
	struct log_names *names = two_names();
	struct model *m = model_new(4);
	bool failed = true;

	(void)state;
	model_run_program(m);
	model_collect(m, MODEL_YOUNG);
	for (unsigned long n = 0; failed; n += 1 + n / 8) {
		struct objects_filter_options o = everything(n % 2 ? OBJECTS_BY_SECOND : OBJECTS_BY_SPAN);
		struct objects_spans *spans;
		struct objects_filter *f = NULL;
		int err = -ENOMEM;

		o.where = where;
		o.replay = object_replay_new(HEAP_BYTES);
		assert_non_null(o.replay);
		alloc_fail_at(n);
		o.spans = spans = objects_spans_new(names);
		if (spans)
			err = mark(spans, BEGIN_NS, 1) || mark(spans, BEGIN_NS + 9999, 0)
				      ? -ENOMEM
				      : objects_spans_finish(spans);
		if (!err)
			f = objects_filter_new(&o);
		if (f) {
			object_replay_choose((struct object_replay *)(uintptr_t)o.replay, objects_filter_choice(f));
			err = model_replay(m, (struct object_replay *)(uintptr_t)o.replay);
			err = err ? err : objects_filter_error(f);
		} else {
			err = -ENOMEM;
		}
		failed = alloc_fail_off();
		assert_true(!err || err == -ENOMEM);
		assert_true(err || !failed || object_replay_sums(o.replay)->heap_given_up);
		objects_filter_free(f);
		objects_spans_free(spans);
		object_replay_free((struct object_replay *)(uintptr_t)o.replay);
	}
	condition_free(where);
	log_names_free(names);
	model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_range_of_time),
		cmocka_unit_test(a_range_between_collections),
		cmocka_unit_test(seconds_add_up),
		cmocka_unit_test(conditions_choose),
		cmocka_unit_test(conditions_that_are_none),
		cmocka_unit_test(rows_of_lengths),
		cmocka_unit_test(spans_of_a_thread),
		cmocka_unit_test(rows_of_spans),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
