/* What spoor heap prints of a small heap, and that it copes without memory. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "heap/classify/heap_filter.h"
#include "heap/state/heap_state.h"
#include "report/heap/heap_diff.h"
#include "report/heap/heap_report.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/heap/heap_dump_maker.h"

enum {
	OBJECT = 0x1000,
	NODE = 0x1100,
	CACHE = 0x1200,
	NODES = 0x1300,
	NEXT = 0x10,
	ALL = 0x20,
	FIRST = 0x10000
};

static struct maker maker;

/* Cache has a static array of count lists, each of two nodes; its name wants to clear the screen. */
static void make(unsigned count)
{
	struct maker *m = &maker;

	maker_begin(m, 8);
	make_text(m, NEXT, "next");
	make_text(m, ALL, "all");
	make_class_name(m, OBJECT, "java/lang/Object");
	make_class_name(m, NODE, "com/acme/Node");
	make_class_name(m, CACHE, "com/acme/\x1b[2JCache");
	make_class_name(m, NODES, "[Lcom/acme/Node;");
	record_begin(m, 0x1c);
	make_class(m, OBJECT, 0, 0, 0);
	make_class(m, NODE, OBJECT, 0, 1);
	make_field(m, NEXT, HEAP_REFERENCE);
	make_class(m, CACHE, OBJECT, 0, 0);
	m->used -= 4; /* one static field, no others */
	put(m, 1, 2);
	make_field(m, ALL, HEAP_REFERENCE);
	put_id(m, FIRST);
	put(m, 0, 2);
	make_class(m, NODES, OBJECT, 0, 0);
	make_root(m, 0x05, CACHE);
	make_object_array(m, FIRST, NODES, count);
	for (unsigned i = 0; i < count; i++)
		put_id(m, FIRST + 0x1000 + i * 48);
	for (unsigned i = 0; i < 2 * count; i++) {
		make_instance(m, FIRST + 0x1000 + i * 24, NODE, 8);
		put_id(m, i % 2 ? 0 : FIRST + 0x1000 + (i + 1) * 24);
	}
	record_end(m);
}

struct subject {
	struct heap_state state;
	struct hprof_result result;
	struct heap_view view;
	struct heap_tree tree;
	struct heap_filter *filter;
	uint64_t *retained;
	struct heap_report report;
};

static int subject_open(struct subject *s, unsigned count, const struct condition *c,
			enum heap_format format)
{
	int err;

	*s = (struct subject){.tree = {.levels = {heap_classifier_find("package", 7),
						  heap_classifier_find("type", 4)},
				       .level_count = 2}};
	make(count);
	err = hprof_read(maker_read, &maker, true, &s->state, &s->result);
	if (!err)
		err = heap_view_init(&s->view, &s->state, HEAP_NEEDS_DOMINATORS);
	if (!err)
		err = heap_filter_new(c, &s->view, &s->filter);
	if (!err)
		err = heap_tree_build(&s->view, s->filter, &s->tree);
	if (!err)
		err = heap_tree_retained(&s->view, s->filter, &s->tree, 3, &s->retained);
	s->report = (struct heap_report){.source = {"app.hprof", &s->state, &s->result},
					 .view = &s->view,
					 .tree = &s->tree,
					 .retained = s->retained,
					 .where = c ? "type=*Node" : NULL,
					 .top = 3,
					 .format = format};
	return err;
}

static void subject_close(struct subject *s)
{
	free(s->retained);
	heap_tree_free(&s->tree);
	heap_filter_free(s->filter);
	heap_view_free(&s->view);
	heap_state_free(&s->state);
}

/* FOUND: the tree with groups that a pattern finds, and those that are one put together. */
enum what { TREE, FOUND, HOLDERS, WAYS, DIFF, WHAT_COUNT };

