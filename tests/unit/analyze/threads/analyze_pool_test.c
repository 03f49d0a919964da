/* Pools of threads by name, and what kind of thread a name says. */
#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/threads/pool.h"
#include "tests/unit/alloc_fail.h"

#define THREADS_MAX 64

/* Names in; what is expected as the pool of each. */
struct expected {
	const char *name, *pool;
};

static void assert_pools(const struct expected *wanted, uint32_t count)
{
	struct pool_thread threads[THREADS_MAX];
	uint32_t members[THREADS_MAX] = {0};
	struct pools p;

	assert_true(count <= THREADS_MAX);
	for (uint32_t i = 0; i < count; i++)
		threads[i] = (struct pool_thread){wanted[i].name, THREAD_GROUP_JAVA};
	assert_int_equal(pools_make(threads, count, &p), 0);
	for (uint32_t i = 0; i < count; i++) {
		assert_true(p.of[i] < p.count);
		assert_string_equal(p.pools[p.of[i]].name, wanted[i].pool);
		members[p.of[i]]++;
	}
	for (uint32_t i = 0; i < p.count; i++)
		assert_int_equal(p.pools[i].threads, members[i]);
	pools_free(&p);
}

#define ASSERT_POOLS(...)                                                                          \
	do {                                                                                       \
		const struct expected wanted[] = {__VA_ARGS__};                                    \
		assert_pools(wanted, sizeof(wanted) / sizeof(*wanted));                            \
	} while (0)

static void names_that_differ_in_a_number(void **state)
{
	(void)state;
	ASSERT_POOLS({"pool-1-thread-17", "pool-1-thread-*"},
		     {"pool-1-thread-2", "pool-1-thread-*"}, {"main", "main"},
		     {"http-nio-8080-exec-3", "http-nio-8080-exec-*"},
		     {"http-nio-8080-exec-10", "http-nio-8080-exec-*"},
		     {"http-nio-8080-Acceptor", "http-nio-8080-Acceptor"},
		     {"GC Thread#0", "GC Thread#*"}, {"GC Thread#1", "GC Thread#*"},
		     {"G1 Conc#0", "G1 Conc#0"}, {"C2 CompilerThread0", "C2 CompilerThread*"},
		     {"C2 CompilerThread1", "C2 CompilerThread*"},
		     {"C1 CompilerThread0", "C1 CompilerThread0"},
		     {"ForkJoinPool-1-worker-3", "ForkJoinPool-1-worker-*"},
		     {"ForkJoinPool-1-worker-5", "ForkJoinPool-1-worker-*"},
		     {"ForkJoinPool.commonPool-worker-3", "ForkJoinPool.commonPool-worker-3"});
}

/* Two pools stay two; executors of one thread each are one pool. */
static void the_number_that_finds_most(void **state)
{
	(void)state;
	ASSERT_POOLS({"pool-1-thread-1", "pool-1-thread-*"}, {"pool-1-thread-2", "pool-1-thread-*"},
		     {"pool-1-thread-3", "pool-1-thread-*"}, {"pool-2-thread-1", "pool-2-thread-*"},
		     {"pool-2-thread-2", "pool-2-thread-*"}, {"pool-2-thread-3", "pool-2-thread-*"},
		     {"pool-2-thread-4", "pool-2-thread-*"});
	ASSERT_POOLS({"pool-1-thread-1", "pool-*-thread-1"}, {"pool-2-thread-1", "pool-*-thread-1"},
		     {"pool-3-thread-1", "pool-*-thread-1"});
	ASSERT_POOLS({"pool-1-thread-1", "pool-1-thread-*"}, {"pool-1-thread-2", "pool-1-thread-*"},
		     {"pool-1-thread-3", "pool-1-thread-*"}, {"pool-1-thread-4", "pool-1-thread-*"},
		     {"pool-2-thread-1", "pool-*-thread-1"},
		     {"pool-3-thread-1", "pool-*-thread-1"});
	ASSERT_POOLS({"2-of-8", "*-of-8"}, {"3-of-8", "*-of-8"}, {"x 2 y", "x * y"},
		     {"x 11 y", "x * y"});
	/* The choice is the last number where both would find as many. */
	ASSERT_POOLS({"a-1-1", "a-1-*"}, {"a-1-2", "a-1-*"}, {"a-2-1", "a-2-*"},
		     {"a-2-2", "a-2-*"});
}

/* No single number finds another thread: then all of them. */
static void several_numbers(void **state)
{
	(void)state;
	ASSERT_POOLS({"RMI TCP Connection(2)-10.0.0.1", "RMI TCP Connection(*)-10.0.0.1"},
		     {"RMI TCP Connection(5)-10.0.0.1", "RMI TCP Connection(*)-10.0.0.1"});
	ASSERT_POOLS({"task-17-retry-3", "task-*-retry-*"}, {"task-18-retry-4", "task-*-retry-*"},
		     {"job-1-2", "job-1-2"}, {"job-1", "job-1"});
}

static void what_is_no_number_of_a_thread(void **state)
{
	(void)state;
	ASSERT_POOLS({"h2o", "h2o"}, {"h3o", "h3o"}, {"log4j-1", "log4j-*"}, {"log4j-2", "log4j-*"},
		     {"log5j-9", "log5j-9"}, {"", ""}, {"\xc3\xa4-1", "\xc3\xa4-1"});
	ASSERT_POOLS({"1", "*"}, {"22", "*"});
	ASSERT_POOLS({"same", "same"}, {"same", "same"}, {"same-1", "same-1"});
	ASSERT_POOLS({"T-1", "T-1"}, {"T-1", "T-1"}); /* nothing differs: nothing is left open */
	assert_pools(NULL, 0);
}

