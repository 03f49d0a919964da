/* Events of every kind with extreme values, through the writer and the reader, with all codecs. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "log/check/body.h"
#include "log/check/check.h"
#include "log/check/log_repair.h"
#include "log/format/text.h"
#include "log/read/reader.h"
#include "log/write/output.h"
#include "log_fixture.h"
#include "tests/unit/alloc_fail.h"

#define ROUNDS 12 /* of all kinds */

static char long_text[LOG_TEXT_MAX + 1];

static uint64_t mix(uint64_t n)
{
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9ull;
	n = (n ^ n >> 27) * 0x94d049bb133111ebull;
	return n ^ n >> 31;
}

static uint64_t extreme(uint64_t n)
{
	static const uint64_t values[] = {0,
					  1,
					  127,
					  128,
					  UINT32_MAX,
					  (uint64_t)UINT32_MAX + 1,
					  INT64_MAX,
					  (uint64_t)INT64_MAX + 1,
					  UINT64_MAX - 1,
					  UINT64_MAX};

	n = mix(n);
	return n % 4 ? values[n / 4 % (sizeof(values) / sizeof(*values))] : mix(n);
}

static const char *text_of(uint64_t n)
{
	/* Invalid UTF-8: cut short, overlong, a surrogate, past U+10FFFF, no first byte. */
	static const char *const texts[] = {"",
					    "x",
					    "\xc3",
					    "a\xc0\x80z",
					    "\xed\xa0\x80",
					    "\xf4\x90\x80\x80",
					    "\x80\xff",
					    "\xf0\x9f\x90\xbe",
					    "\"\\\n\x01\x7f",
					    long_text};

	return texts[mix(n) % (sizeof(texts) / sizeof(*texts))];
}

/* The nth event; texts as they are given to the writer. Threads are few, so that counters meet. */
static bool event_nth(unsigned n, struct event *ret)
{
	unsigned count;
	const struct event_desc *desc = schema_events(&count);
	uint64_t seed = mix(n + 1);

	if (n >= ROUNDS * count)
		return false;
	desc += n % count;
	memset(ret, 0, sizeof(*ret));
	ret->id = desc->id;
	ret->field_count = (uint16_t)desc->field_count;
	ret->thread = seed % 5 ? (uint32_t)(seed % 3) : UINT32_MAX;
	ret->time_ns = extreme(seed);
	for (unsigned i = 0; i < desc->field_count; i++) {
		const struct field_desc *field = &desc->fields[i];

		if (field->type == FIELD_STR)
			ret->v[i].s = text_of(seed + i);
		else if (field->type == FIELD_BOOL)
			ret->v[i].u = mix(seed + i) & 1;
		else if (field->type == FIELD_THREAD)
			ret->v[i].u = mix(seed + i) % 3;
		else
			ret->v[i].u = extreme(seed + i);
		if (field->type == FIELD_COUNTER &&
		    !(field->of < 0 ? ret->thread : ret->v[field->of].u))
			ret->v[i].u = 0;
	}
	return true;
}

/* As it comes back: text that is no UTF-8 has U+FFFD in its place. */
static void clean_texts(struct event *e, char *bufs, size_t size)
{
	const struct event_desc *desc = schema_event(e->id);

	for (unsigned i = 0; i < desc->field_count; i++, bufs += size) {
		if (desc->fields[i].type != FIELD_STR)
			continue;
		bufs[text_clean(e->v[i].s, strlen(e->v[i].s), bufs, size - 1)] = '\0';
		e->v[i].s = bufs;
	}
}

/* Definitions have blocks of their own: each of the two kinds keeps its order. */
static void expect_next(unsigned at[2], const struct event *e)
{
	static char bufs[EVENT_FIELDS_MAX][LOG_TEXT_MAX + 1];
	bool definition = schema_is_definition(e->id);
	struct event want;

	do
		assert_true(event_nth(at[definition]++, &want));
	while (schema_is_definition(want.id) != definition);
	clean_texts(&want, bufs[0], sizeof(bufs[0]));
	fixture_assert_same(e, &want);
}

static void assert_sound(const char *path)
{
	struct log_check check;
	unsigned count;

	schema_events(&count);
	assert_int_equal(log_check(path, NULL, NULL, &check), 0);
	assert_int_equal(check.damage, 0);
	assert_int_equal(check.events, ROUNDS * count);
	assert_true(check.closed && check.ended);
	for (unsigned i = 1; i <= SCHEMA_ID_MAX; i++)
		assert_int_equal(check.events_of[i], schema_event(i) ? ROUNDS : 0);
	log_check_free(&check);
}

