/*
 * The thread that compresses and writes, over an output that waits until it is told to go on. The
 * clock stands still but for what compressing and writing take, which the test decides: what is
 * chosen depends on nothing else.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "log/format/codec.h"
#include "log/read/reader.h"
#include "log/write/writer_thread.h"
#include "log_fixture.h"
#include "tests/unit/alloc_fail.h"

#define DEADLINE_S 60
#define BLOCK_BYTES 32768
#define BLOCKS_MAX 512
#define ALWAYS ULONG_MAX

/* A disk in ns for a MiB: what is written soonest with zstd, with lz4, as it is. */
#define DISK_SLOW 100000000
#define DISK_MEDIUM 8000000
#define DISK_FAST 500000

static _Atomic uint64_t clock_ns;

int __real_clock_gettime(clockid_t id, struct timespec *ret);
int __wrap_clock_gettime(clockid_t id, struct timespec *ret);
int __real_codec_compress(struct codec *c, enum block_codec codec, int level, const void *src,
			  size_t count, void *dst, size_t room, size_t *ret);
int __wrap_codec_compress(struct codec *c, enum block_codec codec, int level, const void *src,
			  size_t count, void *dst, size_t room, size_t *ret);

int __wrap_clock_gettime(clockid_t id, struct timespec *ret)
{
	uint64_t now = clock_ns;

	if (id != CLOCK_MONOTONIC)
		return __real_clock_gettime(id, ret);
	*ret = (struct timespec){(time_t)(now / 1000000000), (long)(now % 1000000000)};
	return 0;
}

int __wrap_codec_compress(struct codec *c, enum block_codec codec, int level, const void *src,
			  size_t count, void *dst, size_t room, size_t *ret)
{
	static const uint64_t ns_per_mib[] = {0, 2500000, 5000000};

	clock_ns += ns_per_mib[codec] * count >> 20;
	return __real_codec_compress(c, codec, level, src, count, dst, room, ret);
}

/* --- an output that waits --------------------------------------------------------------------- */

struct gate {
	struct log_output o;
	int fd;
	char path[64];
	pthread_mutex_t lock;
	pthread_cond_t turn;
	unsigned long may; /* writes that may go on */
	unsigned begun, done;
	atomic_ulong ns_per_mib;
	int fail;            /* what the write says that begins now */
	atomic_uint written; /* by who hands over: blocks */
	int most_ahead;      /* of those, how many more than done there ever were */
	bool discarded, closed;
};

static int gate_append(struct gate *g, const uint8_t *bytes, size_t count)
{
	if (pwrite(g->fd, bytes, count, (off_t)g->o.bytes) != (ssize_t)count)
		return -EIO;
	g->o.bytes += count;
	g->o.written += count;
	return 0;
}

static int gate_part(struct log_output *o, const uint8_t *bytes, size_t count)
{
	struct gate *g = (struct gate *)o;

	o->parts++;
	return g->fail ? g->fail : gate_append(g, bytes, count);
}

static int gate_write(struct log_output *o, const struct sealed *block)
{
	struct gate *g = (struct gate *)o;
	int err, ahead;

	pthread_mutex_lock(&g->lock);
	g->begun++;
	pthread_cond_broadcast(&g->turn);
	while (!g->may)
		pthread_cond_wait(&g->turn, &g->lock);
	if (g->may != ALWAYS)
		g->may--;
	ahead = (int)(g->written - g->done);
	if (ahead > g->most_ahead)
		g->most_ahead = ahead;
	err = g->fail ? g->fail : gate_append(g, block->bytes, block->count);
	clock_ns += block->count * g->ns_per_mib >> 20;
	g->done++;
	pthread_cond_broadcast(&g->turn);
	pthread_mutex_unlock(&g->lock);
	return err;
}

static void gate_discard(struct log_output *o)
{
	((struct gate *)o)->discarded = true;
}

static int gate_close(struct log_output *o)
{
	struct gate *g = (struct gate *)o;

	g->closed = true;
	return g->fail;
}

static const struct log_output_ops gate_ops = {gate_part, gate_write, gate_discard, gate_close};

static void gate_init(struct gate *g)
{
	*g = (struct gate){.o.ops = &gate_ops, .may = ALWAYS, .ns_per_mib = DISK_SLOW};
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->turn, NULL);
	fixture_file(NULL, 0, g->path, &g->fd);
	clock_ns = 1000000000;
}

static void gate_free(struct gate *g)
{
	assert_true(g->closed);
	pthread_mutex_destroy(&g->lock);
	pthread_cond_destroy(&g->turn);
	close(g->fd);
}

