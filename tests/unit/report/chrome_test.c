/* A timeline: valid JSON with slices that have an end, whatever is in the log and whatever fails. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include <jansson.h>
#include <zlib.h>

#include "base/gz.h"
#include "log/read/names.h"
#include "log/read/reader.h"
#include "report/chrome/chrome.h"
#include "report/chrome/chrome_out.h"
#include "tests/unit/alloc_fail.h"

#define MS 1000000ull

static json_t *header_new(void)
{
	return json_pack("{sis{ss}s{si}s{ss}}", "start_mono_ns", 1000, "jvm", "command",
			 "java -cp x demo.Main", "record", "off_cpu_ns", 1000000, "sources",
			 "steal", "rq_clock");
}

static uint64_t some(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (*seed >> 33) % below;
}

/* Of any kind; texts are the caller's. */
static struct event some_event(uint64_t *seed, uint64_t ns)
{
	static const char *const texts[] = {"", "a \"b\"\\", "\xc3\xa4\n\x01", "worker-1"};
	unsigned count;
	const struct event_desc *d = schema_events(&count) + some(seed, count);
	struct event e = {.id = d->id, .thread = (uint32_t)some(seed, 6), .time_ns = ns};

	if (e.id == EVENT_END)
		e.id = EVENT_THREAD_SAMPLE;
	d = schema_event(e.id);
	e.field_count = (uint16_t)d->field_count;
	for (unsigned i = 0; i < d->field_count; i++) {
		if (d->fields[i].type == FIELD_STR)
			e.v[i].s = texts[some(seed, 4)];
		else if (d->fields[i].type == FIELD_COUNTER || d->fields[i].unit)
			e.v[i].u = some(seed, 4 * MS);
		else
			e.v[i].u = some(seed, 6);
	}
	return e;
}

/* NULL: no memory for it. What there is of a timeline is valid in any case. */
static char *timeline(uint64_t seed, const struct log_names *names, const json_t *header, int *ret)
{
	struct chrome_options o = {
		.first_ns = 1000, .last_ns = 1000 + 300 * MS, .frames = 3, .title = "a\"b"};
	struct log_reader_stats stats = {0};
	struct chrome_facts facts;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct chrome *c;
	uint64_t ns = 1000;

	if (!out) {
		*ret = -ENOMEM;
		return NULL;
	}
	c = chrome_new(&o, names, header, out);
	*ret = c ? 0 : -ENOMEM;
	for (int i = 0; c && !*ret && i < 300; i++) {
		struct event e = some_event(&seed, ns += some(&seed, MS));

		stats.blocks_damaged += !some(&seed, 100);
		chrome_gaps(c, &stats);
		*ret = chrome_add(c, &e);
	}
	if (c) {
		int err = chrome_finish(c, &facts);

		*ret = *ret ? *ret : err;
	}
	chrome_free(c);
	if (fclose(out) || !c) {
		*ret = -ENOMEM;
		free(text);
		return NULL;
	}
	return text;
}

static struct log_names *names_new(uint64_t seed)
{
	struct log_names *n = log_names_new();

	for (int i = 0; i < 4000; i++) {
		struct event e = some_event(&seed, 0);

		if (e.id <= EVENT_STRING || e.id == EVENT_METHOD || e.id == EVENT_STACK)
			assert_int_equal(log_names_add(n, &e), 0);
	}
	return n;
}

/* Begins less ends of all tracks; fails where there is an end without a begin. */
static int check(const char *text, size_t *ret_events)
{
	json_error_t error;
	json_t *file = json_loads(text, JSON_REJECT_DUPLICATES, &error), *events;
	int open = 0;

	if (!file)
		fail_msg("%s at %d of\n%s", error.text, error.position, text);
	events = json_object_get(file, "traceEvents");
	assert_true(json_is_array(events));
	assert_true(json_is_object(json_object_get(file, "otherData")));
	for (size_t i = 0; i < json_array_size(events); i++) {
		const json_t *e = json_array_get(events, i);
		const char *phase = json_string_value(json_object_get(e, "ph"));

		assert_non_null(phase);
		open += *phase == 'B';
		open -= *phase == 'E';
		assert_true(*phase == 'M' || json_is_number(json_object_get(e, "ts")));
	}
	*ret_events = json_array_size(events);
	json_decref(file);
	return open;
}

static void test_valid_whatever_comes(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct log_names *names = names_new(seed);
		json_t *header = seed % 2 ? header_new() : json_object();
		size_t events;
		int err;
		char *text = timeline(seed, names, header, &err);

		assert_int_equal(err, 0);
		assert_int_equal(check(text, &events), 0);
		assert_true(events > 50);
		free(text);
		json_decref(header);
		log_names_free(names);
	}
}

static void test_nth_allocation_fails(void **state)
{
	struct log_names *names = names_new(3);
	json_t *header = header_new();
	bool failed = true;
	unsigned nth;

	(void)state;
	for (nth = 0; failed; nth++) {
		size_t events;
		char *text;
		int err;

		alloc_fail_at(nth);
		text = timeline(3, names, header, &err);
		failed = alloc_fail_off();
		/* A call chain that there is no memory for is left out, and no more. */
		assert_true(failed || !err);
		assert_true(!err || err == -ENOMEM);
		if (!text)
			continue;
		if (!err)
			assert_int_equal(check(text, &events), 0);
		else
			check(text, &events);
		free(text);
	}
	assert_true(nth > 100);
	json_decref(header);
	log_names_free(names);
}

/* The timeline of a thread that no event has defined, behind defined ones: its row is added while the
 * timeline is being written, and the table of threads may move then. */
