/* What comes out of a pipe, kept in a file without a name; and what is said when it cannot be. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/spool.h"
#include "tests/unit/alloc_fail.h"

static char dir[64], said[4096];

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/spoor-spool-XXXXXX");
	return mkdtemp(dir) && !setenv("TMPDIR", dir, 1) ? 0 : -1;
}

/* Nothing is ever left in the folder. */
static int teardown(void **state)
{
	(void)state;
	return rmdir(dir);
}

static uint8_t byte_at(size_t n)
{
	return (uint8_t)(n * 2654435761u >> 13);
}

struct filled {
	int fd;
	size_t count;
};

static void *fill(void *arg)
{
	struct filled *f = arg;
	uint8_t bytes[7777];
	size_t at = 0, n;
	ssize_t done = 1;

	for (; at < f->count && done > 0; at += (size_t)done) {
		n = f->count - at < sizeof(bytes) ? f->count - at : 1 + at % sizeof(bytes);
		for (size_t i = 0; i < n; i++)
			bytes[i] = byte_at(at + i);
		done = write(f->fd, bytes, n);
	}
	close(f->fd);
	return NULL;
}

/* Of a pipe with so many bytes; what is said is in said. */
static int spool(size_t count, int *ret)
{
	struct filled f = {.count = count};
	int ends[2], was = dup(STDERR_FILENO), err = memfd_create("said", MFD_CLOEXEC), done;
	pthread_t thread;
	ssize_t n;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	f.fd = ends[1];
	assert_int_equal(pthread_create(&thread, NULL, fill, &f), 0);
	dup2(err, STDERR_FILENO);
	done = spool_copy(ends[0], "the pipe", ret);
	dup2(was, STDERR_FILENO);
	close(was);
	close(ends[0]);
	pthread_join(thread, NULL);
	n = pread(err, said, sizeof(said) - 1, 0);
	said[n > 0 ? n : 0] = '\0';
	close(err);
	return done;
}

static void check_content(int fd, size_t count)
{
	const uint8_t *bytes;
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, count);
	assert_int_equal(st.st_nlink, 0);
	if (!count)
		return;
	bytes = mmap(NULL, count, PROT_READ, MAP_SHARED, fd, 0);
	assert_true(bytes != MAP_FAILED);
	for (size_t n = 0; n < count; n++)
		if (bytes[n] != byte_at(n))
			fail_msg("byte %zu", n);
	munmap((void *)bytes, count);
}

static void test_copies(void **state)
{
	static const size_t sizes[] = {0, 1, 4096, 262143, 262144, 262145, 3000001};
	int fd;

	(void)state;
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		assert_int_equal(spool(sizes[i], &fd), 0);
		check_content(fd, sizes[i]);
		assert_string_equal(said, "");
		close(fd);
	}
}

static void expect(int err, int want, const char *text)
{
	assert_int_equal(err, want);
	if (!strstr(said, text) || !strstr(said, "the pipe: ") || strchr(said, '\n')[1])
		fail_msg("'%s' is not in the one line '%s'", text, said);
}

static void test_no_folder(void **state)
{
	int fd = 4711;

	(void)state;
	setenv("TMPDIR", "/no/such/folder", 1);
	expect(spool(10, &fd), -ENOENT, "/no/such/folder: No such file");
	assert_non_null(strstr(said, "set TMPDIR"));
	assert_int_equal(fd, 4711);
}

/* An empty name is none. */
static void test_default_folder(void **state)
{
	int fd;

	(void)state;
	setenv("TMPDIR", "", 1);
	assert_int_equal(spool(10, &fd), 0);
	check_content(fd, 10);
	close(fd);
	unsetenv("TMPDIR");
	assert_int_equal(spool(10, &fd), 0);
	close(fd);
}

/* A limit, as a full disk: some of it is written, then nothing more. */
static void test_no_room(void **state)
{
	struct rlimit old, limit;
	int err, fd = 4711;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = 300001;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	err = spool(1000000, &fd);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, SIG_DFL);
	expect(err, -EFBIG, "has no room to keep what comes out of the pipe: set TMPDIR");
	assert_int_equal(fd, 4711);
}

static void test_cannot_be_read(void **state)
{
	int fd = 4711, in = open("/", O_RDONLY | O_CLOEXEC), was = dup(STDERR_FILENO);
	int err = open("/dev/null", O_WRONLY | O_CLOEXEC), done;

	(void)state;
	dup2(err, STDERR_FILENO);
	done = spool_copy(in, "x", &fd);
	dup2(was, STDERR_FILENO);
	assert_int_equal(done, -EISDIR);
	assert_int_equal(fd, 4711);
	close(was);
	close(err);
	close(in);
}

static void test_nth_allocation_fails(void **state)
{
	unsigned long n = 0;
	bool failed;
	int err, fd;

	(void)state;
	do {
		alloc_fail_at(n++);
		err = spool(10, &fd);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
	} while (failed);
	assert_true(n > 1);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_copies, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_folder, setup, teardown),
		cmocka_unit_test_setup_teardown(test_default_folder, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_room, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cannot_be_read, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nth_allocation_fails, setup, teardown),
	};

	signal(SIGPIPE, SIG_IGN); /* of who fills a pipe that nobody reads any more */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
