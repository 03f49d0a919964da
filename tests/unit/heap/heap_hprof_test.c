#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "heap/classify/heap_filter.h"
#include "heap/classify/heap_tree.h"
#include "heap/image/hprof.h"
#include "heap/state/heap_state.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/heap/heap_dump_maker.h"

enum {
	OBJECT = 0x1000,
	CLASS = 0x1010,
	LIST = 0x1020,
	LISTS = 0x1030,
	NEXT = 0x10,
	VALUE = 0x20,
	LOADER = 0x3000,
	FIRST = 0x2000,
	LIST_BYTES = 24, /* 12 of the header, an int, a reference, 4 of alignment */
};

static struct maker maker;

/* Ten lists of one element each: the first in an array, each of the others in the one before it;
 * then that array, and int[5]. */
static void make(unsigned id_bytes, unsigned tag)
{
	struct maker *m = &maker;

	maker_begin(m, id_bytes);
	make_text(m, NEXT, "next");
	make_text(m, VALUE, "value");
	make_class_name(m, OBJECT, "java/lang/Object");
	make_class_name(m, CLASS, "java/lang/Class");
	make_class_name(m, LIST, "com/acme/List");
	make_class_name(m, LISTS, "[Lcom/acme/List;");
	record_begin(m, tag);
	make_class(m, OBJECT, 0, 0, 0);
	make_class(m, CLASS, OBJECT, 0, 0);
	make_class(m, LIST, OBJECT, LOADER, 2);
	make_field(m, NEXT, HEAP_REFERENCE);
	make_field(m, VALUE, HEAP_INT);
	make_class(m, LISTS, OBJECT, LOADER, 0);
	make_root(m, 0x05, LIST);
	make_root(m, 0xff, FIRST + 10 * LIST_BYTES);
	if (tag == 0x1c) { /* segments end anywhere between objects */
		record_end(m);
		record_begin(m, tag);
	}
	for (uint32_t i = 0; i < 10; i++) {
		make_instance(m, FIRST + i * LIST_BYTES, LIST, id_bytes + 4);
		put_id(m, i < 9 ? FIRST + (i + 1) * LIST_BYTES : 0);
		put(m, i, 4);
	}
	make_object_array(m, FIRST + 10 * LIST_BYTES, LISTS, 3);
	put_id(m, FIRST);
	put_id(m, 0);
	put_id(m, id_bytes == 8 ? 0x7fff00000000 : 0x7ffff000); /* nothing is there */
	make_primitive_array(m, FIRST + 10 * LIST_BYTES + 32, HEAP_INT, 5);
	for (int i = 0; i < 5; i++)
		put(m, 7, 4);
	record_end(m);
	if (tag == 0x1c) {
		record_begin(m, 0x2c);
		record_end(m);
	}
}

/* int[255] and int[256]. */
static void make_arrays(struct maker *m)
{
	record_begin(m, 0x1c);
	for (uint32_t i = 0; i < 2; i++) {
		make_primitive_array(m, FIRST + 0x1000 + i * 0x800, HEAP_INT, 255 + i);
		memset(m->bytes + m->used, 0, 4ul * (255 + i));
		m->used += 4ul * (255 + i);
	}
	record_end(m);
}

static int read_dump(bool objects, struct heap_state *s, struct hprof_result *r)
{
	maker.at = 0;
	return hprof_read(maker_read, &maker, objects, s, r);
}

static uint32_t type_of(const struct heap_state *s, const char *name)
{
	for (uint32_t i = 0; i < s->types.count; i++)
		if (!strcmp(heap_type_name(&s->types, i), name))
			return i;
	fail_msg("no type %s", name);
	return HEAP_NONE;
}

static void check(const struct heap_state *s, unsigned id_bytes)
{
	uint32_t list = type_of(s, "com.acme.List");

	assert_int_equal(s->object_count, 4 + 10 + 1 + 1);
	assert_int_equal(s->types.all[list].bytes, id_bytes == 8 ? LIST_BYTES : 16);
	assert_int_equal(s->types.all[list].loader_id, LOADER);
	assert_int_equal(s->types.all[type_of(s, "com.acme.List[]")].kind, HEAP_OBJECT_ARRAY);
	assert_int_equal(s->descs[s->types.all[list].desc].count, 10);
}

