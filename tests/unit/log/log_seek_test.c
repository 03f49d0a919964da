/* Which blocks are read for a range of time, and which for definitions only, against all there are. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "log/format/event.h"
#include "log/read/reader.h"
#include "log/read/seek.h"
#include "log/read/stream.h"
#include "log_fixture.h"
#include "tests/unit/alloc_fail.h"

#define EVENTS 24000
#define STEP_NS 1000
#define AT(n) ((uint64_t)(n)*STEP_NS)
#define BLOCKS_MAX 8192
#define THREADS 40

struct known {
	uint64_t at;
	struct block b;
	struct preamble p;
};

struct log {
	int fd;
	char path[64];
	uint64_t size;
	unsigned count; /* blocks, without the header */
	struct known blocks[BLOCKS_MAX];
};

static uint64_t mix(uint64_t n)
{
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9ull;
	n = (n ^ n >> 27) * 0x94d049bb133111ebull;
	return n ^ n >> 31;
}

static void define(struct log_writer *w, uint32_t thread, uint64_t time_ns)
{
	struct event e = {.id = EVENT_THREAD, .thread = thread, .time_ns = time_ns};

	e.v[THREAD_TID].u = 100 + thread;
	e.v[THREAD_NAME].s = "worker";
	log_write(w, &e);
}

/* Small blocks, more than an index has, of times that overlap; with synchronization now and then, and a definition here
 * and there. */
static void log_make(struct log *l)
{
	struct log_writer_options o = {.overwrite = true,
				       .compression.codec = BLOCK_CODEC_LZ4,
				       .sync_ns = AT(EVENTS / 40),
				       .block_bytes = 60};
	json_t *header = json_object();
	struct log_writer *w;

	*l = (struct log){0};
	fixture_file(NULL, 0, l->path, &l->fd);
	o.path = l->path;
	assert_int_equal(log_writer_open(&o, header, &w), 0);
	json_decref(header);
	for (unsigned n = 1; n <= EVENTS; n++) {
		struct event e = {.id = n % 2 ? EVENT_MONITOR_CONTENDED_ENTER
					      : EVENT_MONITOR_CONTENDED_ENTERED,
				  .thread = 3,
				  .time_ns = AT(n) + mix(n) % (20 * STEP_NS)};

		if (n % (EVENTS / THREADS) == 1)
			define(w, 1 + n / (EVENTS / THREADS), AT(n));
		e.field_count = (uint16_t)schema_event(e.id)->field_count;
		e.v[MONITOR_CONTENDED_ENTER_LOCK].u = 5;
		log_write(w, &e);
	}
	assert_int_equal(log_writer_close(w), 0);
}

/* Learns what is in the file, one block after the other. */
static void log_learn(struct log *l)
{
	uint8_t head[BLOCK_HEADER_BYTES + PREAMBLE_BYTES];
	struct stat st;
	uint64_t at = LOG_MAGIC_BYTES;

	assert_int_equal(fstat(l->fd, &st), 0);
	l->size = (uint64_t)st.st_size;
	for (l->count = 0; at + BLOCK_HEADER_BYTES <= l->size;) {
		struct known *k = &l->blocks[l->count];

		k->at = at;
		assert_true(pread(l->fd, head, sizeof(head), (off_t)at) >= BLOCK_HEADER_BYTES);
		assert_int_equal(block_parse(head, &k->b), 0);
		if (k->b.kind == BLOCK_KIND_PACKED)
			assert_int_equal(
				preamble_get(head + BLOCK_HEADER_BYTES, k->b.length, &k->p), 0);
		at += BLOCK_HEADER_BYTES + k->b.length;
		l->count += k->b.kind != BLOCK_KIND_HEADER;
		assert_true(l->count < BLOCKS_MAX);
	}
}

/* --- ranges ----------------------------------------------------------------------------------- */

static bool is_events(const struct known *k)
{
	return k->b.kind == BLOCK_KIND_PACKED && !(k->p.flags & BLOCK_DEFINITIONS);
}

