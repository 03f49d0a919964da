#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <msgpack.h>

#include "log/format/block.h"
#include "log/read/names.h"
#include "log/read/reader.h"
#include "log_fixture.h"
#include "tests/unit/alloc_fail.h"

/* A log in memory, and where its blocks end. */
struct bytes {
	uint8_t *data;
	size_t size;
	size_t ends[16]; /* of each block; [0] is that of the header block */
	unsigned blocks;
	unsigned block_events[16];
};

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static int setup(void **state)
{
	struct bytes *b = calloc(1, sizeof(*b));
	char path[64];
	struct stat st;
	size_t at = LOG_MAGIC_BYTES;
	int fd;

	fixture_file("", 0, path, &fd);
	assert_int_equal(fixture_write(path, true), 0);
	assert_int_equal(fstat(fd, &st), 0);
	b->size = (size_t)st.st_size;
	b->data = malloc(b->size);
	assert_int_equal(pread(fd, b->data, b->size, 0), b->size);
	close(fd);
	for (; at < b->size; b->blocks++) {
		assert_true(b->blocks < 16);
		b->block_events[b->blocks] = get32(b->data + at + 16);
		at += BLOCK_HEADER_BYTES + get32(b->data + at + 8);
		b->ends[b->blocks] = at;
	}
	assert_int_equal(at, b->size);
	/* The header, definitions and others of each style, index and end. */
	assert_int_equal(b->blocks, 1 + 2 * FIXTURE_STYLE_COUNT + 2);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bytes *b = *state;

	free(b->data);
	free(b);
	return 0;
}

struct outcome {
	int open;
	int end;
	unsigned events;
	struct log_reader_stats stats;
};

static struct outcome read_file(const char *path)
{
	struct outcome out = {0};
	struct log_reader *r = NULL;
	const struct event *e;

	out.open = log_reader_open(path, &r);
	if (out.open)
		return out;
	while ((out.end = log_reader_next(r, &e)) == 1)
		out.events++;
	log_reader_stats(r, &out.stats);
	assert_int_equal(out.stats.events, out.events);
	log_reader_close(r);
	return out;
}

static struct outcome read_bytes(const void *data, size_t size)
{
	struct outcome out;
	char path[64];
	int fd;

	fixture_file(data, size, path, &fd);
	out = read_file(path);
	close(fd);
	return out;
}

static void test_cut_at_every_byte(void **state)
{
	const struct bytes *b = *state;
	struct outcome out;
	unsigned events = 0, whole = 0;
	size_t size;

	for (size = 0; size <= b->size; size++) {
		if (whole < b->blocks && size == b->ends[whole])
			events += b->block_events[whole++];
		out = read_bytes(b->data, size);
		if (size < LOG_MAGIC_BYTES) {
			assert_int_equal(out.open, -EPROTO);
			continue;
		}
		if (!whole) {
			assert_int_equal(out.open, -EBADMSG);
			continue;
		}
		assert_int_equal(out.open, 0);
		assert_int_equal(out.events, events);
		assert_int_equal(out.end, size == b->ends[whole - 1] ? 0 : -EBADMSG);
		assert_int_equal(out.stats.bytes_skipped, size - b->ends[whole - 1]);
	}
}

/* Any wrong byte loses the block that it is in, and no other. */
static void test_damage_at_every_byte(void **state)
{
	struct bytes *b = *state;
	unsigned all = 0, i, block = 0;
	struct outcome out;
	size_t at;

	for (i = 0; i < b->blocks; i++)
		all += b->block_events[i];
	for (at = 0; at < b->size; at++) {
		block += at == b->ends[block];
		b->data[at] ^= 0x41;
		out = read_bytes(b->data, b->size);
		b->data[at] ^= 0x41;
		if (at < LOG_MAGIC_BYTES) {
			assert_int_equal(out.open, -EPROTO);
			continue;
		}
		if (!block) {
			assert_int_equal(out.open, -EBADMSG);
			continue;
		}
		assert_int_equal(out.open, 0);
		assert_int_equal(out.end, -EBADMSG);
		assert_int_equal(out.events, all - b->block_events[block]);
		assert_int_equal(out.stats.blocks, b->blocks - 1);
		assert_int_equal(out.stats.blocks_damaged, 1);
		assert_int_equal(out.stats.blocks_missing, 0);
		assert_int_equal(out.stats.bytes_skipped, b->ends[block] - b->ends[block - 1]);
	}
}