static void undefined_thread(unsigned defined)
{
	struct chrome_options o = {
		.first_ns = 1000, .last_ns = 1000 + 30 * MS, .frames = 3, .title = "x"};
	struct log_names *names = log_names_new();
	struct chrome_facts facts;
	json_t *header = header_new();
	char *text = NULL;
	size_t size, events;
	FILE *out = open_memstream(&text, &size);
	struct chrome *c;

	for (unsigned i = 1; i <= defined; i++) {
		struct event e = {.id = EVENT_THREAD, .thread = i, .time_ns = 1000};

		e.v[THREAD_TID].u = 100 + i;
		e.v[THREAD_NAME].s = "t";
		assert_int_equal(log_names_add(names, &e), 0);
	}
	c = chrome_new(&o, names, header, out);
	assert_non_null(c);
	for (uint64_t i = 1; i <= 3; i++) {
		struct event e = {.id = EVENT_OFF_CPU,
				  .thread = i < 3 ? 777 : 778,
				  .time_ns = 1000 + 5 * i * MS};

		e.field_count = (uint16_t)schema_event(e.id)->field_count;
		e.v[OFF_CPU_REASON].u = BLOCKED_REASON_LOCK;
		e.v[OFF_CPU_OFF_NS].u = 2 * MS;
		assert_int_equal(chrome_add(c, &e), 0);
	}
	assert_int_equal(chrome_finish(c, &facts), 0);
	assert_int_equal(facts.threads, 2);
	chrome_free(c);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(check(text, &events), 0);
	free(text);
	json_decref(header);
	log_names_free(names);
}

static void test_undefined_threads_behind_any_number(void **state)
{
	(void)state;
	for (unsigned defined = 0; defined < 70; defined++)
		undefined_thread(defined);
}

/* Not inlined: GCC 12 takes what open_memstream() gives for the address of a local variable. */
__attribute__((noinline)) static char *one(void (*put)(struct chrome_out *))
{
	char *text = NULL;
	size_t size;
	struct chrome_out o = {.out = open_memstream(&text, &size), .base_ns = 1000, .pid = 7};

	put(&o);
	assert_int_equal(fclose(o.out), 0);
	return text;
}

static void put_values(struct chrome_out *o)
{
	char many[1200];

	chrome_begin(o);
	chrome_event(o, 'B', 5, 1001);
	chrome_text(o, "name", "a\"\\\n\x1f\xc3\xa4");
	chrome_args(o);
	chrome_number(o, "n", UINT64_MAX);
	chrome_ms(o, "ms", 1234567);
	chrome_ms(o, "whole", 2000000);
	chrome_milli(o, "milli", 1050);
	chrome_raw(o, "raw", "[1]");
	chrome_text(o, "cut", "ab\xc3");
	chrome_done(o);
	chrome_event(o, 'E', 5, 999); /* before time 0 */
	chrome_done(o);
	memset(many, 'x', sizeof(many) - 1);
	many[sizeof(many) - 1] = '\0';
	many[0] = '\xc3';
	chrome_event(o, 'i', 5, 2000);
	chrome_text(o, "long", many);
	chrome_done(o);
	chrome_events_done(o);
	chrome_end(o);
}

static void test_values(void **state)
{
	char *text = one(put_values), *at = strstr(text, "\n{\"ph\":\"i\"");

	(void)state;
	assert_non_null(at);
	assert_string_equal(strndupa(text, (size_t)(at - text)),
			    "{\"traceEvents\":[\n"
			    "{\"ph\":\"B\",\"pid\":7,\"tid\":5,\"ts\":0.001,"
			    "\"name\":\"a\\\"\\\\\\n\\u001f\xc3\xa4\",\"args\":{"
			    "\"n\":18446744073709551615,\"ms\":1.234567,\"whole\":2,\"milli\":1.05,"
			    "\"raw\":[1],\"cut\":\"ab\xef\xbf\xbd\"}},\n"
			    "{\"ph\":\"E\",\"pid\":7,\"tid\":5,\"ts\":0},");
	assert_non_null(strstr(at, "\"ts\":1,\"long\":\"\xef\xbf\xbdxxx"));
	free(text);
}

static void test_compressed(void **state)
{
	char path[] = "/tmp/spoor-gz-XXXXXX", back[64];
	int fd = mkstemp(path);
	gzFile in;
	FILE *out;

	(void)state;
	assert_true(fd >= 0);
	out = gz_open(fd);
	assert_non_null(out);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(fputs("0123456789", out), 1);
	assert_int_equal(fclose(out), 0);
	in = gzopen(path, "rb");
	assert_int_equal(gzdirect(in), 0);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(gzread(in, back, 10), 10);
		assert_memory_equal(back, "0123456789", 10);
	}
	assert_int_equal(gzread(in, back, 10), 0);
	gzclose(in);
	unlink(path);
	assert_null(gz_open(-1));
	assert_int_equal(errno, ENOMEM);
}

static void test_compressed_to_a_full_disk(void **state)
{
	FILE *out = gz_open(open("/dev/full", O_WRONLY | O_CLOEXEC));
	uint64_t seed = 1;

	(void)state;
	assert_non_null(out);
	for (int i = 0; i < 100000; i++)
		fprintf(out, "%llx", (unsigned long long)some(&seed, UINT64_MAX));
	assert_true(ferror(out));
	errno = 0;
	assert_int_not_equal(fclose(out), 0);
	assert_int_equal(errno, ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid_whatever_comes),
		cmocka_unit_test(test_nth_allocation_fails),
		cmocka_unit_test(test_undefined_threads_behind_any_number),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_compressed_to_a_full_disk),
	};

	return cmocka_run_group_tests_name("chrome", tests, NULL, NULL);
}
