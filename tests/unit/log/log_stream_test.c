/* Bytes and blocks of a file and of a pipe: the same, with all that can be between them. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "log/read/prefix_sums.h"
#include "log/read/stream.h"
#include "log_fixture.h"
#include "tests/unit/alloc_fail.h"

#define BLOCKS_MAX 512

static uint64_t mix(uint64_t n)
{
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9ull;
	n = (n ^ n >> 27) * 0x94d049bb133111ebull;
	return n ^ n >> 31;
}

/* --- what is read ----------------------------------------------------------------------------- */

struct data {
	uint8_t *bytes;
	size_t count, capacity;
	struct {
		uint64_t at;
		struct block b;
	} blocks[BLOCKS_MAX]; /* the intact ones */
	unsigned block_count;
	uint64_t gaps, gap_bytes;
	bool in_gap;
};

static uint8_t *data_room(struct data *d, size_t count)
{
	uint8_t *at;

	if (d->count + count > d->capacity) {
		d->capacity = 2 * (d->count + count);
		d->bytes = realloc(d->bytes, d->capacity);
		assert_non_null(d->bytes);
	}
	at = d->bytes + d->count;
	d->count += count;
	return at;
}

static void data_block(struct data *d, uint32_t sequence, uint32_t length)
{
	struct block b = {
		.length = length, .sequence = sequence, .events = sequence ^ 5, .kind = 9};
	uint64_t at = d->count;
	uint8_t *bytes = data_room(d, BLOCK_HEADER_BYTES + length);

	for (uint32_t i = 0; i < length; i++)
		bytes[BLOCK_HEADER_BYTES + i] = (uint8_t)mix(sequence + i / 7);
	block_seal(&b, bytes);
	assert_true(d->block_count < BLOCKS_MAX);
	d->blocks[d->block_count].at = at;
	d->blocks[d->block_count++].b = b;
	d->in_gap = false;
}

/* Bytes that are no block, though some look as if one began. */
static void data_garbage(struct data *d, size_t count, uint64_t seed)
{
	uint8_t *bytes = data_room(d, count);

	for (size_t i = 0; i < count; i++)
		bytes[i] = (uint8_t)mix(seed + i);
	for (size_t i = seed % 64; i + 4 <= count; i += 64 + mix(i) % 999)
		memcpy(bytes + i, "\xc1SPB", 4);
	d->gaps += count && !d->in_gap;
	d->gap_bytes += count;
	d->in_gap |= count > 0;
}

static void data_free(struct data *d)
{
	free(d->bytes);
	*d = (struct data){0};
}

/* --- a file, or a pipe that is filled in pieces ----------------------------------------------- */

struct source {
	const struct data *d;
	bool pipe;
	int ends[2];
	pthread_t thread;
	struct stream s;
};

static void *fill(void *arg)
{
	struct source *x = arg;
	size_t at = 0, n;
	ssize_t done = 1;

	for (; at < x->d->count && done > 0; at += (size_t)done) {
		n = 1 + mix(at) % 5000;
		if (n > x->d->count - at)
			n = x->d->count - at;
		done = write(x->ends[1], x->d->bytes + at, n);
	}
	close(x->ends[1]);
	return NULL;
}

