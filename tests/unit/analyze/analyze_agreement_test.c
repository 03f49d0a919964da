/* Calling context trees: measures against definitions written down by names, and what chance
 * leaves of them. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/diff/call_agreement.h"
#include "analyze/diff/comparison.h"
#include "tests/unit/alloc_fail.h"

static bool is_near(double got, double wanted)
{
	return fabs(got - wanted) <= 1e-9 * fmax(1, fabs(wanted));
}

/* A chain, one letter a method, from the outermost one. */
static int add_samples(struct call_paths *c, const char *chain, uint64_t ns, uint64_t count)
{
	uint64_t path = CALL_PATH_ROOT;

	for (; *chain; chain++)
		path = call_path_of(path, (const char[]){*chain, '\0'});
	return call_paths_add(c, path, ns, count);
}

static void free_all(struct call_paths *logs, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		call_paths_free(&logs[i]);
}

static struct call_agreement agreement(struct call_paths *before, unsigned before_count,
				       struct call_paths *after, unsigned after_count)
{
	struct call_agreement a;

	for (unsigned i = 0; i < before_count; i++)
		call_paths_sort(&before[i]);
	for (unsigned i = 0; i < after_count; i++)
		call_paths_sort(&after[i]);
	assert_int_equal(call_agreement_of((struct call_side){before, before_count},
					   (struct call_side){after, after_count}, &a),
			 0);
	return a;
}

/* Six samples, two of which are in u, called by a: the edge from a to u weighs 2 of 6 (Hofer,
 * Figure 3.1); what calls a hot method is not hot itself. */
static void test_weights_are_the_callee_s_own(void **state)
{
	struct call_paths one = {.paths = NULL}, other = {.paths = NULL};
	struct call_agreement a;

	(void)state;
	assert_int_equal(add_samples(&one, "mau", 20, 2), 0);
	assert_int_equal(add_samples(&one, "mab", 30, 3), 0);
	assert_int_equal(add_samples(&one, "m", 1, 1), 0);
	assert_int_equal(add_samples(&other, "mau", 10, 1), 0);
	assert_int_equal(add_samples(&other, "mac", 10, 1), 0);
	a = agreement(&one, 1, &other, 1);
	assert_int_equal(one.count, 3);
	assert_int_equal(one.all_ns, 51);
	assert_true(is_near(a.overlap.value, 20.0 / 51));
	assert_true(is_near(a.hot_before.value, 1.0 / 2)); /* mau, mab; m has 1 of 30 */
	assert_true(is_near(a.hot_after.value, 1.0 / 2));
	assert_int_equal(a.basis, CALL_BASIS_SAMPLES);
	assert_int_equal(a.before.basis, CALL_BASIS_NONE);
	call_paths_free(&one);
	call_paths_free(&other);
}

static void test_hot_edges_are_of_one_side(void **state)
{
	struct call_paths one = {.paths = NULL}, other = {.paths = NULL};
	struct call_agreement a, back;

	(void)state;
	add_samples(&one, "a", 100, 10);
	add_samples(&one, "b", 10, 1);
	add_samples(&one, "c", 9, 1);
	add_samples(&other, "a", 50, 5);
	a = agreement(&one, 1, &other, 1);
	back = agreement(&other, 1, &one, 1);
	assert_true(is_near(a.hot_before.value, 0.5) && is_near(a.hot_after.value, 1));
	assert_true(is_near(back.hot_before.value, 1) && is_near(back.hot_after.value, 0.5));
	assert_true(is_near(a.overlap.value, back.overlap.value));
	assert_true(is_near(a.overlap.value, 100.0 / 119));
	call_paths_free(&one);
	call_paths_free(&other);
}

static void test_sides_without_samples(void **state)
{
	struct call_paths some = {.paths = NULL}, none[2] = {{.paths = NULL}};
	struct call_agreement a;

	(void)state;
	add_samples(&some, "ab", 5, 1);
	a = agreement(&none[0], 1, &none[1], 1);
	assert_true(is_near(a.overlap.value, 1));
	assert_int_equal(a.basis, CALL_BASIS_NONE);
	a = agreement(&some, 1, none, 1);
	assert_true(is_near(a.overlap.value, 0));
	assert_false(a.differs);
	assert_int_equal(a.basis, CALL_BASIS_NONE);
	a = agreement(&some, 1, none, 0);
	assert_true(is_near(a.overlap.value, 0));
	call_paths_free(&some);
}

static void test_a_path_is_all_of_it(void **state)
{
	uint64_t x = call_path_of(CALL_PATH_ROOT, "C.x"), y = call_path_of(CALL_PATH_ROOT, "C.y");

	(void)state;
	assert_true(call_path_of(x, "C.y") != call_path_of(y, "C.x"));
	assert_true(call_path_of(CALL_PATH_ROOT, "C.xy") != call_path_of(x, "y"));
}