static void gate_let(struct gate *g, unsigned long may)
{
	pthread_mutex_lock(&g->lock);
	g->may = may;
	pthread_cond_broadcast(&g->turn);
	pthread_mutex_unlock(&g->lock);
}

/* Until so many writes have begun. */
static void gate_wait(struct gate *g, unsigned begun)
{
	struct timespec end;
	int err = 0;

	__real_clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += DEADLINE_S;
	pthread_mutex_lock(&g->lock);
	while (!err && g->begun < begun)
		err = pthread_cond_timedwait(&g->turn, &g->lock, &end);
	pthread_mutex_unlock(&g->lock);
	assert_int_equal(err, 0);
}

/* Until who hands over has handed over so many. */
static void wait_for(atomic_uint *value, unsigned wanted)
{
	struct timespec now, end;

	__real_clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += DEADLINE_S;
	while (*value < wanted) {
		__real_clock_gettime(CLOCK_MONOTONIC, &now);
		assert_true(now.tv_sec < end.tv_sec);
		sched_yield();
	}
}

/* --- a log ------------------------------------------------------------------------------------ */

static uint64_t mix(uint64_t n)
{
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9ull;
	n = (n ^ n >> 27) * 0x94d049bb133111ebull;
	return n ^ n >> 31;
}

/* The nth: all have the same length, and zstd leaves a fifth of it. */
static struct event nth(uint64_t n)
{
	struct event e = {.id = EVENT_MONITOR_CONTENDED_EXIT,
			  .time_ns = 1000000 + n * 1000 + mix(n) % 128,
			  .thread = 1 + (uint32_t)(n % 5)};

	e.v[MONITOR_CONTENDED_EXIT_LOCK].u = 1 + n % 9;
	e.v[MONITOR_CONTENDED_EXIT_CPU_NS].u = e.time_ns + 10000 * n; /* stored: 50000 */
	e.v[MONITOR_CONTENDED_EXIT_SEQUENCE].u = 100000 + n;
	return e;
}

struct writing {
	struct gate *gate;
	struct log_writer *w;
	uint64_t events;
};

static void writing_open(struct writing *x, struct gate *g, enum block_codec codec)
{
	struct log_writer_options o = {
		.output = &g->o, .compression.codec = codec, .block_bytes = 2 * BLOCK_BYTES};
	json_t *header = fixture_header();

	gate_init(g);
	*x = (struct writing){.gate = g};
	assert_int_equal(log_writer_open(&o, header, &x->w), 0);
	json_decref(header);
}

/* A block of about BLOCK_BYTES: all have the same number of events. */
static void write_block(struct writing *x)
{
	enum { EVENTS = 1800 };

	for (unsigned i = 0; i < EVENTS; i++) {
		struct event e = nth(x->events++);

		log_write(x->w, &e);
	}
	log_writer_flush(x->w);
	x->gate->written++;
}

struct seen_block {
	enum block_codec codec;
	size_t raw;
};

/* The packed blocks of the file. */
static unsigned blocks_of(const struct gate *g, struct seen_block ret[BLOCKS_MAX])
{
	uint8_t head[BLOCK_HEADER_BYTES + PREAMBLE_BYTES];
	struct preamble p;
	struct block b;
	unsigned count = 0;

	for (uint64_t at = LOG_MAGIC_BYTES; at < g->o.bytes; at += BLOCK_HEADER_BYTES + b.length) {
		assert_true(pread(g->fd, head, sizeof(head), (off_t)at) >= BLOCK_HEADER_BYTES);
		assert_int_equal(block_parse(head, &b), 0);
		if (b.kind != BLOCK_KIND_PACKED)
			continue;
		assert_int_equal(preamble_get(head + BLOCK_HEADER_BYTES, b.length, &p), 0);
		assert_true(count < BLOCKS_MAX);
		ret[count++] = (struct seen_block){p.codec, p.raw_bytes};
	}
	return count;
}

/* All events, in their order, and nothing else. */
static void check_read(const struct gate *g, uint64_t events)
{
	struct log_reader_options o = {.jobs = 1};
	const char *paths[] = {g->path};
	const struct event *e;
	struct log_reader *r;
	uint64_t n;
	int err;

	assert_int_equal(log_reader_open_with(paths, 1, &o, &r), 0);
	for (n = 0; (err = log_reader_next(r, &e)) == 1; n++) {
		struct event want = nth(n);

		fixture_assert_same(e, &want);
	}
	assert_int_equal(err, 0);
	assert_int_equal(n, events);
	log_reader_close(r);
}

