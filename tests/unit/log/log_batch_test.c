/* Blocks decoded a part at a time: what the writer has put in comes out, and of damage nothing else. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "log/format/event.h"
#include "log/read/batch.h"
#include "log_fixture.h"
#include "tests/unit/alloc_fail.h"

struct log {
	uint8_t *bytes;
	size_t count;
};

/* A log of n notes, in one block. */
static void make(struct log *l, enum block_codec codec, unsigned notes, size_t text)
{
	char path[64], *fill = malloc(text + 1);
	struct log_writer_options o = {.path = path,
				       .overwrite = true,
				       .compression.codec = codec,
				       .block_bytes = BLOCK_PAYLOAD_MAX / 2};
	json_t *header = json_object();
	struct log_writer *w;
	struct stat st;
	int fd;

	fixture_file(NULL, 0, path, &fd);
	assert_int_equal(log_writer_open(&o, header, &w), 0);
	json_decref(header);
	memset(fill, 'n', text);
	fill[text] = '\0';
	for (unsigned n = 0; n < notes; n++) {
		struct event e = {.id = EVENT_NOTE, .time_ns = 1000 + n, .thread = n % 3};

		e.v[NOTE_LEVEL].u = n;
		e.v[NOTE_TEXT].s = fill;
		log_write(w, &e);
	}
	assert_int_equal(log_writer_close(w), 0);
	assert_int_equal(fstat(fd, &st), 0);
	l->count = (size_t)st.st_size;
	l->bytes = malloc(l->count);
	assert_int_equal(pread(fd, l->bytes, l->count, 0), l->count);
	close(fd);
	free(fill);
}

/* Its block of events. */
static struct block block_of(const struct log *l)
{
	struct block b;
	size_t at = LOG_MAGIC_BYTES;

	do {
		assert_true(at + BLOCK_HEADER_BYTES <= l->count);
		assert_int_equal(block_parse(l->bytes + at, &b), 0);
		b.payload = l->bytes + at + BLOCK_HEADER_BYTES;
		at += BLOCK_HEADER_BYTES + b.length;
	} while (b.kind != BLOCK_KIND_PACKED);
	return b;
}

/* Decodes it; how many notes there are, and how many batches they came in. */
static unsigned decode(struct decoder *d, const struct block *b, size_t text, unsigned *ret_batches)
{
	struct batch batch = {0};
	unsigned notes = 0;

	*ret_batches = 0;
	assert_int_equal(decoder_begin(d, b), 0);
	while (decoder_more(d)) {
		assert_int_equal(decoder_next(d, &batch), 0);
		assert_true(batch.used <= BATCH_BYTES + sizeof(struct event));
		*ret_batches += batch.used > 0;
		for (size_t at = 0; at < batch.used;) {
			const struct event *e = (const struct event *)(batch.bytes + at);
			const char *got;
			size_t length;

			assert_int_equal(e->id, EVENT_NOTE);
			assert_int_equal(e->time_ns, 1000 + notes);
			assert_int_equal(e->thread, notes % 3);
			assert_int_equal(e->v[NOTE_LEVEL].u, notes);
			decoder_text(d, e->v[NOTE_TEXT].s, &got, &length);
			assert_int_equal(length, text);
			assert_true(!length || (got[0] == 'n' && got[length - 1] == 'n'));
			at += batch_event_bytes(schema_event(e->id));
			notes++;
		}
	}
	free(batch.bytes);
	return notes;
}

static void test_sizes(void **state)
{
	static const unsigned sizes[] = {1, 2, 1000, 150000};
	struct decoder d = {0};

	(void)state;
	for (unsigned codec = 0; codec < BLOCK_CODEC_COUNT; codec++)
		for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			unsigned batches;
			struct block b;
			struct log l;

			make(&l, codec, sizes[i], i);
			b = block_of(&l);
			/* Again and again with the same decoder. */
			for (unsigned n = 0; n < 2; n++) {
				assert_int_equal(decode(&d, &b, i, &batches), sizes[i]);
				assert_false(d.damaged);
				assert_int_equal(d.unknown, 0);
				assert_int_equal(batches > 1, sizes[i] > 50000);
				decoder_trim(&d, n ? 0 : SIZE_MAX);
			}
			assert_int_equal(d.body_capacity, 0);
			free(l.bytes);
		}
	decoder_free(&d);
	decoder_free(&d);
}