/* --- by names ------------------------------------------------------------------------------ */

#define CHAINS 40
#define LOGS 3

/* Weights of chains of up to three of three methods: the definitions of Hofer 3.4.2, as loops over
 * all pairs of chains. */
struct named {
	char chains[CHAINS][4];
	double weights[CHAINS];
	unsigned count;
};

static uint64_t random_next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 33;
}

static double named_weight(const struct named *n, const char *chain)
{
	double sum = 0;

	for (unsigned i = 0; i < n->count; i++)
		sum += strcmp(n->chains[i], chain) ? 0 : n->weights[i];
	return sum;
}

static void named_add(struct named *n, const char *chain, double weight)
{
	for (unsigned i = 0; i < n->count; i++) {
		if (!strcmp(n->chains[i], chain)) {
			n->weights[i] += weight;
			return;
		}
	}
	assert_true(n->count < CHAINS);
	strcpy(n->chains[n->count], chain);
	n->weights[n->count++] = weight;
}

static double named_sum(const struct named *n)
{
	double sum = 0;

	for (unsigned i = 0; i < n->count; i++)
		sum += n->weights[i];
	return sum;
}

static double named_most(const struct named *n)
{
	double most = 0;

	for (unsigned i = 0; i < n->count; i++)
		most = fmax(most, n->weights[i]);
	return most;
}

static double named_overlap(const struct named *a, const struct named *b)
{
	double sum = 0;

	for (unsigned i = 0; i < a->count; i++)
		sum += fmin(a->weights[i] / named_sum(a),
			    named_weight(b, a->chains[i]) / named_sum(b));
	return sum;
}

static double named_hot(const struct named *covering, const struct named *covered)
{
	unsigned hot = 0, both = 0;

	for (unsigned i = 0; i < covered->count; i++) {
		if (covered->weights[i] < 0.1 * named_most(covered))
			continue;
		hot++;
		both += named_weight(covering, covered->chains[i]) >= 0.1 * named_most(covering);
	}
	return (double)both / hot;
}

static struct named named_average(const struct named *logs, unsigned count)
{
	struct named all = {.count = 0};

	for (unsigned l = 0; l < count; l++)
		for (unsigned i = 0; i < logs[l].count; i++)
			named_add(&all, logs[l].chains[i],
				  logs[l].weights[i] / named_sum(&logs[l]) / count);
	return all;
}