/* Where what is open at from_ns is told: the last synchronization before the first event of then. */
static uint32_t begin_of(const struct log *l, uint64_t from_ns)
{
	uint32_t begin = 0;

	for (unsigned i = 0; i < l->count; i++) {
		if (!is_events(&l->blocks[i]))
			continue;
		if (l->blocks[i].p.flags & BLOCK_SYNC)
			begin = l->blocks[i].b.sequence;
		if (l->blocks[i].p.last_ns >= from_ns)
			break;
	}
	return begin;
}

static bool is_needed(const struct known *k, uint32_t begin, uint64_t to_ns)
{
	return k->b.kind == BLOCK_KIND_PACKED &&
	       (!is_events(k) || (k->b.sequence >= begin && k->p.first_ns <= to_ns));
}

struct walk {
	struct stream in;
	struct seek s;
	uint32_t sequence;
	bool goes_on;
	unsigned read; /* blocks */
};

static int walk_begin(struct walk *w, const struct log *l, uint64_t from_ns, uint64_t to_ns)
{
	struct block b;
	int err;

	*w = (struct walk){.sequence = 1};
	w->s = (struct seek){.limited = true, .from_ns = from_ns, .to_ns = to_ns};
	err = stream_open(&w->in, l->path);
	if (!err)
		err = stream_seek(&w->in, LOG_MAGIC_BYTES);
	if (!err)
		err = stream_block(&w->in, 0, &b);
	return err == 1 ? seek_begin(&w->s, &w->in) : err;
}

/* 1: the next block of events or definitions that is needed. */
static int walk_next(struct walk *w, struct block *ret)
{
	struct preamble p;
	int err;

	do {
		err = seek_skip(&w->s, &w->in, &w->sequence);
		if (!err)
			err = stream_block(&w->in, w->sequence, ret);
		if (err != 1)
			return err;
		w->sequence = ret->sequence + 1;
		w->read++;
		if (ret->kind == BLOCK_KIND_PACKED)
			assert_int_equal(preamble_get(ret->payload, ret->length, &p), 0);
	} while (ret->kind != BLOCK_KIND_PACKED || !seek_wants(&w->s, &p));
	return 1;
}

static void walk_end(struct walk *w)
{
	seek_free(&w->s);
	seek_free(&w->s);
	stream_close(&w->in);
}

/* Exactly those that are needed; *ret_read is how many were read, of whatever kind. */
static void check_range(const struct log *l, uint64_t from_ns, uint64_t to_ns, unsigned *ret_read)
{
	uint32_t begin = begin_of(l, from_ns);
	bool goes_on = false;
	struct block b;
	struct walk w;

	assert_int_equal(walk_begin(&w, l, from_ns, to_ns), 0);
	for (unsigned i = 0; i < l->count; i++) {
		const struct known *k = &l->blocks[i];

		goes_on |= is_events(k) && k->b.sequence >= begin && k->p.first_ns > to_ns;
		if (!is_needed(k, begin, to_ns))
			continue;
		assert_int_equal(walk_next(&w, &b), 1);
		assert_int_equal(b.sequence, k->b.sequence);
		assert_int_equal(b.length, k->b.length);
	}
	assert_int_equal(walk_next(&w, &b), 0);
	assert_int_equal(w.s.goes_on, goes_on);
	*ret_read = w.read;
	walk_end(&w);
}

static void check_ranges(const struct log *l, bool few)
{
	unsigned read;

	for (unsigned n = 0; n < 30; n++) {
		uint64_t from = AT(mix(n + 1) % (EVENTS + 100)), to = from + AT(mix(n) % 300);

		check_range(l, from, to, &read);
		if (few)
			assert_true(read < l->count / 4);
	}
	/* The last event before a synchronization, exactly, and the moment behind it. */
	for (unsigned i = 1; i < l->count; i++)
		if (is_events(&l->blocks[i]) && l->blocks[i].p.flags & BLOCK_SYNC)
			for (unsigned behind = 0; behind < 2; behind++) {
				uint64_t from = l->blocks[i - 1].p.last_ns + behind;

				check_range(l, from, from + AT(5), &read);
			}
	check_range(l, 0, UINT64_MAX, &read);
	assert_true(read > l->count * 9 / 10);
	check_range(l, 0, 0, &read);
	check_range(l, AT(EVENTS + 1000), UINT64_MAX, &read);
	check_range(l, UINT64_MAX, UINT64_MAX, &read);
}

