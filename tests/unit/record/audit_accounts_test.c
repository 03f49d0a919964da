/* record/decode/audit_accounts.c: threads' counters as of a cut, against machines that charge at random. */
#include <linux/types.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/decode/audit_accounts.h"
#include "tests/unit/alloc_fail.h"

#define CPUS 4
#define THREADS 9
#define RUNS 300

/* What was told last. */
struct told {
	unsigned times;
	uint64_t time_ns, stolen_ns;
	bool fresh, ended;
	int result;
};

static int tell(void *ctx, const struct audit_account *account)
{
	struct told *t = ctx;

	t->times++;
	t->time_ns = account->time_ns;
	t->stolen_ns = account->stolen_ns;
	t->fresh = account->fresh;
	t->ended = account->ended;
	return t->result;
}

static struct told add(struct audit_accounts *a, uint64_t epoch, uint32_t tid, uint64_t begin,
		       const struct wire_audit_thread *v)
{
	struct wire_audit_key key = {.tid = tid, .begin_ns = begin};
	struct told t = {0};

	assert_int_equal(audit_accounts_add(a, epoch, &key, v, tell, &t), 0);
	return t;
}

static void test_halves(void **state)
{
	struct audit_accounts *a = audit_accounts_new();
	struct wire_audit_thread v = {.time_ns = {100, 7}, .stolen_ns = {10, 3}};
	struct told t = add(a, 0, 1, 1, &v);

	(void)state;
	/* The half of epoch 1 is still growing. */
	assert_int_equal(t.time_ns, 100);
	assert_int_equal(t.stolen_ns, 10);
	assert_true(t.fresh && !t.ended);
	v.time_ns[1] = 50;
	v.stolen_ns[1] = 5;
	v.time_ns[0] = 1000;
	t = add(a, 1, 1, 1, &v);
	assert_int_equal(t.time_ns, 150);
	assert_int_equal(t.stolen_ns, 15);
	assert_false(t.fresh);
	t = add(a, 2, 1, 1, &v);
	assert_int_equal(t.time_ns, 1050);
	audit_accounts_free(a);
}

static void test_nothing_is_told_of_a_thread_without_time(void **state)
{
	struct audit_accounts *a = audit_accounts_new();
	struct wire_audit_thread v = {.time_ns = {0, 50}};
	struct told t = add(a, 0, 1, 1, &v);

	(void)state;
	assert_int_equal(t.times, 0);
	t = add(a, 1, 1, 1, &v);
	assert_int_equal(t.times, 1);
	assert_true(t.fresh);
	audit_accounts_free(a);
}

static void test_a_tid_that_is_used_again(void **state)
{
	struct audit_accounts *a = audit_accounts_new();
	struct wire_audit_thread old = {.time_ns = {100, 0}, .ended = 1}, v = {.time_ns = {5, 0}};
	struct told t = add(a, 0, 1, 1, &old);

	(void)state;
	assert_true(t.ended);
	t = add(a, 0, 1, 2, &v);
	assert_int_equal(t.time_ns, 5);
	assert_true(t.fresh && !t.ended);
	assert_int_equal(audit_accounts_count(a), 1);
	audit_accounts_free(a);
}

static void test_it_has_ended_only_after_its_epoch(void **state)
{
	struct audit_accounts *a = audit_accounts_new();
	struct wire_audit_thread v = {.time_ns = {100, 20}, .ended = 2};

	(void)state;
	assert_false(add(a, 0, 1, 1, &v).ended);
	assert_int_equal(audit_accounts_count(a), 1);
	assert_int_equal(add(a, 1, 1, 1, &v).time_ns, 120);
	assert_int_equal(audit_accounts_count(a), 0);
	audit_accounts_free(a);
}

static void test_the_result_of_tell_comes_back(void **state)
{
	struct audit_accounts *a = audit_accounts_new();
	struct wire_audit_thread v = {.time_ns = {100, 0}};
	struct wire_audit_key key = {.tid = 1};
	struct told t = {.result = -EPIPE};

	(void)state;
	assert_int_equal(audit_accounts_add(a, 0, &key, &v, tell, &t), -EPIPE);
	audit_accounts_free(a);
	audit_accounts_free(NULL);
}