static void source_open(struct source *x, const struct data *d, bool pipe_)
{
	char path[64];

	*x = (struct source){.d = d, .pipe = pipe_};
	if (!pipe_) {
		fixture_file(d->bytes, d->count, path, &x->ends[0]);
		assert_int_equal(stream_open(&x->s, path), 0);
		assert_true(x->s.seekable);
		assert_int_equal(x->s.size, d->count);
		return;
	}
	assert_int_equal(pipe2(x->ends, O_CLOEXEC), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", x->ends[0]);
	assert_int_equal(stream_open(&x->s, path), 0);
	close(x->ends[0]);
	assert_false(x->s.seekable);
	assert_int_equal(pthread_create(&x->thread, NULL, fill, x), 0);
}

static void source_close(struct source *x)
{
	stream_close(&x->s);
	stream_close(&x->s);
	if (x->pipe)
		pthread_join(x->thread, NULL);
	else
		close(x->ends[0]);
}

static void check_blocks(const struct data *d, bool pipe_)
{
	struct source x;
	struct block b;

	source_open(&x, d, pipe_);
	for (unsigned i = 0; i < d->block_count; i++) {
		const struct block *want = &d->blocks[i].b;

		assert_int_equal(stream_block(&x.s, 0, &b), 1);
		assert_int_equal(b.sequence, want->sequence);
		assert_int_equal(b.length, want->length);
		assert_int_equal(b.events, want->events);
		assert_int_equal(b.kind, want->kind);
		assert_memory_equal(b.payload, d->bytes + d->blocks[i].at + BLOCK_HEADER_BYTES,
				    b.length);
		assert_int_equal(x.s.offset, d->blocks[i].at + BLOCK_HEADER_BYTES + b.length);
	}
	assert_int_equal(stream_block(&x.s, 0, &b), 0);
	assert_int_equal(stream_block(&x.s, 0, &b), 0);
	assert_int_equal(x.s.offset, d->count);
	assert_int_equal(x.s.gaps, d->gaps);
	assert_int_equal(x.s.gap_bytes, d->gap_bytes);
	source_close(&x);
}

static void check_both(const struct data *d)
{
	check_blocks(d, false);
	check_blocks(d, true);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void test_few(void **state)
{
	struct data d = {0};

	(void)state;
	check_both(&d); /* an empty file */
	data_garbage(&d, 1, 0);
	check_both(&d);
	data_block(&d, 0, 0);
	check_both(&d);
	data_block(&d, 1, 1);
	check_both(&d);
	data_free(&d);
	data_garbage(&d, STREAM_CHUNK + 5, 7);
	check_both(&d);
	data_free(&d);
}

/* Blocks and garbage of any size, around what is read at once. */
static void test_any_sizes(void **state)
{
	static struct data d;

	(void)state;
	for (uint64_t seed = 1; seed < 12; seed++) {
		for (unsigned n = 0; n < 40; n++) {
			uint64_t r = mix(seed << 32 | n);
			uint32_t length = r % 9 ? r >> 8 & 4095 : STREAM_CHUNK - 40 + (r >> 8) % 80;

			if (r % 5 == 0)
				data_garbage(&d, r >> 40 & 2047, r);
			data_block(&d, n, r % 31 ? length : 3 * STREAM_CHUNK + length);
		}
		data_garbage(&d, seed % 3 ? seed : 0, seed);
		check_both(&d);
		data_free(&d);
	}
}

/* The magic of a block that lies across the end of what has been read. */
static void test_magic_across_reads(void **state)
{
	static struct data d;

	(void)state;
	for (int n = -30; n < 4; n++) {
		data_garbage(&d, (size_t)(STREAM_CHUNK + n), 3);
		data_block(&d, 1, 10);
		check_both(&d);
		data_free(&d);
	}
}

/* Whatever bit of a block is wrong, that block is passed over, and no other. */
static void test_damaged(void **state)
{
	struct data d = {0}, damaged = {0};
	uint64_t from, to;

	(void)state;
	for (unsigned n = 0; n < 3; n++)
		data_block(&d, n, 20);
	from = d.blocks[1].at;
	to = d.blocks[2].at;
	for (uint64_t bit = 8 * from; bit < 8 * to; bit++) {
		d.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		damaged = d;
		damaged.blocks[1] = damaged.blocks[2];
		damaged.block_count = 2;
		damaged.gaps = 1;
		damaged.gap_bytes = to - from;
		check_blocks(&damaged, false);
		d.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	data_free(&d);
}

/* Cut off anywhere: what is whole comes, the rest is a gap. */
static void test_cut(void **state)
{
	struct data d = {0}, cut;

	(void)state;
	for (unsigned n = 0; n < 3; n++)
		data_block(&d, n, 30);
	for (size_t count = 0; count <= d.count; count++) {
		cut = d;
		cut.count = count;
		cut.block_count = (unsigned)(count / (BLOCK_HEADER_BYTES + 30));
		cut.gap_bytes = count % (BLOCK_HEADER_BYTES + 30);
		cut.gaps = cut.gap_bytes > 0;
		check_both(&cut);
	}
	data_free(&d);
}

/* What looks like the first bytes of a block, and claims that it goes up to the end, or for length. */
static void data_head(struct data *d, uint32_t length)
{
	uint8_t *bytes = data_room(d, BLOCK_HEADER_BYTES);
	struct block b = {.length = 0, .sequence = 5, .kind = 3};

	block_seal(&b, bytes);
	bytes[4] ^= 1; /* its checksum: a head that claims nothing is none, either */
	for (int i = 0; i < 4; i++)
		bytes[8 + i] = (uint8_t)(length >> 8 * i);
	d->gaps += !d->in_gap;
	d->gap_bytes += BLOCK_HEADER_BYTES;
	d->in_gap = true;
}

/* Heads that claim any length, amid blocks: each block is found. */
static void test_heads_that_claim_anything(void **state)
{
	static struct data d;

	(void)state;
	for (uint64_t seed = 1; seed < 20; seed++) {
		for (unsigned n = 0; n < 60; n++) {
			uint64_t r = mix(seed << 32 | n);

			for (unsigned i = 0; i < r % 5; i++)
				data_head(&d, mix(r + i) % (seed % 3 ? 5000 : 700));
			if (r % 3)
				data_garbage(&d, r >> 20 & 1023, r);
			data_block(&d, n, r >> 40 & (r % 7 ? 511 : 65535));
		}
		check_both(&d);
		data_free(&d);
	}
}

/* Garbage full of heads that claim all that follows costs as much as its length, for each byte. */
static uint64_t work_of(unsigned heads)
{
	struct data d = {0};
	struct source x;
	struct block b;
	uint64_t work;

	for (unsigned i = heads; i--;)
		data_head(&d, BLOCK_HEADER_BYTES * i);
	data_block(&d, 6, 100);
	source_open(&x, &d, false);
	assert_int_equal(stream_block(&x.s, 0, &b), 1);
	assert_int_equal(b.sequence, 6);
	assert_non_null(x.s.sums);
	work = prefix_sums_work(x.s.sums);
	source_close(&x);
	data_free(&d);
	return work;
}

static void test_work_is_linear(void **state)
{
	uint64_t once = work_of(20000), twice = work_of(40000);

	(void)state;
	assert_in_range(twice, once, 2 * once + 1000);
	assert_in_range(once, 20000, 20000ul * (BLOCK_HEADER_BYTES + 3 * PREFIX_STEP));
}

/* A number that has been is not a block of this log, but what is left of another one. */
static void test_least_sequence(void **state)
{
	struct data d = {0};
	struct source x;
	struct block b;

	(void)state;
	data_block(&d, 5, 10);
	data_block(&d, 4, 10);
	data_block(&d, 7, 10);
	data_block(&d, 6, 10);
	source_open(&x, &d, false);
	assert_int_equal(stream_block(&x.s, 5, &b), 1);
	assert_int_equal(b.sequence, 5);
	assert_int_equal(stream_block(&x.s, 6, &b), 1);
	assert_int_equal(b.sequence, 7);
	assert_int_equal(x.s.gap_bytes, 34);
	assert_int_equal(stream_block(&x.s, 8, &b), 0);
	assert_int_equal(x.s.gaps, 2);
	assert_int_equal(x.s.gap_bytes, 68);
	source_close(&x);
	data_free(&d);
}

/* Bytes, in steps of any size. */
static void test_need(void **state)
{
	struct data d = {0};
	struct source x;

	(void)state;
	data_garbage(&d, 3 * STREAM_CHUNK, 1);
	for (unsigned pipe_ = 0; pipe_ < 2; pipe_++) {
		uint64_t at = 0, seed = 1;

		source_open(&x, &d, pipe_);
		assert_int_equal(stream_need(&x.s, 0), 1);
		while (at < d.count) {
			size_t count;
			int want;

			seed++;
			count = mix(seed) % (seed % 4 ? 3000 : STREAM_CHUNK + 1000);
			want = at + count <= d.count;

			assert_int_equal(stream_need(&x.s, count), want);
			if (!want)
				break;
			assert_memory_equal(stream_bytes(&x.s), d.bytes + at, count);
			assert_int_equal(stream_seek(&x.s, at + count), 0);
			at += count;
			assert_int_equal(x.s.offset, at);
		}
		/* Less than was asked for is there still. */
		assert_int_equal(stream_need(&x.s, d.count - at), 1);
		assert_memory_equal(stream_bytes(&x.s), d.bytes + at, d.count - at);
		assert_int_equal(stream_need(&x.s, d.count - at + 1), 0);
		source_close(&x);
	}
	data_free(&d);
}

/* Anywhere, in a file; forward only, in a pipe. */
static void test_seek(void **state)
{
	struct data d = {0};
	struct source x;
	uint64_t to;

	(void)state;
	data_garbage(&d, 3 * STREAM_CHUNK, 1);
	source_open(&x, &d, false);
	for (uint64_t seed = 1; seed < 400; seed++) {
		to = mix(seed) % (d.count + 1);
		if (seed % 3 == 0)
			to = x.s.offset + to % 100 < d.count ? x.s.offset + to % 100 : d.count;
		assert_int_equal(stream_seek(&x.s, to), 0);
		assert_int_equal(x.s.offset, to);
		assert_int_equal(stream_need(&x.s, 1), to < d.count);
		if (to < d.count)
			assert_int_equal(*stream_bytes(&x.s), d.bytes[to]);
	}
	assert_int_equal(stream_seek(&x.s, UINT64_MAX), 0);
	assert_int_equal(x.s.offset, d.count);
	assert_int_equal(stream_need(&x.s, 1), 0);
	assert_int_equal(stream_seek(&x.s, 0), 0);
	assert_int_equal(stream_need(&x.s, 1), 1);
	source_close(&x);

	source_open(&x, &d, true);
	for (to = 0; to < d.count; to += 1 + mix(to) % (STREAM_CHUNK / 2)) {
		assert_int_equal(stream_seek(&x.s, to), 0);
		assert_int_equal(stream_need(&x.s, 1), 1);
		assert_int_equal(*stream_bytes(&x.s), d.bytes[to]);
		if (to)
			assert_int_equal(stream_seek(&x.s, to - 1), -ESPIPE);
	}
	assert_int_equal(stream_seek(&x.s, d.count + 5), 0);
	assert_int_equal(x.s.offset, d.count);
	assert_int_equal(stream_need(&x.s, 1), 0);
	source_close(&x);
	data_free(&d);
}

/* Standard input from a file begins where it stands. */
static void test_standard_input(void **state)
{
	struct data d = {0};
	int was = dup(STDIN_FILENO), fd;
	struct stream s;
	struct block b;
	char path[64];

	(void)state;
	data_garbage(&d, 100, 1);
	data_block(&d, 3, 40);
	fixture_file(d.bytes, d.count, path, &fd);
	assert_int_equal(lseek(fd, 100, SEEK_SET), 100);
	assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	assert_int_equal(stream_open(&s, "-"), 0);
	dup2(was, STDIN_FILENO);
	assert_int_equal(s.offset, 100);
	assert_int_equal(stream_block(&s, 0, &b), 1);
	assert_int_equal(s.gaps, 0);
	assert_int_equal(b.sequence, 3);
	stream_close(&s);
	close(was);
	close(fd);
	data_free(&d);
}

static void test_cannot_open(void **state)
{
	struct stream s;

	(void)state;
	assert_int_equal(stream_open(&s, "/no/such/file"), -ENOENT);
	stream_close(&s);
	assert_int_equal(stream_open(&s, "/"), 0); /* it opens, but cannot be read */
	assert_int_equal(stream_need(&s, 1), -EISDIR);
	stream_close(&s);
}

/* A length that is told, but not there, is not asked for; nor is more kept than a block. */
static void test_memory(void **state)
{
	static struct data d;
	struct source x;
	struct block b;
	uint8_t *head;

	(void)state;
	data_block(&d, 1, 10);
	head = data_room(&d, BLOCK_HEADER_BYTES);
	memset(head, 0, BLOCK_HEADER_BYTES);
	memcpy(head, "\xc1SPB", 4);
	head[8 + 2] = 0xf0; /* 15 MiB */
	data_block(&d, 2, 10);
	source_open(&x, &d, false);
	assert_int_equal(stream_block(&x.s, 0, &b), 1);
	assert_int_equal(stream_block(&x.s, 2, &b), 1);
	assert_int_equal(b.sequence, 2);
	assert_true(x.s.capacity <= 2 * STREAM_CHUNK);
	source_close(&x);
	data_free(&d);
	for (unsigned n = 0; n < 200; n++)
		data_block(&d, n, 2 * STREAM_CHUNK / 3);
	source_open(&x, &d, true);
	while (stream_block(&x.s, 0, &b) == 1)
		;
	assert_int_equal(x.s.offset, d.count);
	assert_true(x.s.capacity <= 3 * STREAM_CHUNK);
	source_close(&x);
	data_free(&d);
}

static void test_nth_allocation_fails(void **state)
{
	static struct data d;
	unsigned long n = 0;
	struct source x;
	struct block b;
	bool failed;
	int err = 1;

	(void)state;
	data_block(&d, 1, 10);
	data_block(&d, 2, 2 * STREAM_CHUNK);
	data_block(&d, 3, 5 * STREAM_CHUNK);
	do {
		unsigned blocks = 0;

		source_open(&x, &d, false);
		alloc_fail_at(n++);
		while ((err = stream_block(&x.s, 0, &b)) == 1)
			blocks++;
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		/* It is no damage, and can be tried again. */
		while ((err = stream_block(&x.s, 0, &b)) == 1)
			blocks++;
		assert_int_equal(err, 0);
		assert_int_equal(blocks, 3);
		assert_int_equal(x.s.gaps, 0);
		source_close(&x);
	} while (failed);
	assert_true(n > 3);
	data_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_any_sizes),
		cmocka_unit_test(test_magic_across_reads),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_heads_that_claim_anything),
		cmocka_unit_test(test_work_is_linear),
		cmocka_unit_test(test_least_sequence),
		cmocka_unit_test(test_need),
		cmocka_unit_test(test_seek),
		cmocka_unit_test(test_standard_input),
		cmocka_unit_test(test_cannot_open),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_nth_allocation_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
