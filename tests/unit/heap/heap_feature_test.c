/* Files of features: whose an object is; what is wrong, and in which line. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/tables/array.h"
#include "base/text/glob.h"
#include "heap/classify/heap_feature.h"
#include "heap/state/heap_state.h"
#include "tests/unit/alloc_fail.h"

static int state_make(struct heap_state *s, const char *name)
{
	uint32_t type;
	int err = heap_state_init(s, 8, false);

	if (!err)
		err = heap_types_text_add(&s->types, 1, name, (uint32_t)strlen(name));
	if (!err)
		err = heap_types_add(&s->types, 100, &type);
	if (!err)
		err = heap_types_name(&s->types, type, heap_types_text_find(&s->types, 1));
	if (!err)
		err = heap_state_object(s, 0x1000, type, 0);
	return err ? err : heap_state_finish(s);
}

/* The features of an object of this class, asked for twice: "A B ". */
static int features_of(const char *text, const char *class, char *ret, size_t room)
{
	char error[HEAP_FEATURES_ERROR_MAX];
	struct heap_features *f = NULL;
	struct heap_state s = {0};
	struct heap_view v = {0};
	struct heap_keys keys = {0};
	struct heap_item item = {.object = HEAP_NONE};
	int err = heap_features_new(text, strlen(text), &f, error);

	if (!err)
		err = state_make(&s, class);
	if (!err)
		err = heap_view_init(&v, &s, HEAP_NEEDS_DESC);
	*ret = '\0';
	for (int twice = 0; !err && twice < 2; twice++) {
		const struct heap_classifier *c = heap_features_classifier(f);

		*ret = '\0';
		keys.count = 0;
		heap_classify(c, &v, &item, &keys);
		err = keys.err ? keys.err : v.err;
		for (uint32_t i = 0; !err && i < keys.count; i++) {
			strncat(ret, heap_view_text_get(&v, keys.all[i]), room - strlen(ret) - 1);
			strncat(ret, " ", room - strlen(ret) - 1);
		}
	}
	free(keys.all);
	heap_view_free(&v);
	heap_state_free(&s);
	heap_features_free(f);
	return err;
}

static const char text[] =
	"# whose is what\n"
	"Orders (255 128 0) {\n  com.acme.order.*\n  com.acme.Item # and this\n}\n"
	"My maps{java.util.*Map*;*Order}Orders{com.acme.Late}";

static void test_features(void **state)
{
	static const struct {
		const char *class, *features;
	} all[] = {
		{"com/acme/order/Line", "Orders "},
		{"com/acme/order/deep/Order", "Orders My maps "},
		{"[[Lcom/acme/Item;", "Orders "},
		{"com/acme/Items", "Others "},
		{"java/util/TreeMap$Entry", "My maps "},
		{"com/acme/Late", "Orders "},
		{"[I", "Others "},
	};
	char got[256];

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		assert_int_equal(features_of(text, all[i].class, got, sizeof(got)), 0);
		assert_string_equal(got, all[i].features);
	}
}

