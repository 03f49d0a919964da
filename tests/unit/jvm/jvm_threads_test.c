/* jvm/threads.c: what a forged list of threads costs is bounded by the threads that there are. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "jvm/jvm_state.h"
#include "tests/unit/alloc_fail.h"

#define LIST_AT 0x1000
#define LIST 0x2000
#define ARRAY 0x100000
#define THREAD 0x10000000
#define OOP 0x20000000

/* A target whose memory says what its address says, and who counts the reads. */
static struct {
	uint32_t length;
	bool changes; /* the handle's object is another one at each read */
	uint64_t reads, bytes;
} target;

static int target_read(const struct mem *m, uint64_t addr, void *ret, size_t len)
{
	uint64_t word = 0;

	(void)m;
	target.reads++;
	target.bytes += len;
	memset(ret, 0, len);
	if (addr == LIST_AT)
		word = LIST;
	else if (addr == LIST)
		word = ARRAY;
	else if (addr >= THREAD && addr < OOP)
		word = addr + 8; /* OSThread, handle */
	else if (addr >= OOP)
		word = OOP;
	if (addr == LIST + 8)
		memcpy(ret, &target.length, sizeof(target.length));
	else if (addr >= ARRAY && addr < THREAD && len >= 8)
		for (size_t i = 0; i < len / 8; i++)
			((uint64_t *)ret)[i] = THREAD + i * 256;
	else
		memcpy(ret, &word, len < 8 ? len : 8);
	if (addr >= THREAD && addr < OOP && len > 8) { /* a JavaThread */
		word = addr + 64;
		memcpy((char *)ret, &word, 8);
		memcpy((char *)ret + 8, &word, 8);
	}
	return 0;
}

/* Three JavaThreads, 256 bytes apart, each with the next one's address at 32. */
static int chain_read(const struct mem *m, uint64_t addr, void *ret, size_t len)
{
	uint64_t word = 0;

	(void)m;
	memset(ret, 0, len);
	if (addr == LIST_AT)
		word = THREAD;
	else if (addr == THREAD + 32 || addr == THREAD + 256 + 32)
		word = addr - 32 + 256;
	else if (addr >= THREAD && addr < THREAD + 1024)
		word = OOP; /* OSThread */
	else if (addr == OOP)
		word = 42; /* its thread */
	memcpy(ret, &word, len < 8 ? len : 8);
	return 0;
}

static struct jvm jvm_make(void)
{
	struct jvm j = {.pid = getpid(), .mem = {.read = target_read, .fd = -1}};

	j.vms = (struct vmstructs *)&target; /* it is only asked for being there */
	j.layout.java_thread_list = LIST_AT;
	j.layout.java_thread_next = -1;
	j.layout.threads_list_threads = 0;
	j.layout.threads_list_length = 8;
	j.layout.java_thread_osthread = 0;
	j.layout.java_thread_thread_obj = 8;
	j.layout.java_thread_stack_base = 16;
	j.layout.java_thread_stack_size = 24;
	j.layout.java_thread_state = -1;
	j.layout.thread_daemon = j.layout.thread_status = -1;
	j.layout.thread_holder = j.layout.holder_status = -1;
	target.reads = target.bytes = 0;
	return j;
}

static void a_list_longer_than_the_threads_is_refused(void **state)
{
	static const uint32_t lengths[] = {1000000, UINT32_MAX, 2000};
	struct jvm j = jvm_make();
	struct jvm_thread *threads;
	size_t count;

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		target.length = lengths[i];
		assert_int_equal(jvm_threads(&j, &threads, &count), -EAGAIN);
	}
	assert_true(target.reads < 1000);
	assert_true(target.bytes < 65536);
}

static void a_list_of_a_plausible_length_is_read(void **state)
{
	struct jvm j = jvm_make();
	struct jvm_thread *threads;
	size_t count;

	(void)state;
	target.length = 200;
	assert_int_equal(jvm_threads(&j, &threads, &count), 0);
	assert_int_equal(count, 200);
	assert_int_equal(threads[1].java_thread, THREAD + 256);
	free(threads);
}

/* JDK 11's: from each JavaThread to the next one, a word after the oop of its java.lang.Thread. */
static void a_chain_that_has_no_end_is_refused(void **state)
{
	struct jvm j = jvm_make();
	struct jvm_thread *threads;
	size_t count;

	(void)state;
	j.layout.java_thread_list = THREAD; /* every word there is the address of a later one */
	j.layout.java_thread_next = 16;
	assert_int_equal(jvm_threads(&j, &threads, &count), -EAGAIN);
	assert_true(target.bytes < 1000000);
}

static void a_chain_is_read(void **state)
{
	struct jvm j = jvm_make();
	struct jvm_thread *threads;
	size_t count;

	(void)state;
	j.mem.read = chain_read;
	j.layout.java_thread_next = 32;
	j.layout.raw_oops = true;
	assert_int_equal(jvm_threads(&j, &threads, &count), 0);
	assert_int_equal(count, 3);
	assert_int_equal(threads[0].java_thread, THREAD);
	assert_int_equal(threads[2].java_thread, THREAD + 512);
	assert_int_equal(threads[2].ns_tid, 42);
	free(threads);
}

/* Each thread's name is tried 16 times, if it cannot be read; not those of all threads. */
static void retries_are_counted_over_all_threads(void **state)
{
	struct jvm j = jvm_make();
	struct jvm_thread *threads;
	uint64_t once;
	size_t count;

	(void)state;
	target.length = 250;
	assert_int_equal(jvm_threads(&j, &threads, &count), 0);
	free(threads);
	once = target.reads;
	j = jvm_make();
	j.layout.ready = true; /* no name can be read: no String is of its class */
	assert_int_equal(jvm_threads(&j, &threads, &count), 0);
	assert_int_equal(count, 250);
	assert_string_equal(threads[0].name, "");
	free(threads);
	/* Six reads a try. */
	assert_true(target.reads - once < 6 * (4096 + 250));
	assert_true(target.reads - once > 4096);
}

static void allocations_may_fail(void **state)
{
	struct jvm j = jvm_make();
	struct jvm_thread *threads;
	unsigned long n = 0;
	size_t count;
	int err;

	(void)state;
	target.length = 10;
	do {
		alloc_fail_at(n++);
		err = jvm_threads(&j, &threads, &count);
		assert_true(!err || err == -ENOMEM);
		if (!err)
			free(threads);
	} while (alloc_fail_off());
	assert_int_equal(err, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_longer_than_the_threads_is_refused),
		cmocka_unit_test(a_list_of_a_plausible_length_is_read),
		cmocka_unit_test(a_chain_that_has_no_end_is_refused),
		cmocka_unit_test(a_chain_is_read),
		cmocka_unit_test(retries_are_counted_over_all_threads),
		cmocka_unit_test(allocations_may_fail),
	};

	return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
