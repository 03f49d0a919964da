/* Logs of every codec that are cut at every byte, or of which one bit is turned over: what is read is what was written
 * into the blocks that are whole, nothing else. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "log/format/block.h"
#include "log/read/reader.h"
#include "log_fixture.h"
#include "tests/unit/alloc_fail.h"

#define EVENTS 90
#define FLUSH_EVERY 18
#define READ_MAX (3 * EVENTS)
#define BLOCKS_MAX 64
#define AT_FLAGS 21

/* A log in memory, and which of its events are in which of its blocks. */
struct log {
	uint8_t *data;
	size_t size;
	unsigned blocks;
	size_t ends[BLOCKS_MAX];
	unsigned counts
		[BLOCKS_MAX]; /* events; of synchronization none: who reads all passes over them */
	bool sync[BLOCKS_MAX];
	struct event events[READ_MAX]; /* in the order of the file */
	unsigned count;
};

struct outcome {
	int open, end;
	unsigned count;
	struct log_reader_stats stats;
	struct event events[READ_MAX];
};

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Definitions, and threads that block and get their locks, with counts that grow; some are never done. */
static struct event nth(unsigned n)
{
	struct event e = {.time_ns = 5000000 + 1000ull * n - 700 * (n % 3), .thread = 1 + n % 3};
	unsigned lock = 1 + n % 2;

	if (n % FLUSH_EVERY == 0) {
		e.id = EVENT_THREAD;
		e.v[THREAD_TID].u = 4000 + e.thread;
		e.v[THREAD_NAME].s = n % 4 ? "worker" : "main";
	} else if (n % FLUSH_EVERY == 1) {
		e.id = EVENT_LOCK;
		e.v[LOCK_LOCK].u = lock;
		e.v[LOCK_ADDRESS].u = 0x7f0000001000ull + n;
	} else if (n % 4 < 2) {
		e.id = EVENT_MONITOR_CONTENDED_ENTER;
		e.v[MONITOR_CONTENDED_ENTER_LOCK].u = lock;
		e.v[MONITOR_CONTENDED_ENTER_CPU_NS].u = 100000 + 77ull * n;
		e.v[MONITOR_CONTENDED_ENTER_SEQUENCE].u = n;
	} else {
		e.id = EVENT_MONITOR_CONTENDED_ENTERED;
		e.v[MONITOR_CONTENDED_ENTERED_LOCK].u = lock;
		e.v[MONITOR_CONTENDED_ENTERED_CPU_NS].u = 100000 + 77ull * n;
	}
	e.field_count = (uint16_t)schema_event(e.id)->field_count;
	for (unsigned i = 0; i < e.field_count; i++)
		if (schema_event(e.id)->fields[i].type == FIELD_STR && !e.v[i].s)
			e.v[i].s = "";
	return e;
}

static void read_bytes(const void *data, size_t size, struct outcome *ret)
{
	const struct log_reader_options options = {.jobs = 1};
	struct log_reader *r;
	const struct event *e;
	char path[64];
	const char *paths[] = {path};
	int fd;

	fixture_file(data, size, path, &fd);
	ret->count = 0;
	ret->open = log_reader_open_with(paths, 1, &options, &r);
	if (!ret->open) {
		while ((ret->end = log_reader_next(r, &e)) == 1) {
			assert_true(ret->count < READ_MAX);
			ret->events[ret->count] = *e;
			for (unsigned i = 0; i < schema_event(e->id)->field_count; i++)
				if (schema_event(e->id)->fields[i].type == FIELD_STR)
					/* The only texts that there are: anything else fails in same(). */
					ret->events[ret->count].v[i].s =
						!strcmp(e->v[i].s, "worker") ? "worker"
						: !strcmp(e->v[i].s, "main") ? "main"
						: *e->v[i].s                 ? "?"
									     : "";
			ret->count++;
		}
		log_reader_stats(r, &ret->stats);
		log_reader_close(r);
	}
	close(fd);
}

static void write_log(const struct log_writer_options *options, char path[64], int *ret_fd)
{
	struct log_writer_options o = *options;
	json_t *header = fixture_header();
	struct log_writer *w;

	fixture_file("", 0, path, ret_fd);
	o.path = path;
	o.overwrite = true;
	assert_int_equal(log_writer_open(&o, header, &w), 0);
	json_decref(header);
	for (unsigned n = 0; n < EVENTS; n++) {
		struct event e = nth(n);

		if (n && n % FLUSH_EVERY == 0)
			log_writer_flush(w);
		log_write(w, &e);
	}
	assert_int_equal(log_writer_close(w), 0);
}

static struct log *log_new(const struct log_writer_options *options)
{
	static struct outcome out;
	struct log *l = calloc(1, sizeof(*l));
	size_t at = LOG_MAGIC_BYTES;
	unsigned counted = 0;
	struct stat st;
	char path[64];
	int fd;

	write_log(options, path, &fd);
	assert_int_equal(fstat(fd, &st), 0);
	l->size = (size_t)st.st_size;
	l->data = malloc(l->size);
	assert_int_equal(pread(fd, l->data, l->size, 0), l->size);
	close(fd);
	for (; at < l->size; l->blocks++) {
		const uint8_t *b = l->data + at;

		assert_true(l->blocks < BLOCKS_MAX);
		l->sync[l->blocks] = get32(b + 20) == BLOCK_KIND_PACKED &&
				     b[BLOCK_HEADER_BYTES + AT_FLAGS] & BLOCK_SYNC;
		l->counts[l->blocks] = l->sync[l->blocks] ? 0 : get32(b + 16);
		counted += l->counts[l->blocks];
		at += BLOCK_HEADER_BYTES + get32(b + 8);
		l->ends[l->blocks] = at;
	}
	assert_int_equal(at, l->size);
	read_bytes(l->data, l->size, &out);
	assert_int_equal(out.open, 0);
	assert_int_equal(out.end, 0);
	assert_int_equal(out.count, counted);
	l->count = out.count;
	memcpy(l->events, out.events, sizeof(l->events));
	return l;
}