static void check_objects(const struct heap_state *s)
{
	const struct heap_objects *o = &s->objects;
	uint32_t first = heap_objects_find(o, FIRST),
		 array = heap_objects_find(o, FIRST + 10 * LIST_BYTES);

	assert_int_equal(o->count, s->object_count);
	for (uint32_t i = 0; i < 10; i++) {
		uint32_t at = heap_objects_find(o, FIRST + i * LIST_BYTES),
			 to = o->refs[o->ref_at[at]];

		assert_int_equal(at, first + i);
		assert_int_equal(o->ref_at[at + 1] - o->ref_at[at], 1);
		assert_int_equal(to, i < 9 ? at + 1 : HEAP_NONE);
	}
	assert_int_equal(o->ref_at[array + 1] - o->ref_at[array], 2);
	assert_int_equal(o->refs[o->ref_at[array]], first);
	assert_int_equal(o->refs[o->ref_at[array] + 1], HEAP_NONE);
	/* and the loader of two classes */
	assert_int_equal(o->unresolved, 3);
	assert_int_equal(heap_objects_find(o, FIRST + 1), HEAP_NONE);
	assert_int_equal(s->root_count, 2);
	assert_int_equal(s->roots[1].object, array);
}

static void test_read(void **state)
{
	static const unsigned tags[] = {0x0c, 0x1c};

	(void)state;
	for (unsigned id_bytes = 4; id_bytes <= 8; id_bytes += 4)
		for (size_t i = 0; i < 4; i++) {
			struct heap_state s;
			struct hprof_result r;

			make(id_bytes, tags[i / 2]);
			assert_int_equal(read_dump(i % 2, &s, &r), 0);
			assert_string_equal(r.what, "");
			assert_int_equal(r.taken_ms, 1700000000000);
			check(&s, id_bytes);
			if (i % 2)
				check_objects(&s);
			heap_state_free(&s);
		}
}

/* Wherever it ends: what came before is there, or it is refused; and what it says is where. */
static void test_cut(void **state)
{
	size_t used;

	(void)state;
	make(8, 0x1c);
	used = maker.used;
	for (maker.used = 0; maker.used < used; maker.used++) {
		struct heap_state s;
		struct hprof_result r;
		int err = read_dump(true, &s, &r);

		assert_true(!err || err == -EPROTO || err == -EBADMSG);
		assert_true(r.offset <= maker.used);
		if (err)
			assert_true(*r.what);
		heap_state_free(&s);
	}
}

static void expect_error(int expected, const char *what)
{
	struct heap_state s;
	struct hprof_result r;

	assert_int_equal(read_dump(true, &s, &r), expected);
	assert_non_null(strstr(r.what, what));
	heap_state_free(&s);
}

static void test_damage(void **state)
{
	(void)state;
	make(8, 0x1c);
	maker.bytes[0] = 'j';
	expect_error(-EPROTO, "does not begin");
	make(8, 0x1c);
	maker.bytes[17] = '3';
	expect_error(-ENOTSUP, "Android");
	make(8, 0x1c);
	maker.bytes[22] = 5;
	expect_error(-EBADMSG, "neither 4 nor 8");
	make(8, 0x1c);
	maker.bytes[31] = 0x77;
	expect_error(-EBADMSG, "no kind of record");
	/* An array of 2^32 - 1 elements in a record that has room for none. */
	make(8, 0x1c);
	record_begin(&maker, 0x1c);
	make_primitive_array(&maker, 0x9000, HEAP_LONG, UINT32_MAX);
	record_end(&maker);
	expect_error(0, "an array is longer");
	make(8, 0x1c);
	record_begin(&maker, 0x1c);
	make_object_array(&maker, 0x9000, LISTS, UINT32_MAX);
	record_end(&maker);
	expect_error(0, "an array is longer");
	make(8, 0x1c);
	record_begin(&maker, 0x1c);
	make_class(&maker, LIST, OBJECT, 0, 0);
	record_end(&maker);
	expect_error(0, "twice");
	/* A class that is its own superclass. */
	maker_begin(&maker, 8);
	record_begin(&maker, 0x1c);
	make_class(&maker, LIST, LIST, 0, 0);
	make_instance(&maker, FIRST, LIST, 0);
	record_end(&maker);
	expect_error(0, "own superclass");
}

