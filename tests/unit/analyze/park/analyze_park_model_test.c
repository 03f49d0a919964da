/* Who kept parked threads waiting: what is found in the events of a model of locks, against what
 * the model knows. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analyze/cells/cells.h"
#include "analyze/lines/timeline.h"
#include "analyze/park/park_numbered.h"
#include "park_model.h"
#include "tests/unit/alloc_fail.h"

#define RUNS 200

struct analysis {
	struct cells cells;
	struct timelines *lines;
	struct log_names *names;
	struct park_numbered *park;
};

static const char *class_of(const struct model_options *o, unsigned lock)
{
	if (lock == MODEL_CONDITION)
		return AQS "$ConditionObject";
	if (!o->share || lock == 1)
		return PARK_LOCKS "ReentrantLock$NonfairSync";
	return lock == 2 ? PARK_LOCKS "ReentrantReadWriteLock$FairSync" : PARK_LOCKS "StampedLock";
}

static int analysis_begin(struct analysis *a, const struct model_options *o)
{
	int err;

	*a = (struct analysis){0};
	a->lines = timelines_new(&a->cells);
	a->names = log_names_new();
	a->park = a->lines && a->names ? park_numbered_new(&a->cells, a->lines, a->names) : NULL;
	err = a->park ? names_chains(a->names) : -ENOMEM;
	for (unsigned lock = 1; lock <= MODEL_LOCKS && !err; lock++)
		err = names_lock(a->names, lock, class_of(o, lock));
	return err ? err : names_lock(a->names, MODEL_CONDITION, class_of(o, MODEL_CONDITION));
}

static void analysis_end(struct analysis *a)
{
	park_numbered_free(a->park);
	timelines_free(a->lines);
	log_names_free(a->names);
	cells_free(&a->cells);
}

static int analysis_finish(struct analysis *a, uint64_t ns)
{
	int err = park_numbered_finish(a->park, ns);

	return err ? err : timelines_finish(a->lines);
}

static int analyze(struct analysis *a, const struct model *m)
{
	int err = analysis_begin(a, &m->o);

	for (unsigned i = m->o.attach; i < m->count && !err; i++)
		err = park_numbered_add(a->park, &m->events[i], 0);
	return err ? err : analysis_finish(a, m->now);
}

/* Blocked time of one waiter of one lock as it was found. */
struct found {
	uint64_t all, hand_over, unknown;
	uint64_t by[MODEL_THREADS + 1], by_index[MODEL_THREADS + 1][CHAIN_METHODS];
	uint64_t by_reader[MODEL_THREADS + 1]; /* of by: one of several */
	uint64_t count;
};

static struct found found_of(const struct cells *cells, unsigned lock, unsigned waiter)
{
	struct found f = {0};

	for (uint32_t i = 0; i < cells->count; i++) {
		const struct cell *c = &cells->rows[i];
		uint64_t ns = c->blocked_ns;

		if (c->lock != lock || c->waiter != waiter)
			continue;
		f.all += ns;
		f.count += c->count;
		if (c->holder == HOLDER_HAND_OVER) {
			f.hand_over += ns;
		} else if (c->holder == HOLDER_UNKNOWN) {
			f.unknown += ns;
		} else {
			assert_true(c->holder <= MODEL_THREADS && c->holder != waiter);
			f.by[c->holder] += ns;
			f.by_reader[c->holder] += c->first_reader_ns;
			if (c->holder_stack)
				f.by_index[c->holder][c->holder_stack / 100 % 10] += ns;
		}
	}
	return f;
}

static void print_case(const struct model *m, unsigned lock, unsigned waiter, const struct found *f,
		       const struct model_truth *t)
{
	print_message("seed %lu lock %u waiter %u: parked %lu open %lu handed %lu shared %lu; "
		      "found all %lu hand-over %lu "
		      "unknown %lu\n",
		      m->o.seed, lock, waiter, t->parked, t->open, t->handed, t->shared, f->all,
		      f->hand_over, f->unknown);
	for (unsigned h = 1; h <= MODEL_THREADS; h++)
		print_message("  %u: held %lu+%lu read %lu; found %lu (%lu+%lu) readers %lu\n", h,
			      t->by[h][0], t->by[h][1], t->by_reader[h], f->by[h],
			      f->by_index[h][0], f->by_index[h][1], f->by_reader[h]);
}