/* Without any one block, all the other events are as they were: no block depends on another. */
static void test_missing_block(void **state)
{
	const struct bytes *b = *state;
	struct log_reader_stats stats;
	struct log_reader *r;
	const struct event *e;
	struct event want;
	char path[64];
	unsigned without, n, first = 0;
	int fd;

	for (without = 1; without < b->blocks; first += b->block_events[without++]) {
		size_t end = b->ends[without], begin = b->ends[without - 1];
		uint8_t *data = malloc(b->size);

		memcpy(data, b->data, begin);
		memcpy(data + begin, b->data + end, b->size - end);
		fixture_file(data, b->size - (end - begin), path, &fd);
		assert_int_equal(log_reader_open(path, &r), 0);
		for (n = 0; fixture_nth(n, &want); n++) {
			if (n >= first && n - first < b->block_events[without])
				continue;
			assert_int_equal(log_reader_next(r, &e), 1);
			fixture_assert_same(e, &want);
		}
		/* Nothing tells that there was a last block. */
		assert_int_equal(log_reader_next(r, &e), without + 1 < b->blocks ? -EBADMSG : 0);
		log_reader_stats(r, &stats);
		assert_int_equal(stats.blocks_missing, without + 1 < b->blocks);
		assert_int_equal(stats.blocks_damaged, 0);
		assert_int_equal(stats.bytes_skipped, 0);
		assert_int_equal(stats.blocks, b->blocks - 1);
		log_reader_close(r);
		close(fd);
		free(data);
	}
}

/* The same blocks again are not the same events again. */
static void test_repeated_blocks(void **state)
{
	const struct bytes *b = *state;
	uint8_t *data = malloc(2 * b->size);
	struct outcome once = read_bytes(b->data, b->size), twice;

	memcpy(data, b->data, b->size);
	memcpy(data + b->size, b->data, b->size);
	twice = read_bytes(data, 2 * b->size);
	assert_int_equal(once.end, 0);
	assert_int_equal(twice.end, -EBADMSG);
	assert_int_equal(twice.events, once.events);
	assert_int_equal(twice.stats.bytes_skipped, b->size);
	free(data);
}

/* Garbage longer than the buffer that the search for the next block uses, with magics in it. */
static void test_garbage_between_blocks(void **state)
{
	enum { GARBAGE = 200000 };
	const struct bytes *b = *state;
	size_t cut = b->ends[1], i;
	uint8_t *data = calloc(1, b->size + GARBAGE);
	struct outcome out;

	memcpy(data, b->data, cut);
	for (i = 0; i + 64 < GARBAGE; i += 9973) {
		memcpy(data + cut + i, "\xc1SPB\0\0\0\0\x10\0\0\0\1\0\0\0", 16);
		data[cut + i + 12] = (uint8_t)i;
	}
	memcpy(data + cut + GARBAGE - 2, "\xc1S", 2);
	memcpy(data + cut + GARBAGE, b->data + cut, b->size - cut);
	out = read_bytes(data, b->size + GARBAGE);
	assert_int_equal(out.end, -EBADMSG);
	assert_int_equal(out.events, read_bytes(b->data, b->size).events);
	assert_int_equal(out.stats.bytes_skipped, GARBAGE);
	assert_int_equal(out.stats.blocks_missing, 0);
	free(data);
}