static void test_wrong(void **state)
{
	static const struct {
		const char *text, *error;
	} all[] = {
		{"", "line 1: there is no feature"},
		{"# nothing\n", "line 2: there is no feature"},
		{"A", "line 1: { is missing"},
		{"A {\n a", "line 2: } is missing"},
		{"{ a }", "line 1: the name of a feature is missing"},
		{"A { a }\n}", "line 2: the name of a feature is missing"},
		{"A (1 2) { a }", "line 1: a colour is three numbers"},
		{"A (1 2 256) { a }", "line 1: a colour is three numbers"},
		{"A (1 2 3 { a }", "line 1: a colour ends with )"},
		{"A {\n\n a:120-180 }", "line 3: a pattern of methods is"}, /* of no method */
		{"A { a.b(int) }", "line 1: a pattern of methods is"},
		{"A { a.b:20-10 }", "line 1: a pattern of methods is"},
		{"A { a.b:1-65536 }", "line 1: a pattern of methods is"},
		{"A { a.b: }", "line 1: a pattern of methods is"},
		{"A { a.b:1- }", "line 1: a pattern of methods is"},
		{"A { a.b)( }", "line 1: a pattern of methods is"},
		{"A { {", "line 1: a pattern is missing"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		char error[HEAP_FEATURES_ERROR_MAX] = "";
		struct heap_features *f = NULL;

		assert_int_equal(heap_features_new(all[i].text, strlen(all[i].text), &f, error),
				 -EINVAL);
		assert_null(f);
		if (strncmp(error, all[i].error, strlen(all[i].error)) != 0)
			fail_msg("%s: %s", all[i].text, error);
	}
}

/* The features of an object of a log that this chain has allocated, innermost first. */
static int features_of_chain(const char *text, const char *const *chain, bool any, char *ret, size_t room)
{
	char error[HEAP_FEATURES_ERROR_MAX];
	struct heap_features *f = NULL;
	struct heap_state s = {0};
	struct heap_view v = {0};
	struct heap_keys keys = {0};
	struct heap_item item = {.object = HEAP_NONE};
	struct heap_origin *o = calloc(1, sizeof(*o));
	int err = heap_features_new(text, strlen(text), &f, error);

	*ret = '\0';
	assert_non_null(o);
	if (!err)
		err = state_make(&s, "com/acme/order/Order");
	s.origins = o;
	s.origin_count = 1;
	for (; !err && chain[o->frame_count]; o->frame_count++) {
		uint64_t id = 100 + o->frame_count;

		err = heap_types_text_add(&s.types, id, chain[o->frame_count], (uint32_t)strlen(chain[o->frame_count]));
		if (!err)
			err = array_grow(&s.frames, &s.frame_capacity, s.frame_count, sizeof(*s.frames));
		if (!err)
			s.frames[s.frame_count++] = heap_types_text_find(&s.types, id);
	}
	if (!err) {
		s.descs[0].origin = 1;
		err = heap_view_init(&v, &s, HEAP_NEEDS_DESC);
	}
	if (!err)
		heap_classify(any ? heap_features_any(f) : heap_features_classifier(f), &v, &item, &keys);
	err = err ? err : keys.err ? keys.err : v.err;
	for (uint32_t i = 0; !err && i < keys.count; i++) {
		strncat(ret, heap_view_text_get(&v, keys.all[i]), room - strlen(ret) - 1);
		strncat(ret, " ", room - strlen(ret) - 1);
	}
	free(keys.all);
	heap_view_free(&v);
	heap_state_free(&s);
	heap_features_free(f);
	return err;
}

static void test_chains(void **state)
{
	static const char rules[] = "Maps { java.util.HashMap.newNode() }\nOrders { com.acme.order.* }\n"
				    "Late { com.acme.order.Book.add:10-40, com.acme.B$1/0x12.run:7 }\nInit{*.<init>()}";
	static const struct {
		const char *chain[4], *features, *any;
	} all[] = {
		{{"java.util.HashMap.newNode:0", "com.acme.order.Book.add:12"}, "Maps ", "Maps Orders Late "},
		{{"java.util.HashMap.put:0", "com.acme.order.Book.add:12 (inferred)", "com.acme.order.A.b:1"},
		 "Orders Late ", "Orders Late "},
		{{"com.acme.order.Book.add:9"}, "Orders ", "Orders "},
		{{"com.acme.order.Book.add:41", "com.acme.order.Book.add:40"}, "Orders ", "Orders Late "},
		{{"com.acme.order.Book.add"}, "Orders ", "Orders "}, /* native: no bytecode */
		{{"com.acme.order.Book.addAll:12"}, "Orders ", "Orders "},
		{{"com.acme.B$1/0x12.run:7"}, "Late ", "Late "},
		{{"a.Order.<init>:7"}, "Init ", "Init "},
		{{"java.lang.Object.clone"}, "Others ", "Others "},
		{{"(unknown)"}, "(unknown) ", "(unknown) "},
		{{"a.B.c:1", "(unknown)"}, "Others ", "Others "},
		{{"nodot"}, "Others ", "Others "},
		{{":12"}, "Others ", "Others "},
		{{" (inferred)"}, "Others ", "Others "},
	};
	char got[256];

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		assert_int_equal(features_of_chain(rules, all[i].chain, false, got, sizeof(got)), 0);
		assert_string_equal(got, all[i].features);
		assert_int_equal(features_of_chain(rules, all[i].chain, true, got, sizeof(got)), 0);
		assert_string_equal(got, all[i].any);
	}
	/* A dump has classes only. */
	assert_int_equal(features_of("A{com.acme.order.Order.a() com.acme.*.*:1}", "com/acme/order/Order", got,
				     sizeof(got)), 0);
	assert_string_equal(got, "Others ");
}

/* Beside the definition, by recursion. */
static bool globs(const char *glob, const char *with)
{
	if (!*glob)
		return !*with;
	if (*glob == '*')
		return globs(glob + 1, with) || (*with && globs(glob, with + 1));
	return *with && (*glob == '?' || *glob == *with) && globs(glob + 1, with + 1);
}

static void test_glob(void **state)
{
	static const char letters[] = "ab*?";
	unsigned seed = 1, held = 0;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		char glob[9], with[9];
		size_t g = seed % 9, t = seed / 9 % 9;

		for (size_t k = 0; k < 8; k++) {
			seed = seed * 1103515245 + 12345;
			glob[k] = letters[seed >> 16 & 3];
			with[k] = letters[seed >> 20 & 1];
		}
		glob[g] = with[t] = '\0';
		assert_int_equal(glob_holds(glob, g, with, t), globs(glob, with));
		held += globs(glob, with);
	}
	assert_in_range(held, 5000, 95000);
}

static void test_no_memory(void **state)
{
	char got[256];
	bool failed = true;
	unsigned long n = 0;

	(void)state;
	for (; failed; n++) {
		int err;

		alloc_fail_at(n);
		err = features_of(text, "com/acme/order/Order", got, sizeof(got));
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
	}
	assert_in_range(n, 10, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_features),
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_glob),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