static void groups_are_not_mixed(void **state)
{
	const struct pool_thread threads[] = {{"x-1", THREAD_GROUP_NATIVE},
					      {"x-2", THREAD_GROUP_JAVA},
					      {"x-3", THREAD_GROUP_JAVA},
					      {"x-4", THREAD_GROUP_NATIVE}};
	struct pools p;

	(void)state;
	assert_int_equal(pools_make(threads, 4, &p), 0);
	assert_int_equal(p.count, 2);
	assert_int_equal(p.pools[0].group, THREAD_GROUP_JAVA);
	assert_int_equal(p.of[1], 0);
	assert_int_equal(p.of[2], 0);
	assert_int_equal(p.of[0], 1);
	assert_int_equal(p.of[3], 1);
	pools_free(&p);
}

static void kinds_of_threads(void **state)
{
	static const struct {
		const char *name;
		bool java;
		enum thread_group group;
	} threads[] = {
		{"main", true, THREAD_GROUP_JAVA},
		{"Finalizer", true, THREAD_GROUP_JAVA},
		{"java", false, THREAD_GROUP_NATIVE},
		{"GC Thread#11", false, THREAD_GROUP_GC},
		{"GC Thread#11", true, THREAD_GROUP_JAVA}, /* somebody's joke */
		{"G1 Main Marker", false, THREAD_GROUP_GC},
		{"G1 Service", false, THREAD_GROUP_GC},
		{"C2 CompilerThre", false, THREAD_GROUP_COMPILER},
		{"C1 CompilerThread0", true, THREAD_GROUP_COMPILER},
		{"VM Thread", false, THREAD_GROUP_VM},
		{"VM Periodic Tas", false, THREAD_GROUP_VM},
		{"Monitor Deflati", false, THREAD_GROUP_VM},
		{"Monitor Deflation Thread", true, THREAD_GROUP_VM},
		{"Monitor", true, THREAD_GROUP_JAVA},
		{"Signal Dispatcher", true, THREAD_GROUP_VM},
		{"", false, THREAD_GROUP_NATIVE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++)
		assert_int_equal(thread_group_of(threads[i].name, threads[i].java),
				 threads[i].group);
	assert_string_equal(thread_group_name(THREAD_GROUP_NATIVE), "native");
}

/* The pattern's stars stand for digits. */
static bool is_like(const char *pattern, const char *name)
{
	for (; *pattern; pattern++) {
		if (*pattern != '*') {
			if (*pattern != *name++)
				return false;
			continue;
		}
		if (!isdigit((unsigned char)*name))
			return false;
		while (isdigit((unsigned char)*name))
			name++;
	}
	return !*name;
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Whatever the names are: each is like its pool's, pools differ, and order does not matter. */
static void random_names(void **state)
{
	static const char *const parts[] = {"a", "-", "#", "1", "2", "37", "b c", ".", "Thread"};
	struct pool_thread threads[THREADS_MAX], other[THREADS_MAX];
	char names[THREADS_MAX][64];
	struct pools p, q;

	(void)state;
	for (uint32_t seed = 1, round = 0; round < 400; round++) {
		uint32_t count = next_random(&seed) % THREADS_MAX;

		for (uint32_t i = 0; i < count; i++) {
			names[i][0] = '\0';
			for (uint32_t k = next_random(&seed) % 6; k; k--)
				strcat(names[i], parts[next_random(&seed) % 9]);
			threads[i] = (struct pool_thread){names[i], THREAD_GROUP_JAVA};
			other[count - 1 - i] = threads[i];
		}
		assert_int_equal(pools_make(threads, count, &p), 0);
		assert_int_equal(pools_make(other, count, &q), 0);
		assert_int_equal(p.count, q.count);
		for (uint32_t i = 0; i < count; i++) {
			assert_true(is_like(p.pools[p.of[i]].name, names[i]));
			assert_int_equal(p.of[i], q.of[count - 1 - i]);
		}
		for (uint32_t i = 1; i < p.count; i++)
			assert_true(strcmp(p.pools[i - 1].name, p.pools[i].name) < 0);
		pools_free(&p);
		pools_free(&q);
	}
}

static void pools_without_memory(void **state)
{
	const struct pool_thread threads[] = {{"x-1-1", THREAD_GROUP_JAVA},
					      {"x-1-2", THREAD_GROUP_JAVA},
					      {"y-3-4", THREAD_GROUP_JAVA},
					      {"main", THREAD_GROUP_JAVA}};
	unsigned long n = 0;
	bool failed = true;

	(void)state;
	for (; failed; n++) {
		struct pools p = {0};
		int err;

		alloc_fail_at(n);
		err = pools_make(threads, 4, &p);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		assert_int_equal(p.count, failed ? 0 : 3);
		pools_free(&p);
	}
	assert_true(n > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_that_differ_in_a_number),
		cmocka_unit_test(the_number_that_finds_most),
		cmocka_unit_test(several_numbers),
		cmocka_unit_test(what_is_no_number_of_a_thread),
		cmocka_unit_test(groups_are_not_mixed),
		cmocka_unit_test(kinds_of_threads),
		cmocka_unit_test(random_names),
		cmocka_unit_test(pools_without_memory),
	};

	return cmocka_run_group_tests_name("analyze_pool", tests, NULL, NULL);
}