static void test_ranges(void **state)
{
	static struct log l;
	unsigned indexes = 0;

	(void)state;
	log_make(&l);
	log_learn(&l);
	for (unsigned i = 0; i < l.count; i++)
		indexes += l.blocks[i].b.kind == BLOCK_KIND_INDEX;
	assert_true(indexes > 2);
	check_ranges(&l, true);
	close(l.fd);
}

/* Its recorder was killed: there is no way to the indexes, and behind the last one nothing has one. */
static void test_no_end(void **state)
{
	static struct log l;

	(void)state;
	log_make(&l);
	log_learn(&l);
	assert_int_equal(ftruncate(l.fd, (off_t)l.blocks[l.count - 1].at), 0);
	log_learn(&l);
	check_ranges(&l, true);
	for (unsigned i = l.count; i--;)
		if (l.blocks[i].b.kind == BLOCK_KIND_INDEX) {
			assert_int_equal(ftruncate(l.fd, (off_t)l.blocks[i].at), 0);
			log_learn(&l);
			check_ranges(&l, false);
		}
	close(l.fd);
}

/* Damage to an index costs no event: it only saves looking. */
static void test_damaged_index(void **state)
{
	static struct log l;
	uint8_t byte;

	(void)state;
	for (unsigned which = 0; which < 3; which++) {
		unsigned i;

		log_make(&l);
		log_learn(&l);
		/* From the end of the file on, and each further back. */
		for (i = l.count - 1, byte = 0; byte < which; byte++)
			while (l.blocks[--i].b.kind != BLOCK_KIND_INDEX)
				;
		assert_int_equal(pread(l.fd, &byte, 1, (off_t)l.blocks[i].at + 30), 1);
		byte ^= 0x20;
		assert_int_equal(pwrite(l.fd, &byte, 1, (off_t)l.blocks[i].at + 30), 1);
		check_ranges(&l, false);
		close(l.fd);
	}
}

static void test_nth_allocation_fails(void **state)
{
	static struct log l;
	unsigned long n = 0;
	struct block b;
	struct walk w;
	bool failed;
	int err;

	(void)state;
	log_make(&l);
	do {
		alloc_fail_at(n++);
		err = walk_begin(&w, &l, AT(EVENTS / 2), AT(EVENTS / 2 + 100));
		while (!err || err == 1) {
			err = walk_next(&w, &b);
			if (err != 1)
				break;
		}
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		walk_end(&w);
	} while (failed);
	assert_true(n > 2);
	close(l.fd);
}

/* --- definitions only ------------------------------------------------------------------------- */

static struct log_reader *open_definitions(const char *path, unsigned jobs)
{
	const struct log_reader_options options = {.jobs = jobs};
	struct log_reader *r;

	assert_int_equal(log_reader_open_with(&path, 1, &options, &r), 0);
	log_reader_definitions(r);
	return r;
}

/* All of them, in their order, and nothing else; what was passed over is told. */
static void check_definitions(const struct log *l, unsigned jobs, int want)
{
	struct log_reader *r = open_definitions(l->path, jobs);
	uint64_t first = UINT64_MAX, last = 0;
	struct log_reader_span span;
	struct log_reader_stats stats;
	const struct event *e;

	for (unsigned n = 0; n < THREADS; n++) {
		assert_int_equal(log_reader_next(r, &e), 1);
		assert_int_equal(e->id, EVENT_THREAD);
		assert_int_equal(e->thread, 1 + n);
		assert_int_equal(e->v[THREAD_TID].u, 101 + n);
		assert_string_equal(e->v[THREAD_NAME].s, "worker");
	}
	assert_int_equal(log_reader_next(r, &e), want);
	for (unsigned i = 0; i < l->count; i++)
		if (is_events(&l->blocks[i])) {
			first = l->blocks[i].p.first_ns < first ? l->blocks[i].p.first_ns : first;
			last = l->blocks[i].p.last_ns > last ? l->blocks[i].p.last_ns : last;
		}
	span = log_reader_span(r);
	assert_true(span.any);
	assert_false(span.goes_on);
	assert_int_equal(span.first_ns, first);
	assert_int_equal(span.last_ns, last);
	log_reader_stats(r, &stats);
	assert_int_equal(stats.events, THREADS);
	assert_int_equal(stats.blocks_damaged, want ? 1 : 0);
	log_reader_close(r);
}

