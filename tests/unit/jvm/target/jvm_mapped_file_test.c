/* jvm/target/mapped_file.c: only the very file that is mapped is opened, and only if it is a regular one. */
#include "jvm/target/mapped_file.h"

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
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "jvm/target/process.h"
/* It allocates nothing; the linker wants the wrappers. */
#include "tests/unit/alloc_fail.h"
#include "tests/unit/temp_folder.h"

/* As maps would have a mapping of the file at path; the mapping itself is not there, as for one who
 * may not use map_files. */
static struct process_lib lib_of(const char *path)
{
	struct process_lib lib = {.start = 0x1000, .end = 0x2000};
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	lib.inode = st.st_ino;
	lib.dev_major = major(st.st_dev);
	lib.dev_minor = minor(st.st_dev);
	assert_non_null(realpath(path, lib.path));
	return lib;
}

static const char *folder(void **state)
{
	return ((const struct temp *)*state)->dir;
}

static struct process_lib self_lib(void)
{
	char path[4200];

	assert_non_null(realpath("/proc/self/exe", path));
	return lib_of(path);
}

static int open_mapped(const struct process_lib *lib)
{
	return mapped_file_open(getpid(), lib);
}

static void the_mapped_file_is_opened(void **state)
{
	struct process_lib lib;
	struct stat here, there;
	int fd;

	(void)state;
	assert_int_equal(process_lib(getpid(), "libc.so.6", &lib), 0);
	fd = open_mapped(&lib);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &there), 0);
	assert_int_equal(stat(lib.path, &here), 0);
	assert_int_equal(here.st_ino, there.st_ino);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
}

static void without_the_mapping_the_path_will_do(void **state)
{
	struct process_lib lib;
	int fd;

	(void)state;
	lib = self_lib();
	fd = open_mapped(&lib);
	assert_true(fd >= 0);
	close(fd);
	/* But not if another file is there by now, or if it was deleted. */
	lib.inode++;
	assert_int_equal(open_mapped(&lib), -ESTALE);
	lib.inode--;
	lib.deleted = true;
	assert_true(open_mapped(&lib) < 0);
	/* Another device, the same number. */
	lib.deleted = false;
	lib.dev_minor++;
	fd = open_mapped(&lib);
	if (fd >= 0) /* overlayfs and btrfs show other devices */
		close(fd);
	else
		assert_int_equal(fd, -ESTALE);
}

/* An open() would wait for a writer for ever. */
static void a_fifo_is_not_opened(void **state)
{
	struct process_lib lib;
	char path[4200];

	snprintf(path, sizeof(path), "%s/fifo", folder(state));
	assert_int_equal(mkfifo(path, 0600), 0);
	lib = lib_of(path);
	assert_int_equal(open_mapped(&lib), -ENOEXEC);
	unlink(path);
}

static void a_device_is_not_opened(void **state)
{
	struct process_lib lib = lib_of("/dev/null");

	(void)state;
	assert_int_equal(open_mapped(&lib), -ENOEXEC);
}

static void a_symbolic_link_is_not_followed(void **state)
{
	struct process_lib lib;
	char file[4200], path[4200];
	int fd;

	snprintf(file, sizeof(file), "%s/file", folder(state));
	snprintf(path, sizeof(path), "%s/link", folder(state));
	fd = open(file, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(symlink(file, path), 0);
	lib = lib_of(file);
	assert_non_null(realpath(folder(state), lib.path));
	strcat(lib.path, "/link");
	assert_int_equal(open_mapped(&lib), -ELOOP);
	unlink(path);
	unlink(file);
}

static void nobody_has_no_files(void **state)
{
	struct process_lib lib = self_lib();

	(void)state;
	assert_int_equal(mapped_file_open(1 << 30, &lib), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_mapped_file_is_opened),
		cmocka_unit_test(without_the_mapping_the_path_will_do),
		cmocka_unit_test(a_fifo_is_not_opened),
		cmocka_unit_test(a_device_is_not_opened),
		cmocka_unit_test(a_symbolic_link_is_not_followed),
		cmocka_unit_test(nobody_has_no_files),
	};

	return cmocka_run_group_tests_name("mapped_file", tests, temp_setup, temp_teardown);
}