/* What is known of this lock. */
struct expected {
	bool chains;  /* each hold's call chain */
	bool readers; /* and who was among the readers */
	bool handed;  /* and when it was handed over */
	bool owners;  /* and who had it when somebody parked */
	uint64_t slack_ns;
};

/* Outside the open time, each nanosecond is its holder's. */
static bool is_exact(const struct found *f, const struct model_truth *t, const struct expected *e)
{
	uint64_t more = f->unknown + f->hand_over, slack_ns = e->slack_ns;

	for (unsigned h = 1; h <= MODEL_THREADS; h++) {
		uint64_t held = t->by[h][0] + t->by[h][1];
		uint64_t read = e->readers ? t->by_reader[h] : t->shared;

		if (e->owners && f->by[h] + slack_ns < held)
			return false;
		more += f->by[h] - (f->by[h] < held ? f->by[h] : held);
		for (unsigned k = 0; k < CHAIN_METHODS; k++) {
			if (e->chains && f->by_index[h][k] + slack_ns < t->by[h][k])
				return false;
			if (f->by_index[h][k] > t->by[h][k] + read + t->open + slack_ns)
				return false;
		}
		if (f->by_reader[h] > read + t->open + slack_ns)
			return false;
	}
	if (e->handed && f->hand_over != t->handed)
		return false;
	return !e->owners ||
	       (more <= t->open + t->shared + slack_ns &&
		f->unknown <= t->shared + t->open + slack_ns && f->hand_over <= t->open + slack_ns);
}

static uint64_t check(const struct model_options *o)
{
	struct model *m = model_run(o);
	struct analysis a;
	uint64_t count = 0;

	assert_int_equal(analyze(&a, m), 0);
	for (unsigned lock = 1; lock <= MODEL_LOCKS; lock++) {
		struct expected e = {.chains = !o->give_up && !o->no_chains && !o->step_ns,
				     .readers = !model_stamped(m, lock) && !o->give_up,
				     .owners = !o->give_up || !model_stamped(m, lock),
				     .handed = (!o->share || lock == 1) && !o->step_ns &&
					       !o->give_up && !o->attach};

		for (unsigned waiter = 1; waiter <= MODEL_THREADS; waiter++) {
			const struct model_truth *t = &m->truth[lock][waiter];
			struct found f = found_of(&a.cells, lock, waiter);

			e.slack_ns = 10ull * o->step_ns * t->count;
			/* A few holds go by until all threads have been seen. */
			e.slack_ns += o->attach ? 1000 * MODEL_NS : 0;
			if (f.all != t->parked || f.count != t->count || !is_exact(&f, t, &e)) {
				print_case(m, lock, waiter, &f, t);
				fail();
			}
			count += f.count;
		}
	}
	analysis_end(&a);
	model_free(m);
	return count;
}

static void check_all(struct model_options o)
{
	uint64_t count = 0;

	for (o.seed = 1; o.seed <= RUNS; o.seed++)
		count += check(&o);
	assert_true(count > 10 * RUNS);
}

static void one_owner(void **state)
{
	(void)state;
	check_all((struct model_options){.actions = 20, .wake_ns = 60 * MODEL_NS});
}

static void one_owner_fair(void **state)
{
	(void)state;
	check_all((struct model_options){.actions = 20, .wake_ns = 60 * MODEL_NS, .fair = ~0u});
}

static void giving_up(void **state)
{
	(void)state;
	check_all((struct model_options){.actions = 20, .wake_ns = 60 * MODEL_NS, .give_up = true});
}

static void readers(void **state)
{
	(void)state;
	check_all((struct model_options){.actions = 20, .wake_ns = 60 * MODEL_NS, .share = true});
}

static void readers_fair(void **state)
{
	(void)state;
	check_all((struct model_options){
		.actions = 20, .wake_ns = 60 * MODEL_NS, .share = true, .fair = ~0u});
}

static void readers_giving_up(void **state)
{
	(void)state;
	check_all((struct model_options){
		.actions = 20, .wake_ns = 60 * MODEL_NS, .share = true, .give_up = true});
}