/* --- a machine at random --------------------------------------------------------------------- */

static uint64_t random_below(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (*seed >> 33) % below;
}

struct machine {
	uint64_t seed;
	uint64_t epochs[CPUS];
	struct wire_audit_thread threads[THREADS];
	uint64_t time_ns[THREADS][64], stolen_ns[THREADS][64]; /* the truth, by epoch */
};

/* Some CPU charges some thread, as audit.bpf.c does it. */
static void charge(struct machine *m, uint64_t times)
{
	while (times--) {
		unsigned cpu = (unsigned)random_below(&m->seed, CPUS);
		unsigned i = (unsigned)random_below(&m->seed, THREADS);
		uint64_t e = m->epochs[cpu], time = random_below(&m->seed, 1000);
		uint64_t stolen = random_below(&m->seed, time + 1);

		if (m->threads[i].ended)
			continue;
		m->threads[i].time_ns[e & 1] += time;
		m->threads[i].stolen_ns[e & 1] += stolen;
		m->time_ns[i][e] += time;
		m->stolen_ns[i][e] += stolen;
		/* No thread ends on two CPUs; the epoch of its last charge may not be its newest. */
		if (!random_below(&m->seed, 200)) {
			uint64_t newest = e;

			for (uint64_t n = e; n < 64; n++)
				newest = m->time_ns[i][n] ? n : newest;
			m->threads[i].ended = newest + 1;
		}
	}
}

static void test_any_machine(void **state)
{
	(void)state;
	for (uint64_t run = 0; run < RUNS; run++) {
		struct audit_accounts *a = audit_accounts_new();
		struct machine m = {.seed = run};
		bool gone[THREADS] = {false};

		for (uint64_t epoch = 0; epoch < 40; epoch++) {
			charge(&m, random_below(&m.seed, 50));
			for (unsigned cpu = 0; cpu < CPUS; cpu++) {
				m.epochs[cpu]++;
				charge(&m, random_below(&m.seed, 5));
			}
			for (unsigned i = 0; i < THREADS; i++) {
				uint64_t time = 0, stolen = 0;
				struct told t;

				if (gone[i])
					continue;
				charge(&m, random_below(&m.seed, 3));
				for (uint64_t e = 0; e <= epoch; e++) {
					time += m.time_ns[i][e];
					stolen += m.stolen_ns[i][e];
				}
				t = add(a, epoch, i + 1, i, &m.threads[i]);
				if (time || stolen) {
					assert_int_equal(t.time_ns, time);
					assert_int_equal(t.stolen_ns, stolen);
				} else {
					assert_int_equal(t.times, 0);
				}
				gone[i] = t.ended;
			}
		}
		audit_accounts_free(a);
	}
}

static void test_no_memory(void **state)
{
	struct wire_audit_thread v = {.time_ns = {100, 0}};
	bool failed = true;

	(void)state;
	for (unsigned long n = 0; failed; n++) {
		struct audit_accounts *a;
		struct told t = {0};
		int err = 0;

		alloc_fail_at(n);
		a = audit_accounts_new();
		for (uint32_t tid = 1; a && !err && tid < 100; tid++)
			err = audit_accounts_add(a, 0, &(struct wire_audit_key){.tid = tid}, &v,
						 tell, &t);
		failed = alloc_fail_off();
		assert_true(!failed || !a || err == -ENOMEM || t.times == 99);
		audit_accounts_free(a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_halves),
		cmocka_unit_test(test_nothing_is_told_of_a_thread_without_time),
		cmocka_unit_test(test_a_tid_that_is_used_again),
		cmocka_unit_test(test_it_has_ended_only_after_its_epoch),
		cmocka_unit_test(test_the_result_of_tell_comes_back),
		cmocka_unit_test(test_any_machine),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
