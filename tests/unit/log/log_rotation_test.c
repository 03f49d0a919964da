#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "log/format/block.h"
#include "log/format/unpack.h"
#include "log/read/reader.h"
#include "log/write/output.h"
#include "log_fixture.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/temp_folder.h"

/* An output in front of the rotating one, which looks at the folder after each write. */
struct watch {
	struct log_output o;
	struct log_output *in;
	const char *dir;
	uint64_t max, least; /* bytes there may be; and must be, from the first deletion on */
	uint64_t lowest;     /* since then */
	unsigned wrong, most_files;
};

static void look(struct watch *w)
{
	uint64_t bytes;
	unsigned count = temp_files(w->dir, false, &bytes);

	if (count > w->most_files)
		w->most_files = count;
	w->wrong += bytes != w->in->bytes || bytes > w->max;
	if (w->in->parts_deleted && bytes < w->lowest)
		w->lowest = bytes;
	w->o.bytes = w->in->bytes;
	w->o.written = w->in->written;
	w->o.parts = w->in->parts;
	w->o.parts_deleted = w->in->parts_deleted;
}

static int watch_part(struct log_output *o, const uint8_t *bytes, size_t count)
{
	struct watch *w = (struct watch *)o;
	int err;

	w->in->reserve = o->reserve;
	err = w->in->ops->part(w->in, bytes, count);
	look(w);
	return err;
}

static int watch_write(struct log_output *o, const struct sealed *block)
{
	struct watch *w = (struct watch *)o;
	int err;

	w->in->reserve = o->reserve;
	err = w->in->ops->write(w->in, block);
	look(w);
	return err;
}

static int watch_close(struct log_output *o)
{
	struct watch *w = (struct watch *)o;

	return w->in->ops->close(w->in);
}

static const struct log_output_ops watch_ops = {watch_part, watch_write, NULL, watch_close};

static uint64_t noise(uint64_t n)
{
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9ull;
	n = (n ^ n >> 27) * 0x94d049bb133111ebull;
	return n >> 24;
}

/* The nth: a release, with numbers that no codec makes much of. */
static struct event nth(uint64_t n)
{
	struct event e = {.id = EVENT_MONITOR_CONTENDED_EXIT,
			  .time_ns = 1000000 + n * 1000,
			  .thread = 1 + (uint32_t)(n % 5)};

	e.v[MONITOR_CONTENDED_EXIT_LOCK].u = 1;
	e.v[MONITOR_CONTENDED_EXIT_CPU_NS].u = noise(n);
	e.v[MONITOR_CONTENDED_EXIT_SEQUENCE].u = n;
	return e;
}

static void define_thread(struct log_writer *w, uint32_t thread)
{
	struct event e = {.id = EVENT_THREAD, .thread = thread, .time_ns = 1000000};
	char name[32];

	snprintf(name, sizeof(name), "worker %u", thread);
	e.v[THREAD_TID].u = 100 + thread;
	e.v[THREAD_NAME].s = name;
	log_write(w, &e);
}

/* The parts in their order, up to the last one. */
static unsigned parts_of(const char *path, uint32_t first, uint32_t last, char **ret)
{
	unsigned count = 0;

	for (; first <= last; first++)
		ret[count++] = output_part_path(path, first);
	return count;
}

/* The releases that are in these files: without a hole, up to the last one; all threads defined. */
static uint64_t read_releases(char *const *paths, unsigned count, uint64_t *ret_first)
{
	struct log_reader_options o = {.jobs = 1};
	struct log_reader *r;
	const struct event *e;
	bool defined[6] = {false};
	uint64_t next = 0;
	int err;

	assert_int_equal(log_reader_open_with((const char *const *)paths, count, &o, &r), 0);
	*ret_first = UINT64_MAX;
	while ((err = log_reader_next(r, &e)) == 1) {
		if (e->id == EVENT_THREAD) {
			assert_int_equal(e->v[THREAD_TID].u, 100 + e->thread);
			defined[e->thread] = true;
			continue;
		}
		if (e->id == EVENT_NOTE)
			continue;
		assert_int_equal(e->id, EVENT_MONITOR_CONTENDED_EXIT);
		if (*ret_first == UINT64_MAX)
			next = *ret_first = e->v[MONITOR_CONTENDED_EXIT_SEQUENCE].u;
		assert_int_equal(e->v[MONITOR_CONTENDED_EXIT_SEQUENCE].u, next);
		assert_int_equal(e->v[MONITOR_CONTENDED_EXIT_CPU_NS].u,
				 nth(next).v[MONITOR_CONTENDED_EXIT_CPU_NS].u);
		assert_true(defined[e->thread]);
		next++;
	}
	assert_int_equal(err, 0);
	log_reader_close(r);
	return next;
}