/* --- compressing less ------------------------------------------------------------------------- */

enum { BEFORE = 40, BACKLOG = 60, AFTER = 10 };

/*
 * While nobody waits, BEFORE blocks with a disk of one speed; then a queue of BACKLOG, which the
 * disk takes at another one; then, again one by one, AFTER. The codecs of all, in their order.
 */
static unsigned fall_behind(enum block_codec codec, uint64_t disk, uint64_t later,
			    struct seen_block ret[BLOCKS_MAX], struct log_writer_stats *ret_stats)
{
	struct writing x;
	struct gate g;
	unsigned n;

	writing_open(&x, &g, codec);
	g.ns_per_mib = disk;
	for (n = 0; n < BEFORE; n++) {
		write_block(&x);
		assert_int_equal(log_writer_sync(x.w), 0);
	}
	g.ns_per_mib = later;
	gate_let(&g, 0);
	write_block(&x);
	gate_wait(&g, BEFORE + 1); /* with this one it was not yet known */
	for (n = 1; n < BACKLOG; n++)
		write_block(&x);
	gate_let(&g, ALWAYS);
	assert_int_equal(log_writer_sync(x.w), 0);
	for (n = 0; n < AFTER; n++) {
		write_block(&x);
		assert_int_equal(log_writer_sync(x.w), 0);
	}
	assert_int_equal(log_writer_finish(x.w), 0);
	log_writer_stats(x.w, ret_stats);
	assert_int_equal(log_writer_close(x.w), 0);
	check_read(&g, x.events);
	n = blocks_of(&g, ret);
	assert_int_equal(n, BEFORE + BACKLOG + AFTER);
	gate_free(&g);
	return n;
}

/* Whether block n was in a queue that was more than half full, when it was its turn. */
static bool was_behind(const struct seen_block *blocks, unsigned n)
{
	uint64_t queued = 0;

	if (n <= BEFORE || n >= BEFORE + BACKLOG)
		return false;
	for (; n < BEFORE + BACKLOG; n++)
		queued += blocks[n].raw + PACKET_ROOM;
	assert_true(queued <= DELIVER_QUEUE_BYTES); /* or it would have been waited for room */
	return queued >= DELIVER_QUEUE_BYTES / 2;
}

/* Those that were behind have one codec after the other, the others that which was asked for. */
static void check_codecs(const struct seen_block *blocks, unsigned count, enum block_codec asked,
			 const enum block_codec *behind, unsigned behind_count,
			 const struct log_writer_stats *stats)
{
	unsigned with[BLOCK_CODEC_COUNT] = {0}, less = 0, at = 0, seen = 0;

	for (unsigned n = 0; n < count; n++) {
		with[blocks[n].codec]++;
		if (!was_behind(blocks, n)) {
			assert_int_equal(blocks[n].codec, asked);
			continue;
		}
		less += blocks[n].codec != asked;
		if (seen && blocks[n].codec != behind[at])
			at++;
		assert_true(at < behind_count);
		assert_int_equal(blocks[n].codec, behind[at]);
		seen++;
	}
	assert_true(seen > BACKLOG / 4);
	assert_int_equal(at, behind_count - 1);
	assert_int_equal(stats->blocks_less, less);
	for (unsigned i = 0; i < BLOCK_CODEC_COUNT; i++)
		assert_int_equal(stats->blocks_with[i], with[i]);
	assert_int_equal(stats->blocks, count + 1);
}

/* From zstd to lz4, when the disk turns out to be faster to none, and back as soon as it can be. */
static void test_compresses_less(void **state)
{
	static const enum block_codec behind[] = {BLOCK_CODEC_LZ4, BLOCK_CODEC_NONE};
	struct seen_block blocks[BLOCKS_MAX];
	struct log_writer_stats stats;
	unsigned n = fall_behind(BLOCK_CODEC_ZSTD, DISK_MEDIUM, DISK_FAST, blocks, &stats);

	(void)state;
	check_codecs(blocks, n, BLOCK_CODEC_ZSTD, behind, 2, &stats);
	assert_true(stats.raw_bytes > stats.written);
}

/* With a slow disk, compressing as well as one can is what loses the least. */
static void test_slow_disk(void **state)
{
	static const enum block_codec behind[] = {BLOCK_CODEC_ZSTD};
	struct seen_block blocks[BLOCKS_MAX];
	struct log_writer_stats stats;
	unsigned n = fall_behind(BLOCK_CODEC_ZSTD, DISK_SLOW, DISK_SLOW, blocks, &stats);

	(void)state;
	check_codecs(blocks, n, BLOCK_CODEC_ZSTD, behind, 1, &stats);
	assert_int_equal(stats.blocks_less, 0);
}