/* The search reads 64 KiB at a time: the magic may lie across the seam. */
static void test_magic_across_reads(void **state)
{
	enum { SEAM = 64 * 1024, AROUND = 8 };
	const struct bytes *b = *state;
	size_t cut = b->ends[1], garbage;
	uint8_t *data = malloc(b->size + SEAM + AROUND);
	unsigned events = read_bytes(b->data, b->size).events;
	struct outcome out;

	for (garbage = SEAM - AROUND; garbage <= SEAM + AROUND; garbage++) {
		memcpy(data, b->data, cut);
		memset(data + cut, 0xc1, garbage);
		memcpy(data + cut + garbage, b->data + cut, b->size - cut);
		out = read_bytes(data, b->size + garbage);
		assert_int_equal(out.events, events);
		assert_int_equal(out.stats.bytes_skipped, garbage);
	}
	free(data);
}

static void test_no_log(void **state)
{
	struct outcome out;

	(void)state;
	assert_int_equal(read_bytes("", 0).open, -EPROTO);
	assert_int_equal(read_bytes("#!/bin/sh\nexit 0\n", 17).open, -EPROTO);
	assert_int_equal(read_bytes(LOG_MAGIC, LOG_MAGIC_BYTES).open, -EBADMSG);
	out = read_file("/nonexistent/a.spoor");
	assert_int_equal(out.open, -ENOENT);
	assert_int_equal(read_file("/tmp").open, -EISDIR);
	log_reader_close(NULL);
}

/* Below: logs that are put together by hand. */

static void put_block(msgpack_sbuffer *file, unsigned sequence, unsigned kind, unsigned events,
		      const void *payload, size_t length)
{
	uint8_t *bytes = calloc(1, BLOCK_HEADER_BYTES + length);
	struct block b = {
		.length = (uint32_t)length, .sequence = sequence, .events = events, .kind = kind};

	if (!sequence)
		msgpack_sbuffer_write(file, LOG_MAGIC, LOG_MAGIC_BYTES);
	if (length)
		memcpy(bytes + BLOCK_HEADER_BYTES, payload, length);
	block_seal(&b, bytes);
	msgpack_sbuffer_write(file, (char *)bytes, BLOCK_HEADER_BYTES + length);
	free(bytes);
}

static void put_header(msgpack_sbuffer *file, int version, int features)
{
	msgpack_sbuffer buf;
	msgpack_packer pk;

	msgpack_sbuffer_init(&buf);
	msgpack_packer_init(&pk, &buf, msgpack_sbuffer_write);
	msgpack_pack_map(&pk, 3);
	msgpack_pack_str_with_body(&pk, "format", 6);
	msgpack_pack_str_with_body(&pk, "spoor", 5);
	msgpack_pack_str_with_body(&pk, "version", 7);
	msgpack_pack_int(&pk, version);
	msgpack_pack_str_with_body(&pk, "features", 8);
	msgpack_pack_array(&pk, features);
	while (features--)
		msgpack_pack_str_with_body(&pk, "zip", 3);
	put_block(file, 0, BLOCK_KIND_HEADER, 0, buf.data, buf.size);
	msgpack_sbuffer_destroy(&buf);
}

static void test_newer_version(void **state)
{
	msgpack_sbuffer file;

	(void)state;
	msgpack_sbuffer_init(&file);
	put_header(&file, SCHEMA_VERSION + 1, 0);
	assert_int_equal(read_bytes(file.data, file.size).open, -ENOTSUP);
	msgpack_sbuffer_clear(&file);
	put_header(&file, SCHEMA_VERSION, 1);
	assert_int_equal(read_bytes(file.data, file.size).open, -ENOTSUP);
	msgpack_sbuffer_clear(&file);
	put_header(&file, SCHEMA_VERSION, 0);
	assert_int_equal(read_bytes(file.data, file.size).open, 0);
	msgpack_sbuffer_clear(&file);
	put_block(&file, 0, BLOCK_KIND_HEADER, 0, "\x80", 1);
	assert_int_equal(read_bytes(file.data, file.size).open, -EBADMSG);
	msgpack_sbuffer_clear(&file);
	put_block(&file, 0, BLOCK_KIND_EVENTS, 0, "\x80", 1);
	assert_int_equal(read_bytes(file.data, file.size).open, -EBADMSG);
	msgpack_sbuffer_destroy(&file);
}

