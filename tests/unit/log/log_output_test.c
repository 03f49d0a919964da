/* Where the bytes of a log go: a file, standard output, files that rotate; and what can go wrong. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "log/write/output.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/sys_fail.h"
#include "tests/unit/temp_folder.h"

static uint64_t mix(uint64_t n)
{
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9ull;
	n = (n ^ n >> 27) * 0x94d049bb133111ebull;
	return n ^ n >> 31;
}

/* Outputs do not look at what is in a block: the nth byte of all that is written is a function of n. */
static uint8_t byte_at(uint64_t n)
{
	return (uint8_t)mix(n);
}

static uint8_t buffer[1 << 16];

static const uint8_t *bytes_from(uint64_t n, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buffer[i] = byte_at(n + i);
	return buffer;
}

static int put_part(struct log_output *o, uint64_t at, size_t count)
{
	return o->ops->part(o, bytes_from(at, count), count);
}

static int put_block(struct log_output *o, uint64_t at, size_t count)
{
	struct sealed s = {.bytes = bytes_from(at, count), .count = count};

	return o->ops->write(o, &s);
}

/* The file has these bytes and no more. */
static void assert_bytes(const char *path, uint64_t from, uint64_t count)
{
	FILE *f = fopen(path, "re");
	int c;

	assert_non_null(f);
	for (uint64_t n = 0; n < count; n++) {
		c = getc(f);
		if (c != byte_at(from + n))
			fail_msg("%s: byte %llu is %d", path, (unsigned long long)n, c);
	}
	assert_int_equal(getc(f), EOF);
	fclose(f);
}

static struct log_output *file_open(const char *path, bool overwrite)
{
	struct log_output *o;

	assert_int_equal(output_file_open(path, overwrite, &o), 0);
	return o;
}

static int output_close(struct log_output *o)
{
	return o->ops->close(o);
}

/* --- a file ----------------------------------------------------------------------------------- */