struct plan {
	enum block_codec codec;
	unsigned pct;
	uint64_t max_bytes;
	uint64_t seed; /* of texts and of where blocks are closed early; 0: neither */
};

/* Now and then a text of any length, or the end of a block. */
static void write_other(struct log_writer *w, const struct plan *p, uint64_t n)
{
	struct event e = {.id = EVENT_NOTE, .time_ns = 1000000 + n * 1000};
	uint64_t r = noise(p->seed << 32 | n);
	char text[4000];
	size_t length = r >> 12 & 2047;

	if (!p->seed)
		return;
	if (r % 997 == 0)
		log_writer_flush(w);
	if (r % 331)
		return;
	for (size_t i = 0; i < length; i++)
		text[i] = (char)('a' + noise(r + i) % 26);
	text[length] = '\0';
	e.v[NOTE_TEXT].s = text;
	log_write(w, &e);
}

/* So much that the limit is met several times; how many releases. */
static uint64_t write_all(struct log_writer *w, const struct plan *p)
{
	struct log_writer_stats stats = {0};
	struct event e;
	uint64_t n;

	for (n = 1; n <= 5; n++)
		define_thread(w, (uint32_t)n);
	for (n = 0; stats.written < 3 * p->max_bytes; n++) {
		e = nth(n);
		log_write(w, &e);
		write_other(w, p, n);
		if (n % 1024 == 0)
			log_writer_stats(w, &stats);
	}
	return n;
}

/* At no moment more than the limit; once full, never less than it without the deviation. */
static void rotate(struct temp *t, const struct plan *p)
{
	struct watch watch = {.o.ops = &watch_ops, .dir = t->dir, .lowest = UINT64_MAX};
	struct log_writer_options o = {.path = t->path,
				       .compression.codec = p->codec,
				       .max_bytes = p->max_bytes,
				       .deviation_pct = p->pct,
				       .output = &watch.o};
	unsigned want_files = (99 + p->pct) / p->pct, count;
	json_t *header = fixture_header();
	struct log_writer_stats stats;
	uint64_t n, releases, first;
	struct log_writer *w;
	char *paths[64];

	watch.max = o.max_bytes;
	assert_int_equal(output_parts_open(t->path, true, o.max_bytes, &watch.in), 0);
	assert_int_equal(log_writer_open(&o, header, &w), 0);
	releases = write_all(w, p);
	assert_int_equal(log_writer_finish(w), 0);
	log_writer_stats(w, &stats);
	assert_int_equal(log_writer_close(w), 0);
	json_decref(header);
	assert_int_equal(watch.wrong, 0);
	assert_true(stats.parts_deleted > 0);
	assert_true(watch.lowest >= o.max_bytes - o.max_bytes * p->pct / 100);
	assert_in_range(watch.most_files, want_files, want_files + 1);
	assert_int_equal(temp_files(t->dir, false, &n), stats.parts - stats.parts_deleted);
	assert_int_equal(n, stats.bytes);
	assert_true(stats.written > stats.bytes);

	count = parts_of(t->path, stats.parts_deleted + 1, stats.parts, paths);
	assert_int_equal(read_releases(paths, count, &first), releases);
	assert_true(first > 0);
	/* Each one alone, too. */
	for (n = 0; n < count; n++) {
		read_releases(paths + n, 1, &first);
		free(paths[n]);
	}
	temp_files(t->dir, true, &n);
}

