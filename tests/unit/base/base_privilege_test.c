/* Rights are given up for good: each case in a child, whose exit status says how far it came. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/privilege.h"
#include "base/sandbox.h"
#include "tests/unit/alloc_fail.h"

#define SAY(condition)                                                                             \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                    \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

/* What waitpid says of a child that does this. */
static int in_child(int (*what)(void))
{
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(what());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static int drops_all(void)
{
	cap_t caps;
	cap_flag_value_t value;

	SAY(!privilege_drop_all());
	caps = cap_get_proc();
	for (cap_value_t c = 0; c <= CAP_LAST_CAP && c < 64; c++) {
		SAY(!privilege_have(c));
		if (!cap_get_flag(caps, c, CAP_PERMITTED, &value))
			SAY(value == CAP_CLEAR);
		SAY(cap_get_bound(c) <= 0 || geteuid());
	}
	cap_free(caps);
	SAY(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
	/* A second time is no error. */
	SAY(!privilege_drop_all());
	return 0;
}

static void test_drop_all(void **state)
{
	(void)state;
	assert_int_equal(in_child(drops_all), 0);
}

static int keeps_two(void)
{
	static const cap_value_t keep[] = {CAP_KILL, CAP_SYS_PTRACE};

	SAY(!privilege_keep(keep, 2));
	SAY(privilege_have(CAP_KILL) && privilege_have(CAP_SYS_PTRACE));
	SAY(!privilege_have(CAP_DAC_OVERRIDE) && !privilege_have(CAP_SYS_ADMIN));
	/* What is gone does not come back by being asked for. */
	static const cap_value_t more[] = {CAP_KILL, CAP_SYS_ADMIN};
	SAY(!privilege_keep(more, 2));
	SAY(privilege_have(CAP_KILL) && !privilege_have(CAP_SYS_ADMIN));
	SAY(!privilege_have(CAP_SYS_PTRACE));
	return 0;
}

static void test_keep(void **state)
{
	(void)state;
	if (!privilege_have(CAP_SYS_PTRACE))
		skip();
	assert_int_equal(in_child(keeps_two), 0);
}

static int looks_without(void)
{
	char dir[] = "/tmp/spoor-privilege-XXXXXX";
	int err, mine;

	SAY(mkdtemp(dir));
	SAY(!chown(dir, 65534, 65534));
	mine = privilege_access_without("/", R_OK);
	err = privilege_access_without(dir, W_OK);
	rmdir(dir);
	SAY(!mine);
	SAY(err == -EACCES);
	SAY(privilege_access_without("/nowhere/at/all", R_OK) == -ENOENT);
	SAY(privilege_have(CAP_DAC_OVERRIDE)); /* only looked */
	return 0;
}

/* A child for each allocation that fails: what the first has given up would hide what the next keeps. */
static unsigned long failing;

enum { HAS_NOT_FAILED = 33 };

static bool execs_bring_nothing_back(void)
{
	for (cap_value_t c = 0; cap_get_bound(c) >= 0; c++)
		if (cap_get_bound(c))
			return false;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

static int keeps_without_memory(void)
{
	static const cap_value_t keep[] = {CAP_KILL};
	bool failed;
	int err;

	alloc_fail_at(failing);
	err = privilege_keep(keep, 1);
	failed = alloc_fail_off();
	SAY(err == (failed ? -ENOMEM : 0));
	/* With what it needs no memory for, it is done. */
	SAY(execs_bring_nothing_back());
	return failed ? 0 : HAS_NOT_FAILED;
}

static int looks_without_memory(void)
{
	bool had = privilege_have(CAP_SYS_PTRACE), failed;
	int err;

	alloc_fail_at(failing);
	SAY(privilege_have(CAP_SYS_PTRACE) == had);
	err = privilege_access_without("/", R_OK);
	failed = alloc_fail_off();
	SAY(err == (failed ? -ENOMEM : 0));
	SAY(privilege_have(CAP_SYS_PTRACE) == had);
	return failed ? 0 : HAS_NOT_FAILED;
}

static void test_without_memory(void **state)
{
	int (*const what[])(void) = {keeps_without_memory, looks_without_memory};

	(void)state;
	if (!privilege_have(CAP_SETPCAP))
		skip();
	for (size_t i = 0; i < 2; i++) {
		int status = 0;

		for (failing = 0; !status; failing++)
			status = in_child(what[i]);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), HAS_NOT_FAILED);
		assert_true(failing > 2);
	}
}

static void test_access_without(void **state)
{
	(void)state;
	if (!privilege_have(CAP_DAC_OVERRIDE) || !privilege_have(CAP_CHOWN))
		skip();
	assert_int_equal(in_child(looks_without), 0);
}

static int makes_an_allowed_call(void)
{
	static const int calls[] = {SYS_exit_group, SYS_getppid, SYS_write};

	SAY(!privilege_drop_all());
	SAY(!sandbox_allow_only(calls, 3));
	(void)!syscall(SYS_getppid);
	syscall(SYS_exit_group, 7);
	return 1;
}

static int makes_another_call(void)
{
	static const int calls[] = {SYS_exit_group, SYS_getppid, SYS_write};

	SAY(!privilege_drop_all());
	SAY(!sandbox_allow_only(calls, 3));
	(void)!syscall(SYS_getuid);
	return 1;
}

static int knows_no_other_call(void)
{
	static const int calls[] = {SYS_exit_group, SYS_getppid, SYS_write};

	SAY(!privilege_drop_all());
	SAY(!sandbox_know_only(calls, 3));
	SAY(syscall(SYS_getppid) > 0);
	SAY(syscall(SYS_getuid) == -1 && errno == ENOSYS);
	SAY(syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY) == -1 && errno == ENOSYS);
	syscall(SYS_exit_group, 7);
	return 1;
}