/* From a newer spoor of the same version: events, fields, kinds of blocks and a base that it added.
 */
static void test_unknown_parts_are_skipped(void **state)
{
	static const char payload[] =
		"\x92\x64\xc0" /* base 100, and something */
		"\x95\xcd\x03\xe8\x01\x07\x81\xa1k\x92\xc0\xca\0\0\0\0\xa1x" /* event 1000 at 101 */
		"\x94\x24\xff\x07\x93\x01\x02\x03" /* safepoint_end + 1 at 100 */
		"\x94\x0a\x05\x07\x02";            /* enter, only its lock, at 105 */
	msgpack_sbuffer file;
	struct log_reader *r;
	struct log_reader_stats stats;
	const struct event *e;
	char path[64];
	unsigned i;
	int fd;

	(void)state;
	msgpack_sbuffer_init(&file);
	put_header(&file, SCHEMA_VERSION, 0);
	put_block(&file, 1, 77, 5, "whatever", 8);
	put_block(&file, 2, BLOCK_KIND_EVENTS, 3, payload, sizeof(payload) - 1);
	fixture_file(file.data, file.size, path, &fd);
	assert_int_equal(log_reader_open(path, &r), 0);
	assert_int_equal(log_reader_next(r, &e), 1);
	assert_int_equal(e->id, EVENT_SAFEPOINT_END);
	assert_int_equal(e->time_ns, 100);
	assert_int_equal(e->thread, 7);
	assert_int_equal(e->field_count, 0);
	assert_int_equal(log_reader_next(r, &e), 1);
	assert_int_equal(e->id, EVENT_MONITOR_CONTENDED_ENTER);
	assert_int_equal(e->time_ns, 105);
	assert_int_equal(e->field_count, 1);
	assert_int_equal(e->v[MONITOR_CONTENDED_ENTER_LOCK].u, 2);
	for (i = 1; i < MONITOR_CONTENDED_ENTER_FIELD_COUNT; i++)
		assert_int_equal(e->v[i].u, 0);
	assert_int_equal(log_reader_next(r, &e), 0);
	log_reader_stats(r, &stats);
	assert_int_equal(stats.events_unknown, 1);
	log_reader_close(r);
	close(fd);
	msgpack_sbuffer_destroy(&file);
}

/* The checksum is right and the contents are not: nothing hangs, nothing is allocated for it. */
static void test_wrong_contents(void **state)
{
#define BAD(text)                                                                                  \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}
	static const struct {
		const char *payload;
		size_t length;
	} bad[] = {
		BAD(""),
		BAD("\x90"),
		BAD("\x91\xa1x"),
		BAD("\xdd\xff\xff\xff\xff\x01"),
		BAD("\x91\x01"),
		BAD("\x91\x01\x92\x24\x00"),
		BAD("\x91\x01\x93\xa1x\x00\x00"),
		BAD("\x91\x01\x93\x24\xc3\x00"),
		BAD("\x91\x01\x93\x24\x00\xcf\0\0\0\1\0\0\0\0"),
		BAD("\x91\x01\xdd\xff\xff\xff\xff\x24\x00\x00"),
		BAD("\x91\x01\x94\x24\x00\x00\xdf\xff\xff\xff\xff"),
		BAD("\x91\x01\x94\x24\x00\x00\xc1"),
		BAD("\x91\x01\x94\x24\x00\x00\xdb\xff\xff\xff\xff"),
		BAD("\x91\x01\x94\x24\x00\x00\xc9\xff\xff\xff\xff\x01"),
		BAD("\x91\x01\x95\x06\x00\x00\x00\xda\x01\x01x"),
		BAD("\x91\x01\x94\x06\x00\x00\xff"),
		BAD("\x91\x01\x93\x24\x00\x00\x00"),
	};
	msgpack_sbuffer file;
	struct outcome out;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		msgpack_sbuffer_init(&file);
		put_header(&file, SCHEMA_VERSION, 0);
		put_block(&file, 1, BLOCK_KIND_EVENTS, 1, bad[i].payload, bad[i].length);
		put_block(&file, 2, BLOCK_KIND_EVENTS, 1, "\x91\x01\x93\x24\x00\x00", 6);
		out = read_bytes(file.data, file.size);
		assert_int_equal(out.open, 0);
		assert_int_equal(out.end, -EBADMSG);
		assert_int_equal(out.stats.blocks_damaged, 1);
		/* The last of them has one good event, and a byte too much behind it. */
		assert_int_equal(out.events, i + 1 < sizeof(bad) / sizeof(*bad) ? 1 : 2);
		msgpack_sbuffer_destroy(&file);
	}
}

