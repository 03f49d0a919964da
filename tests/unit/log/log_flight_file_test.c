/* The files that are made of what a flight recorder keeps. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "flight_model.h"
#include "log/check/check.h"
#include "log/read/reader.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/sys_fail.h"
#include "tests/unit/temp_folder.h"

/* --- files ------------------------------------------------------------------------------------ */

struct found {
	uint64_t first, last; /* numbers of notes; all between are there */
	unsigned notes, syncs, ends;
	json_t *flight; /* of the header */
};

static void tell(void *ctx, const struct check_finding *f)
{
	(void)ctx;
	print_message("%s\n", f->text);
}

static void read_file(const char *path, struct found *ret)
{
	struct log_check check;
	struct log_reader *r;
	const struct event *e;
	int err;

	*ret = (struct found){.first = UINT64_MAX};
	assert_int_equal(log_check(path, tell, NULL, &check), 0);
	assert_int_equal(check.damage, 0);
	assert_true(check.closed);
	log_check_free(&check);
	assert_int_equal(log_reader_open(path, &r), 0);
	assert_null(json_object_get(log_reader_header(r), "part"));
	ret->flight = json_incref(json_object_get(log_reader_header(r), "flight"));
	while ((err = log_reader_next(r, &e)) == 1) {
		if (e->id == EVENT_END) {
			assert_int_equal(e->v[END_REASON].u, END_REASON_DUMPED);
			ret->ends++;
			continue;
		}
		assert_int_equal(e->id, EVENT_NOTE);
		assert_int_equal(ret->ends, 0);
		if (ret->first == UINT64_MAX)
			ret->first = e->v[NOTE_LEVEL].u;
		else
			assert_true(e->v[NOTE_LEVEL].u > ret->last);
		ret->last = e->v[NOTE_LEVEL].u;
		ret->notes++;
	}
	assert_int_equal(err, 0);
	log_reader_close(r);
}

static void assert_file(const char *path, uint64_t first, uint64_t last, unsigned notes,
			const struct flight_file *f, uint64_t begin_ns)
{
	struct found found;

	read_file(path, &found);
	assert_int_equal(found.notes, notes);
	if (notes) {
		assert_int_equal(found.first, first);
		assert_int_equal(found.last, last);
	}
	assert_int_equal(found.ends, !f->ended);
	assert_string_equal(json_string_value(json_object_get(found.flight, "why")), f->why);
	assert_int_equal(json_integer_value(json_object_get(found.flight, "number")), f->number);
	assert_int_equal(json_integer_value(json_object_get(found.flight, "begin_ns")), begin_ns);
	assert_string_equal(json_string_value(json_object_get(found.flight, "recording")), "4711");
	json_decref(found.flight);
}

static char *file_name(const struct temp *t, unsigned number)
{
	static char name[160];

	snprintf(name, sizeof(name), "%s/a-%06u.spoor", t->dir, number);
	return name;
}

/* Writes it; it has this number, and a size. */
static void write_take(const struct temp *t, const struct flight_take *take,
		       const struct flight_file *f, unsigned number)
{
	uint64_t bytes = 0;
	char *path = NULL;
	struct stat st;

	assert_int_equal(flight_take_write(take, t->path, f, &path, &bytes), 0);
	assert_string_equal(path, file_name(t, number));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, bytes);
	assert_int_equal(st.st_mode & 0777, 0600);
	free(path);
}

/* What was there when it was taken, and nothing of later, though all of it is gone meanwhile. */
static void test_file(void **state)
{
	static struct model m;
	struct flight_file f = {.why = "a \"reason\"", .number = 3};
	struct flight_take *none, *some, *all;
	uint64_t first, last, begin;

	model_init(&m, 5000, NO_LIMIT);
	assert_int_equal(flight_take(m.o, &none), -ENODATA);
	model_part(&m);
	assert_int_equal(flight_take(m.o, &none), 0);
	m.part_bytes = 2000;
	m.part_ns = 1500;
	for (unsigned n = 0; n < 1500; n++) {
		m.now_ns += 7;
		if (m.now_ns - m.begin_ns[m.parts - 1] > m.part_ns)
			model_part(&m);
		model_block(&m, n % 50, 0);
	}
	assert_true(m.deleted > 0);
	assert_int_equal(flight_take(m.o, &some), 0);
	first = m.first_block[m.deleted];
	last = m.block - 1;
	begin = m.begin_ns[m.deleted];
	model_block(&m, 10, 0); /* into the same part */
	m.now_ns += 100000;
	model_part(&m);
	assert_int_equal(m.deleted, m.parts - 2);
	assert_int_equal(flight_take(m.o, &all), 0);
	assert_int_equal(m.o->ops->close(m.o), 0);

	write_take(*state, some, &f, 1);
	assert_file(file_name(*state, 1), first, last, (unsigned)(last - first + 1), &f, begin);
	f = (struct flight_file){.why = "", .number = 4, .ended = true};
	write_take(*state, none, &f, 2);
	assert_file(file_name(*state, 2), 0, 0, 0, &f, 1000000);
	f.ended = false;
	write_take(*state, all, &f, 3);
	flight_take_free(none);
	flight_take_free(some);
	flight_take_free(all);
	flight_take_free(NULL);
}

