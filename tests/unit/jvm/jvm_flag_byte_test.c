#include "jvm/flag/flag_byte.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define HOLDERS 4
#define ROUNDS 300

/* The target is this process; what /proc/PID/mem is opened twice for are two recorders. */
struct target {
	volatile unsigned char flag, pad[7];
	volatile uint32_t origin; /* JVMFlag::_flags */
};

static struct target target;

static struct flag_byte recorder(void)
{
	struct flag_byte b = {.mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC),
			      .addr = (uint64_t)(uintptr_t)&target.flag,
			      .origin = (uint64_t)(uintptr_t)&target.origin};

	assert_true(b.mem >= 0);
	return b;
}

static enum flag_state state_of(const struct flag_byte *b)
{
	enum flag_state state;

	assert_int_equal(flag_byte_look(b, &state), 0);
	return state;
}

static int setup(void **state)
{
	(void)state;
	memset(&target, 0, sizeof(target));
	target.origin = 0x10; /* KIND_PRODUCT, set by nobody */
	return 0;
}

static void one_holder(void **state)
{
	struct flag_byte b = recorder(), other = recorder();
	enum flag_kind kind;

	(void)state;
	assert_int_equal(state_of(&b), FLAG_OFF);
	assert_int_equal(flag_byte_repair(&b), -ENODATA);
	assert_int_equal(flag_byte_take(&b, &kind), 0);
	assert_int_equal(kind, FLAG_WAS_OFF);
	assert_int_equal(target.flag, 1);
	assert_int_equal(state_of(&other), FLAG_HELD);
	assert_int_equal(flag_byte_repair(&other), -EBUSY);
	assert_int_equal(target.flag, 1);
	assert_int_equal(flag_byte_give_back(&b, kind), 0);
	assert_int_equal(target.flag, 0);
	close(b.mem);
	close(other.mem);
}

static void the_last_of_several(void **state)
{
	(void)state;
	for (int order = 0; order < 6; order++) {
		static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
						{1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
		struct flag_byte b[3];
		enum flag_kind kind[3];

		for (int i = 0; i < 3; i++) {
			b[i] = recorder();
			assert_int_equal(flag_byte_take(&b[i], &kind[i]), 0);
			assert_int_equal(kind[i], FLAG_WAS_OFF);
		}
		for (int i = 0; i < 3; i++) {
			int who = orders[order][i];

			assert_int_equal(target.flag, 1);
			/* The second one is killed. */
			if (i != 1)
				assert_int_equal(flag_byte_give_back(&b[who], kind[who]), 0);
			close(b[who].mem);
		}
		assert_int_equal(target.flag, 0);
	}
}

static void left_behind(void **state)
{
	struct flag_byte b = recorder(), other = recorder();
	enum flag_kind kind, others;

	(void)state;
	target.flag = 1;
	assert_int_equal(state_of(&b), FLAG_LEFT);
	assert_int_equal(flag_byte_take(&b, &kind), 0);
	assert_int_equal(kind, FLAG_WAS_LEFT);
	assert_int_equal(flag_byte_take(&other, &others), 0);
	assert_int_equal(others, FLAG_WAS_OFF);
	assert_int_equal(flag_byte_give_back(&b, kind), 0);
	assert_int_equal(target.flag, 1);
	close(other.mem); /* killed: left behind again */
	assert_int_equal(state_of(&b), FLAG_LEFT);
	assert_int_equal(flag_byte_repair(&b), 0);
	assert_int_equal(target.flag, 0);
	close(b.mem);
}

/* Set by each origin that HotSpot has, and where the tables do not have it. */
static void the_users_own(void **state)
{
	struct flag_byte b = recorder();
	enum flag_kind kind;

	(void)state;
	for (uint32_t origin = 0; origin < 16; origin++) {
		target.flag = 1;
		target.origin = 0x20010 | origin;
		b.origin = origin ? (uint64_t)(uintptr_t)&target.origin : 0;
		assert_int_equal(state_of(&b), origin ? FLAG_SET : FLAG_UNKNOWN);
		assert_int_equal(flag_byte_take(&b, &kind), 0);
		assert_int_equal(kind, FLAG_WAS_ON);
		assert_int_equal(state_of(&b), origin ? FLAG_SET : FLAG_UNKNOWN);
		assert_int_equal(flag_byte_give_back(&b, kind), 0);
		assert_int_equal(flag_byte_repair(&b), -ENODATA);
		assert_int_equal(target.flag, 1);
	}
	close(b.mem);
}

static void turned_off_by_somebody(void **state)
{
	struct flag_byte b = recorder(), other = recorder();
	enum flag_kind kind;

	(void)state;
	assert_int_equal(flag_byte_take(&b, &kind), 0);
	assert_int_equal(flag_byte_keep(&b, &kind), 0);
	target.flag = 0;
	assert_int_equal(flag_byte_keep(&b, &kind), 1);
	assert_int_equal(target.flag, 1);
	assert_int_equal(flag_byte_give_back(&b, kind), 0);

	/* Taken for the user's, but it was another recorder's, which was not to be met. */
	target.flag = 1;
	b.origin = 0;
	assert_int_equal(flag_byte_take(&b, &kind), 0);
	assert_int_equal(kind, FLAG_WAS_ON);
	target.flag = 0;
	assert_int_equal(flag_byte_keep(&b, &kind), 1);
	assert_int_equal(kind, FLAG_WAS_OFF);
	assert_int_equal(state_of(&other), FLAG_HELD);
	assert_int_equal(flag_byte_give_back(&b, kind), 0);
	assert_int_equal(target.flag, 0);
	close(b.mem);
	close(other.mem);
}

/* Somebody who may trace the target, and so could write the flag, keeps all of the file locked. */
static void a_lock_that_is_not_given_up(void **state)
{
	static const short types[] = {F_RDLCK, F_WRLCK};
	struct flag_byte b = recorder();
	enum flag_kind kind;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct flock all = {.l_type = types[i], .l_whence = SEEK_SET};
		int mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);

		target.flag = 0;
		assert_int_equal(fcntl(mem, F_OFD_SETLK, &all), 0);
		assert_int_equal(flag_byte_take(&b, &kind), 0);
		assert_int_equal(target.flag, 1);
		assert_int_equal(flag_byte_repair(&b), -EBUSY);
		assert_int_equal(flag_byte_give_back(&b, kind), 0);
		assert_int_equal(target.flag, 1); /* as if for another recorder */
		close(mem);
		assert_int_equal(flag_byte_repair(&b), 0);
		assert_int_equal(target.flag, 0);
	}
	close(b.mem);
}