static void put_bad_header(msgpack_sbuffer *file, const void *tail, size_t length)
{
	static const char good[] = "\x84\xa6"
				   "format\xa5"
				   "spoor\xa7"
				   "version\x01\xa8"
				   "features\x90";
	uint8_t *payload = malloc(sizeof(good) - 1 + length);

	memcpy(payload, good, sizeof(good) - 1);
	memcpy(payload + sizeof(good) - 1, tail, length);
	put_block(file, 0, BLOCK_KIND_HEADER, 0, payload, sizeof(good) - 1 + length);
	free(payload);
}

/* Each is what follows the three good keys in a map of four. */
static void test_hostile_header(void **state)
{
	static const struct {
		const char *payload;
		size_t length;
	} bad[] = {
		BAD(""),
		BAD("\xa1x"),
		BAD("\xa1x\xc1"),
		BAD("\x01\x01"),
		BAD("\xa1\xff\x01"),
		BAD("\xa1x\xa1\xff"),
		BAD("\xa1x\xa1\0"),
		BAD("\xa1x\xc4\x01x"),
		BAD("\xa1x\xd4\x01x"),
		BAD("\xa1x\xcb\x7f\xf8\0\0\0\0\0\0"),
		BAD("\xa1x\x01\x01"),
		BAD("\xa1x\xdd\xff\xff\xff\xff\x01"),
		BAD("\xa1x\xdf\xff\xff\xff\xff\xa1x"),
	};
	char deep[2 + 40] = "\xa1x";
	msgpack_sbuffer file;
	unsigned i, depth;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		msgpack_sbuffer_init(&file);
		put_bad_header(&file, bad[i].payload, bad[i].length);
		assert_int_equal(read_bytes(file.data, file.size).open, -EBADMSG);
		msgpack_sbuffer_destroy(&file);
	}
	/* The map is one level, its value another. */
	for (depth = 1; depth < 40; depth++) {
		memset(deep + 2, 0x91, depth - 1);
		deep[2 + depth - 1] = 0x01;
		msgpack_sbuffer_init(&file);
		put_bad_header(&file, deep, 2 + depth);
		assert_int_equal(read_bytes(file.data, file.size).open, depth < 32 ? 0 : -EBADMSG);
		msgpack_sbuffer_destroy(&file);
	}
}

