/* Events as lines of JSON: valid, with every field, with numbers or with what they stand for. */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "log/read/names.h"
#include "report/json/event_json.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/log/log_fixture.h"

/* The caller's. It is one line. */
static json_t *line(const struct event_json *how, const struct event *e)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *json;

	assert_non_null(out);
	event_json_print(how, e, out);
	assert_int_equal(fclose(out), 0);
	assert_ptr_equal(strchr(text, '\n'), text + size - 1);
	/* Numbers of 64 bits are not jansson's. */
	json = json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, NULL);
	assert_non_null(json);
	free(text);
	return json;
}

static void test_every_kind(void **state)
{
	struct log_names *names = log_names_new();
	const struct event_json ways[] = {{NULL, UINT_MAX}, {names, UINT_MAX}, {names, 0}};
	struct event e;

	(void)state;
	for (unsigned n = 0; fixture_nth(n, &e); n++)
		assert_int_equal(log_names_add(names, &e), 0);
	for (unsigned way = 0; way < 3; way++) {
		for (unsigned n = 0; fixture_nth(n, &e); n++) {
			const struct event_desc *desc = schema_event(e.id);
			json_t *json = line(&ways[way], &e);

			assert_int_equal(json_object_size(json), 3 + desc->field_count);
			assert_string_equal(json_string_value(json_object_get(json, "event")),
					    desc->name);
			for (unsigned i = 0; i < desc->field_count; i++)
				assert_non_null(json_object_get(json, desc->fields[i].name));
			assert_int_equal(json_is_number(json_object_get(json, "thread")), !way);
			json_decref(json);
		}
	}
	log_names_free(names);
}

static void add(struct log_names *names, unsigned id, unsigned count, const union field_value *v)
{
	struct event e = {.id = (uint16_t)id, .field_count = (uint16_t)count};

	memcpy(e.v, v, count * sizeof(*v));
	assert_int_equal(log_names_add(names, &e), 0);
}

/* Three frames of one method: 1 is called by nobody, 2 by 1, 3 by 2. */
static struct log_names *names_of_a_chain(void)
{
	struct log_names *names = log_names_new();
	union field_value method[METHOD_FIELD_COUNT];

	memset(method, 0, sizeof(method));
	for (unsigned i = 0; i < sizeof(method) / sizeof(*method); i++)
		if (schema_event(EVENT_METHOD)->fields[i].type == FIELD_STR)
			method[i].s = "Table";
	method[METHOD_METHOD].u = 9;
	add(names, EVENT_METHOD, METHOD_FIELD_COUNT, method);
	for (unsigned n = 1; n <= 3; n++) {
		union field_value stack[STACK_FIELD_COUNT];

		memset(stack, 0, sizeof(stack));
		stack[STACK_STACK].u = n;
		stack[STACK_CALLER].u = n - 1;
		stack[STACK_METHOD].u = 9;
		stack[STACK_LINE].u = 10 * n;
		add(names, EVENT_STACK, STACK_FIELD_COUNT, stack);
	}
	return names;
}

/* The chain is that of a contention; how many frames of it are in the line, and how many are more. */
static void check_frames(const struct log_names *names, unsigned most, unsigned shown)
{
	const struct event_desc *desc = schema_event(EVENT_MONITOR_CONTENDED_ENTER);
	struct event e = {.id = desc->id, .field_count = (uint16_t)desc->field_count};
	const struct event_json how = {names, most};
	json_t *json, *stack, *frames;

	e.v[MONITOR_CONTENDED_ENTER_STACK].u = 3;
	json = line(&how, &e);
	stack = json_object_get(json, "stack");
	frames = json_object_get(stack, "frames");
	assert_int_equal(json_array_size(frames), shown);
	for (unsigned i = 0; i < shown; i++) {
		json_t *frame = json_array_get(frames, i);

		assert_string_equal(json_string_value(json_object_get(frame, "class")), "Table");
		assert_true(json_number_value(json_object_get(frame, "line")) == 10 * (3 - i));
	}
	assert_true(json_number_value(json_object_get(stack, "more")) == 3 - shown);
	json_decref(json);
}

static void test_frames(void **state)
{
	struct log_names *names = names_of_a_chain();

	(void)state;
	check_frames(names, UINT_MAX, 3);
	check_frames(names, 3, 3);
	check_frames(names, 2, 2);
	check_frames(names, 0, 0);
	log_names_free(names);
}

/* What defines a number has it as a number, and its caller, too. */
static void test_definitions_stay_numbers(void **state)
{
	struct log_names *names = names_of_a_chain();
	const struct event_desc *desc = schema_event(EVENT_STACK);
	struct event e = {.id = EVENT_STACK, .field_count = (uint16_t)desc->field_count};
	const struct event_json how = {names, UINT_MAX};
	json_t *json;

	(void)state;
	e.v[STACK_STACK].u = 3;
	e.v[STACK_CALLER].u = 2;
	e.v[STACK_METHOD].u = 9;
	json = line(&how, &e);
	assert_true(json_number_value(json_object_get(json, "stack")) == 3);
	assert_true(json_number_value(json_object_get(json, "caller")) == 2);
	assert_true(json_is_object(json_object_get(json, "method")));
	json_decref(json);
	log_names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_definitions_stay_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