static void log_free(struct log *l)
{
	free(l->data);
	free(l);
}

static bool same(const struct event *a, const struct event *b)
{
	const struct event_desc *desc = schema_event(b->id);

	if (a->id != b->id || a->thread != b->thread || a->time_ns != b->time_ns)
		return false;
	for (unsigned i = 0; i < desc->field_count; i++)
		if (desc->fields[i].type == FIELD_STR ? strcmp(a->v[i].s, b->v[i].s) != 0
						      : a->v[i].u != b->v[i].u)
			return false;
	return true;
}

/* All that was written is read, each event as it was. */
static void check_whole(const struct log *l)
{
	unsigned found = 0;

	assert_int_equal(l->count, EVENTS);
	for (unsigned n = 0; n < EVENTS; n++) {
		struct event want = nth(n);
		unsigned k = 0;

		while (k < l->count && !same(&l->events[k], &want))
			k++;
		found += k < l->count;
	}
	assert_int_equal(found, EVENTS);
}

static void check_cut(const struct log *l)
{
	static struct outcome out;
	unsigned events = 0, whole = 0;

	for (size_t size = 0; size <= l->size; size++) {
		if (whole < l->blocks && size == l->ends[whole])
			events += l->counts[whole++];
		read_bytes(l->data, size, &out);
		if (!whole) {
			assert_int_equal(out.open, size < LOG_MAGIC_BYTES ? -EPROTO : -EBADMSG);
			continue;
		}
		assert_int_equal(out.open, 0);
		assert_int_equal(out.count, events);
		for (unsigned i = 0; i < events; i++)
			assert_true(same(&out.events[i], &l->events[i]));
		assert_int_equal(out.end, size == l->ends[whole - 1] ? 0 : -EBADMSG);
		assert_int_equal(out.stats.bytes_skipped, size - l->ends[whole - 1]);
	}
}

/* Of the events that were read, those of all blocks but one, in their order; between them, if the log has such blocks,
 * what was open behind the damage: each of these, too, is an event that was written. */
static void check_without(const struct log *l, unsigned damaged, const struct outcome *out,
			  bool may_repeat)
{
	unsigned at = 0, first = 0, k, block;

	for (block = 0; block < l->blocks; first += l->counts[block++]) {
		if (block == damaged)
			continue;
		for (k = first; k < first + l->counts[block]; k++, at++) {
			while (may_repeat && at < out->count &&
			       !same(&out->events[at], &l->events[k]))
				at++;
			assert_true(at < out->count);
			assert_true(same(&out->events[at], &l->events[k]));
		}
	}
	if (!may_repeat)
		assert_int_equal(at, out->count);
	for (at = 0; may_repeat && at < out->count; at++) {
		for (k = 0; k < l->count && !same(&out->events[at], &l->events[k]);)
			k++;
		assert_true(k < l->count);
	}
}

static void check_flipped(struct log *l)
{
	static struct outcome out;
	unsigned block = 0, behind, i;

	for (size_t at = 0; at < l->size; at++) {
		block += at == l->ends[block];
		l->data[at] ^= (uint8_t)(1u << at % 8);
		read_bytes(l->data, l->size, &out);
		l->data[at] ^= (uint8_t)(1u << at % 8);
		if (at < LOG_MAGIC_BYTES || !block) {
			assert_int_equal(out.open, at < LOG_MAGIC_BYTES ? -EPROTO : -EBADMSG);
			continue;
		}
		assert_int_equal(out.open, 0);
		assert_int_equal(out.end, -EBADMSG);
		assert_int_equal(out.stats.blocks_damaged + out.stats.blocks_missing, 1);
		for (behind = 0, i = block + 1; i < l->blocks; i++)
			behind += l->sync[i];
		check_without(l, block, &out, behind > 0);
	}
}

static void check_all(const struct log_writer_options *options, bool sync)
{
	struct log *l = log_new(options);
	unsigned i, syncs = 0;

	for (i = 0; i < l->blocks; i++)
		syncs += l->sync[i];
	assert_int_equal(syncs > 0, sync);
	check_whole(l);
	check_cut(l);
	check_flipped(l);
	log_free(l);
}

static void test_none(void **state)
{
	(void)state;
	check_all(&(struct log_writer_options){.compression = {BLOCK_CODEC_NONE, 0}}, false);
}

static void test_lz4(void **state)
{
	(void)state;
	check_all(&(struct log_writer_options){.compression = {BLOCK_CODEC_LZ4, 0}}, false);
}

static void test_zstd(void **state)
{
	(void)state;
	check_all(&(struct log_writer_options){.compression = {BLOCK_CODEC_ZSTD, 0}}, false);
}

/* As in logs in parts: what is open is repeated now and then, and used behind damage. */
static void test_synchronization(void **state)
{
	(void)state;
	check_all(&(struct log_writer_options){.compression = {BLOCK_CODEC_ZSTD, 0},
					       .sync_ns = 30000},
		  true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_lz4),
		cmocka_unit_test(test_zstd),
		cmocka_unit_test(test_synchronization),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