static void test_definitions(void **state)
{
	static const unsigned jobs[] = {1, 2, 16};
	static struct log l;
	unsigned which = 0;
	uint8_t byte;

	(void)state;
	log_make(&l);
	log_learn(&l);
	for (unsigned i = 0; i < sizeof(jobs) / sizeof(*jobs); i++)
		check_definitions(&l, jobs[i], 0);
	/* Blocks that are passed over are checked nevertheless. */
	while (!is_events(&l.blocks[which]) || l.blocks[which].p.first_ns < AT(EVENTS / 2))
		which++;
	assert_int_equal(pread(l.fd, &byte, 1, (off_t)l.blocks[which].at + 60), 1);
	byte ^= 1;
	assert_int_equal(pwrite(l.fd, &byte, 1, (off_t)l.blocks[which].at + 60), 1);
	for (unsigned i = 0; i < sizeof(jobs) / sizeof(*jobs); i++)
		check_definitions(&l, jobs[i], -EBADMSG);
	close(l.fd);
}

/* In an old log definitions are not apart: all events come out. */
static void test_definitions_of_old_logs(void **state)
{
	/* time 5; a thread 1 with tid 6; time 7: a safepoint */
	static const uint8_t body[] = {
		0x91, 5, 0x94, EVENT_THREAD, 0, 1, 6, 0x93, EVENT_SAFEPOINT_BEGIN, 2, 0};
	struct block b = {
		.length = sizeof(body), .sequence = 1, .events = 2, .kind = BLOCK_KIND_EVENTS};
	uint8_t bytes[BLOCK_HEADER_BYTES + sizeof(body)];
	struct log_reader_span span;
	struct log_writer *w;
	struct log_reader *r;
	const struct event *e;
	json_t *header = json_object();
	uint64_t at = LOG_MAGIC_BYTES;
	struct block head;
	char path[64];
	int fd;

	(void)state;
	fixture_file(NULL, 0, path, &fd);
	assert_int_equal(
		log_writer_open(&(struct log_writer_options){.path = path, .overwrite = true},
				header, &w),
		0);
	assert_int_equal(log_writer_close(w), 0);
	json_decref(header);
	assert_int_equal(pread(fd, bytes, BLOCK_HEADER_BYTES, (off_t)at), BLOCK_HEADER_BYTES);
	assert_int_equal(block_parse(bytes, &head), 0);
	at += BLOCK_HEADER_BYTES + head.length;
	memcpy(bytes + BLOCK_HEADER_BYTES, body, sizeof(body));
	block_seal(&b, bytes);
	assert_int_equal(ftruncate(fd, (off_t)at), 0);
	assert_int_equal(pwrite(fd, bytes, sizeof(bytes), (off_t)at), sizeof(bytes));
	r = open_definitions(path, 1);
	assert_int_equal(log_reader_next(r, &e), 1);
	assert_int_equal(e->id, EVENT_THREAD);
	assert_int_equal(log_reader_next(r, &e), 1);
	assert_int_equal(e->id, EVENT_SAFEPOINT_BEGIN);
	assert_int_equal(log_reader_next(r, &e), 0);
	span = log_reader_span(r);
	assert_false(span.any);
	log_reader_close(r);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_no_end),
		cmocka_unit_test(test_damaged_index),
		cmocka_unit_test(test_nth_allocation_fails),
		cmocka_unit_test(test_definitions),
		cmocka_unit_test(test_definitions_of_old_logs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