/* Never more than what was asked for. */
static void test_never_more(void **state)
{
	static const enum block_codec none[] = {BLOCK_CODEC_NONE}, lz4[] = {BLOCK_CODEC_LZ4};
	struct seen_block blocks[BLOCKS_MAX];
	struct log_writer_stats stats;
	unsigned n = fall_behind(BLOCK_CODEC_LZ4, DISK_SLOW, DISK_SLOW, blocks, &stats);

	(void)state;
	check_codecs(blocks, n, BLOCK_CODEC_LZ4, lz4, 1, &stats);
	n = fall_behind(BLOCK_CODEC_LZ4, DISK_FAST, DISK_FAST, blocks, &stats);
	check_codecs(blocks, n, BLOCK_CODEC_LZ4, none, 1, &stats);
	n = fall_behind(BLOCK_CODEC_NONE, DISK_SLOW, DISK_SLOW, blocks, &stats);
	check_codecs(blocks, n, BLOCK_CODEC_NONE, none, 1, &stats);
}

/* --- a full queue ----------------------------------------------------------------------------- */

#define FULL 150

static void *write_all(void *arg)
{
	for (unsigned n = 0; n < FULL; n++)
		write_block(arg);
	return NULL;
}

/* Who hands over waits, and only then; as many as are done may follow. */
static void test_full_queue(void **state)
{
	struct seen_block blocks[BLOCKS_MAX];
	struct log_writer_stats stats;
	unsigned most, n;
	struct writing x;
	struct gate g;
	pthread_t thread;
	size_t least = SIZE_MAX;

	(void)state;
	writing_open(&x, &g, BLOCK_CODEC_ZSTD);
	write_block(&x);
	assert_int_equal(log_writer_sync(x.w), 0);
	log_writer_stats(x.w, &stats);
	assert_int_equal(stats.waited_ns, 0);
	gate_let(&g, 0);
	/* All blocks are about as large as this one. */
	most = (unsigned)(DELIVER_QUEUE_BYTES / stats.raw_bytes);
	assert_int_equal(pthread_create(&thread, NULL, write_all, &x), 0);
	gate_wait(&g, 2);
	wait_for(&g.written, 1 + most - 5);
	for (n = 0; 1 + most - 5 + n < FULL; n++) {
		gate_let(&g, 1);
		gate_wait(&g, n + 3);
		wait_for(&g.written, 1 + most - 5 + n);
	}
	gate_let(&g, ALWAYS);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(log_writer_close(x.w), 0);
	check_read(&g, x.events);
	assert_int_equal(blocks_of(&g, blocks), FULL + 1);
	for (n = 0; n < FULL + 1; n++)
		least = blocks[n].raw < least ? blocks[n].raw : least;
	assert_in_range(g.most_ahead, most - 5, DELIVER_QUEUE_BYTES / least);
	gate_free(&g);
}

/* --- errors ----------------------------------------------------------------------------------- */

/* More than the queue holds comes behind the error: nobody waits for ever. */
static void test_write_fails(void **state)
{
	enum { GOOD = 3, MORE = 100 };
	struct log_writer_stats stats;
	struct seen_block blocks[BLOCKS_MAX];
	uint64_t events, bytes;
	struct writing x;
	struct gate g;
	unsigned n;

	(void)state;
	writing_open(&x, &g, BLOCK_CODEC_LZ4);
	for (n = 0; n < GOOD; n++)
		write_block(&x);
	assert_int_equal(log_writer_sync(x.w), 0);
	bytes = g.o.bytes;
	events = x.events;
	gate_let(&g, 0);
	g.fail = -ENOSPC;
	for (n = 0; n < 10; n++)
		write_block(&x);
	gate_let(&g, ALWAYS);
	for (n = 0; n < MORE; n++)
		write_block(&x);
	assert_int_equal(log_writer_sync(x.w), -ENOSPC);
	g.fail = 0; /* too late: what is missing would be a hole */
	write_block(&x);
	assert_int_equal(log_writer_finish(x.w), -ENOSPC);
	assert_int_equal(log_writer_error(x.w), -ENOSPC);
	log_writer_stats(x.w, &stats);
	assert_int_equal(stats.blocks, GOOD + 1);
	assert_int_equal(stats.bytes, bytes);
	g.fail = -EIO; /* of close: the first error is told */
	assert_int_equal(log_writer_close(x.w), -ENOSPC);
	assert_int_equal(g.o.bytes, bytes);
	assert_int_equal(g.done, GOOD + 1); /* it is not even tried again */
	assert_int_equal(blocks_of(&g, blocks), GOOD);
	check_read(&g, events);
	gate_free(&g);
}

