#include "jvm/target/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/alloc_fail.h"

static void stat_survives_any_name(void **state)
{
	struct process_stat s;

	(void)state;
	assert_int_equal(process_stat_parse(
				 "42 (a) Z ) (b)) S 1 42 42 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 19 0 "
				 "239444 1 2 3\n",
				 &s),
			 0);
	assert_int_equal(s.state, 'S');
	assert_int_equal(s.threads, 19);
	assert_int_equal(s.start_ticks, 239444);
	assert_int_equal(process_stat_parse("42 (java) S 1 42", &s), -EPROTO);
	assert_int_equal(process_stat_parse("", &s), -EPROTO);
}

#define LINE(start, end, perms, offset, inode, path)                                               \
	start "-" end " " perms " " offset " fe:00 " inode "                  " path "\n"

static const char maps[] = LINE(
	"560000000000", "560000001000", "r--p", "00000000", "7",
	"/usr/bin/java") "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n" LINE("7f1000000000",
										   "7f1000001000",
										   "r--p",
										   "00000000", "11",
										   "/opt/tool/"
										   "libjvm.so")
	LINE("7f2000000000", "7f2000251000", "r--p", "00000000", "12", "/opt/a b/libjvm.so")
		LINE("7f2000251000", "7f2000fa4000", "r-xp", "00251000", "12", "/opt/a b/libjvm.so")
			LINE("7f2001000000", "7f2001001000", "rw-p", "012dd000", "12",
			     "/opt/a b/libjvm.so") "7fff00000000-7fff00001000 rw-p 00000000 00:00 "
						   "0                          [stack]\n";

static void maps_gives_the_executable_one(void **state)
{
	struct process_lib lib;

	(void)state;
	assert_int_equal(process_maps_parse(maps, "libjvm.so", &lib), 0);
	assert_string_equal(lib.path, "/opt/a b/libjvm.so");
	assert_true(lib.start == 0x7f2000000000 && lib.end == 0x7f2000251000);
	assert_int_equal(lib.inode, 12);
	assert_int_equal(lib.dev_major, 0xfe);
	assert_false(lib.deleted);
	assert_int_equal(process_maps_parse(maps, "libjvm", &lib), -ENOENT);
	assert_int_equal(process_maps_parse(maps, "jvm.so", &lib), -ENOENT);
	assert_int_equal(process_maps_parse("", "libjvm.so", &lib), -ENOENT);
}

/* glibc's files have the release in their names up to 2.33. */
static void maps_takes_a_pattern(void **state)
{
	static const char text[] =
		LINE("7f20", "7f30", "r--p", "00000000", "11", "/j/libc-client.so")
			LINE("7f40", "7f50", "r-xp", "00000000", "12", "/j/libc-2.31.so");
	struct process_lib lib;

	(void)state;
	assert_int_equal(process_maps_parse(text, "libc-2.*.so", &lib), 0);
	assert_int_equal(lib.inode, 12);
	assert_int_equal(process_maps_parse(text, "libpthread-2.*.so", &lib), -ENOENT);
}

static void maps_sees_a_deleted_file(void **state)
{
	static const char text[] =
		LINE("7f20", "7f30", "r--p", "00000000", "12", "/j/libjvm.so (deleted)")
			LINE("7f30", "7f40", "r-xp", "00001000", "12", "/j/libjvm.so (deleted)");
	struct process_lib lib;

	(void)state;
	assert_int_equal(process_maps_parse(text, "libjvm.so", &lib), 0);
	assert_string_equal(lib.path, "/j/libjvm.so");
	assert_true(lib.deleted);
}

struct code {
	unsigned count;
	uint64_t starts;
	bool deleted;
};

static void on_code(void *ctx, const struct process_lib *lib)
{
	struct code *c = ctx;

	c->count++;
	c->starts += lib->start;
	c->deleted |= lib->deleted;
}

static void maps_gives_all_code(void **state)
{
	static const char text[] =
		LINE("7f20", "7f30", "r--p", "00000000", "12", "/tmp/a.so (deleted)")
			LINE("7f30", "7f40", "r-xp", "00001000", "12", "/tmp/a.so (deleted)")
				LINE("7f50", "7f60", "r-xp", "00000000", "13", "/b.so")
					LINE("7f60", "7f70", "r-xp", "00000000", "0", "[vdso]");
	struct code code = {0};

	(void)state;
	process_code_each(text, on_code, &code);
	assert_int_equal(code.count, 2);
	assert_int_equal(code.starts, 0x7f30 + 0x7f50);
	assert_true(code.deleted);
	process_code_each("", on_code, &code);
	assert_int_equal(code.count, 2);
}

