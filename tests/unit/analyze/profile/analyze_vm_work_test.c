/* What the VM's threads work at, as a patched and as a stock JVM tell. */
#include "analyze/profile/vm_work.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "log/format/event.h"
#include "tests/unit/alloc_fail.h"

enum { VM_THREAD = 1, WORKER, OTHER };
enum { PAUSE = 11, EVACUATE, COPY, MARK };

static struct event phase(unsigned id, uint64_t thread, uint64_t name, uint64_t kind)
{
	struct event e = {.id = id, .thread = thread};

	_Static_assert((int)GC_PHASE_BEGIN_PHASE == (int)GC_PHASE_END_PHASE &&
			       (int)GC_PHASE_BEGIN_KIND == (int)GC_PHASE_END_KIND,
		       "the same fields");
	e.v[GC_PHASE_BEGIN_PHASE].u = name;
	e.v[GC_PHASE_BEGIN_KIND].u = kind;
	return e;
}

static struct event operation(unsigned id, uint64_t name)
{
	struct event e = {.id = id, .thread = VM_THREAD};

	e.v[VM_OPERATION_BEGIN_OPERATION].u = name;
	return e;
}

static int add(struct vm_work *w, struct event e)
{
	return vm_work_add(w, &e);
}

static int add_phases(struct vm_work *w)
{
	int err = add(w, operation(EVENT_VM_OPERATION_BEGIN, 7));

	if (!err)
		err = add(w, phase(EVENT_GC_PHASE_BEGIN, OTHER, MARK, GC_PHASE_KIND_CONCURRENT));
	if (!err)
		err = add(w, phase(EVENT_GC_PHASE_BEGIN, VM_THREAD, PAUSE, GC_PHASE_KIND_PAUSE));
	if (!err)
		err = add(w, phase(EVENT_GC_PHASE_BEGIN, VM_THREAD, EVACUATE, GC_PHASE_KIND_PAUSE));
	return err;
}

static uint64_t phase_of(const struct vm_work *w, uint64_t thread, bool gc_worker)
{
	uint64_t id = 0;

	assert_int_equal(vm_work_of(w, thread, gc_worker, &id), VM_WORK_PHASE);
	return w->phases.rows[id].phase;
}

static void phases_of_threads_and_of_those_that_help(void **state)
{
	struct vm_work w = {.depth = 0};
	uint64_t id = 0;

	(void)state;
	assert_int_equal(add_phases(&w), 0);
	assert_int_equal(phase_of(&w, VM_THREAD, false), EVACUATE);
	assert_int_equal(phase_of(&w, WORKER, true), EVACUATE);
	assert_int_equal(phase_of(&w, OTHER, false), MARK);
	assert_int_equal(vm_work_of(&w, WORKER, false, &id), VM_WORK_NONE);
	assert_int_equal(add(&w, phase(EVENT_GC_PHASE_BEGIN, WORKER, COPY, GC_PHASE_KIND_WORKER)),
			 0);
	assert_int_equal(phase_of(&w, WORKER, true), COPY);
	assert_int_equal(add(&w, phase(EVENT_GC_PHASE_END, WORKER, COPY, GC_PHASE_KIND_WORKER)), 0);
	assert_int_equal(
		add(&w, phase(EVENT_GC_PHASE_END, VM_THREAD, EVACUATE, GC_PHASE_KIND_PAUSE)), 0);
	assert_int_equal(phase_of(&w, WORKER, true), PAUSE);
	assert_int_equal(add(&w, phase(EVENT_GC_PHASE_END, VM_THREAD, PAUSE, GC_PHASE_KIND_PAUSE)),
			 0);
	/* What is left is the concurrent one, which is no worker's by its name. */
	assert_int_equal(vm_work_of(&w, WORKER, true, &id), VM_WORK_NONE);
	assert_int_equal(vm_work_of(&w, VM_THREAD, false, &id), VM_WORK_OPERATION);
	assert_int_equal(id, 7);
	vm_work_hole(&w);
	assert_int_equal(vm_work_of(&w, VM_THREAD, false, &id), VM_WORK_NONE);
	assert_int_equal(vm_work_of(&w, OTHER, false, &id), VM_WORK_NONE);
	vm_work_free(&w);
	for (int n = 0;; n++) {
		int err;

		alloc_fail_at(n);
		err = add_phases(&w);
		vm_work_free(&w);
		if (!alloc_fail_off()) {
			assert_int_equal(err, 0);
			return;
		}
		assert_int_equal(err, -ENOMEM);
	}
}

static void operations_of_a_stock_jvm(void **state)
{
	struct vm_work w = {.depth = 0};
	struct event begin = {.id = EVENT_GC_BEGIN, .thread = VM_THREAD};
	struct event end = {.id = EVENT_GC_END, .thread = VM_THREAD};
	uint64_t id = 0;

	(void)state;
	begin.v[GC_BEGIN_OPERATION].u = 5;
	assert_int_equal(add(&w, operation(EVENT_VM_OPERATION_BEGIN, 5)), 0);
	assert_int_equal(add(&w, begin), 0);
	assert_int_equal(vm_work_of(&w, VM_THREAD, false, &id), VM_WORK_OPERATION);
	assert_int_equal(id, 5);
	assert_int_equal(vm_work_of(&w, WORKER, true, &id), VM_WORK_OPERATION);
	assert_int_equal(id, 5);
	assert_int_equal(vm_work_of(&w, WORKER, false, &id), VM_WORK_NONE);
	assert_int_equal(add(&w, operation(EVENT_VM_OPERATION_BEGIN, 6)), 0);
	assert_int_equal(vm_work_of(&w, VM_THREAD, false, &id), VM_WORK_OPERATION);
	assert_int_equal(id, 6);
	assert_int_equal(add(&w, operation(EVENT_VM_OPERATION_END, 6)), 0);
	assert_int_equal(vm_work_of(&w, VM_THREAD, false, &id), VM_WORK_OPERATION);
	assert_int_equal(id, 5);
	assert_int_equal(add(&w, end), 0);
	assert_int_equal(vm_work_of(&w, WORKER, true, &id), VM_WORK_NONE);
	/* Ends that were lost. */
	for (uint64_t i = 0; i < 3 * VM_WORK_DEPTH_MAX; i++)
		assert_int_equal(add(&w, operation(EVENT_VM_OPERATION_BEGIN, 100 + i)), 0);
	assert_int_equal(vm_work_of(&w, VM_THREAD, false, &id), VM_WORK_OPERATION);
	assert_int_equal(id, 100 + 3 * VM_WORK_DEPTH_MAX - 1);
	vm_work_free(&w);
}

static void workers_by_their_names(void **state)
{
	(void)state;
	assert_true(vm_work_is_gc_worker("GC Thread#3"));
	assert_true(vm_work_is_gc_worker("ZWorker#0"));
	assert_false(vm_work_is_gc_worker("G1 Service"));
	assert_false(vm_work_is_gc_worker("GC"));
	assert_false(vm_work_is_gc_worker(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(phases_of_threads_and_of_those_that_help),
		cmocka_unit_test(operations_of_a_stock_jvm),
		cmocka_unit_test(workers_by_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
