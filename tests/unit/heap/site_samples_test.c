/* heap/code/site_samples: who has called sites, by chains that were made for it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "heap/code/site_samples.h"
#include "heap/replay/object_names.h"
#include "log/format/event.h"
#include "log/format/object_record.h"
#include "log/read/names.h"
#include "tests/unit/alloc_fail.h"

#define METHODS 5u

/* Of class "a.A", methods 1 to METHODS in both, whose numbers differ: m1 is 101 of the object events. Sites: 1 m1:7;
 * 2 m1:7 inlined into m2:9; 3 m4:1; 4 m4:1 inlined into m1:7, and that into m2:9. */
static int make_names(struct object_names *n)
{
	struct object_record r = {.kind = OBJECT_CLASS, .number = {1}, .text = {"a/A"}, .text_bytes = {3}};
	static const uint32_t sites[][3][2] = {
		{{101, 7}}, {{101, 7}, {102, 9}}, {{104, 1}}, {{104, 1}, {101, 7}, {102, 9}}};
	static const uint32_t counts[] = {1, 2, 1, 3};
	int err = object_names_init(n);

	if (!err)
		err = object_names_add(n, &r);
	for (uint32_t i = 1; !err && i <= METHODS; i++) {
		char name[8];

		snprintf(name, sizeof(name), "m%u", i);
		r = (struct object_record){.kind = OBJECT_METHOD, .number = {100 + i, 1}};
		r.text[0] = name;
		r.text_bytes[0] = (uint32_t)strlen(name);
		r.text[1] = "()V";
		r.text_bytes[1] = 3;
		err = object_names_add(n, &r);
	}
	for (uint32_t i = 0; !err && i < 4; i++) {
		r = (struct object_record){.kind = OBJECT_SITE, .number = {i + 1, 1}, .frame_count = counts[i]};
		memcpy(r.frames, sites[i], sizeof(sites[i]));
		err = object_names_add(n, &r);
	}
	return err;
}

static void add(struct log_names *names, struct event e)
{
	assert_int_equal(log_names_add(names, &e), 0);
}

static struct log_names *log_methods(void)
{
	static const char *const all[] = {"m1", "m2", "m3", "m4", "m5"};
	struct log_names *names = log_names_new();

	for (uint64_t i = 1; i <= METHODS; i++) {
		struct event e = {.id = EVENT_METHOD};

		e.v[METHOD_METHOD].u = i;
		e.v[METHOD_CLASS_NAME].s = "a.A";
		e.v[METHOD_NAME].s = all[i - 1];
		e.v[METHOD_SIGNATURE].s = "()V";
		e.v[METHOD_SOURCE].s = "";
		add(names, e);
	}
	return names;
}

/* Frames as method and bytecode, innermost first; returns the number of the chain. */
static uint64_t chain(struct log_names *names, const uint64_t (*frames)[2], unsigned count)
{
	static uint64_t next;
	uint64_t caller = 0;

	for (unsigned i = count; i--;) {
		struct event e = {.id = EVENT_STACK};

		e.v[STACK_STACK].u = ++next;
		e.v[STACK_CALLER].u = caller;
		e.v[STACK_FRAME].u = frames[i][0] ? FRAME_TYPE_C2 : FRAME_TYPE_BROKEN;
		e.v[STACK_METHOD].u = frames[i][0];
		e.v[STACK_BCI].u = frames[i][1];
		add(names, e);
		caller = next;
	}
	return caller;
}

#define CHAIN(names, ...)                                                                                              \
	chain((names), (const uint64_t[][2]){__VA_ARGS__}, sizeof((const uint64_t[][2]){__VA_ARGS__}) / 16)

static void take(struct stack_samples *s, uint64_t stack, unsigned count)
{
	while (count--)
		assert_int_equal(stack_samples_add(s, stack), 0);
}

/* Samples in which the caller has called the site's own frames, or its parent. */
static uint32_t seen(const struct site_samples *s, uint32_t site, uint32_t parent, uint64_t method, uint64_t bci,
		     uint32_t *ret)
{
	for (uint32_t i = 0; i < s->caller_count; i++) {
		const struct site_caller *c = &s->callers[i];

		if (c->tree != s->tree_of[site] || c->parent != parent || c->method != method || c->bci != bci)
			continue;
		*ret = i;
		return c->samples;
	}
	return 0;
}

static const struct site_tree *tree(const struct site_samples *s, uint32_t site)
{
	return &s->trees[s->tree_of[site]];
}