/* Cut anywhere, a text is parsed without reading past its end (which ASan would see). */
static void maps_may_be_cut_anywhere(void **state)
{
	struct process_lib lib;

	(void)state;
	for (size_t len = 0; len < sizeof(maps); len++) {
		char *cut = malloc(len + 1);

		assert_non_null(cut);
		memcpy(cut, maps, len);
		cut[len] = 0;
		process_maps_parse(cut, "libjvm.so", &lib);
		process_code_each(cut, on_code, &(struct code){0});
		free(cut);
	}
}

static void ns_pid_is_the_innermost(void **state)
{
	pid_t pid;

	(void)state;
	assert_int_equal(
		process_ns_pid_parse("Name:\tjava\nNSpid:\t4022\t17\t1\nNSpgid:\t9\n", &pid), 0);
	assert_int_equal(pid, 1);
	assert_int_equal(process_ns_pid_parse("Name:\tjava\nNSpid:\t4022\nNSpgid:\t9\n", &pid), 0);
	assert_int_equal(pid, 4022);
	assert_int_equal(process_ns_pid_parse("Name:\tNSpid:\t5\n", &pid), -ENOENT);
	assert_int_equal(process_ns_pid_parse("Name:\tx\nNSpid:", &pid), -ENOENT);
}

static void code_is_what_is_mapped_to_run(void **state)
{
	uint64_t kb = 1;

	(void)state;
	assert_int_equal(process_code_parse("VmExe:\t  4 kB\nVmLib:\t   18764 kB\nX:\n", &kb), 0);
	assert_int_equal(kb, 18764);
	assert_int_equal(process_code_parse("Name:\tVmLib:\t5 kB\n", &kb), -ENOENT);
	assert_int_equal(process_code_parse("Name:\tx\nVmLib:", &kb), -ENOENT);
	assert_int_equal(process_code_parse("Name:\tx\nVmLib:\t-5 kB\n", &kb), -ENOENT);
	assert_int_equal(process_code_parse("Name:\tx\nVmLib:\t\nA: 5 kB\n", &kb), -ENOENT);
	assert_int_equal(kb, 18764);
}

static void pages_are_all_mappings(void **state)
{
	uint64_t before, after;
	void *more;
	int fd = process_open_statm(getpid());

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(process_pages(fd, &before), 0);
	more = mmap(NULL, 64 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(more, MAP_FAILED);
	assert_int_equal(process_pages(fd, &after), 0);
	assert_int_equal((after - before) * (uint64_t)getpagesize(), 64 << 20);
	munmap(more, 64 << 20);
	close(fd);
	assert_int_equal(process_open_statm(INT_MAX), -1);
	fd = open("/dev/null", O_RDONLY);
	assert_int_equal(process_pages(fd, &after), -EINVAL);
	close(fd);
}

/* A mapping of a page that may be run: it is in the sum until it is gone. */
static void code_of_this_process(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t before, with, after;
	void *p;

	(void)state;
	assert_int_equal(process_code(getpid(), &before), 0);
	p = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(process_code(getpid(), &with), 0);
	munmap(p, page);
	assert_int_equal(process_code(getpid(), &after), 0);
	assert_int_equal(with, before + page / 1024);
	assert_int_equal(after, before);
}

static void this_process_is_known(void **state)
{
	struct process_stat s;
	struct process_lib lib;
	char command[8];
	pid_t pid;

	(void)state;
	assert_int_equal(process_stat(getpid(), &s), 0);
	assert_int_equal(s.state, 'R');
	assert_true(s.start_ticks > 0);
	assert_int_equal(process_ns_pid(getpid(), &pid), 0);
	assert_int_equal(process_lib(getpid(), "libjvm.so", &lib), -ENOENT);
	assert_int_equal(process_lib(getpid(), "libc.so.6", &lib), 0);
	assert_int_equal(process_command(getpid(), command, sizeof(command)), 0);
	assert_int_equal(strlen(command), sizeof(command) - 1);
	/* No process has this number: it is above PID_MAX_LIMIT. */
	assert_int_equal(process_stat(1 << 30, &s), -ESRCH);
}

static void allocations_may_fail(void **state)
{
	struct process_lib lib;
	unsigned long n = 0;
	int err;

	(void)state;
	do {
		alloc_fail_at(n++);
		err = process_lib(getpid(), "libc.so.6", &lib);
		assert_true(err == 0 || err == -ENOMEM);
	} while (alloc_fail_off());
	assert_int_equal(err, 0);
	assert_true(n > 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stat_survives_any_name),
		cmocka_unit_test(maps_gives_the_executable_one),
		cmocka_unit_test(maps_takes_a_pattern),
		cmocka_unit_test(maps_sees_a_deleted_file),
		cmocka_unit_test(maps_gives_all_code),
		cmocka_unit_test(maps_may_be_cut_anywhere),
		cmocka_unit_test(ns_pid_is_the_innermost),
		cmocka_unit_test(code_is_what_is_mapped_to_run),
		cmocka_unit_test(pages_are_all_mappings),
		cmocka_unit_test(code_of_this_process),
		cmocka_unit_test(this_process_is_known),
		cmocka_unit_test(allocations_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
