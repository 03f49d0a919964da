#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/create.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/temp_folder.h"

#define NOBODY 65534

/* What takes the place of a folder as soon as it is made: a link to there; NULL: nothing does. */
static const char *swap_to;

int __real_mkdirat(int dir, const char *path, mode_t mode);
int __wrap_mkdirat(int dir, const char *path, mode_t mode);

int __wrap_mkdirat(int dir, const char *path, mode_t mode)
{
	int done = __real_mkdirat(dir, path, mode);

	if (!done && swap_to) {
		assert_int_equal(unlinkat(dir, path, AT_REMOVEDIR), 0);
		assert_int_equal(symlinkat(swap_to, dir, path), 0);
	}
	return done;
}

static mode_t umask_was;

static int begin(void **state)
{
	static struct temp t;

	umask_was = umask(022);
	*state = &t;
	return temp_begin(&t);
}

/* Whatever a test has left, which may have ended in the middle. */
static int end(void **state)
{
	struct temp *t = *state;
	char command[256];

	umask(umask_was);
	if (geteuid() != getuid() && seteuid(getuid()))
		return -1;
	snprintf(command, sizeof(command), "chmod -R u+rwx %s; rm -rf %s", t->dir, t->dir);
	return system(command);
}

static const char *in(const struct temp *t, const char *name, char buf[256])
{
	snprintf(buf, 256, "%s/%s", t->dir, name);
	return buf;
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void assert_has(const char *path, const char *text, mode_t mode)
{
	char got[64] = "";
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(read(fd, got, sizeof(got) - 1), strlen(text));
	assert_string_equal(got, text);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, mode);
	close(fd);
}

/* Creates it and writes "new". */
static int create(const char *path, bool overwrite, mode_t mode)
{
	int fd = -7, err = file_create(path, overwrite, mode, &fd);

	if (err) {
		assert_int_equal(fd, -7);
		return err;
	}
	assert_int_equal(write(fd, "new", 3), 3);
	close(fd);
	return 0;
}

static void test_new(void **state)
{
	struct temp *t = *state;

	umask(077);
	assert_int_equal(create(t->path, false, CREATE_MODE), 0);
	assert_has(t->path, "new", 0600);
	assert_int_equal(create(t->path, false, CREATE_MODE), -EEXIST);
	unlink(t->path);
	umask(0);
	assert_int_equal(create(t->path, false, CREATE_MODE), 0);
	assert_has(t->path, "new", 0600);
	umask(077);
	assert_int_equal(create(t->path, true, 0644), 0);
	assert_has(t->path, "new", 0644);
	assert_int_equal(create("", true, CREATE_MODE), -ENOENT);
	assert_int_equal(create(t->dir, true, CREATE_MODE), -EISDIR);
	assert_int_equal(create("/no/such/folder/a", true, CREATE_MODE), -ENOENT);
	assert_int_equal(create("/dev/null/a", true, CREATE_MODE), -ENOTDIR);
}