static double middle(double a, double b, double c)
{
	return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

static void check_side(const struct named *logs, const struct call_consistency *c)
{
	struct named average = named_average(logs, LOGS);
	double o[LOGS], h[LOGS];

	for (unsigned i = 0; i < LOGS; i++) {
		o[i] = named_overlap(&logs[i], &average);
		h[i] = named_hot(&average, &logs[i]);
	}
	assert_int_equal(c->basis, CALL_BASIS_SAMPLES);
	assert_true(is_near(c->overlap.value, middle(o[0], o[1], o[2])));
	assert_true(is_near(c->lowest_overlap, fmin(fmin(o[0], o[1]), o[2])));
	assert_true(is_near(c->hot.value, middle(h[0], h[1], h[2])));
	assert_true(is_near(c->lowest_hot, fmin(fmin(h[0], h[1]), h[2])));
	assert_true(c->overlap.least <= c->overlap.expected && c->overlap.expected <= 1);
}

static void make_log(uint64_t *seed, struct named *n, struct call_paths *c)
{
	for (int i = 0; i < 60; i++) {
		char chain[4] = {0};
		uint64_t ns = 1 + random_next(seed) % 1000;

		for (uint64_t k = 0; k < 1 + random_next(seed) % 3; k++)
			chain[k] = (char)('a' + random_next(seed) % 3);
		named_add(n, chain, (double)ns);
		assert_int_equal(add_samples(c, chain, ns, 1 + random_next(seed) % 4), 0);
	}
}

static void test_against_definitions(void **state)
{
	uint64_t seed = 11;

	(void)state;
	for (int round = 0; round < 10; round++) {
		struct named names[2][LOGS] = {{{.count = 0}}}, before, after;
		struct call_paths logs[2][LOGS] = {{{.paths = NULL}}};
		struct call_agreement a;

		for (int i = 0; i < 2 * LOGS; i++)
			make_log(&seed, &names[i / LOGS][i % LOGS], &logs[i / LOGS][i % LOGS]);
		a = agreement(logs[0], LOGS, logs[1], LOGS);
		before = named_average(names[0], LOGS);
		after = named_average(names[1], LOGS);
		assert_true(is_near(a.overlap.value, named_overlap(&before, &after)));
		assert_true(is_near(a.hot_before.value, named_hot(&after, &before)));
		assert_true(is_near(a.hot_after.value, named_hot(&before, &after)));
		check_side(names[0], &a.before);
		check_side(names[1], &a.after);
		free_all(logs[0], LOGS);
		free_all(logs[1], LOGS);
	}
}

/* --- chance -------------------------------------------------------------------------------- */

/* So many samples of a tree with a few hot edges, and thousands of cold ones with a third of all
 * time; shift: in percent, what has moved from one hot edge to another. */
static void draw_log(uint64_t *seed, struct call_paths *c, unsigned samples, unsigned shift)
{
	for (unsigned i = 0; i < samples; i++) {
		uint64_t r = random_next(seed) % 300;
		char name[16];

		if (r < 200)
			snprintf(name, sizeof(name), "hot %u",
				 r < 100 && r >= shift ? 0 : (unsigned)r / 20);
		else
			snprintf(name, sizeof(name), "cold %u",
				 (unsigned)(random_next(seed) % 3000));
		assert_int_equal(call_paths_add(c, call_path_of(CALL_PATH_ROOT, name), 1000, 1), 0);
	}
}

static unsigned differ_of(unsigned rounds, unsigned shift)
{
	uint64_t seed = 3;
	unsigned differ = 0;

	for (unsigned i = 0; i < rounds; i++) {
		struct call_paths logs[2] = {{.paths = NULL}};

		draw_log(&seed, &logs[0], 400, 0);
		draw_log(&seed, &logs[1], 250, shift);
		differ += agreement(&logs[0], 1, &logs[1], 1).differs;
		free_all(logs, 2);
	}
	return differ;
}

/* The overlap of such samples is some 0.7 by chance alone, which is no reason for an alarm. */
static void test_chance_is_as_rare_as_it_says(void **state)
{
	(void)state;
	assert_in_range(differ_of(400, 0), 10, 32); /* 20 are expected: 2.8 deviations */
	assert_in_range(differ_of(100, 60), 95, 100);
}

/* Four logs a side, of two programs in turns: the logs of a side differ as much as the sides. */
static void test_logs_tell_more_than_samples(void **state)
{
	uint64_t seed = 5;
	struct call_paths logs[8] = {{.paths = NULL}};
	struct call_agreement a;

	(void)state;
	for (unsigned i = 0; i < 8; i++)
		draw_log(&seed, &logs[i], 300, i % 2 ? 60 : 0);
	a = agreement(logs, 4, logs + 4, 4);
	assert_int_equal(a.basis, CALL_BASIS_LOGS);
	assert_false(a.differs);
	assert_true(a.before.overlap.value < a.before.overlap.least);
	free_all(logs, 8);
	memset(logs, 0, sizeof(logs));
	for (unsigned i = 0; i < 8; i++)
		draw_log(&seed, &logs[i], 300, i < 4 ? 60 : 0);
	a = agreement(logs, 4, logs + 4, 4);
	assert_true(a.differs);
	assert_true(a.before.overlap.value >= a.before.overlap.least);
	assert_true(a.after.overlap.value >= a.after.overlap.least);
	free_all(logs, 8);
}

/* Counts that a log may claim. */
static void test_many_samples_are_merged(void **state)
{
	struct call_paths logs[2] = {{.paths = NULL}};
	struct call_agreement a;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		add_samples(&logs[i], "a", UINT64_MAX / 4, UINT64_MAX / 4);
		add_samples(&logs[i], "b", 1000, 0);
	}
	a = agreement(&logs[0], 1, &logs[1], 1);
	assert_true(is_near(a.overlap.value, 1));
	assert_false(a.differs);
	free_all(logs, 2);
}

static void test_no_memory(void **state)
{
	int err = -ENOMEM;

	(void)state;
	for (unsigned long n = 0; err; n++) {
		struct call_paths logs[2] = {{.paths = NULL}};
		struct call_agreement a;

		alloc_fail_at(n);
		err = add_samples(&logs[0], "ab", 5, 2);
		err = err ? err : add_samples(&logs[1], "b", 5, 2);
		err = err ? err
			  : call_agreement_of((struct call_side){&logs[0], 1},
					      (struct call_side){&logs[1], 1}, &a);
		if (alloc_fail_off())
			assert_int_equal(err, -ENOMEM);
		free_all(logs, 2);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_weights_are_the_callee_s_own),
		cmocka_unit_test(test_hot_edges_are_of_one_side),
		cmocka_unit_test(test_sides_without_samples),
		cmocka_unit_test(test_a_path_is_all_of_it),
		cmocka_unit_test(test_against_definitions),
		cmocka_unit_test(test_chance_is_as_rare_as_it_says),
		cmocka_unit_test(test_logs_tell_more_than_samples),
		cmocka_unit_test(test_many_samples_are_merged),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