static void test_tree(void **state)
{
	struct heap_tree t = {
		.levels = {heap_classifier_find("package", 7), heap_classifier_find("type", 4)},
		.level_count = 2};
	char error[CONDITION_ERROR_MAX];
	struct condition *c;
	struct heap_filter *filter;
	struct hprof_result r;
	struct heap_state s;
	struct heap_view v;

	(void)state;
	make(8, 0x1c);
	assert_int_equal(read_dump(false, &s, &r), 0);
	assert_int_equal(heap_condition_parse("package=com* and not kind=*array", NULL, &c, error),
			 0);
	assert_int_equal(heap_view_init(&v, &s, HEAP_NEEDS_DESC), 0);
	assert_int_equal(heap_filter_new(c, &v, &filter), 0);
	assert_int_equal(heap_tree_build(&v, filter, &t), 0);
	/* all > com > com.acme > com.acme.List */
	assert_int_equal(t.count, 4);
	assert_int_equal(t.nodes[0].objects, 10);
	assert_int_equal(t.nodes[3].objects, 10);
	assert_int_equal(t.nodes[3].bytes, 10 * LIST_BYTES);
	assert_int_equal(t.nodes[3].depth, 3);
	heap_tree_free(&t);
	heap_filter_free(filter);
	condition_free(c);
	heap_view_free(&v);
	heap_state_free(&s);
	assert_int_equal(heap_condition_parse("colour=red", NULL, &c, error), -EINVAL);
	assert_non_null(strstr(error, "no classifier 'colour'"));
}

/* Each group's name and objects, the largest first. */
static void expect_groups(const char *by, bool by_objects, const char *groups)
{
	struct heap_tree t = {.levels = {heap_classifier_find(by, strlen(by))},
			      .level_count = 1,
			      .by_objects = by_objects};
	struct heap_filter *filter;
	struct strbuf text = {0};
	struct hprof_result r;
	struct heap_state s;
	struct heap_view v;

	make(8, 0x1c);
	make_arrays(&maker);
	assert_int_equal(read_dump(true, &s, &r), 0);
	assert_int_equal(heap_view_init(&v, &s, HEAP_NEEDS_OBJECTS), 0);
	assert_int_equal(heap_filter_new(NULL, &v, &filter), 0);
	assert_int_equal(heap_tree_build(&v, filter, &t), 0);
	for (uint32_t n = t.nodes[0].child; n != HEAP_NONE; n = t.nodes[n].next) {
		heap_tree_label(&v, &t, n, &text);
		strbuf_add(&text, ":%u ", (unsigned)t.nodes[n].objects);
	}
	assert_string_equal(strbuf_text(&text), groups);
	strbuf_free(&text);
	heap_tree_free(&t);
	heap_filter_free(filter);
	heap_view_free(&v);
	heap_state_free(&s);
}

/* Two int[] of 1 KB each beside the ten lists of 240 bytes. */
static void test_order(void **state)
{
	(void)state;
	expect_groups("shape", false, "small array:3 large array:1 instance:10 class:4 ");
	expect_groups("shape", true, "instance:10 class:4 small array:3 large array:1 ");
}

static void test_address(void **state)
{
	const struct heap_classifier *c = heap_classifier_find("address", 7);
	struct heap_keys keys = {0};
	struct strbuf label = {0};
	struct hprof_result r;
	struct heap_state s;
	struct heap_view v;

	(void)state;
	make(8, 0x1c);
	assert_int_equal(read_dump(true, &s, &r), 0);
	assert_int_equal(heap_view_init(&v, &s, c->needs), 0);
	for (uint32_t i = 0; i < 10; i++) {
		uint32_t object = heap_objects_find(&s.objects, FIRST + i * LIST_BYTES);
		struct heap_item item = {s.objects.desc[object], object};
		char expected[32];

		keys.count = 0;
		strbuf_clear(&label);
		heap_classify(c, &v, &item, &keys);
		c->label(&v, keys.all[0], &label);
		snprintf(expected, sizeof(expected), "0x%x", FIRST + i * LIST_BYTES);
		assert_string_equal(strbuf_text(&label), expected);
	}
	strbuf_free(&label);
	free(keys.all);
	heap_view_free(&v);
	heap_state_free(&s);
}

static void test_without_memory(void **state)
{
	(void)state;
	make(8, 0x1c);
	for (unsigned long n = 0;; n++) {
		struct heap_state s;
		struct hprof_result r;
		bool failed;
		int err;

		alloc_fail_at(n);
		err = read_dump(true, &s, &r);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		heap_state_free(&s);
		if (!failed)
			break;
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),           cmocka_unit_test(test_cut),
		cmocka_unit_test(test_damage),         cmocka_unit_test(test_tree),
		cmocka_unit_test(test_order),          cmocka_unit_test(test_address),
		cmocka_unit_test(test_without_memory),
	};

	/* A file of the corpus of tests/fuzz: the dump that the tests are about. */
	if (argc > 1) {
		FILE *f = fopen(argv[1], "w");

		make(8, 0x1c);
		return !f || fwrite(maker.bytes, maker.used, 1, f) != 1 || fclose(f);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