/* All of them, from this file alone. */
static void check_file(const char *path, unsigned jobs)
{
	struct log_reader_options reading = {.jobs = jobs};
	unsigned at[2] = {0, 0}, n, count;
	const struct event *e;
	struct log_reader *r;
	int err;

	schema_events(&count);
	assert_int_equal(log_reader_open_with(&path, 1, &reading, &r), 0);
	for (n = 0; (err = log_reader_next(r, &e)) == 1; n++)
		expect_next(at, e);
	assert_int_equal(err, 0);
	assert_int_equal(n, ROUNDS * count);
	log_reader_close(r);
}

static void write_events(struct log_writer *w, unsigned flush)
{
	struct event event;

	for (unsigned n = 0; event_nth(n, &event); n++) {
		log_write(w, &event);
		if (flush && n % flush == 0)
			log_writer_flush(w);
	}
	assert_int_equal(log_writer_close(w), 0);
}

static void round_trip(const struct log_writer_options *options, unsigned flush, unsigned jobs)
{
	struct log_writer_options o = *options;
	json_t *header = fixture_header();
	struct log_writer *w;
	char path[64];
	int fd;

	fixture_file(NULL, 0, path, &fd);
	o.path = path;
	o.overwrite = true;
	assert_int_equal(log_writer_open(&o, header, &w), 0);
	write_events(w, flush);
	json_decref(header);
	assert_sound(path);
	check_file(path, jobs);
	close(fd);
}

static void test_all_codecs(void **state)
{
	static const struct log_compression codecs[] = {
		{BLOCK_CODEC_NONE, 0}, {BLOCK_CODEC_LZ4, 0},  {BLOCK_CODEC_ZSTD, 0},
		{BLOCK_CODEC_ZSTD, 3}, {BLOCK_CODEC_ZSTD, 9},
	};

	(void)state;
	memset(long_text, 'y', sizeof(long_text) - 1);
	for (size_t i = 0; i < sizeof(codecs) / sizeof(*codecs); i++) {
		struct log_writer_options o = {.compression = codecs[i]};

		round_trip(&o, 0, 1);
		round_trip(&o, 7, 2);
		o.block_bytes = 1000; /* a long text alone is more */
		round_trip(&o, 0, 2);
	}
}

/* A log that is whole is written anew, block by block. */
static void repair(enum block_codec codec)
{
	char path[64], repaired[64];
	struct log_writer_options o = {.path = path, .overwrite = true, .compression.codec = codec};
	struct log_repair_options how = {
		.path = path, .output = repaired, .overwrite = true, .spoor = "0"};
	json_t *header = fixture_header();
	struct log_repair done;
	struct log_check check;
	struct log_writer *w;
	unsigned count;
	int fd, to;

	schema_events(&count);
	fixture_file(NULL, 0, path, &fd);
	fixture_file(NULL, 0, repaired, &to);
	assert_int_equal(log_writer_open(&o, header, &w), 0);
	write_events(w, 11);
	assert_int_equal(log_check(path, NULL, NULL, &check), 0);
	assert_int_equal(check.damage, 0);
	assert_int_equal(log_repair(&how, &check, &done), 0);
	log_check_free(&check);
	assert_int_equal(done.events, ROUNDS * count);
	assert_int_equal(done.blocks_dropped, 0);
	assert_int_equal(done.holes, 0);
	assert_sound(repaired);
	check_file(repaired, 1);
	check_file(repaired, 2);
	json_decref(header);
	close(fd);
	close(to);
}

static void test_repaired(void **state)
{
	(void)state;
	for (unsigned codec = 0; codec < BLOCK_CODEC_COUNT; codec++)
		repair(codec);
}

/* A definition of the original log, with whatever time: each part has those that it needs. Who it
 * was that made it is not in the later ones. */