/* Of synchronization only what the first part begins with is needed: the others repeat. */
static void test_synchronization(void **state)
{
	static struct model m;
	struct flight_file f = {.why = "x", .number = 1};
	struct flight_take *take;
	struct log_check check;

	model_init(&m, NO_LIMIT, NO_LIMIT);
	for (unsigned n = 0; n < 3; n++) {
		model_part(&m);
		model_block(&m, 4, BLOCK_SYNC);
		model_block(&m, 4, 0);
		model_block(&m, 4, BLOCK_SYNC);
	}
	assert_int_equal(flight_take(m.o, &take), 0);
	assert_int_equal(m.o->ops->close(m.o), 0);
	write_take(*state, take, &f, 1);
	/* A reader leaves out the second one of the first part, as any that is not at the begin. */
	assert_file(file_name(*state, 1), 0, 7, 4, &f, 1000000);
	assert_int_equal(log_check(file_name(*state, 1), NULL, NULL, &check), 0);
	assert_int_equal(check.blocks_of[BLOCK_KIND_PACKED], 2 + 3 + 1); /* and the end */
	log_check_free(&check);
	flight_take_free(take);
}

/* More blocks than an index has. */
static void test_long_file(void **state)
{
	enum { BLOCKS = 3000 };
	static struct model m;
	struct flight_file f = {.why = "x", .number = 1};
	struct flight_take *take;
	struct log_check check;

	model_init(&m, NO_LIMIT, NO_LIMIT);
	model_part(&m);
	for (unsigned n = 0; n < BLOCKS; n++) {
		m.now_ns++;
		model_block(&m, 1, 0);
	}
	assert_int_equal(flight_take(m.o, &take), 0);
	write_take(*state, take, &f, 1);
	assert_file(file_name(*state, 1), 0, BLOCKS - 1, BLOCKS, &f, 1000000);
	assert_int_equal(log_check(file_name(*state, 1), NULL, NULL, &check), 0);
	assert_int_equal(check.blocks_of[BLOCK_KIND_INDEX], 3);
	log_check_free(&check);
	flight_take_free(take);
	assert_int_equal(m.o->ops->close(m.o), 0);
}

