#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "log/format/schema.h"
#include "tests/unit/alloc_fail.h"

static void test_lookups_agree(void **state)
{
	unsigned count, i, known = 0, last = 0;
	const struct event_desc *events = schema_events(&count);

	(void)state;
	assert_true(count > 20);
	for (i = 0; i < count; i++) {
		assert_true(events[i].id > last);
		last = events[i].id;
		assert_ptr_equal(schema_event(events[i].id), &events[i]);
		assert_ptr_equal(schema_event_by_name(events[i].name), &events[i]);
	}
	for (i = 0; i < 100000; i++)
		known += schema_event(i) != NULL;
	assert_int_equal(known, count);
	assert_null(schema_event_by_name("monitor"));
}

static void test_tables(void **state)
{
	const struct event_desc *enter = schema_event(EVENT_MONITOR_CONTENDED_ENTER);
	const struct field_desc *field;

	(void)state;
	assert_string_equal(enter->name, "monitor_contended_enter");
	assert_int_equal(enter->field_count, MONITOR_CONTENDED_ENTER_FIELD_COUNT);
	field = &enter->fields[MONITOR_CONTENDED_ENTER_OWNER_CPU_NS];
	assert_string_equal(field->name, "owner_cpu_ns");
	assert_int_equal(field->type, FIELD_COUNTER);
	assert_int_equal(field->of, MONITOR_CONTENDED_ENTER_OWNER);
	assert_string_equal(field->counter, "cpu_ns");
	assert_string_equal(field->unit, "ns");
	field = &enter->fields[MONITOR_CONTENDED_ENTER_CPU_NS];
	assert_int_equal(field->of, -1);
	field = &enter->fields[MONITOR_CONTENDED_ENTER_OWNER_SOURCE];
	assert_int_equal(field->enum_count, OWNER_SOURCE_COUNT);
	assert_string_equal(field->enum_names[OWNER_SOURCE_STACK_LOCK], "stack_lock");
}

/* One index for each counter of a thread, whichever event has it and under which name. */
static void test_counters_share_indexes(void **state)
{
	const char *names[COUNTER_COUNT] = {NULL};
	unsigned i, f, index;

	(void)state;
	for (i = 0; i < schema_table_count; i++) {
		for (f = 0; f < schema_table[i].field_count; f++) {
			const struct field_desc *field = &schema_table[i].fields[f];

			if (field->type != FIELD_COUNTER)
				continue;
			index = schema_counter[i][f];
			assert_true(index < COUNTER_COUNT);
			if (!names[index])
				names[index] = field->counter;
			assert_string_equal(names[index], field->counter);
		}
	}
	for (i = 0; i < COUNTER_COUNT; i++)
		for (f = 0; f < i; f++)
			assert_string_not_equal(names[i], names[f]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lookups_agree),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_counters_share_indexes),
	};

	return cmocka_run_group_tests_name("log_schema", tests, NULL, NULL);
}
