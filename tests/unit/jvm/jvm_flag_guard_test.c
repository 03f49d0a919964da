#include "jvm/flag/flag_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/alloc_fail.h"

#define DEADLINE_MS 20000

/* The target is this process; shared, so that children see what a guardian writes. */
struct target {
	volatile unsigned char flag, pad[7];
	volatile uint32_t origin;
	volatile int guard, over;
};

static struct target *target;
static int target_pidfd;

static struct flag_byte byte_of(pid_t pid)
{
	struct flag_byte b = {.addr = (uint64_t)(uintptr_t)&target->flag,
			      .origin = (uint64_t)(uintptr_t)&target->origin};
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	b.mem = open(path, O_RDWR | O_CLOEXEC);
	return b;
}

static int setup(void **state)
{
	(void)state;
	if (!target) {
		target =
			mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		target_pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	}
	memset(target, 0, sizeof(*target));
	return target == MAP_FAILED || target_pidfd < 0;
}

/* Of this process; 0: none, though there may be a zombie. */
static pid_t only_child(void)
{
	char path[64], text[32] = "";
	FILE *f;
	int pid = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	f = fopen(path, "r");
	assert_non_null(f);
	if (fgets(text, sizeof(text), f))
		sscanf(text, "%d", &pid);
	fclose(f);
	return pid;
}

static bool word_becomes(const volatile int *word, int value)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	for (int ms = 0; ms < DEADLINE_MS && *word != value; ms++)
		nanosleep(&pause, NULL);
	return *word == value;
}

static bool flag_becomes(unsigned char value)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	for (int ms = 0; ms < DEADLINE_MS && target->flag != value; ms++)
		nanosleep(&pause, NULL);
	return target->flag == value;
}

static void on_and_off(void **state)
{
	struct flag_byte b = byte_of(getpid());
	struct flag_guard_end end;
	struct flag_guard *g;
	enum flag_kind kind;

	(void)state;
	assert_int_equal(flag_guard_start(&g), 0);
	assert_int_equal(target->flag, 0);
	assert_int_equal(flag_guard_give(g, &b, target_pidfd, &kind), 0);
	assert_int_equal(kind, FLAG_WAS_OFF);
	assert_int_equal(target->flag, 1);
	target->flag = 0;
	assert_true(flag_becomes(1));
	assert_int_equal(flag_guard_return(g, &end), 0);
	assert_int_equal(end.found_off, 1);
	assert_int_equal(end.kind, FLAG_WAS_OFF);
	assert_int_equal(target->flag, 0);
	assert_int_equal(only_child(), 0);
	flag_guard_free(g);
	flag_guard_free(NULL);
	close(b.mem);
}

static void nothing_to_guard(void **state)
{
	struct flag_guard *g;

	(void)state;
	assert_int_equal(flag_guard_start(&g), 0);
	assert_true(only_child() > 0);
	flag_guard_free(g);
	assert_int_equal(only_child(), 0);
}

static void what_cannot_be_taken(void **state)
{
	struct flag_byte b = byte_of(getpid());
	struct flag_guard *g;
	enum flag_kind kind;

	(void)state;
	target->flag = 7;
	assert_int_equal(flag_guard_start(&g), 0);
	assert_int_equal(flag_guard_give(g, &b, target_pidfd, &kind), -EINVAL);
	assert_int_equal(target->flag, 7);
	flag_guard_free(g);
	close(b.mem);
}

static void killed_before_and_after(void **state)
{
	struct flag_byte b = byte_of(getpid());
	struct flag_guard_end end = {.found_off = 77};
	struct flag_guard *g;
	enum flag_kind kind;

	(void)state;
	assert_int_equal(flag_guard_start(&g), 0);
	kill(only_child(), SIGKILL);
	assert_int_equal(flag_guard_give(g, &b, target_pidfd, &kind), -ECHILD);
	assert_int_equal(target->flag, 0);
	flag_guard_free(g);
	assert_int_equal(flag_guard_start(&g), 0);
	assert_int_equal(flag_guard_give(g, &b, target_pidfd, &kind), 0);
	kill(only_child(), SIGKILL);
	assert_int_equal(flag_guard_return(g, &end), -ECHILD);
	assert_int_equal(end.found_off, 77);
	/* The lock is this process's as well, so that it can do the guardian's work. */
	assert_int_equal(flag_byte_give_back(&b, kind), 0);
	assert_int_equal(target->flag, 0);
	flag_guard_free(g);
	close(b.mem);
}

/* The recorder is a child of this process, which is the target. */
static void the_recorder_is_killed(void **state)
{
	pid_t self = getpid(), recorder = fork();
	int status;

	(void)state;
	if (!recorder) {
		struct flag_byte b = byte_of(self);
		struct flag_guard *g;
		enum flag_kind kind;

		if (flag_guard_start(&g) || flag_guard_give(g, &b, target_pidfd, &kind))
			_exit(1);
		/* Another child keeps the recorder's end of the socket. */
		if (!fork())
			_exit(!word_becomes(&target->over, 1));
		target->guard = 1;
		for (;;)
			pause();
	}
	assert_true(flag_becomes(1));
	assert_true(word_becomes(&target->guard, 1));
	kill(recorder, SIGKILL);
	assert_int_equal(waitpid(recorder, &status, 0), recorder);
	assert_true(flag_becomes(0));
	target->over = 1;
}

/* The nth of this process and the guardian, up to a run without. */
static void allocations_may_fail(void **state)
{
	bool failed = true;
	unsigned long n = 0;

	(void)state;
	assert_true(alloc_fail_share());
	for (; failed; n++) {
		struct flag_byte b = byte_of(getpid());
		struct flag_guard_end end;
		struct flag_guard *g = NULL;
		enum flag_kind kind;
		int err;

		alloc_fail_at(n);
		err = flag_guard_start(&g);
		if (!err)
			err = flag_guard_give(g, &b, target_pidfd, &kind);
		failed = alloc_fail_off();
		assert_true(err == 0 || (failed && (err == -ECHILD || err == -ENOMEM)));
		if (!err)
			assert_int_equal(flag_guard_return(g, &end), 0);
		flag_guard_free(g);
		assert_int_equal(target->flag, 0);
		assert_int_equal(only_child(), 0);
		close(b.mem);
	}
	assert_true(n > 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(on_and_off, setup),
		cmocka_unit_test_setup(nothing_to_guard, setup),
		cmocka_unit_test_setup(what_cannot_be_taken, setup),
		cmocka_unit_test_setup(killed_before_and_after, setup),
		cmocka_unit_test_setup(allocations_may_fail, setup),
		cmocka_unit_test_setup(the_recorder_is_killed, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