static void touch(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* Nothing that is there is overwritten; a file system without renameat2 does as well. */
static void test_names(void **state)
{
	static struct model m;
	const struct temp *t = *state;
	struct flight_file f = {.why = "x", .number = 1};
	struct flight_take *take;
	char text[8] = "";
	FILE *kept;

	model_init(&m, NO_LIMIT, NO_LIMIT);
	model_part(&m);
	assert_int_equal(flight_take(m.o, &take), 0);
	touch(file_name(t, 1), "keep");
	touch(file_name(t, 3), "keep");
	write_take(t, take, &f, 2);
	sys_fail_at(SYS_RENAMEAT2, 3, EINVAL); /* 1, 2 and 3 are there */
	write_take(t, take, &f, 4);
	assert_true(sys_fail_off(SYS_RENAMEAT2));
	assert_int_equal(temp_files(t->dir, false, NULL), 4);
	for (unsigned n = 1; n <= 3; n += 2) {
		kept = fopen(file_name(t, n), "re");
		assert_non_null(fgets(text, sizeof(text), kept));
		assert_string_equal(text, "keep");
		fclose(kept);
	}
	flight_take_free(take);
	assert_int_equal(m.o->ops->close(m.o), 0);
}

/* --- failures --------------------------------------------------------------------------------- */

static struct flight_take *some_take(unsigned blocks)
{
	static struct model m;
	struct flight_take *take;

	model_init(&m, NO_LIMIT, NO_LIMIT);
	model_part(&m);
	for (unsigned n = 0; n < blocks; n++) {
		if (n == blocks / 2)
			model_part(&m);
		m.now_ns++;
		model_block(&m, 100, 0);
	}
	assert_int_equal(flight_take(m.o, &take), 0);
	assert_int_equal(m.o->ops->close(m.o), 0);
	return take;
}

/* A call that fails, whichever it is: the error is told and no file is left. */
static void check_failures(const struct temp *t, enum sys_call call, int error, bool once)
{
	struct flight_take *take = some_take(5);
	struct flight_file f = {.why = "x", .number = 1};
	unsigned long n = 0;
	uint64_t bytes = 4711;
	char *path = NULL;
	bool failed;
	int err;

	do {
		sys_fail_at(call, n++, error);
		err = flight_take_write(take, t->path, &f, &path, &bytes);
		failed = sys_fail_off(call);
		assert_int_equal(err, failed ? -error : 0);
		assert_int_equal(temp_files(t->dir, false, NULL), !failed);
		if (failed) {
			assert_null(path);
			assert_int_equal(bytes, 4711);
		}
	} while (failed);
	assert_true(once ? n == 2 : n > 5);
	assert_file(path, 0, 4, 5, &f, 1000000);
	free(path);
	temp_files(t->dir, true, NULL);
	flight_take_free(take);
}

static void test_calls_fail(void **state)
{
	check_failures(*state, SYS_WRITE, ENOSPC, false);
	check_failures(*state, SYS_WRITE, EIO, false);
	check_failures(*state, SYS_FSYNC, EIO, true);
	check_failures(*state, SYS_FSYNC, EDQUOT, true);
	check_failures(*state, SYS_CLOSE, EDQUOT, true);
	check_failures(*state, SYS_RENAMEAT2, EACCES, true);
}

/* What is no failure: writes that are interrupted or take less, an fsync that a device has not. */
static void test_calls_that_do(void **state)
{
	static const struct {
		enum sys_call call;
		int err;
	} calls[] = {{SYS_WRITE, EINTR}, {SYS_FSYNC, EINVAL}, {SYS_CLOSE, EINTR}};
	struct flight_take *take = some_take(5);
	struct flight_file f = {.why = "x", .number = 1};

	for (unsigned i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		sys_fail_at(calls[i].call, 0, calls[i].err);
		write_take(*state, take, &f, i + 1);
		assert_true(sys_fail_off(calls[i].call));
		assert_file(file_name(*state, i + 1), 0, 4, 5, &f, 1000000);
	}
	sys_write_most = 13;
	write_take(*state, take, &f, 4);
	sys_write_most = 0;
	assert_file(file_name(*state, 4), 0, 4, 5, &f, 1000000);
	flight_take_free(take);
}

static void test_no_link(void **state)
{
	struct flight_take *take = some_take(1);
	struct flight_file f = {.why = "x", .number = 1};
	const struct temp *t = *state;
	char *path = NULL;
	uint64_t bytes;

	sys_fail_at(SYS_RENAMEAT2, 0, EINVAL);
	sys_fail_at(SYS_LINK, 0, EPERM);
	assert_int_equal(flight_take_write(take, t->path, &f, &path, &bytes), -EPERM);
	assert_true(sys_fail_off(SYS_RENAMEAT2) && sys_fail_off(SYS_LINK));
	assert_null(path);
	assert_int_equal(temp_files(t->dir, false, NULL), 0);
	flight_take_free(take);
}

static void test_no_folder(void **state)
{
	struct flight_take *take = some_take(1);
	struct flight_file f = {.why = "x", .number = 1};
	char *path = NULL;
	uint64_t bytes;

	(void)state;
	assert_int_equal(flight_take_write(take, "/no/such/folder/a.spoor", &f, &path, &bytes),
			 -ENOENT);
	assert_null(path);
	flight_take_free(take);
}

/* Files went to where a stranger's link leads. */
static void test_links_of_others(void **state)
{
	struct flight_take *take = some_take(1);
	struct flight_file f = {.why = "x", .number = 1};
	struct temp_trap trap;
	char name[128], *path = NULL;
	uint64_t bytes;

	if (!temp_trap_begin(*state, &trap)) {
		flight_take_free(take);
		print_message("only root can make links of others\n");
		skip();
	}
	snprintf(name, sizeof(name), "%s/a.spoor", trap.link);
	assert_int_equal(flight_take_write(take, name, &f, &path, &bytes), -ELOOP);
	assert_null(path);
	assert_int_equal(temp_files(trap.victim, false, NULL), 0);
	/* One's own is followed. */
	assert_int_equal(lchown(trap.link, geteuid(), getegid()), 0);
	assert_int_equal(flight_take_write(take, name, &f, &path, &bytes), 0);
	assert_int_equal(temp_files(trap.victim, false, NULL), 1);
	free(path);
	temp_trap_end(&trap);
	flight_take_free(take);
}

/* Writing a file: all of it or none. */
static void test_nth_allocation_fails(void **state)
{
	struct flight_take *take = some_take(5);
	struct flight_file f = {.why = "x", .number = 1};
	const struct temp *t = *state;
	unsigned long n = 0;
	uint64_t bytes;
	bool failed;
	int err;

	do {
		char *path = NULL;

		alloc_fail_at(n++);
		err = flight_take_write(take, t->path, &f, &path, &bytes);
		failed = alloc_fail_off();
		if (err) {
			assert_true(failed);
			assert_int_equal(err, -ENOMEM);
			assert_null(path);
		} else {
			assert_file(path, 0, 4, 5, &f, 1000000);
		}
		free(path);
		assert_int_equal(temp_files(t->dir, true, NULL), !err);
	} while (failed);
	assert_true(n > 20);
	flight_take_free(take);
}

/* --- at the same time ------------------------------------------------------------------------- */

struct written {
	const struct temp *t;
	struct flight_take *take;
	unsigned number;
	int err;
};

static void *write_it(void *arg)
{
	struct written *x = arg;
	struct flight_file f = {.why = "x", .number = x->number};
	char *path = NULL;
	uint64_t bytes;

	x->err = flight_take_write(x->take, x->t->path, &f, &path, &bytes);
	flight_take_free(x->take);
	free(path);
	return NULL;
}

/* Files are written while more comes, and while the parts that are in them go. */
static void test_while_more_comes(void **state)
{
	enum { FILES = 4 };
	static struct model m;
	struct written x[FILES];
	pthread_t threads[FILES];
	struct found found;
	uint64_t total = 0;

	model_init(&m, 3000, 60000);
	m.part_bytes = m.max_bytes / 4 - 1300;
	m.part_ns = 700;
	model_part(&m);
	for (unsigned n = 0; n < FILES; n++) {
		x[n] = (struct written){.t = *state, .number = n + 1};
		for (unsigned i = 0; i < 300; i++) {
			m.now_ns += 10;
			if (m.now_ns - m.begin_ns[m.parts - 1] > m.part_ns)
				model_part(&m);
			model_block(&m, 100, 0);
		}
		assert_int_equal(flight_take(m.o, &x[n].take), 0);
		total += m.block - m.first_block[m.deleted];
		assert_int_equal(pthread_create(&threads[n], NULL, write_it, &x[n]), 0);
	}
	for (unsigned n = 0; n < 3000; n++) {
		m.now_ns += 10;
		if (m.now_ns - m.begin_ns[m.parts - 1] > m.part_ns)
			model_part(&m);
		model_block(&m, n % 300, 0);
	}
	for (unsigned n = 0; n < FILES; n++) {
		assert_int_equal(pthread_join(threads[n], NULL), 0);
		assert_int_equal(x[n].err, 0);
	}
	assert_int_equal(m.o->ops->close(m.o), 0);
	for (unsigned n = 1; n <= FILES; n++) {
		read_file(file_name(*state, n), &found);
		assert_int_equal(found.last - found.first + 1, found.notes);
		total -= found.notes;
		json_decref(found.flight);
	}
	assert_int_equal(total, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_file, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_synchronization, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_long_file, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_names, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_calls_fail, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_calls_that_do, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_no_link, temp_setup, temp_teardown),
		cmocka_unit_test(test_no_folder),
		cmocka_unit_test_setup_teardown(test_links_of_others, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_nth_allocation_fails, temp_setup,
						temp_teardown),
		cmocka_unit_test_setup_teardown(test_while_more_comes, temp_setup, temp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