static int makes_a_call_of_x32(void)
{
	SAY(!privilege_drop_all());
	SAY(!sandbox_command(SANDBOX_READS));
	(void)!syscall(0x40000000 | SYS_getppid);
	return 1;
}

static void test_allow_only(void **state)
{
	int status;

	(void)state;
	status = in_child(makes_an_allowed_call);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	status = in_child(knows_no_other_call);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	status = in_child(makes_another_call);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSYS);
	status = in_child(makes_a_call_of_x32);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSYS);
}

static int is_refused(void)
{
	char *const argv[] = {"true", NULL};

	SAY(!privilege_drop_all());
	SAY(!sandbox_command(SANDBOX_READS));
	SAY(socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM);
	SAY(execv("/bin/true", argv) < 0 && errno == EPERM);
	SAY(kill(getppid(), 0) < 0 && errno == EPERM);
	SAY(syscall(SYS_bpf, 0, NULL, 0) < 0 && errno == EPERM);
	SAY(!access("/", R_OK));
	return 0;
}

static int records(void)
{
	char *const argv[] = {"true", NULL};

	SAY(!privilege_drop_all());
	SAY(!sandbox_command(SANDBOX_RECORDS));
	SAY(execv("/bin/true", argv) < 0 && errno == EPERM);
	SAY(!kill(getppid(), 0) || errno == EPERM); /* of the kernel's own, if of anybody */
	SAY(syscall(SYS_bpf, 0x7fff, NULL, 0) < 0);
	return 0;
}

static void test_command(void **state)
{
	(void)state;
	assert_int_equal(in_child(is_refused), 0);
	assert_int_equal(in_child(records), 0);
}

static void test_too_many_calls(void **state)
{
	int calls[121] = {0};

	(void)state;
	assert_int_equal(sandbox_allow_only(calls, 121), -E2BIG);
}

enum { NO_LANDLOCK = 34, LANDLOCK_VERSION = 1 };

static char here[32], there[32];

static int writes_only_there(void)
{
	const char *paths[] = {here, "/nowhere/at/all"};
	int open_before, fd, err;
	char path[64];

	snprintf(path, sizeof(path), "%s/before", there);
	open_before = open(path, O_WRONLY | O_CREAT, 0600);
	SAY(open_before >= 0);
	SAY(!privilege_drop_all());
	err = sandbox_write_only(paths, 2);
	if (err == -EOPNOTSUPP || err == -ENOSYS)
		return NO_LANDLOCK;
	SAY(!err);
	SAY(write(open_before, "x", 1) == 1);
	SAY(open(path, O_WRONLY) < 0 && errno == EACCES);
	/* Before ABI 3, of Linux 6.2, Landlock does not know of it. */
	SAY(syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_VERSION) < 3 ||
	    (truncate(path, 0) < 0 && errno == EACCES));
	SAY(unlink(path) < 0 && errno == EACCES);
	SAY((fd = open(path, O_RDONLY)) >= 0);
	close(fd);
	snprintf(path, sizeof(path), "%s/new", there);
	SAY(open(path, O_WRONLY | O_CREAT, 0600) < 0 && errno == EACCES);
	snprintf(path, sizeof(path), "%s/new", here);
	SAY((fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600)) >= 0);
	close(fd);
	SAY(!unlink(path));
	SAY(!mkdir(path, 0700) && !rmdir(path));
	SAY(mkfifo(path, 0600) < 0 && errno == EACCES);
	SAY(symlink("/", path) < 0 && errno == EACCES);
	return 0;
}

static void test_write_only(void **state)
{
	char command[128];
	int status;

	(void)state;
	strcpy(here, "/tmp/spoor-here-XXXXXX");
	strcpy(there, "/tmp/spoor-there-XXXXXX");
	assert_true(mkdtemp(here) && mkdtemp(there));
	status = in_child(writes_only_there);
	snprintf(command, sizeof(command), "rm -rf %s %s", here, there);
	assert_int_equal(system(command), 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_LANDLOCK)
		skip();
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drop_all),       cmocka_unit_test(test_keep),
		cmocka_unit_test(test_access_without), cmocka_unit_test(test_without_memory),
		cmocka_unit_test(test_allow_only),     cmocka_unit_test(test_command),
		cmocka_unit_test(test_too_many_calls), cmocka_unit_test(test_write_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
