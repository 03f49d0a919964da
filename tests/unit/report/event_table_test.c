/* Tables of events: valid JSON and as many cells as columns, whatever is in the log. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "log/read/names.h"
#include "report/csv/event_table.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/log/log_fixture.h"

struct text {
	char *bytes;
	size_t size;
};

static const char *row(struct event_table *t, const struct event *e, struct text *text)
{
	FILE *out;

	free(text->bytes);
	out = open_memstream(&text->bytes, &text->size);
	assert_non_null(out);
	event_table_row(t, e, out);
	assert_int_equal(fclose(out), 0);
	return text->bytes;
}

static void test_json_lines_of_every_kind(void **state)
{
	const struct event_table_options options = {.frames = 12};
	struct log_names *names = log_names_new();
	json_t *header = json_pack("{sI, sI}", "start_mono_ns", (json_int_t)5, "start_wall_ns",
				   (json_int_t)1760000000000000000);
	struct text text = {0};
	struct event_table *t;
	struct event e;
	json_t *json;

	(void)state;
	for (unsigned n = 0; fixture_nth(n, &e); n++)
		assert_int_equal(log_names_add(names, &e), 0);
	for (unsigned n = 0; fixture_nth(n, &e); n++) {
		const struct event_desc *desc = schema_event(e.id);

		assert_int_equal(event_table_new(desc, &options, names, header, &t), 0);
		/* Numbers of 64 bits are not jansson's. */
		json = json_loads(row(t, &e, &text),
				  JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, NULL);
		assert_non_null(json);
		assert_int_equal(json_object_size(json), 1 + event_table_columns(t));
		for (unsigned i = 0; i < event_table_columns(t); i++)
			assert_non_null(json_object_get(json, event_table_column(t, i)));
		assert_string_equal(json_string_value(json_object_get(json, "event")), desc->name);
		json_decref(json);
		event_table_free(t);
	}
	free(text.bytes);
	json_decref(header);
	log_names_free(names);
}

static void test_time(void **state)
{
	const struct event_table_options options = {.csv = true};
	const struct event_desc *desc = schema_event(EVENT_SAFEPOINT_BEGIN);
	struct log_names *names = log_names_new();
	json_t *header = json_pack("{sI, sI}", "start_mono_ns", (json_int_t)2000000000,
				   "start_wall_ns", (json_int_t)1000000000000000000);
	struct event e = {.id = EVENT_SAFEPOINT_BEGIN};
	struct event_table *t;
	struct text text = {0};

	(void)state;
	assert_int_equal(event_table_new(desc, &options, names, header, &t), 0);
	e.time_ns = 2000000001;
	assert_string_equal(row(t, &e, &text), "2000000001,2001-09-09T01:46:40.000000001Z,0,,\n");
	e.time_ns = 1; /* before the header was written */
	assert_string_equal(row(t, &e, &text), "1,2001-09-09T01:46:38.000000001Z,0,,\n");
	e.time_ns = UINT64_MAX / 2 + 9;
	assert_string_equal(row(t, &e, &text), "9223372036854775816,,0,,\n");
	event_table_free(t);
	free(text.bytes);
	json_decref(header);
	log_names_free(names);
}

static void test_no_memory(void **state)
{
	const struct event_table_options options = {.csv = true};
	struct log_names *names = log_names_new();
	struct event_table *t;
	unsigned count;
	const struct event_desc *events = schema_events(&count);
	int err = -ENOMEM;

	(void)state;
	for (unsigned i = 0; i < count; i++) {
		err = -ENOMEM;
		for (unsigned long n = 0; err; n++) {
			t = NULL;
			alloc_fail_at(n);
			err = event_table_new(&events[i], &options, names, NULL, &t);
			alloc_fail_off();
			assert_true(!err || (err == -ENOMEM && !t));
			event_table_free(t);
		}
	}
	log_names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_lines_of_every_kind),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