/* A block, and a text, at the limit and one byte past it. */
static void test_limits(void **state)
{
	static const char good_event[] = "\x91\x01\x93\x24\x00\x00";
	uint8_t *payload = calloc(1, BLOCK_PAYLOAD_MAX + 1);
	static const uint8_t note[] = {0x91, 1, 0x95, 6, 0, 0, 0, 0xdb, 0, 1, 0, 0};
	msgpack_sbuffer file;
	struct outcome out;
	unsigned over;

	(void)state;
	for (over = 0; over < 2; over++) {
		msgpack_sbuffer_init(&file);
		put_header(&file, SCHEMA_VERSION, 0);
		put_block(&file, 1, 77, 0, payload, BLOCK_PAYLOAD_MAX + over);
		put_block(&file, 2, BLOCK_KIND_EVENTS, 1, good_event, sizeof(good_event) - 1);
		out = read_bytes(file.data, file.size);
		assert_int_equal(out.events, 1);
		assert_int_equal(out.stats.blocks_damaged, over);
		msgpack_sbuffer_destroy(&file);
	}
	for (over = 0; over < 2; over++) {
		memset(payload, 'x', LOG_TEXT_MAX + 100);
		memcpy(payload, note, sizeof(note));
		payload[sizeof(note) - 1] = (uint8_t)over;
		msgpack_sbuffer_init(&file);
		put_header(&file, SCHEMA_VERSION, 0);
		put_block(&file, 1, BLOCK_KIND_EVENTS, 1, payload,
			  sizeof(note) + LOG_TEXT_MAX + over);
		out = read_bytes(file.data, file.size);
		assert_int_equal(out.events, 1 - over);
		assert_int_equal(out.stats.blocks_damaged, over);
		msgpack_sbuffer_destroy(&file);
	}
	free(payload);
}

/* Strings stay valid until close, also when their block is gone; equal ones are one. */
static void test_strings_stay(void **state)
{
	const struct bytes *b = *state;
	const char *kept[256];
	struct log_reader *r;
	const struct event *e;
	struct event want;
	char path[64];
	unsigned n = 0, strings = 0;
	int fd;

	fixture_file(b->data, b->size, path, &fd);
	assert_int_equal(log_reader_open(path, &r), 0);
	while (log_reader_next(r, &e) == 1)
		if (e->id == EVENT_NOTE)
			kept[strings++] = e->v[NOTE_TEXT].s;
	assert_int_equal(strings, FIXTURE_STYLE_COUNT);
	for (strings = 0; fixture_nth(n, &want); n++)
		if (want.id == EVENT_NOTE)
			assert_string_equal(kept[strings++], want.v[NOTE_TEXT].s);
	log_reader_close(r);
	close(fd);
}

static void test_nth_allocation_fails(void **state)
{
	const struct bytes *b = *state;
	struct log_names *names;
	struct log_reader *r;
	const struct event *e;
	bool failed = true;
	char path[64];
	unsigned n;
	int fd, err;

	fixture_file(b->data, b->size, path, &fd);
	for (n = 0; failed; n++) {
		r = NULL;
		alloc_fail_at(n);
		names = log_names_new();
		err = names ? log_reader_open(path, &r) : -ENOMEM;
		if (!err) {
			while ((err = log_reader_next(r, &e)) == 1 && !log_names_add(names, e))
				;
			if (err == 1)
				err = -ENOMEM;
			else
				assert_int_equal(log_reader_next(r, &e), err);
		} else {
			assert_null(r);
		}
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		log_reader_close(r);
		log_names_free(names);
	}
	assert_true(n > 20);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_cut_at_every_byte, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damage_at_every_byte, setup, teardown),
		cmocka_unit_test_setup_teardown(test_missing_block, setup, teardown),
		cmocka_unit_test_setup_teardown(test_repeated_blocks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_garbage_between_blocks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_magic_across_reads, setup, teardown),
		cmocka_unit_test(test_no_log),
		cmocka_unit_test(test_newer_version),
		cmocka_unit_test(test_unknown_parts_are_skipped),
		cmocka_unit_test(test_wrong_contents),
		cmocka_unit_test(test_hostile_header),
		cmocka_unit_test(test_limits),
		cmocka_unit_test_setup_teardown(test_strings_stay, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nth_allocation_fails, setup, teardown),
	};

	return cmocka_run_group_tests_name("log_reader", tests, NULL, NULL);
}