static void no_bool_and_no_memory(void **state)
{
	struct flag_byte b = recorder();
	enum flag_state found;
	enum flag_kind kind = FLAG_WAS_OFF;

	(void)state;
	target.flag = 2;
	assert_int_equal(flag_byte_look(&b, &found), -EINVAL);
	assert_int_equal(flag_byte_take(&b, &kind), -EINVAL);
	assert_int_equal(flag_byte_keep(&b, &kind), -EINVAL);
	assert_int_equal(flag_byte_repair(&b), -EINVAL);
	assert_int_equal(target.flag, 2);
	b.addr = 8;
	assert_true(flag_byte_take(&b, &kind) < 0);
	assert_true(flag_byte_give_back(&b, kind) < 0);
	b.addr = UINT64_MAX;
	assert_true(flag_byte_take(&b, &kind) < 0);
	assert_true(flag_byte_repair(&b) < 0);
	target.flag = 1;
	b = (struct flag_byte){
		.mem = b.mem, .addr = (uint64_t)(uintptr_t)&target.flag, .origin = 8};
	assert_int_equal(state_of(&b), FLAG_UNKNOWN);
	close(b.mem);
}

/* The address space is gone: nothing is to be put back. */
static void the_target_has_ended(void **state)
{
	struct flag_byte b = recorder();
	enum flag_kind kind = FLAG_WAS_OFF;
	int from_child[2], status;
	char path[64], word;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(from_child), 0);
	pid = fork();
	if (!pid) {
		(void)!write(from_child[1], "x", 1);
		for (;;)
			pause();
	}
	assert_int_equal(read(from_child[0], &word, 1), 1);
	close(b.mem);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	b.mem = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(flag_byte_take(&b, &kind), 0);
	assert_int_equal(target.flag, 0); /* not in this one */
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(flag_byte_keep(&b, &kind), -ESRCH);
	assert_int_equal(flag_byte_give_back(&b, kind), 0);
	assert_int_equal(flag_byte_take(&b, &kind), -ESRCH);
	assert_int_equal(flag_byte_repair(&b), -ESRCH);
	close(b.mem);
	close(from_child[0]);
	close(from_child[1]);
}

/* A recorder of many, in a process of its own: 0 if the flag was on whenever it held it. */
static int rounds(pid_t parent, const struct target *shared)
{
	struct flag_byte b = {.addr = (uint64_t)(uintptr_t)&shared->flag,
			      .origin = (uint64_t)(uintptr_t)&shared->origin};
	enum flag_kind kind;
	char path[64];
	int wrong = 0;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)parent);
	for (int i = 0; i < ROUNDS; i++) {
		b.mem = open(path, O_RDWR | O_CLOEXEC);
		wrong |= b.mem < 0 || flag_byte_take(&b, &kind) != 0;
		for (int look = 0; look < 20; look++)
			wrong |= shared->flag != 1;
		wrong |= flag_byte_give_back(&b, kind) != 0;
		close(b.mem);
	}
	return wrong;
}

static void many_at_once(void **state)
{
	struct target *shared =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pids[HOLDERS], parent = getpid();

	(void)state;
	assert_true(shared != MAP_FAILED);
	for (int i = 0; i < HOLDERS; i++) {
		pids[i] = fork();
		if (!pids[i])
			_exit(rounds(parent, shared));
	}
	for (int i = 0; i < HOLDERS; i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
	assert_int_equal(shared->flag, 0);
	munmap(shared, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(one_holder, setup),
		cmocka_unit_test_setup(the_last_of_several, setup),
		cmocka_unit_test_setup(left_behind, setup),
		cmocka_unit_test_setup(the_users_own, setup),
		cmocka_unit_test_setup(turned_off_by_somebody, setup),
		cmocka_unit_test_setup(a_lock_that_is_not_given_up, setup),
		cmocka_unit_test_setup(no_bool_and_no_memory, setup),
		cmocka_unit_test_setup(the_target_has_ended, setup),
		cmocka_unit_test_setup(many_at_once, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