static void callers_are_counted(void **state)
{
	struct log_names *names = log_methods();
	struct stack_samples samples = {0};
	struct object_names n;
	struct site_samples s;
	uint32_t at, unused;

	(void)state;
	assert_int_equal(make_names(&n), 0);
	take(&samples, CHAIN(names, {1, 3}, {2, 9}, {3, 1}), 5);          /* m1 elsewhere, from m2 */
	take(&samples, CHAIN(names, {5, 0}, {1, 7}, {3, 4}), 3);          /* below m1, from m3 */
	take(&samples, CHAIN(names, {1, 7}, {1, 8}, {3, 4}), 2);          /* m1 calls itself */
	take(&samples, CHAIN(names, {1, 7}, {0, 0}), 1);                  /* nobody knows from where */
	take(&samples, CHAIN(names, {1, 7}), 1);                          /* the thread's first frame */
	take(&samples, CHAIN(names, {5, 7}, {3, 9}), 4);                  /* of no site */
	take(&samples, CHAIN(names, {1, 7}, {2, 10}, {3, 4}), 1); /* from another site in m2 */
	take(&samples, 0, 6);
	assert_int_equal(site_samples_make(&n, names, &samples, &s), 0);
	assert_int_equal(samples.all, 23);
	assert_int_equal(tree(&s, 0)->samples, 13);
	assert_false(tree(&s, 0)->at_bytecode);
	assert_int_equal(seen(&s, 0, SITE_CALLER_TOP, 2, 9, &at), 5);
	assert_int_equal(seen(&s, 0, at, 3, 1, &unused), 5);
	assert_int_equal(seen(&s, 0, SITE_CALLER_TOP, 3, 4, &at), 3);
	assert_int_equal(seen(&s, 0, SITE_CALLER_TOP, 1, 8, &at), 2);
	assert_int_equal(seen(&s, 0, SITE_CALLER_TOP, 0, 0, &at), 1);
	assert_int_equal(seen(&s, 0, SITE_CALLER_TOP, 2, 10, &at), 1);
	/* Inlined into m2:9 only. */
	assert_int_equal(tree(&s, 1)->samples, 5);
	assert_int_equal(seen(&s, 1, SITE_CALLER_TOP, 3, 1, &at), 5);
	assert_int_equal(tree(&s, 2)->samples, 0);
	/* m1 called from m2:9, whatever it does: the same samples, and the same tree. */
	assert_int_equal(s.tree_of[3], s.tree_of[1]);
	assert_int_equal(s.left_out, 0);
	site_samples_free(&s);
	stack_samples_free(&samples);
	object_names_free(&n);
	log_names_free(names);
}

/* Enough samples at the site's own bytecodes: others do not count. */
static void bytecodes_come_first(void **state)
{
	struct log_names *names = log_methods();
	struct stack_samples samples = {0};
	struct object_names n;
	struct site_samples s;
	uint32_t at;

	(void)state;
	assert_int_equal(make_names(&n), 0);
	take(&samples, CHAIN(names, {1, 7}, {2, 9}, {3, 1}), SITE_SAMPLES_ENOUGH);
	take(&samples, CHAIN(names, {1, 3}, {2, 9}, {3, 2}), 50);
	take(&samples, CHAIN(names, {4, 0}, {2, 9}), SITE_SAMPLES_ENOUGH - 1);
	assert_int_equal(site_samples_make(&n, names, &samples, &s), 0);
	for (uint32_t site = 0; site < 2; site++) {
		assert_true(tree(&s, site)->at_bytecode);
		assert_int_equal(tree(&s, site)->samples, SITE_SAMPLES_ENOUGH);
	}
	assert_int_equal(seen(&s, 0, SITE_CALLER_TOP, 2, 9, &at), SITE_SAMPLES_ENOUGH);
	assert_int_equal(seen(&s, 1, SITE_CALLER_TOP, 3, 1, &at), SITE_SAMPLES_ENOUGH);
	assert_int_equal(tree(&s, 2)->samples, SITE_SAMPLES_ENOUGH - 1);
	assert_false(tree(&s, 2)->at_bytecode);
	site_samples_free(&s);
	stack_samples_free(&samples);
	object_names_free(&n);
	log_names_free(names);
}

static void chains_are_bounded(void **state)
{
	struct log_names *names = log_methods();
	struct stack_samples samples = {0};
	uint64_t frames[40][2] = {{1, 7}};
	struct object_names n;
	struct site_samples s;

	(void)state;
	assert_int_equal(make_names(&n), 0);
	for (unsigned i = 1; i < 40; i++) {
		frames[i][0] = 3;
		frames[i][1] = i;
	}
	take(&samples, chain(names, frames, 40), 3);
	assert_int_equal(site_samples_make(&n, names, &samples, &s), 0);
	assert_int_equal(tree(&s, 0)->samples, 3);
	assert_int_equal(s.caller_count, SITE_SAMPLES_DEPTH_MAX);
	site_samples_free(&s);
	stack_samples_free(&samples);
	object_names_free(&n);
	log_names_free(names);
}

static void without_memory(void **state)
{
	struct log_names *names = log_methods();
	struct stack_samples samples = {0};
	struct object_names n;
	int err = -ENOMEM;

	(void)state;
	assert_int_equal(make_names(&n), 0);
	take(&samples, CHAIN(names, {1, 7}, {2, 9}, {3, 1}), 2);
	for (unsigned long i = 0; err == -ENOMEM; i++) {
		struct site_samples s;

		alloc_fail_at(i);
		err = site_samples_make(&n, names, &samples, &s);
		alloc_fail_off();
		assert_true(!err || err == -ENOMEM);
		site_samples_free(&s);
	}
	stack_samples_free(&samples);
	object_names_free(&n);
	log_names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_are_counted),
		cmocka_unit_test(bytecodes_come_first),
		cmocka_unit_test(chains_are_bounded),
		cmocka_unit_test(without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