static void test_file(void **state)
{
	const struct temp *t = *state;
	struct log_output *o = file_open(t->path, false);
	struct stat st;

	assert_int_equal(put_part(o, 0, 100), 0);
	assert_int_equal(put_block(o, 100, 1), 0);
	assert_int_equal(put_block(o, 101, 60000), 0);
	assert_int_equal(put_block(o, 60101, 0), 0);
	assert_int_equal(put_part(o, 0, 100), -EINVAL); /* it is one file */
	assert_int_equal(o->bytes, 60101);
	assert_int_equal(o->written, 60101);
	assert_int_equal(o->parts, 1);
	assert_int_equal(o->parts_deleted, 0);
	assert_int_equal(output_close(o), 0);
	assert_bytes(t->path, 0, 60101);
	assert_int_equal(stat(t->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void test_existing_file(void **state)
{
	const struct temp *t = *state;
	struct log_output *o = file_open(t->path, false);
	struct stat st;

	assert_int_equal(put_part(o, 5, 1000), 0);
	assert_int_equal(output_close(o), 0);
	assert_int_equal(chmod(t->path, 0644), 0);
	assert_int_equal(output_file_open(t->path, false, &o), -EEXIST);
	assert_bytes(t->path, 5, 1000);
	/* Discarding deletes what it has created, and nothing else. */
	o = file_open(t->path, true);
	assert_int_equal(put_part(o, 7, 10), 0);
	o->ops->discard(o);
	assert_int_equal(output_close(o), 0);
	assert_bytes(t->path, 7, 10);
	assert_int_equal(stat(t->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(unlink(t->path), 0);
	o = file_open(t->path, true);
	o->ops->discard(o);
	assert_int_equal(output_close(o), 0);
	assert_int_equal(access(t->path, F_OK), -1);
	assert_int_equal(output_file_open("/no/such/folder/a", false, &o), -ENOENT);
	assert_int_equal(output_file_open(t->dir, true, &o), -EISDIR);
}

/* Writes that are interrupted, and writes that take some of it, are no errors. */
static void test_short_writes(void **state)
{
	const struct temp *t = *state;
	struct log_output *o = file_open(t->path, false);

	sys_write_most = 7;
	assert_int_equal(put_part(o, 0, 100), 0);
	sys_fail_at(SYS_WRITE, 3, EINTR);
	assert_int_equal(put_block(o, 100, 100), 0);
	assert_true(sys_fail_off(SYS_WRITE));
	sys_write_most = 0;
	assert_int_equal(output_close(o), 0);
	assert_bytes(t->path, 0, 200);
}

/* A block is in the file as a whole, or not at all; it goes on behind the last whole one. */
static void test_write_fails(void **state)
{
	static const int errors[] = {ENOSPC, EDQUOT, EIO, EROFS, EFBIG};
	const struct temp *t = *state;
	struct log_output *o = file_open(t->path, false);
	uint64_t bytes = 50;

	assert_int_equal(put_part(o, 0, bytes), 0);
	sys_write_most = 10;
	for (unsigned i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		for (unsigned n = 0; n < 4; n++) {
			sys_fail_at(SYS_WRITE, n, errors[i]);
			assert_int_equal(put_block(o, 9999, 40), -errors[i]);
			assert_true(sys_fail_off(SYS_WRITE));
			assert_int_equal(o->bytes, bytes);
			assert_int_equal(o->written, bytes);
			assert_bytes(t->path, 0, bytes);
		}
		assert_int_equal(put_block(o, bytes, 40), 0);
		bytes += 40;
	}
	sys_write_most = 0;
	assert_int_equal(output_close(o), 0);
	assert_bytes(t->path, 0, bytes);
}

static void test_close_fails(void **state)
{
	const struct temp *t = *state;
	struct log_output *o = file_open(t->path, false);

	sys_fail_at(SYS_CLOSE, 0, EDQUOT);
	assert_int_equal(output_close(o), -EDQUOT);
	assert_true(sys_fail_off(SYS_CLOSE));
	o = file_open(t->path, true);
	sys_fail_at(SYS_CLOSE, 0, EINTR); /* it is closed nevertheless */
	assert_int_equal(output_close(o), 0);
	assert_true(sys_fail_off(SYS_CLOSE));
}

/* Nobody could ever read it. A pipe never had a name. */
static void test_no_name(void **state)
{
	const struct temp *t = *state;
	struct log_output *o = file_open(t->path, false);
	char path[64];
	uint8_t got[20];
	int ends[2];

	assert_int_equal(put_part(o, 0, 10), 0);
	assert_int_equal(unlink(t->path), 0);
	assert_int_equal(put_block(o, 10, 10), -ESTALE);
	assert_int_equal(o->bytes, 10);
	assert_int_equal(output_close(o), 0);

	assert_int_equal(pipe(ends), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[1]);
	o = file_open(path, true);
	assert_int_equal(put_part(o, 0, 10), 0);
	assert_int_equal(put_block(o, 10, 10), 0);
	assert_int_equal(read(ends[0], got, sizeof(got)), sizeof(got));
	assert_memory_equal(got, bytes_from(0, sizeof(got)), sizeof(got));
	sys_fail_at(SYS_WRITE, 0, EPIPE);
	assert_int_equal(put_block(o, 20, 10), -EPIPE);
	assert_true(sys_fail_off(SYS_WRITE));
	assert_int_equal(output_close(o), 0);
	close(ends[0]);
	close(ends[1]);
}

static void test_standard_output(void **state)
{
	const struct temp *t = *state;
	int was = dup(STDOUT_FILENO), fd = open(t->path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	struct log_output *o;
	int err;

	fflush(stdout);
	assert_int_equal(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
	err = output_file_open("-", false, &o);
	dup2(was, STDOUT_FILENO);
	close(was);
	assert_int_equal(err, 0);
	assert_int_equal(put_part(o, 0, 10), 0);
	assert_int_equal(put_block(o, 10, 10), 0);
	o->ops->discard(o);
	assert_int_equal(output_close(o), 0);
	assert_bytes(t->path, 0, 20);
	close(fd);
}

/* --- parts ------------------------------------------------------------------------------------ */

static void assert_path(const char *path, uint32_t number, const char *want)
{
	char *name = output_part_path(path, number);

	assert_string_equal(name, want);
	free(name);
}

static void test_names(void **state)
{
	(void)state;
	assert_path("a.spoor", 1, "a-000001.spoor");
	assert_path("/x/a.spoor", 999999, "/x/a-999999.spoor");
	assert_path("a", 1000000, "a-1000000.spoor");
	assert_path("a.spoor.spoor", 2, "a.spoor-000002.spoor");
	assert_path(".spoor", 2, ".spoor-000002.spoor");
	assert_path("x.spool", UINT32_MAX, "x.spool-4294967295.spoor");
	assert_int_equal(output_part_stem("/x/a.spoor"), 4);
	assert_int_equal(output_part_stem("/x/a"), 4);
	assert_int_equal(output_part_stem(".spoor"), 6);
	alloc_fail_at(0);
	assert_null(output_part_path("a", 1));
	assert_true(alloc_fail_off());
	assert_false(output_parts_exist("/no/such/folder/a.spoor"));
}

struct model {
	struct log_output *o;
	uint64_t max_bytes, total, written;
	uint64_t from[4096], bytes[4096]; /* of each part */
	unsigned parts, deleted;
};

static void model_room(struct model *m, uint64_t count)
{
	while (m->total + count > m->max_bytes && m->deleted + 1 < m->parts)
		m->total -= m->bytes[m->deleted++];
}

static void model_add(struct model *m, const struct temp *t, size_t count)
{
	uint64_t bytes;

	m->bytes[m->parts - 1] += count;
	m->total += count;
	m->written += count;
	assert_int_equal(m->o->bytes, m->total);
	assert_int_equal(m->o->written, m->written);
	assert_int_equal(m->o->parts, m->parts);
	assert_int_equal(m->o->parts_deleted, m->deleted);
	assert_int_equal(temp_files(t->dir, false, &bytes), m->parts - m->deleted);
	assert_int_equal(bytes, m->total);
	assert_true(bytes + m->o->reserve <= m->max_bytes);
}

static void model_part(struct model *m, const struct temp *t, size_t count)
{
	assert_int_equal(put_part(m->o, m->written, count), 0);
	m->from[m->parts++] = m->written;
	model_room(m, count + m->o->reserve);
	model_add(m, t, count);
}

static void model_block(struct model *m, const struct temp *t, size_t count)
{
	assert_int_equal(put_block(m->o, m->written, count), 0);
	model_room(m, count + m->o->reserve);
	model_add(m, t, count);
}

static void check_parts(const struct model *m, const char *path)
{
	for (unsigned i = 0; i < m->parts; i++) {
		char *name = output_part_path(path, i + 1);

		if (i < m->deleted)
			assert_int_equal(access(name, F_OK), -1);
		else
			assert_bytes(name, m->from[i], m->bytes[i]);
		free(name);
	}
}

/*
 * Parts of a share of the limit, cut somewhere before they are full: never more than the limit, and
 * from the first deletion on never less than it without a part, what is to be reserved and a block.
 */
static void check_sizes(const struct temp *t, uint64_t seed)
{
	static struct model m;
	unsigned share = 2 + mix(seed) % 9, steps = 400;
	uint64_t most, bytes;
	size_t block;

	m = (struct model){.max_bytes = 20000 + mix(seed + 1) % 90000};
	block = m.max_bytes / share / 4;
	most = m.max_bytes / share;
	assert_int_equal(output_parts_open(t->path, true, m.max_bytes, &m.o), 0);
	for (unsigned n = 0; n < steps; n++) {
		uint64_t r = mix(seed << 32 | n);
		size_t count = r % block;

		m.o->reserve = r >> 32 & 63;
		if (!m.parts || m.bytes[m.parts - 1] + count > most)
			model_part(&m, t, r >> 40 & 255);
		model_block(&m, t, count);
		if (m.deleted)
			assert_true(m.total + most + block + 64 >= m.max_bytes);
		if (n % 50 == 0)
			check_parts(&m, t->path);
	}
	assert_true(m.deleted > 0);
	assert_int_equal(output_close(m.o), 0);
	check_parts(&m, t->path);
	temp_files(t->dir, true, &bytes);
}

static void test_sizes(void **state)
{
	for (uint64_t seed = 1; seed <= 25; seed++)
		check_sizes(*state, seed);
}

/* Exactly as much as there may be, and one byte more. */
static void test_boundary(void **state)
{
	static struct model m;
	const struct temp *t = *state;

	m = (struct model){.max_bytes = 1000};
	assert_int_equal(output_parts_open(t->path, false, m.max_bytes, &m.o), 0);
	m.o->reserve = 10;
	model_part(&m, t, 390);
	model_part(&m, t, 100);
	model_block(&m, t, 500);
	assert_int_equal(m.deleted, 0);
	m.o->reserve = 0;
	model_block(&m, t, 10);
	assert_int_equal(m.deleted, 0);
	model_block(&m, t, 1);
	assert_int_equal(m.deleted, 1);
	/* Now the last part alone. */
	m.o->reserve = 1;
	assert_int_equal(put_block(m.o, m.written, 389), -EFBIG);
	assert_int_equal(m.o->bytes, 611);
	m.o->reserve = 0;
	model_block(&m, t, 389);
	assert_int_equal(put_block(m.o, m.written, 1), -EFBIG);
	assert_int_equal(put_block(m.o, m.written, 0), 0);
	model_part(&m, t, 1000);
	assert_int_equal(m.deleted, 2);
	assert_int_equal(put_part(m.o, m.written, 1001), -EFBIG);
	assert_int_equal(output_close(m.o), 0);
}

/* A part that somebody has moved away, to keep it, is not missed; one that cannot go is told. */
static void test_cannot_be_deleted(void **state)
{
	static struct model m;
	const struct temp *t = *state;
	char *first = output_part_path(t->path, 1);
	uint64_t bytes;

	m = (struct model){.max_bytes = 1000};
	assert_int_equal(output_parts_open(t->path, false, m.max_bytes, &m.o), 0);
	model_part(&m, t, 300);
	model_part(&m, t, 300);
	model_part(&m, t, 300);
	sys_fail_at(SYS_UNLINK, 0, EPERM);
	assert_int_equal(put_block(m.o, m.written, 200), -EPERM);
	assert_true(sys_fail_off(SYS_UNLINK));
	assert_int_equal(m.o->bytes, 900);
	assert_int_equal(unlink(first), 0);
	free(first);
	model_block(&m, t, 200);
	assert_int_equal(m.deleted, 1);
	alloc_fail_at(0);
	assert_int_equal(put_block(m.o, m.written, 400), -ENOMEM);
	assert_true(alloc_fail_off());
	model_block(&m, t, 400);
	assert_int_equal(m.deleted, 2);
	assert_int_equal(output_close(m.o), 0);
	assert_int_equal(temp_files(t->dir, false, &bytes), 1);
}

static void test_part_fails(void **state)
{
	const struct temp *t = *state;
	char *second = output_part_path(t->path, 2);
	struct log_output *o;
	uint64_t bytes;
	FILE *f;

	/* Nothing that is there is overwritten, whenever it came. */
	assert_int_equal(output_parts_open(t->path, false, 1000, &o), 0);
	assert_int_equal(put_part(o, 0, 100), 0);
	f = fopen(second, "we");
	assert_non_null(f);
	fclose(f);
	assert_int_equal(put_part(o, 0, 100), -EEXIST);
	assert_int_equal(output_close(o), 0);
	assert_int_equal(output_parts_open(t->path, false, 1000, &o), -EEXIST);
	assert_int_equal(output_parts_open(t->path, true, 1000, &o), 0);
	assert_int_equal(temp_files(t->dir, false, &bytes), 0);
	/* A header that does not fit on the disk. */
	sys_fail_at(SYS_WRITE, 0, ENOSPC);
	assert_int_equal(put_part(o, 0, 100), -ENOSPC);
	assert_true(sys_fail_off(SYS_WRITE));
	o->ops->discard(o);
	assert_int_equal(output_close(o), 0);
	assert_int_equal(temp_files(t->dir, false, &bytes), 0);
	/* What the part before could not keep is told with the next one. */
	assert_int_equal(output_parts_open(t->path, false, 1000, &o), 0);
	assert_int_equal(put_part(o, 0, 100), 0);
	sys_fail_at(SYS_CLOSE, 0, EDQUOT);
	assert_int_equal(put_part(o, 0, 100), -EDQUOT);
	assert_true(sys_fail_off(SYS_CLOSE));
	assert_int_equal(output_close(o), 0);
	/* A folder that goes, a file that goes. */
	assert_int_equal(output_parts_open(t->path, true, 1000, &o), 0);
	assert_int_equal(put_part(o, 0, 100), 0);
	temp_files(t->dir, true, &bytes);
	assert_int_equal(put_block(o, 0, 100), -ESTALE);
	assert_int_equal(output_close(o), 0);
	assert_int_equal(output_parts_open("/no/such/folder/a.spoor", false, 1000, &o), -ENOENT);
	free(second);
}

/* Parts were deleted where a stranger's link leads. */
static void test_links_of_others(void **state)
{
	struct temp_trap trap;
	struct log_output *o;
	char name[128];
	int fd;

	if (!temp_trap_begin(*state, &trap)) {
		print_message("only root can make links of others\n");
		skip();
	}
	snprintf(name, sizeof(name), "%s/a-000001.spoor", trap.victim);
	fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	snprintf(name, sizeof(name), "%s/a.spoor", trap.link);
	assert_int_equal(output_parts_open(name, true, 1000, &o), -ELOOP);
	assert_int_equal(temp_files(trap.victim, false, NULL), 1);
	temp_trap_end(&trap);
}

/* More parts than there was room for their sizes at first, with each allocation failing. */
static void test_nth_allocation_fails(void **state)
{
	const struct temp *t = *state;
	struct log_output *o = NULL;
	unsigned long n = 0;
	uint64_t bytes;
	bool failed;
	int err;

	do {
		alloc_fail_at(n++);
		err = output_parts_open(t->path, false, 100000, &o);
		if (!err) {
			for (unsigned i = 0; i < 40 && !err; i++) {
				bytes = o->bytes;
				err = put_part(o, 100 * i, 100);
				assert_int_equal(o->bytes, bytes + (err ? 0 : 100));
			}
			assert_int_equal(output_close(o), 0);
		}
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		assert_int_equal(temp_files(t->dir, true, &bytes) == 40, !failed);
	} while (failed);
	assert_true(n > 40);
	n = 0;
	do {
		alloc_fail_at(n++);
		err = output_file_open(t->path, true, &o);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
	} while (failed);
	assert_int_equal(output_close(o), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_file, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_existing_file, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_short_writes, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_write_fails, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_close_fails, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_no_name, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_standard_output, temp_setup, temp_teardown),
		cmocka_unit_test(test_names),
		cmocka_unit_test_setup_teardown(test_sizes, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_links_of_others, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_boundary, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_cannot_be_deleted, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_part_fails, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_nth_allocation_fails, temp_setup,
						temp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