static void without_chains(void **state)
{
	(void)state;
	check_all(
		(struct model_options){.actions = 20, .wake_ns = 60 * MODEL_NS, .no_chains = true});
}

static void conditions(void **state)
{
	(void)state;
	check_all((struct model_options){
		.actions = 20, .wake_ns = 60 * MODEL_NS, .conditions = true});
}

static void slow_steps(void **state)
{
	(void)state;
	check_all((struct model_options){.actions = 20, .wake_ns = 60 * MODEL_NS, .step_ns = 500});
}

/* Parks without a begin count nothing; who holds the locks is seen when somebody parks. */
static void attached_later(void **state)
{
	(void)state;
	check_all((struct model_options){
		.actions = 20, .wake_ns = 60 * MODEL_NS, .conditions = true, .attach = 41});
}

/* What the begins and ends that are left make: an end belongs to the last begin of its thread. */
static void sum_pairs(const struct event *events, unsigned count, uint64_t *ret_ns,
		      uint64_t *ret_count)
{
	const struct event *begin[MODEL_THREADS + 1] = {0};

	for (unsigned i = 0; i < count; i++) {
		const struct event *e = &events[i], *b = begin[e->thread];

		if (e->id == EVENT_PARK_BEGIN)
			begin[e->thread] = e;
		if (e->id != EVENT_PARK_END || !b)
			continue;
		*ret_ns += e->time_ns - b->time_ns;
		++*ret_count;
		begin[e->thread] = NULL;
	}
}

static void lost_events(void **state)
{
	struct model_options o = {.actions = 20,
				  .wake_ns = 60 * MODEL_NS,
				  .share = true,
				  .give_up = true,
				  .conditions = true};
	uint64_t lost = 0;

	(void)state;
	for (o.seed = 1; o.seed <= RUNS; o.seed++) {
		struct model *m = model_run(&o);
		uint64_t ns = 0, count = 0, found_ns = 0, found_count = 0;
		unsigned kept = 0, missing = 0;
		struct analysis a;

		assert_int_equal(analysis_begin(&a, &o), 0);
		for (unsigned i = 0; i < m->count; i++) {
			if (missing ? model_below(m, 4) : !model_below(m, 20)) {
				missing++;
				lost++;
				continue;
			}
			assert_int_equal(park_numbered_add(a.park, &m->events[i], missing), 0);
			m->events[kept++] = m->events[i];
			missing = 0;
		}
		assert_int_equal(analysis_finish(&a, m->now), 0);
		sum_pairs(m->events, kept, &ns, &count);
		for (uint32_t i = 0; i < a.cells.count; i++) {
			found_ns += a.cells.rows[i].blocked_ns;
			found_count += a.cells.rows[i].count;
		}
		assert_int_equal(found_ns, ns);
		assert_int_equal(found_count, count);
		analysis_end(&a);
		model_free(m);
	}
	assert_true(lost > RUNS);
}

static bool survives(const struct model *m, unsigned long fail_at)
{
	struct analysis a;
	int err;

	alloc_fail_at(fail_at);
	err = analyze(&a, m);
	if (!alloc_fail_off()) {
		analysis_end(&a);
		assert_int_equal(err, 0);
		return false;
	}
	assert_int_equal(err, -ENOMEM);
	analysis_end(&a);
	return true;
}

static void no_memory(void **state)
{
	const struct model_options o = {.seed = 3,
					.actions = 5,
					.wake_ns = 60 * MODEL_NS,
					.share = true,
					.give_up = true,
					.conditions = true};
	struct model *m = model_run(&o);

	(void)state;
	for (unsigned long n = 0; survives(m, n); n++)
		;
	model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_owner),      cmocka_unit_test(one_owner_fair),
		cmocka_unit_test(giving_up),      cmocka_unit_test(readers),
		cmocka_unit_test(readers_fair),   cmocka_unit_test(readers_giving_up),
		cmocka_unit_test(without_chains), cmocka_unit_test(conditions),
		cmocka_unit_test(slow_steps),     cmocka_unit_test(attached_later),
		cmocka_unit_test(lost_events),    cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
