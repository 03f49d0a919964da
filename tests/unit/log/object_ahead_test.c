/* log/objects/object_ahead.c, object_in.c: records of object events are the same with any number of threads that
 * decompress, also of damaged logs, when reading ends early, and without memory. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/tables/hash.h"
#include "log/format/event.h"
#include "log/format/object_record.h"
#include "log/objects/object_in.h"
#include "log/write/object_out.h"
#include "log/write/writer.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/temp_folder.h"

#define RECORDS 400u
#define WORDS 4000u

static const unsigned jobs[] = {1, 2, 3, 8, 64};
#define JOBS (sizeof(jobs) / sizeof(*jobs))

/* 6 MB of words in blocks of 256 KB, of which a half repeats itself. */
static void write_log(const char *path, uint32_t records)
{
	struct log_writer_options o = {.path = path, .overwrite = true, .compression = {BLOCK_CODEC_ZSTD, 1}};
	json_t *header = json_object();
	uint32_t *words = malloc(WORDS * 4), random = 1;
	struct object_out *out;
	struct log_writer *w;

	assert_int_equal(log_writer_open(&o, header, &w), 0);
	out = object_out_new(w);
	for (uint32_t i = 0; i < records; i++) {
		struct object_record r = {.kind = OBJECT_WORDS, .words = (uint8_t *)words, .word_bytes = WORDS * 4};

		for (uint32_t k = 0; k < WORDS; k++) {
			random = random * 1103515245u + 12345u;
			words[k] = k % 2 ? k : random;
		}
		r.number[WORDS_STREAM] = 1 + i % 3;
		r.number[WORDS_SEQUENCE] = i / 3;
		assert_int_equal(object_out_add(out, &r), 0);
	}
	object_out_flush(out);
	assert_int_equal(log_writer_finish(w), 0);
	object_out_free(out);
	assert_int_equal(log_writer_close(w), 0);
	json_decref(header);
	free(words);
}

struct result {
	uint64_t hash, records;
	struct object_in_stats stats;
	int err;
};

/* most: records; then reading ends. */
static struct result read_log(const char *path, unsigned threads, uint64_t most)
{
	struct result all = {0};
	struct object_record r;
	struct object_in *in;

	all.err = object_in_open(path, &in);
	if (all.err)
		return all;
	object_in_jobs(in, threads);
	while (all.records < most && (all.err = object_in_next(in, &r)) == 1) {
		uint64_t one[3] = {hash_bytes(r.words, r.word_bytes), r.number[WORDS_SEQUENCE], all.hash};

		all.hash = hash_bytes(one, sizeof(one));
		all.records++;
	}
	object_in_stats(in, &all.stats);
	object_in_close(in);
	return all;
}

static void assert_same(const struct result *a, const struct result *b)
{
	assert_int_equal(a->err, b->err);
	assert_int_equal(a->records, b->records);
	assert_int_equal(a->hash, b->hash);
	assert_memory_equal(&a->stats, &b->stats, sizeof(a->stats));
}

static void any_number_of_threads(void **state)
{
	struct temp temp;
	struct result first;

	assert_int_equal(temp_begin(&temp), 0);
	(void)state;
	write_log(temp.path, RECORDS);
	first = read_log(temp.path, 1, UINT64_MAX);
	assert_int_equal(first.err, 0);
	assert_int_equal(first.records, RECORDS);
	assert_true(first.stats.blocks > 20);
	for (size_t i = 0; i < JOBS; i++) {
		struct result r = read_log(temp.path, jobs[i], UINT64_MAX);

		assert_same(&r, &first);
	}
	/* Blocks that were read ahead and not looked at are in no figure. */
	first = read_log(temp.path, 1, RECORDS / 3);
	assert_true(first.stats.blocks < 12);
	for (size_t i = 0; i < JOBS; i++) {
		struct result r = read_log(temp.path, jobs[i], RECORDS / 3);

		assert_same(&r, &first);
	}
	temp_end(&temp);
}

/* A byte in 64 KB is another one; then the end is missing. */
static void damaged_logs(void **state)
{
	struct temp temp;
	struct stat st;

	assert_int_equal(temp_begin(&temp), 0);
	(void)state;
	write_log(temp.path, RECORDS);
	assert_int_equal(stat(temp.path, &st), 0);
	for (int way = 0; way < 2; way++) {
		struct result first;
		FILE *f = fopen(temp.path, "r+b");

		for (long at = 40000; !way && at < st.st_size; at += 600000) {
			int old;

			fseek(f, at, SEEK_SET);
			old = fgetc(f);
			fseek(f, at, SEEK_SET);
			fputc(old ^ 0x55, f);
		}
		fclose(f);
		if (way)
			assert_int_equal(truncate(temp.path, st.st_size / 2 + 100), 0);
		first = read_log(temp.path, 1, UINT64_MAX);
		assert_true(first.records < RECORDS);
		assert_true(first.stats.damaged || first.stats.missing || first.err || way);
		for (size_t i = 0; i < JOBS; i++) {
			struct result r = read_log(temp.path, jobs[i], UINT64_MAX);

			assert_same(&r, &first);
		}
	}
	temp_end(&temp);
}

static void without_memory(void **state)
{
	struct temp temp;

	assert_int_equal(temp_begin(&temp), 0);
	(void)state;
	write_log(temp.path, 60);
	for (size_t i = 0; i < 3; i++) {
		struct result r = {.err = -ENOMEM};

		for (unsigned long n = 0; r.err == -ENOMEM; n++) {
			alloc_fail_at(n);
			r = read_log(temp.path, jobs[i], UINT64_MAX);
			alloc_fail_off();
			assert_true(!r.err || r.err == -ENOMEM);
		}
		assert_int_equal(r.records, 60);
	}
	temp_end(&temp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_number_of_threads),
		cmocka_unit_test(damaged_logs),
		cmocka_unit_test(without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