/* Who has the old file open, or another mode of it, sees nothing of the new one. */
static void test_a_new_file_takes_the_name(void **state)
{
	struct temp *t = *state;
	char got[8];
	int old;

	put(t->path, "old");
	assert_int_equal(chmod(t->path, 0666), 0);
	old = open(t->path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(create(t->path, true, CREATE_MODE), 0);
	assert_has(t->path, "new", 0600);
	assert_int_equal(read(old, got, sizeof(got)), 3);
	assert_memory_equal(got, "old", 3);
	close(old);
	assert_int_equal(temp_files(t->dir, false, NULL), 1);
}

static void test_links(void **state)
{
	struct temp *t = *state;
	char victim[256], name[256], path[160];

	put(in(t, "victim", victim), "victim");
	assert_int_equal(symlink(victim, t->path), 0);
	assert_int_equal(create(t->path, true, CREATE_MODE), -ELOOP);
	assert_int_equal(create(t->path, false, CREATE_MODE), -EEXIST);
	unlink(t->path);
	assert_int_equal(symlink(in(t, "none", name), t->path), 0);
	assert_int_equal(create(t->path, true, CREATE_MODE), -ELOOP);
	assert_int_equal(access(name, F_OK), -1);
	unlink(t->path);
	assert_int_equal(link(victim, t->path), 0);
	assert_int_equal(create(t->path, true, CREATE_MODE), -EMLINK);
	assert_has(victim, "victim", 0644);
	/* This user's own links to folders are followed, through .. and others, but not for ever. */
	assert_int_equal(mkdir(in(t, "folder", name), 0700), 0);
	assert_int_equal(symlink("folder", in(t, "to", name)), 0);
	assert_int_equal(symlink("../folder/../to/.", in(t, "folder/back", name)), 0);
	snprintf(path, sizeof(path), "%s/to//back/./file", t->dir);
	assert_int_equal(create(path, false, CREATE_MODE), 0);
	assert_has(in(t, "folder/file", name), "new", 0600);
	assert_int_equal(symlink("loop", in(t, "loop", name)), 0);
	assert_int_equal(create(in(t, "loop/file", name), true, CREATE_MODE), -ELOOP);
	/* A link of procfs is no text. */
	snprintf(path, sizeof(path), "/proc/self/root%s/to/other", t->dir);
	assert_int_equal(create(path, false, CREATE_MODE), 0);
	assert_has(in(t, "folder/other", name), "new", 0600);
}

/* As the audit did it: a link of somebody else's in a folder to which everybody may write. */
static void test_links_of_others(void **state)
{
	struct temp *t = *state;
	char victims[256], file[256], name[256];

	if (geteuid()) {
		print_message("only root can make files of others\n");
		skip();
	}
	assert_int_equal(mkdir(in(t, "victims", victims), 0700), 0);
	put(in(t, "victims/f", file), "victim");
	assert_int_equal(mkdir(in(t, "open", name), 0), 0);
	assert_int_equal(chmod(name, 01777), 0);
	assert_int_equal(symlink(victims, in(t, "open/link", name)), 0);
	assert_int_equal(create(in(t, "open/link/f", name), true, CREATE_MODE), 0);
	put(file, "victim");
	assert_int_equal(lchown(in(t, "open/link", name), NOBODY, NOBODY), 0);
	assert_int_equal(create(in(t, "open/link/f", name), true, CREATE_MODE), -ELOOP);
	assert_int_equal(create(in(t, "open/link/g", name), false, CREATE_MODE), -ELOOP);
	/* A link of one's own that leads there makes no difference. */
	assert_int_equal(symlink("open/link", in(t, "mine", name)), 0);
	assert_int_equal(create(in(t, "mine/f", name), true, CREATE_MODE), -ELOOP);
	assert_int_equal(folder_create(in(t, "open/link/d", name), CREATE_MODE), -ELOOP);
	put(in(t, "open/file", name), "theirs");
	assert_int_equal(chown(name, NOBODY, NOBODY), 0);
	assert_int_equal(create(name, true, CREATE_MODE), -EPERM);
	assert_has(name, "theirs", 0644);
	assert_int_equal(mkfifo(in(t, "open/fifo", name), 0666), 0);
	assert_int_equal(chown(name, NOBODY, NOBODY), 0);
	assert_int_equal(create(name, true, CREATE_MODE), -EPERM);
	assert_has(file, "victim", 0600);
}

static void test_special_files(void **state)
{
	struct temp *t = *state;
	char name[256];
	int reader, fd, ends[2];

	assert_int_equal(create("/dev/null", true, CREATE_MODE), 0);
	assert_int_equal(create("/dev/null", false, CREATE_MODE), -EEXIST);
	assert_int_equal(mkfifo(in(t, "fifo", name), 0600), 0);
	reader = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(create(name, true, CREATE_MODE), 0);
	assert_int_equal(read(reader, name, 3), 3);
	close(reader);
	/* This process's own descriptors, whatever they are. */
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	snprintf(name, sizeof(name), "/dev/fd/%d", ends[1]);
	assert_int_equal(create(name, true, CREATE_MODE), 0);
	assert_int_equal(create(name, false, CREATE_MODE), -EEXIST);
	assert_int_equal(read(ends[0], name, sizeof(name)), 3);
	fd = memfd_create("test", MFD_CLOEXEC);
	assert_int_equal(write(fd, "old and long", 12), 12);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	assert_int_equal(create(name, true, CREATE_MODE), 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), 3);
	close(fd);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(file_create("/dev/fd/99999", true, CREATE_MODE, &fd), -EBADF);
}