static void test_between_the_bounds(void **state)
{
	static const struct {
		enum block_codec codec;
		unsigned pct;
	} plans[] = {{BLOCK_CODEC_NONE, 25},
		     {BLOCK_CODEC_ZSTD, 25},
		     {BLOCK_CODEC_LZ4, 30},
		     {BLOCK_CODEC_NONE, 100}};

	for (unsigned i = 0; i < sizeof(plans) / sizeof(*plans); i++) {
		struct plan p = {plans[i].codec, plans[i].pct, log_writer_least_bytes(plans[i].pct),
				 0};

		rotate(*state, &p);
	}
}

static void test_any_bounds(void **state)
{
	for (uint64_t seed = 1; seed <= 9; seed++) {
		unsigned pct = 15 + noise(seed) % 86;
		uint64_t least = log_writer_least_bytes(pct);
		struct plan p = {seed % BLOCK_CODEC_COUNT, pct, least + noise(~seed) % least, seed};

		rotate(*state, &p);
	}
}

static void touch(const char *dir, const char *name)
{
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
}

static void test_existing_parts(void **state)
{
	struct temp *t = *state;
	struct log_writer_options o = {.path = t->path, .max_bytes = log_writer_least_bytes(0)};
	json_t *header = fixture_header();
	struct log_writer *w = NULL;
	uint64_t bytes;

	assert_false(output_parts_exist(t->path));
	touch(t->dir, "a-000007.spoor");
	touch(t->dir, "a-000007.txt");
	touch(t->dir, "a-7.spoor");
	touch(t->dir, "aa-000007.spoor");
	touch(t->dir, "a.spoor");
	assert_true(output_parts_exist(t->path));
	assert_int_equal(log_writer_open(&o, header, &w), -EEXIST);
	assert_int_equal(temp_files(t->dir, false, &bytes), 5);
	o.overwrite = true;
	assert_int_equal(log_writer_open(&o, header, &w), 0);
	assert_int_equal(log_writer_close(w), 0);
	assert_int_equal(temp_files(t->dir, false, &bytes), 5); /* 7 is gone, 1 has come */
	assert_true(output_parts_exist(t->path));
	json_decref(header);
}

static void test_out_of_bounds(void **state)
{
	struct temp *t = *state;
	struct log_writer_options o = {
		.path = t->path, .max_bytes = log_writer_least_bytes(10) - 1, .deviation_pct = 10};
	json_t *header = fixture_header();
	struct log_writer *w = NULL;
	uint64_t bytes;

	assert_int_equal(log_writer_open(&o, header, &w), -EDOM);
	o.max_bytes++;
	o.deviation_pct = 101;
	assert_int_equal(log_writer_open(&o, header, &w), -EDOM);
	o.deviation_pct = 10;
	o.keep_ns = 1; /* in memory, but where? */
	assert_int_equal(log_writer_open(&o, header, &w), -EDOM);
	assert_int_equal(temp_files(t->dir, false, &bytes), 0);
	json_decref(header);
}

/* A file that nobody can find any more is not written on. */
static void test_deleted_file(void **state)
{
	struct temp *t = *state;
	struct log_writer_options o = {.path = t->path};
	json_t *header = fixture_header();
	struct event e = nth(1);
	struct log_writer *w;

	assert_int_equal(log_writer_open(&o, header, &w), 0);
	log_write(w, &e);
	assert_int_equal(log_writer_sync(w), 0);
	assert_int_equal(unlink(t->path), 0);
	log_write(w, &e);
	assert_int_equal(log_writer_sync(w), -ESTALE);
	assert_int_equal(log_writer_close(w), -ESTALE);
	json_decref(header);
}

static uint64_t get(const uint8_t *p, unsigned bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | p[bytes];
	return value;
}