static void test_long_texts(void **state)
{
	struct decoder d = {0};
	unsigned batches;
	struct block b;
	struct log l;

	(void)state;
	make(&l, BLOCK_CODEC_ZSTD, 100, LOG_TEXT_MAX);
	b = block_of(&l);
	assert_int_equal(decode(&d, &b, LOG_TEXT_MAX, &batches), 100);
	assert_int_equal(batches, 1); /* a text stays where it is */
	decoder_free(&d);
	free(l.bytes);
}

/* A count that is not that of the events: those that are there come out, and it is damage. */
static void test_wrong_count(void **state)
{
	static const unsigned counts[] = {0, 1, 9, 11, 1000000, UINT32_MAX};

	(void)state;
	for (unsigned i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		struct decoder d = {0};
		struct batch batch = {0};
		struct block b;
		struct log l;
		size_t at = 0;
		unsigned events = 0;

		make(&l, BLOCK_CODEC_LZ4, 10, 5);
		b = block_of(&l);
		b.events = counts[i];
		assert_int_equal(decoder_begin(&d, &b), 0);
		assert_int_equal(decoder_next(&d, &batch), 0);
		for (; at < batch.used; events++)
			at += batch_event_bytes(
				schema_event(((const struct event *)(batch.bytes + at))->id));
		assert_int_equal(events, counts[i] < 10 ? counts[i] : 10);
		assert_true(d.damaged);
		assert_false(decoder_more(&d));
		assert_true(batch.capacity < 1 << 20); /* nothing is asked for that is not there */
		free(batch.bytes);
		decoder_free(&d);
		free(l.bytes);
	}
}

/* Whatever byte of a body that is not compressed is another one: no more events than are told, and
 * none that has no kind. What is cut off anywhere is damaged. */
static void test_damaged(void **state)
{
	struct decoder d = {0};
	struct batch batch = {0};
	struct block b, cut;
	struct log l;

	(void)state;
	make(&l, BLOCK_CODEC_NONE, 10, 5);
	b = block_of(&l);
	for (size_t at = 0; at < 8 * (size_t)b.length; at++) {
		uint8_t *byte = l.bytes + (b.payload - l.bytes) + at / 8;
		unsigned events = 0;

		*byte ^= (uint8_t)(1u << at % 8);
		assert_int_equal(decoder_begin(&d, &b), 0);
		while (decoder_more(&d)) {
			assert_int_equal(decoder_next(&d, &batch), 0);
			for (size_t k = 0; k < batch.used; events++) {
				const struct event *e = (const struct event *)(batch.bytes + k);

				assert_non_null(schema_event(e->id));
				k += batch_event_bytes(schema_event(e->id));
			}
		}
		assert_true(events <= b.events);
		*byte ^= (uint8_t)(1u << at % 8);
	}
	for (cut = b; cut.length; cut.length--) {
		if (cut.length == b.length)
			continue;
		assert_int_equal(decoder_begin(&d, &cut), 0);
		while (decoder_more(&d))
			assert_int_equal(decoder_next(&d, &batch), 0);
		assert_true(d.damaged);
	}
	free(batch.bytes);
	decoder_free(&d);
	free(l.bytes);
}

static void test_nth_allocation_fails(void **state)
{
	unsigned long n = 0;
	struct block b;
	struct log l;
	bool failed;
	int err;

	(void)state;
	make(&l, BLOCK_CODEC_ZSTD, 150000, 0);
	b = block_of(&l);
	do {
		struct decoder d = {0};
		struct batch batch = {0};

		alloc_fail_at(n++);
		err = decoder_begin(&d, &b);
		while (!err && decoder_more(&d))
			err = decoder_next(&d, &batch);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		assert_false(d.damaged); /* it is not the log's fault */
		free(batch.bytes);
		decoder_free(&d);
	} while (failed);
	assert_true(n > 3);
	free(l.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_long_texts),
		cmocka_unit_test(test_wrong_count),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_nth_allocation_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