static void test_close_fails(void **state)
{
	struct writing x;
	struct gate g;

	(void)state;
	writing_open(&x, &g, BLOCK_CODEC_ZSTD);
	write_block(&x);
	assert_int_equal(log_writer_finish(x.w), 0);
	assert_int_equal(log_writer_finish(x.w), 0); /* once more does nothing */
	g.fail = -EDQUOT;
	assert_int_equal(log_writer_close(x.w), -EDQUOT);
	check_read(&g, x.events);
	gate_free(&g);
}

static void test_header_fails(void **state)
{
	json_t *header = fixture_header();
	struct log_writer *w = NULL;
	struct gate g;

	(void)state;
	gate_init(&g);
	g.fail = -EROFS;
	assert_int_equal(log_writer_open(&(struct log_writer_options){.output = &g.o}, header, &w),
			 -EROFS);
	assert_null(w);
	assert_true(g.discarded);
	gate_free(&g);
	/* Also where it does not even come to that. */
	gate_init(&g);
	assert_int_equal(log_writer_open(&(struct log_writer_options){.output = &g.o, .keep_ns = 1},
					 header, &w),
			 -EDOM);
	assert_false(g.discarded);
	gate_free(&g);
	json_decref(header);
}

/* --- itself ----------------------------------------------------------------------------------- */

static int note_bytes(struct log_output *o, void *ctx)
{
	*(uint64_t *)ctx = o->bytes;
	return -EXDEV;
}

/* The thread alone: nothing at all, a packet that is never handed over, a call. */
static void test_few(void **state)
{
	const struct log_compression zstd = {BLOCK_CODEC_ZSTD, 0};
	struct writer_thread_room room;
	uint64_t bytes = 0;
	struct writer_thread *d;
	struct packet *p;
	struct gate g;

	(void)state;
	assert_int_equal(writer_thread_free(NULL), 0);
	packet_free(NULL);
	gate_init(&g);
	assert_int_equal(writer_thread_new(&g.o, &zstd, 0, &d), 0);
	assert_int_equal(writer_thread_wait(d), 0);
	p = writer_thread_packet(d);
	assert_int_equal(p->buf.size, PACKET_ROOM);
	packet_free(p);
	writer_thread_room(d, &room);
	assert_int_equal(room.queued, 0);
	assert_int_equal(writer_thread_call(d, note_bytes, &bytes), -EXDEV);
	assert_int_equal(writer_thread_error(d), 0); /* it is the caller's */
	assert_int_equal(writer_thread_free(d), 0);
	assert_int_equal(g.o.bytes, 0);
	gate_free(&g);
}

/* An output that is in memory only has no offsets to report. */
static void test_no_index(void **state)
{
	struct seen_block blocks[BLOCKS_MAX];
	struct writing x;
	struct gate g;

	(void)state;
	writing_open(&x, &g, BLOCK_CODEC_ZSTD);
	g.o.no_index = true;
	write_block(&x);
	assert_int_equal(log_writer_close(x.w), 0);
	assert_int_equal(g.done, 1);
	assert_int_equal(blocks_of(&g, blocks), 1);
	check_read(&g, x.events);
	gate_free(&g);
}

static void test_nth_allocation_fails(void **state)
{
	const struct log_compression zstd = {BLOCK_CODEC_ZSTD, 0};
	unsigned long n = 0;
	struct writer_thread *d;
	struct gate g;
	bool failed;
	int err;

	(void)state;
	do {
		gate_init(&g);
		alloc_fail_at(n++);
		err = writer_thread_new(&g.o, &zstd, 0, &d);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		assert_false(g.closed); /* it is not the thread's then */
		if (failed)
			gate_close(&g.o);
		else
			assert_int_equal(writer_thread_free(d), 0);
		gate_free(&g);
	} while (failed);
	assert_true(n > 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compresses_less), cmocka_unit_test(test_slow_disk),
		cmocka_unit_test(test_never_more),      cmocka_unit_test(test_full_queue),
		cmocka_unit_test(test_write_fails),     cmocka_unit_test(test_close_fails),
		cmocka_unit_test(test_header_fails),    cmocka_unit_test(test_few),
		cmocka_unit_test(test_no_index),        cmocka_unit_test(test_nth_allocation_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