static bool is_definition(const struct event *e)
{
	static char bufs[EVENT_FIELDS_MAX][LOG_TEXT_MAX + 1];
	const struct event_desc *desc = schema_event(e->id);
	struct event want;
	unsigned i;

	for (unsigned n = 0; event_nth(n, &want); n++) {
		if (want.id != e->id || (e->id == EVENT_THREAD && want.thread != e->thread))
			continue;
		clean_texts(&want, bufs[0], sizeof(bufs[0]));
		for (i = 0; i < desc->field_count; i++)
			if (desc->fields[i].type == FIELD_STR ? strcmp(e->v[i].s, want.v[i].s) != 0
							      : e->v[i].u != want.v[i].u)
				break;
		if (i == desc->field_count)
			return true;
	}
	return false;
}

/* The events of all parts, in their order, and definitions. */
static void check_parts(char **paths, unsigned parts, unsigned jobs)
{
	struct log_reader_options reading = {.jobs = jobs};
	static char bufs[EVENT_FIELDS_MAX][LOG_TEXT_MAX + 1];
	const struct event *e;
	struct log_reader *r;
	struct event want;
	unsigned n = 0;
	int err;

	assert_int_equal(log_reader_open_with((const char *const *)paths, parts, &reading, &r), 0);
	while ((err = log_reader_next(r, &e)) == 1) {
		if (schema_is_definition(e->id)) {
			assert_true(is_definition(e));
			continue;
		}
		do
			assert_true(event_nth(n++, &want));
		while (schema_is_definition(want.id));
		clean_texts(&want, bufs[0], sizeof(bufs[0]));
		fixture_assert_same(e, &want);
	}
	assert_int_equal(err, 0);
	while (event_nth(n++, &want))
		assert_true(schema_is_definition(want.id));
	log_reader_close(r);
}

static void parts(const char *path, enum block_codec codec)
{
	struct log_writer_options o = {.path = path,
				       .overwrite = true,
				       .compression.codec = codec,
				       .deviation_pct = 1,
				       .max_bytes = log_writer_least_bytes(1)};
	json_t *header = fixture_header();
	char *paths[32] = {NULL};
	struct log_writer *w;
	unsigned count = 0;

	assert_int_equal(log_writer_open(&o, header, &w), 0);
	write_events(w, 0);
	json_decref(header);
	do
		paths[count] = output_part_path(path, count + 1);
	while (!access(paths[count++], F_OK) && count < 32);
	assert_true(count < 32);
	assert_true(codec != BLOCK_CODEC_NONE || count > 2); /* of which the last is not there */
	check_parts(paths, count - 1, 1);
	check_parts(paths, count - 1, 2);
	while (count--) {
		unlink(paths[count]);
		free(paths[count]);
	}
}

static void test_in_parts(void **state)
{
	char dir[] = "/tmp/spoor-roundtrip-XXXXXX", path[64];

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a.spoor", dir);
	for (unsigned codec = 0; codec < BLOCK_CODEC_COUNT; codec++)
		parts(path, codec);
	assert_int_equal(rmdir(dir), 0);
}

/* What is too long is cut behind a whole character. */
static void test_text_that_is_too_long(void **state)
{
	struct event event = {.id = EVENT_NOTE, .field_count = 2, .time_ns = 1};
	char *text = malloc(LOG_TEXT_MAX + 10), path[64];
	struct log_writer_options o = {.path = path, .overwrite = true};
	json_t *header = fixture_header();
	struct log_writer *w;
	struct log_reader *r;
	const struct event *e;
	int fd;

	(void)state;
	for (unsigned i = 0; i < LOG_TEXT_MAX + 8; i += 3)
		memcpy(text + i, "\xe2\x82\xac", 4);
	event.v[NOTE_TEXT].s = text;
	fixture_file(NULL, 0, path, &fd);
	assert_int_equal(log_writer_open(&o, header, &w), 0);
	log_write(w, &event);
	assert_int_equal(log_writer_close(w), 0);
	assert_int_equal(log_reader_open(path, &r), 0);
	assert_int_equal(log_reader_next(r, &e), 1);
	assert_int_equal(strlen(e->v[NOTE_TEXT].s), LOG_TEXT_MAX - LOG_TEXT_MAX % 3);
	assert_memory_equal(e->v[NOTE_TEXT].s, text, LOG_TEXT_MAX - LOG_TEXT_MAX % 3);
	log_reader_close(r);
	json_decref(header);
	free(text);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_codecs),
		cmocka_unit_test(test_repaired),
		cmocka_unit_test(test_in_parts),
		cmocka_unit_test(test_text_that_is_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