static int print(enum what what, enum heap_format format, FILE *out)
{
	struct subject s[2] = {0};
	struct condition *c = NULL;
	char error[CONDITION_ERROR_MAX];
	int err = what == WAYS ? heap_condition_parse("type=*Node", NULL, &c, error) : 0;

	if (!err)
		err = subject_open(&s[0], 10, c, format);
	if (!err && what == DIFF)
		err = subject_open(&s[1], 15, c, format);
	if (what == FOUND) {
		s[0].report.find = "*Node??";
		s[0].report.collapse = true;
	}
	if (!err && (what == TREE || what == FOUND))
		err = heap_report_tree(&s[0].report, out);
	else if (!err && what == DIFF)
		err = heap_report_diff(&(struct heap_diff){&s[0].report, &s[1].report}, out);
	else if (!err)
		err = heap_report_keep(&s[0].report, s[0].filter, out);
	subject_close(&s[0]);
	subject_close(&s[1]);
	condition_free(c);
	return err;
}

static void expect(enum what what, enum heap_format format, const char *text)
{
	char out[32768] = "";
	FILE *f = fmemopen(out, sizeof(out), "w");

	assert_non_null(f);
	assert_int_equal(print(what, format, f), 0);
	assert_int_equal(fclose(f), 0);
	if (!strstr(out, text))
		fail_msg("'%s' is not in:\n%s", text, out);
	assert_null(strchr(out, '\x1b'));
}

static void test_outputs(void **state)
{
	(void)state;
	expect(TREE, HEAP_TEXT, "com.acme.Node              20  480 B");
	expect(TREE, HEAP_JSON,
	       "\"key\":\"com.acme.Node\",\"by\":\"type\",\"unit\":\"objects\",\"objects\":20,\"bytes\":480");
	expect(TREE, HEAP_CSV, "2,com.acme.Node,type,objects,20,480,0");
	expect(TREE, HEAP_JSON, "\"retained_bytes\":544");
	expect(HOLDERS, HEAP_TEXT, "retains 704 B");
	expect(HOLDERS, HEAP_TEXT, "static com.acme.\\x1b[2JCache.all");
	expect(HOLDERS, HEAP_JSON,
	       "\"retained_bytes\":704,\"retained_objects\":23,\"mostly\":\"com.acme.Node\",\"of_these\":20");
	expect(WAYS, HEAP_TEXT,
	       "20 of 25 objects are chosen, 480 B; if all of them went, 544 B in 21 objects");
	expect(WAYS, HEAP_JSON, "\"step\":\"com.acme.Node.next\",\"objects\":10,\"bytes\":240");
	expect(DIFF, HEAP_TEXT, "com.acme.Node has grown most, by +240 B");
	expect(DIFF, HEAP_CSV, "com > com.acme > com.acme.Node,240,10,480,720,20,30");
}

/* com.acme has all that com has, and is its only group; of what is in it, one is found. */
static void test_found(void **state)
{
	char out[32768] = "";
	FILE *f = fmemopen(out, sizeof(out), "w");

	(void)state;
	assert_non_null(f);
	assert_int_equal(print(FOUND, HEAP_TEXT, f), 0);
	assert_int_equal(fclose(f), 0);
	assert_non_null(strstr(out, "\n  com.acme  "));
	assert_non_null(strstr(out, "\n    com.acme.Node[]  "));
	assert_null(strstr(out, "\n  com  "));
	assert_null(strstr(out, "com.acme.Node  "));
	assert_null(strstr(out, "java"));
	/* Programs have all. */
	expect(FOUND, HEAP_JSON, "\"key\":\"com\",\"by\":\"package\"");
	expect(FOUND, HEAP_CSV, "2,com.acme.Node,type,objects,20,480,0");
}

static void test_without_memory(void **state)
{
	(void)state;
	for (unsigned i = 0; i < WHAT_COUNT * HEAP_FORMAT_COUNT; i++)
		for (unsigned long n = 0;; n++) {
			FILE *out = fopen("/dev/null", "w");
			bool failed;
			int err;

			assert_non_null(out);
			alloc_fail_at(n);
			err = print(i / HEAP_FORMAT_COUNT, i % HEAP_FORMAT_COUNT, out);
			failed = alloc_fail_off();
			fclose(out);
			if (err && err != -ENOMEM)
				fail_msg("output %u, allocation %lu: %d", i, n, err);
			if (!failed) {
				assert_int_equal(err, 0);
				break;
			}
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outputs),
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