/* From the end of the file back through all indexes: each other block is in one, and is there. */
static void check_indexes(const uint8_t *data, size_t size, unsigned want_entries,
			  unsigned want_indexes)
{
	uint64_t at = get(data + size - 8, 8), seen = 0, v[8], n;
	unsigned indexes = 0, i;
	uint32_t count;

	assert_int_equal(get(data + size - 12, 4), BLOCK_KIND_END);
	for (; at; indexes++) {
		const uint8_t *block = data + at;
		struct unpack u = {block + BLOCK_HEADER_BYTES,
				   block + BLOCK_HEADER_BYTES + get(block + 8, 4)};

		assert_int_equal(get(block + 20, 4), BLOCK_KIND_INDEX);
		assert_int_equal(unpack_array(&u, &count), 0);
		assert_int_equal(count, 1);
		assert_int_equal(unpack_uint(&u, &at), 0);
		for (n = 0; u.at < u.end; n++) {
			assert_int_equal(unpack_array(&u, &count), 0);
			assert_int_equal(count, 8);
			for (i = 0; i < 8; i++)
				assert_int_equal(unpack_uint(&u, &v[i]), 0);
			block = data + v[0];
			assert_memory_equal(block, "\xc1SPB", 4);
			assert_int_equal(get(block + 8, 4), v[1]);
			assert_int_equal(get(block + 12, 4), v[2]);
			assert_int_equal(get(block + 20, 4), v[3]);
			assert_int_equal(get(block + 16, 4), v[4]);
			assert_int_equal(block[24 + 21], v[5]);
			assert_int_equal(get(block + 24, 8), v[6]);
			assert_int_equal(get(block + 32, 8), v[7]);
			assert_true(v[6] <= v[7]);
		}
		seen += n;
	}
	assert_int_equal(seen, want_entries);
	assert_int_equal(indexes, want_indexes);
}

static void test_indexes(void **state)
{
	enum { COUNT = 2500 };
	struct temp *t = *state;
	struct log_writer_options o = {.path = t->path, .block_bytes = 1};
	json_t *header = fixture_header();
	struct log_writer *w;
	struct event e;
	struct stat st;
	uint8_t *data;
	unsigned n;
	FILE *f;

	assert_int_equal(log_writer_open(&o, header, &w), 0);
	for (n = 0; n < COUNT; n++) {
		e = nth(n);
		log_write(w, &e);
	}
	assert_int_equal(log_writer_close(w), 0);
	f = fopen(t->path, "r");
	assert_int_equal(fstat(fileno(f), &st), 0);
	data = malloc((size_t)st.st_size);
	assert_int_equal(fread(data, 1, (size_t)st.st_size, f), st.st_size);
	fclose(f);
	check_indexes(data, (size_t)st.st_size, COUNT, 3);
	free(data);
	json_decref(header);
}

/* A part has all keys of the header, or the log is not begun. Its own are told from it by name. */
static void check_header(const char *path, const json_t *header)
{
	char *first = output_part_path(path, 1);
	struct log_reader *r;
	const char *key;
	json_t *value;

	assert_int_equal(log_reader_open(first, &r), 0);
	json_object_foreach ((json_t *)header, key, value)
		if (!json_equal(json_object_get(log_reader_header(r), key), value))
			fail_msg("the header's %s", key);
	assert_int_equal(json_object_size(json_object_get(log_reader_header(r), "part")), 3);
	log_reader_close(r);
	free(first);
}

static void test_nth_allocation_fails(void **state)
{
	struct temp *t = *state;
	struct log_writer_options o = {.path = t->path, .max_bytes = log_writer_least_bytes(0)};
	json_t *header = fixture_header();
	struct log_writer *w = NULL;
	unsigned long n = 0;
	uint64_t bytes;
	bool failed;
	int err;

	do {
		alloc_fail_at(n++);
		err = log_writer_open(&o, header, &w);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		assert_int_equal(temp_files(t->dir, false, &bytes), !failed);
	} while (failed);
	assert_true(n > 20);
	assert_int_equal(log_writer_close(w), 0);
	check_header(t->path, header);
	json_decref(header);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nth_allocation_fails, temp_setup,
						temp_teardown),
		cmocka_unit_test_setup_teardown(test_between_the_bounds, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_any_bounds, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_existing_parts, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_out_of_bounds, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_deleted_file, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_indexes, temp_setup, temp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