/* A file that the caller has opened keeps what it has already. */
static void test_standard_output(void **state)
{
	struct temp *t = *state;
	int fd, err, own = dup(STDOUT_FILENO);
	struct stat one, other;

	assert_true(own >= 0);
	put(t->path, "old");
	fd = open(t->path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	fflush(stdout);
	assert_int_equal(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
	close(fd);
	err = file_create("/dev/stdout", true, CREATE_MODE, &fd);
	assert_int_equal(dup2(own, STDOUT_FILENO), STDOUT_FILENO);
	close(own);
	assert_int_equal(err, 0);
	assert_int_equal(fstat(fd, &one), 0);
	assert_int_equal(stat(t->path, &other), 0);
	assert_int_equal(one.st_ino, other.st_ino);
	assert_int_equal(one.st_size, 3);
	close(fd);
}

/* The folder takes no other file: the one that is there is emptied. */
static void test_a_folder_that_is_closed(void **state)
{
	struct temp *t = *state;

	/* Root may write to any folder: as somebody else. */
	if (!geteuid())
		assert_int_equal(chown(t->dir, NOBODY, NOBODY) | seteuid(NOBODY), 0);
	put(t->path, "old and long");
	assert_int_equal(chmod(t->dir, 0500), 0);
	assert_int_equal(create(t->path, true, CREATE_MODE), 0);
	assert_has(t->path, "new", 0644);
}

static void test_folders(void **state)
{
	struct temp *t = *state;
	char name[256];
	struct stat st;

	umask(0);
	assert_int_equal(folder_create(in(t, "a", name), CREATE_MODE), 0);
	assert_int_equal(stat(name, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(folder_create(name, 0644), 0);
	assert_int_equal(folder_create(in(t, "b", name), 0640), 0);
	assert_int_equal(stat(name, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0750);
	put(in(t, "c", name), "");
	assert_int_equal(folder_create(name, CREATE_MODE), -ENOTDIR);
	assert_int_equal(folder_create("/no/such/folder", CREATE_MODE), -ENOENT);
}

static int mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static void test_names_of_folders(void **state)
{
	struct temp *t = *state;
	char name[256];

	assert_int_equal(folder_create(in(t, "a//", name), 0644), 0);
	assert_int_equal(mode_of(name), 0755);
	assert_int_equal(folder_create("/", 0644), 0);
	assert_int_equal(folder_create(".", 0644), 0);
	assert_int_equal(folder_create("", 0644), -ENOENT);
	assert_int_equal(symlink("a", in(t, "to", name)), 0);
	assert_int_equal(folder_create(in(t, "to/b", name), 0640), 0);
	assert_int_equal(mode_of(in(t, "a/b", name)), 0750);
	assert_int_equal(folder_create(in(t, "to/", name), CREATE_MODE), 0);
	assert_int_equal(mode_of(in(t, "a", name)), 0755);
}

/* The mode was set by the folder's path: a link that was there by then was followed. */
static void test_a_folder_that_is_swapped(void **state)
{
	struct temp *t = *state;
	char victim[256], name[256];

	assert_int_equal(mkdir(in(t, "victim", victim), 0700), 0);
	swap_to = victim;
	assert_int_equal(folder_create(in(t, "a", name), 0644), -ENOTDIR);
	assert_int_equal(folder_create(in(t, "b/", name), 0644), -ENOTDIR);
	swap_to = NULL;
	assert_int_equal(mode_of(victim), 0700);
}

static void test_without_memory(void **state)
{
	struct temp *t = *state;
	char name[256], path[160];

	assert_int_equal(symlink(".", in(t, "here", name)), 0);
	snprintf(path, sizeof(path), "%s/here/file", t->dir);
	alloc_fail_at(0);
	assert_int_equal(create(path, true, CREATE_MODE), -ENOMEM);
	assert_true(alloc_fail_off());
	assert_int_equal(create(path, true, CREATE_MODE), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_new, begin, end),
		cmocka_unit_test_setup_teardown(test_a_new_file_takes_the_name, begin, end),
		cmocka_unit_test_setup_teardown(test_links, begin, end),
		cmocka_unit_test_setup_teardown(test_links_of_others, begin, end),
		cmocka_unit_test_setup_teardown(test_special_files, begin, end),
		cmocka_unit_test_setup_teardown(test_standard_output, begin, end),
		cmocka_unit_test_setup_teardown(test_a_folder_that_is_closed, begin, end),
		cmocka_unit_test_setup_teardown(test_folders, begin, end),
		cmocka_unit_test_setup_teardown(test_names_of_folders, begin, end),
		cmocka_unit_test_setup_teardown(test_a_folder_that_is_swapped, begin, end),
		cmocka_unit_test_setup_teardown(test_without_memory, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
