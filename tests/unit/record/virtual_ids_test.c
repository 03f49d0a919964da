/* record/identity/ids_thread.c: the numbers and names of virtual threads. */
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/wire/wire_kinds.h"
#include "bpf/wire/wire_lock.h"
#include "bpf/wire/wire_thread.h"
#include "log/format/event.h"
#include "record/identity/ids.h"
#include "record/identity/memory.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/record/names_log.h"

struct fixture {
	struct names_log log;
	struct ids *ids;
	struct memory memory;
};

static int open_with(void **state, bool bounded)
{
	struct fixture *f = calloc(1, sizeof(*f));

	names_log_open(&f->log);
	for (int i = 0; i < MEMORY_PART_COUNT; i++)
		f->memory.part[i].max = 64 * 1024;
	assert_int_equal(ids_new(f->log.w, bounded ? &f->memory : NULL, &f->ids), 0);
	*state = f;
	return 0;
}

static int begin(void **state)
{
	return open_with(state, false);
}

static int begin_bounded(void **state)
{
	return open_with(state, true);
}

static int end(void **state)
{
	struct fixture *f = *state;

	ids_free(f->ids);
	names_log_end(&f->log);
	free(f);
	return 0;
}

static void tell(struct fixture *f, uint32_t id, const void *name, uint32_t length, unsigned flags)
{
	struct wire_thread_java r = {.head = {.kind = WIRE_THREAD_VIRTUAL,
					      .flags = (__u16)flags,
					      .tid = WIRE_VIRTUAL | id,
					      .time_ns = 9},
				     .java_id = id,
				     .name_length = length};

	memcpy(r.name, name, length < sizeof(r.name) ? length : sizeof(r.name));
	ids_thread_virtual(f->ids, &r);
}

static void assert_named(struct log_names *n, uint32_t number, uint64_t id, const char *name)
{
	const struct log_thread *t = log_names_thread(n, number);

	assert_non_null(t);
	assert_true(t->is_virtual);
	assert_true(t->daemon);
	assert_int_equal(t->tid, 0);
	assert_int_equal(t->java_id, id);
	assert_string_equal(t->name, name);
}

static void names_in_javas_encodings(void **state)
{
	static const uint8_t latin1[] = {'m', 0xfc, 'd', 'e'};
	static const uint16_t utf16[] = {0x2603, 'x'};
	static const char whole[WIRE_NAME_MAX] = "x";
	struct fixture *f = *state;
	struct log_names *n;

	tell(f, 41, latin1, sizeof(latin1), 0);
	tell(f, 42, utf16, sizeof(utf16), WIRE_NAME_UTF16);
	tell(f, 43, "", 0, 0);
	tell(f, 44, whole, 0xffffffff, 0); /* a length that cannot be */
	n = names_log_read(&f->log);
	assert_named(n, 1, 41,
		     "m\xc3\xbc"
		     "de");
	assert_named(n, 2, 42, "\xe2\x98\x83x");
	assert_named(n, 3, 43, "VirtualThread[#43]");
	assert_int_equal(log_names_thread(n, 4)->name[0], 'x');
	log_names_free(n);
}

/* As an owner it comes before anybody has told its name. */
static void a_name_may_come_later(void **state)
{
	struct fixture *f = *state;
	struct log_names *n;

	assert_int_equal(ids_thread(f->ids, WIRE_VIRTUAL | 50, 5), 1);
	tell(f, 50, "later", 5, 0);
	assert_int_equal(ids_thread(f->ids, WIRE_VIRTUAL | 50, 6), 1);
	assert_int_equal(ids_thread(f->ids, WIRE_VIRTUAL | 51, 6), 2);
	assert_int_equal(ids_thread(f->ids, 50, 6), 3); /* a kernel thread with this number */
	n = names_log_read(&f->log);
	assert_named(n, 1, 50, "later");
	assert_named(n, 2, 51, "VirtualThread[#51]");
	assert_false(log_names_thread(n, 3)->is_virtual);
	assert_int_equal(log_names_thread(n, 3)->tid, 50);
	log_names_free(n);
}

/* A hundred thousand of them within 64 KiB: those that are not in anything go, one that is blocked
 * stays. */
static void they_are_forgotten(void **state)
{
	struct fixture *f = *state;
	struct wire_lock enter = {
		.head = {.kind = WIRE_MONITOR_ENTER, .tid = WIRE_VIRTUAL | 7, .time_ns = 1},
		.object = 0x1000,
		.handle = 0x2000};
	uint32_t number = ids_thread(f->ids, WIRE_VIRTUAL | 7, 1), last = 0;

	assert_int_not_equal(ids_monitor(f->ids, &enter), 0);
	for (uint32_t id = 1000; id < 101000; id++) {
		uint32_t one = ids_thread(f->ids, WIRE_VIRTUAL | id, id);

		assert_true(one > last);
		last = one;
	}
	assert_int_equal(ids_thread(f->ids, WIRE_VIRTUAL | 7, 200000), number);
	assert_int_equal(ids_thread(f->ids, WIRE_VIRTUAL | 100999, 200000), last);
	assert_int_equal(ids_thread(f->ids, WIRE_VIRTUAL | 1000, 200000), last + 1);
	assert_true(f->memory.part[MEMORY_THREADS].used <= f->memory.part[MEMORY_THREADS].max);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_in_javas_encodings, begin, end),
		cmocka_unit_test_setup_teardown(a_name_may_come_later, begin, end),
		cmocka_unit_test_setup_teardown(they_are_forgotten, begin_bounded, end),
	};

	return cmocka_run_group_tests_name("virtual_ids", tests, NULL, NULL);
}
