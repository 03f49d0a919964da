/* record/session/launch.c: the JVM is found among the descendants of a command, however many it has. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/session/launch.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/temp_folder.h"

#define PAGE 4096
#define CHILDREN_MAX 4000
#define TEXT_BYTES 4500 /* more than a page of pids, and than the number that would be cut */

static pid_t list[CHILDREN_MAX];
static size_t count;

/* One that does nothing; library: that it has mapped, as a JVM has its own; NULL: none. */
static bool child_start(const char *library)
{
	int ready[2], fd;
	pid_t pid;
	char byte;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fd = library ? open(library, O_RDONLY | O_CLOEXEC) : -1;
		if (library &&
		    mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			_exit(1);
		if (write(ready[1], "", 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	close(ready[1]);
	if (pid > 0) {
		list[count++] = pid;
		assert_int_equal(read(ready[0], &byte, 1), 1);
	}
	close(ready[0]);
	return pid > 0;
}

static size_t text_length(void)
{
	size_t length = 0;

	for (size_t i = 0; i < count; i++)
		length += (size_t)snprintf(NULL, 0, "%d ", list[i]);
	return length;
}

static int end(void **state)
{
	while (count) {
		kill(list[--count], SIGKILL);
		waitpid(list[count], NULL, 0);
	}
	return temp_teardown(state);
}

static const char *library_make(const struct temp *t)
{
	static char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/libjvm.so", t->dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, PAGE), 0);
	close(fd);
	return path;
}

static void a_child_is_found(void **state)
{
	pid_t found = 0;

	assert_int_equal(launch_find_jvm(getpid(), &found), 0);
	assert_true(child_start(NULL));
	assert_int_equal(launch_find_jvm(getpid(), &found), 0);
	assert_true(child_start(library_make(*state)));
	assert_int_equal(launch_find_jvm(getpid(), &found), 1);
	assert_int_equal(found, list[1]);
}

/* Their list was cut at 4,095 bytes, in the middle of a number, which was taken for that of a child. */
static void one_of_very_many_children_is_found(void **state)
{
	pid_t found = 0;

	while (text_length() < TEXT_BYTES)
		if (!child_start(NULL)) {
			print_message("there may not be so many processes here\n");
			skip();
		}
	assert_true(child_start(library_make(*state)));
	assert_int_equal(launch_find_jvm(getpid(), &found), 1);
	assert_int_equal(found, list[count - 1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_child_is_found, temp_setup, end),
		cmocka_unit_test_setup_teardown(one_of_very_many_children_is_found, temp_setup,
						end),
	};

	return cmocka_run_group_tests_name("launch", tests, NULL, NULL);
}
