/* record/identity/ids.c: the numbers of threads, classes, locks, strings, and the metadata that goes with
 * them. */
#include <linux/types.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf/wire/wire_kinds.h"
#include "bpf/wire/wire_lock.h"
#include "bpf/wire/wire_thread.h"
#include "jvm/jvm.h"
#include "log/format/event.h"
#include "record/identity/ids.h"
#include "record/identity/memory.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/record/names_log.h"

struct fixture {
	struct names_log log;
	struct ids *ids;
};

static int begin(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	names_log_open(&f->log);
	assert_int_equal(ids_new(f->log.w, NULL, &f->ids), 0);
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;

	ids_free(f->ids);
	names_log_end(&f->log);
	free(f);
	return 0;
}

static void define(struct fixture *f, uint64_t klass, const char *name, unsigned flags)
{
	struct wire_class c = {.head = {.flags = (__u16)flags},
			       .klass = klass,
			       .name_length = (__u32)strlen(name)};

	memcpy(c.name, name, strlen(name));
	ids_class(f->ids, &c);
}

static void a_monitor_keeps_its_number(void **state)
{
	struct fixture *f = *state;
	struct wire_lock r = {.object = 0x1000, .handle = 0x20, .klass = 0x300};
	struct log_names *n;
	uint32_t number;

	define(f, 0x300, "a/b/LockA", 0);
	number = ids_monitor(f->ids, &r);
	assert_int_equal(number, 1);
	assert_int_equal(ids_monitor(f->ids, &r), 1);
	n = names_log_read(&f->log);
	assert_string_equal(log_names_class(n, log_names_lock(n, 1)->class), "a.b.LockA");
	assert_int_equal(log_names_lock(n, 1)->identity, LOCK_IDENTITY_MONITOR);
	assert_int_equal(log_names_lock(n, 1)->group, LOCK_GROUP_MONITOR);
	log_names_free(n);
}

static void a_reused_monitor_is_another_lock(void **state)
{
	struct fixture *f = *state;
	struct wire_lock r = {.object = 0x1000, .handle = 0x20, .klass = 0x300};

	define(f, 0x300, "LockA", 0);
	define(f, 0x400, "LockB", 0);
	assert_int_equal(ids_monitor(f->ids, &r), 1);
	r.handle = 0x28;
	assert_int_equal(ids_monitor(f->ids, &r), 2);
	r.klass = 0x400;
	assert_int_equal(ids_monitor(f->ids, &r), 3);
}

static void a_hash_keeps_the_identity_over_inflations(void **state)
{
	struct fixture *f = *state;
	struct wire_lock r = {.object = 0x1000, .handle = 0x20, .klass = 0x300};
	struct log_names *n;

	define(f, 0x300, "LockA", 0);
	assert_int_equal(ids_monitor(f->ids, &r), 1);
	r.hash = 77; /* hashCode() was called meanwhile */
	assert_int_equal(ids_monitor(f->ids, &r), 1);
	r.object = 0x2000;
	r.handle = 0x48;
	assert_int_equal(ids_monitor(f->ids, &r), 1);
	r.hash = 78;
	r.object = 0x3000;
	assert_int_equal(ids_monitor(f->ids, &r), 2);
	n = names_log_read(&f->log);
	assert_int_equal(log_names_lock(n, 1)->identity, LOCK_IDENTITY_HASH);
	assert_int_equal(log_names_lock(n, 1)->hash, 77);
	log_names_free(n);
}

static void a_class_redefined_at_the_same_address_is_another(void **state)
{
	struct fixture *f = *state;
	struct wire_lock r = {.object = 0x1000, .handle = 0x20, .klass = 0x300};
	struct log_names *n;

	define(f, 0x300, "Old", 0);
	ids_monitor(f->ids, &r);
	define(f, 0x300, "Old", 0);
	define(f, 0x300, "New", 0); /* unloaded, and the Klass's memory used again */
	r.object = 0x5000;
	ids_monitor(f->ids, &r);
	n = names_log_read(&f->log);
	assert_string_equal(log_names_class(n, log_names_lock(n, 1)->class), "Old");
	assert_string_equal(log_names_class(n, log_names_lock(n, 2)->class), "New");
	log_names_free(n);
}

/* The same addresses, object and class: all of it was freed, and used again. */
static void a_lock_of_a_class_redefined_is_another(void **state)
{
	struct fixture *f = *state;
	struct wire_lock monitor = {.object = 0x1000, .handle = 0x20, .klass = 0x300};
	struct wire_lock other = {.object = 0x2000, .klass = 0x300};
	struct wire_lock owned = {.object = 0x3000, .klass = 0x300, .owner_tid = 9};
	struct log_names *n;

	define(f, 0x300, "Old", 0);
	assert_int_equal(ids_monitor(f->ids, &monitor), 1);
	assert_int_equal(ids_blocker(f->ids, &other), 2);
	assert_int_equal(ids_blocker(f->ids, &owned), 3);
	define(f, 0x300, "New", 0);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(ids_monitor(f->ids, &monitor), 4);
		assert_int_equal(ids_blocker(f->ids, &other), 5);
		assert_int_equal(ids_blocker(f->ids, &owned), 6);
	}
	n = names_log_read(&f->log);
	for (uint64_t lock = 1; lock <= 6; lock++)
		assert_string_equal(log_names_class(n, log_names_lock(n, lock)->class),
				    lock <= 3 ? "Old" : "New");
	log_names_free(n);
}

static void a_lock_without_a_class_gets_it_later(void **state)
{
	struct fixture *f = *state;
	struct wire_lock r = {.object = 0x1000, .handle = 0x20, .klass = 0x300};
	struct log_names *n;

	assert_int_equal(ids_monitor(f->ids, &r), 1);
	define(f, 0x300, "Late", 0);
	assert_int_equal(ids_monitor(f->ids, &r), 1);
	n = names_log_read(&f->log);
	assert_string_equal(log_names_class(n, log_names_lock(n, 1)->class), "Late");
	log_names_free(n);
}

static void blockers_are_sorted_into_groups(void **state)
{
	static const struct {
		const char *class;
		unsigned flags;
		uint32_t owner;
		uint64_t group;
	} cases[] = {
		{"java/util/concurrent/locks/ReentrantLock$NonfairSync", WIRE_CLASS_AOS, 0,
		 LOCK_GROUP_JUC},
		{"java/util/concurrent/locks/ReentrantReadWriteLock$FairSync", WIRE_CLASS_AOS, 0,
		 LOCK_GROUP_JUC},
		{"java/util/concurrent/locks/StampedLock", 0, 0, LOCK_GROUP_JUC},
		{"java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject", 0, 0,
		 LOCK_GROUP_OTHER},
		{"java/util/concurrent/Semaphore$NonfairSync", WIRE_CLASS_AOS, 0, LOCK_GROUP_OTHER},
		{"java/util/concurrent/CountDownLatch$Sync", WIRE_CLASS_AOS, 0, LOCK_GROUP_OTHER},
		{"my/Mutex$Sync", WIRE_CLASS_AOS, 9, LOCK_GROUP_JUC},
		{"my/Queue", 0, 0, LOCK_GROUP_OTHER},
	};
	struct fixture *f = *state;
	struct log_names *n;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct wire_lock r = {.object = 0x1000 * (i + 1),
				      .klass = 0x100 * (i + 1),
				      .owner_tid = cases[i].owner};

		define(f, r.klass, cases[i].class, cases[i].flags);
		assert_int_equal(ids_blocker(f->ids, &r), i + 1);
	}
	n = names_log_read(&f->log);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(log_names_lock(n, i + 1)->group, cases[i].group);
	log_names_free(n);
}

static void what_is_no_lock_is_told_by_its_class(void **state)
{
	struct fixture *f = *state;
	struct wire_lock r = {.object = 0x1000, .klass = 0x300};
	struct log_names *n;

	define(f, 0x300, "java/util/concurrent/FutureTask", 0);
	assert_int_equal(ids_blocker(f->ids, &r), 1);
	r.object = 0x2000;
	assert_int_equal(ids_blocker(f->ids, &r), 1);
	r.klass = 0x400; /* its class is not known yet */
	assert_int_equal(ids_blocker(f->ids, &r), 2);
	define(f, 0x400, "Late", 0);
	assert_int_equal(ids_blocker(f->ids, &r), 2);
	r.klass = 0x300;
	r.hash = 55; /* this one can be told */
	assert_int_equal(ids_blocker(f->ids, &r), 3);
	n = names_log_read(&f->log);
	assert_int_equal(log_names_lock(n, 1)->identity, LOCK_IDENTITY_UNKNOWN);
	assert_int_equal(log_names_lock(n, 1)->hash, 0);
	assert_int_equal(log_names_lock(n, 3)->identity, LOCK_IDENTITY_HASH);
	assert_string_equal(log_names_class(n, log_names_lock(n, 2)->class), "Late");
	log_names_free(n);
}

static void a_blocker_that_the_collector_moves_is_followed(void **state)
{
	struct fixture *f = *state;
	struct wire_lock r = {.head = {.kind = WIRE_PARK_BEGIN},
			      .object = 0x1000,
			      .klass = 0x300,
			      .owner_tid = 9};

	define(f, 0x300, "L", WIRE_CLASS_AOS);
	assert_int_equal(ids_blocker(f->ids, &r), 1);
	r.head.kind = WIRE_PARK_END;
	r.handle = 0x9000;
	assert_int_equal(ids_blocker(f->ids, &r), 1);
	r.head.kind = WIRE_PARK_BEGIN;
	r.object = 0x9000;
	r.handle = 0;
	assert_int_equal(ids_blocker(f->ids, &r), 1);
	r.object = 0xa000;
	assert_int_equal(ids_blocker(f->ids, &r), 2);
}

/* One lock has two numbers until it is known that it has moved: a wait has one of them. */
static void both_ends_of_a_park_name_the_same_lock(void **state)
{
	struct fixture *f = *state;
	struct wire_lock r = {.head = {.kind = WIRE_PARK_BEGIN, .tid = 21},
			      .object = 0x1000,
			      .klass = 0x300,
			      .owner_tid = 9};

	define(f, 0x300, "L", WIRE_CLASS_AOS);
	assert_int_equal(ids_thread(f->ids, 21, 0) + ids_thread(f->ids, 22, 0), 3);
	assert_int_equal(ids_blocker(f->ids, &r), 1);
	r.head.tid = 22;
	r.object = 0x9000;
	assert_int_equal(ids_blocker(f->ids, &r), 2);
	r.head.kind = WIRE_PARK_END;
	r.head.tid = 21;
	r.object = 0x1000;
	r.handle = 0x9000;
	assert_int_equal(ids_blocker(f->ids, &r), 1);
	r.head.tid = 22;
	r.object = 0x9000;
	assert_int_equal(ids_blocker(f->ids, &r), 2);
	r.head.kind = WIRE_PARK_BEGIN;
	assert_int_equal(ids_blocker(f->ids, &r), 1);
}

static void a_patched_jvms_monitor_is_known_until_it_is_deflated(void **state)
{
	struct fixture *f = *state;
	struct wire_lock r = {.object = 0x1000, .klass = 0x300, .hash = 7};
	struct log_names *n;

	define(f, 0x300, "LockA", 0);
	assert_int_equal(ids_monitor_known(f->ids, 0x1000, NULL), 0);
	assert_int_equal(ids_monitor_numbered(f->ids, &r), 1);
	assert_int_equal(ids_monitor_known(f->ids, 0x1000, NULL), 1);
	assert_int_equal(ids_monitor_forget(f->ids, 0x1000), 1);
	assert_int_equal(ids_monitor_forget(f->ids, 0x1000), 0);
	assert_int_equal(ids_monitor_forget(f->ids, 0x5000), 0);
	assert_int_equal(ids_monitor_known(f->ids, 0x1000, NULL), 0);
	r.hash = 8; /* another object of the class */
	assert_int_equal(ids_monitor_numbered(f->ids, &r), 2);
	r.hash = 9; /* and another, of whose predecessor's deflation nothing was heard */
	assert_int_equal(ids_monitor_numbered(f->ids, &r), 3);
	r.object = 0x2000;
	r.hash = 7; /* the first one is inflated again */
	assert_int_equal(ids_monitor_numbered(f->ids, &r), 1);
	n = names_log_read(&f->log);
	assert_int_equal(log_names_count(n, LOG_NAMES_LOCK), 3);
	assert_int_equal(log_names_lock(n, 1)->identity, LOCK_IDENTITY_HASH);
	assert_int_equal(log_names_lock(n, 3)->hash, 9);
	log_names_free(n);
}

/* A million objects a second can be inflated, and deflated, and nothing else. */
static void a_monitor_that_was_not_used_is_forgotten(void **state)
{
	struct fixture *f = *state;
	struct wire_lock inflate = {.head = {.kind = WIRE_MONITOR_INFLATE},
				    .object = 0x1000,
				    .klass = 0x300,
				    .hash = 7};
	struct wire_lock enter = inflate, park = {.klass = 0x300, .hash = 7};

	enter.head.kind = WIRE_MONITOR_ENTER;
	park.head.kind = WIRE_PARK_BEGIN;
	define(f, 0x300, "LockA", 0);
	assert_int_equal(ids_monitor_numbered(f->ids, &inflate), 1);
	ids_monitor_forget(f->ids, 0x1000);
	assert_int_equal(ids_monitor_numbered(f->ids, &inflate), 2);
	assert_int_equal(ids_monitor_numbered(f->ids, &enter), 2);
	ids_monitor_forget(f->ids, 0x1000);
	assert_int_equal(ids_monitor_numbered(f->ids, &inflate), 2);
	ids_monitor_forget(f->ids, 0x1000); /* it was used before */
	assert_int_equal(ids_monitor_numbered(f->ids, &enter), 2);
	inflate.hash = park.hash = 8;
	inflate.object = 0x2000;
	assert_int_equal(ids_monitor_numbered(f->ids, &inflate), 3);
	assert_int_equal(ids_blocker_numbered(f->ids, &park), 3);
	ids_monitor_forget(f->ids, 0x2000);
	assert_int_equal(ids_monitor_numbered(f->ids, &inflate), 3);
	inflate.hash = 9;
	inflate.object = 0x3000;
	assert_int_equal(ids_monitor_numbered(f->ids, &inflate), 4);
	assert_int_equal(ids_monitor_known(f->ids, 0x3000, NULL), 4);
	ids_monitor_forget(f->ids, 0x3000);
	assert_int_equal(ids_monitor_numbered(f->ids, &inflate), 4);
}

static void a_patched_jvms_monitor_of_which_nobody_tells(void **state)
{
	struct fixture *f = *state;
	struct wire_lock nothing = {.object = 0x1000}, told = {.object = 0x1000, .klass = 0x300};
	struct log_names *n;

	define(f, 0x300, "LockA", 0);
	assert_int_equal(ids_monitor_numbered(f->ids, &nothing), 1);
	assert_int_equal(ids_monitor_numbered(f->ids, &nothing), 1);
	assert_int_equal(ids_monitor_numbered(f->ids, &told), 1); /* it was read, and has no hash */
	told.hash = 7;
	assert_int_equal(ids_monitor_numbered(f->ids, &told), 1);
	told.hash = 0; /* a record that was late */
	assert_int_equal(ids_monitor_numbered(f->ids, &told), 1);
	told.hash = 7;
	ids_monitor_forget(f->ids, 0x1000);
	assert_int_equal(ids_monitor_numbered(f->ids, &nothing), 1); /* whatever it was last */
	nothing.object = 0x2000;
	assert_int_equal(ids_monitor_numbered(f->ids, &nothing), 2);
	told.object = 0x2000; /* it turns out to be an object that has a number */
	assert_int_equal(ids_monitor_numbered(f->ids, &told), 1);
	n = names_log_read(&f->log);
	assert_int_equal(log_names_lock(n, 1)->hash, 7);
	assert_string_equal(log_names_class(n, log_names_lock(n, 1)->class), "LockA");
	log_names_free(n);
}

static void a_patched_jvms_blockers_are_told_by_class_and_hash(void **state)
{
	struct fixture *f = *state;
	struct wire_lock r = {.head = {.kind = WIRE_PARK_BEGIN}, .klass = 0x300, .hash = 1};
	struct log_names *n;

	assert_int_equal(ids_blocker_numbered(f->ids, &(struct wire_lock){0}), 0);
	assert_int_equal(ids_blocker_numbered(f->ids, &r), 1); /* its class was lost: all of it */
	define(f, 0x300, "java/util/concurrent/Semaphore$NonfairSync", WIRE_CLASS_AOS);
	assert_int_equal(ids_blocker_numbered(f->ids, &r), 2);
	r.hash = 2;
	assert_int_equal(ids_blocker_numbered(f->ids, &r), 3);
	r.owner_tid = 9; /* it has an owner: it is a lock, and stays the same */
	assert_int_equal(ids_blocker_numbered(f->ids, &r), 3);
	define(f, 0x300, "New", 0); /* unloaded, and the Klass's memory used again */
	assert_int_equal(ids_blocker_numbered(f->ids, &r), 4);
	assert_int_equal(ids_blocker_numbered(f->ids, &r), 4);
	n = names_log_read(&f->log);
	assert_int_equal(log_names_lock(n, 1)->identity, LOCK_IDENTITY_UNKNOWN);
	assert_int_equal(log_names_lock(n, 2)->identity, LOCK_IDENTITY_HASH);
	assert_int_equal(log_names_lock(n, 3)->group, LOCK_GROUP_JUC);
	assert_string_equal(log_names_class(n, log_names_lock(n, 4)->class), "New");
	log_names_free(n);
}

/* What is no synchronizer has numbers of its own for its first objects only. */
static void many_blockers_of_a_class_become_one(void **state)
{
	static const struct {
		const char *class;
		unsigned flags;
		uint32_t numbers;
	} cases[] = {
		{"java/util/concurrent/FutureTask", 0, 1001},
		{"java/util/concurrent/CountDownLatch$Sync", WIRE_CLASS_AOS, 65537},
		{"java/util/concurrent/locks/StampedLock", 0, 65537},
		{"java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject", 0, 65537},
	};
	struct fixture *f = *state;
	uint32_t base = 0;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct wire_lock r = {.head = {.kind = WIRE_PARK_BEGIN}, .klass = 0x100 * (i + 1)};

		define(f, r.klass, cases[i].class, cases[i].flags);
		for (r.hash = 1; r.hash < cases[i].numbers; r.hash++)
			assert_int_equal(ids_blocker_numbered(f->ids, &r), base + r.hash);
		for (; r.hash < cases[i].numbers + 3; r.hash++)
			assert_int_equal(ids_blocker_numbered(f->ids, &r), base + cases[i].numbers);
		r.hash = 1;
		assert_int_equal(ids_blocker_numbered(f->ids, &r), base + 1);
		base += cases[i].numbers;
	}
}

static void a_reused_tid_is_another_thread(void **state)
{
	struct fixture *f = *state;
	struct wire_thread r = {.head = {.tid = 5}, .start_ns = 100, .ns_tid = 5, .comm = "java"};
	struct wire_thread_java j = {
		.head = {.tid = 5}, .java_id = 12, .ns_tid = 5, .name_length = 4, .name = "main"};
	struct log_names *n;

	ids_thread_seen(f->ids, &r, true);
	assert_int_equal(ids_thread(f->ids, 5, 1), 1);
	ids_thread_java(f->ids, &j);
	assert_int_equal(ids_thread(f->ids, 5, 1), 1);
	r.start_ns = 200;
	ids_thread_seen(f->ids, &r, false);
	assert_int_equal(ids_thread(f->ids, 5, 1), 2);
	assert_int_equal(ids_thread(f->ids, 0, 1), 0);
	n = names_log_read(&f->log);
	assert_string_equal(log_names_thread(n, 1)->name, "main");
	assert_int_equal(log_names_thread(n, 1)->java_id, 12);
	assert_true(log_names_thread(n, 1)->existed);
	assert_string_equal(log_names_thread(n, 2)->name, "java");
	assert_int_equal(log_names_thread(n, 2)->java_id, 0);
	log_names_free(n);
}

static void names_come_to_threads_of_a_pid_namespace(void **state)
{
	struct fixture *f = *state;
	struct wire_thread r = {
		.head = {.tid = 5000}, .start_ns = 100, .ns_tid = 7, .comm = "java"};
	struct jvm_thread known = {.ns_tid = 7, .java_id = 3, .daemon = true, .name = "pool-1"};
	struct log_names *n;

	ids_thread_seen(f->ids, &r, true);
	ids_thread_known(f->ids, &known, 9);
	known.ns_tid = 8; /* not seen by the kernel's side yet: no thread is made up */
	ids_thread_known(f->ids, &known, 9);
	n = names_log_read(&f->log);
	assert_string_equal(log_names_thread(n, 1)->name, "pool-1");
	assert_true(log_names_thread(n, 1)->daemon);
	assert_int_equal(log_names_count(n, LOG_NAMES_THREAD), 1);
	log_names_free(n);
}

/* Each is found by its number there, and not by a look at all of them: that would take 10^10. */
static void threads_of_a_pid_namespace_are_many(void **state)
{
	const uint32_t count = 100000, inside = 2 * count;
	struct fixture *f = *state;
	struct log_names *n;

	for (uint32_t i = 1; i <= count; i++) {
		struct wire_thread r = {
			.head = {.tid = i}, .start_ns = 100, .ns_tid = inside + i, .comm = "java"};

		ids_thread_seen(f->ids, &r, true);
	}
	for (uint32_t i = 1; i <= count; i++) {
		struct jvm_thread known = {.ns_tid = inside + i, .java_id = i, .name = "pool-1"};

		ids_thread_known(f->ids, &known, 9);
	}
	n = names_log_read(&f->log);
	for (uint32_t i = 1; i <= count; i++) {
		assert_int_equal(log_names_thread(n, i)->tid, i);
		assert_int_equal(log_names_thread(n, i)->java_id, i);
	}
	log_names_free(n);
}

static void text_becomes_valid_utf8(void **state)
{
	struct fixture *f = *state;
	struct log_names *n;

	define(f, 0x100, "a/\xc3\xa4", 0);
	define(f, 0x200, "a/\xc0\x80z", 0);              /* modified UTF-8's NUL */
	define(f, 0x300, "\xed\xa0\xbd\xed\xb2\xa9", 0); /* ... and a pair of surrogates */
	define(f, 0x400, "cut\xe2\x82 \xed\xb2\xa9\xed\xa0\xbd", 0); /* two that are no pair */
	for (int twice = 0; twice < 2; twice++)
		assert_int_equal(ids_string(f->ids, "x", 1, 0), 1);
	assert_int_equal(ids_string(f->ids, "", 0, 0), 0);
	n = names_log_read(&f->log);
	assert_string_equal(log_names_class(n, 1), "a.\xc3\xa4");
	assert_string_equal(log_names_class(n, 2), "a.??z");
	assert_string_equal(log_names_class(n, 3), "\xf0\x9f\x92\xa9");
	assert_string_equal(log_names_class(n, 4), "cut?? ??????");
	assert_string_equal(log_names_string(n, 1), "x");
	log_names_free(n);
}

/* --- within a budget ---------------------------------------------------------------------- */

static struct memory memory;

/* Other ids than the fixture's, with so many bytes for each part. */
static struct ids *bounded(struct fixture *f, uint64_t bytes)
{
	struct ids *ids;

	memset(&memory, 0, sizeof(memory));
	for (unsigned i = 0; i < MEMORY_PART_COUNT; i++)
		memory.part[i].max = bytes;
	assert_int_equal(ids_new(f->log.w, &memory, &ids), 0);
	return ids;
}

static void bounded_end(struct ids *ids)
{
	for (unsigned i = 0; i < MEMORY_PART_COUNT; i++)
		assert_true(memory.part[i].most <= memory.part[i].max);
	assert_int_equal(ids_error(ids), 0);
	ids_free(ids);
	for (unsigned i = 0; i < MEMORY_PART_COUNT; i++)
		assert_int_equal(memory.part[i].used, 0);
}

static struct wire_lock at(uint32_t kind, uint32_t tid, uint64_t object)
{
	return (struct wire_lock){.head = {.kind = (__u16)kind, .tid = tid}, .object = object};
}

/* A lock in use, and one that a thread is blocked on, stay; what nobody uses goes. */
static void locks_that_nobody_uses_are_forgotten(void **state)
{
	struct ids *ids = bounded(*state, 128 * 1024);
	struct wire_lock hot = at(WIRE_MONITOR_EXIT, 1, 0x10), enter, waited, r;
	uint32_t number, blocked, waiting, last = 0;

	ids_thread(ids, 2, 0);
	ids_thread(ids, 3, 0);
	enter = at(WIRE_MONITOR_ENTER, 2, 0x20);
	waited = at(WIRE_MONITOR_WAIT_BEGIN, 3, 0x30);
	number = ids_monitor(ids, &hot);
	blocked = ids_monitor(ids, &enter);
	waiting = ids_monitor(ids, &waited);
	for (uint64_t i = 1; i <= 100000; i++) {
		r = at(WIRE_MONITOR_EXIT, 1, i << 8);
		last = ids_monitor(ids, &r);
		if (i % 100 == 0)
			assert_int_equal(ids_monitor(ids, &hot), number);
	}
	assert_in_range(last, 100003 - memory.shared[MEMORY_LOCK], 100004);
	assert_true(memory.shared[MEMORY_LOCK] < 10);
	assert_true(memory.forgotten[MEMORY_LOCK] > 97000);
	enter.head.kind = WIRE_MONITOR_ENTERED;
	assert_int_equal(ids_monitor(ids, &enter), blocked);
	waited.head.kind = WIRE_MONITOR_WAIT_END;
	assert_int_equal(ids_monitor(ids, &waited), waiting);
	r = at(WIRE_MONITOR_EXIT, 1, 1 << 8); /* the first one: it is another one now */
	assert_true(ids_monitor(ids, &r) > last);
	bounded_end(ids);
}

/* Each is needed: what comes then shares one number. */
static void locks_that_are_needed_are_not_forgotten(void **state)
{
	struct ids *ids = bounded(*state, 12 * 1024);
	static uint32_t numbers[301];
	uint32_t shared;
	struct wire_lock r;

	memory.part[MEMORY_THREADS].max = 1 << 20;
	for (uint32_t i = 1; i <= 300; i++) {
		ids_thread(ids, i, 0);
		r = at(WIRE_MONITOR_ENTER, i, (uint64_t)i << 8);
		numbers[i] = ids_monitor(ids, &r);
	}
	shared = numbers[300];
	assert_true(memory.shared[MEMORY_LOCK] > 10);
	for (uint32_t i = 1; i <= 300; i++) {
		bool own = numbers[i] != shared;

		assert_int_equal(own, i <= 300 - memory.shared[MEMORY_LOCK]);
		r = at(WIRE_MONITOR_OWNER_SEEN, i, (uint64_t)i << 8);
		if (own)
			assert_int_equal(ids_monitor(ids, &r), numbers[i]);
	}
	assert_int_equal(memory.forgotten[MEMORY_LOCK], 0);
	bounded_end(ids);
}

/* A number goes when the last of its keys does. */
static void objects_with_a_hash_are_forgotten_too(void **state)
{
	struct ids *ids = bounded(*state, 128 * 1024);
	struct wire_class c = {.klass = 0x300, .name_length = 1, .name = "C"};
	struct wire_lock r = {.klass = 0x300};
	struct wire_lock exact = {.head = {.kind = WIRE_MONITOR_ENTER}, .klass = 0x300};
	uint32_t number;

	ids_class(ids, &c);
	for (uint32_t i = 1; i <= 20000; i++) {
		r.object = (uint64_t)i << 8;
		r.hash = i;
		number = ids_monitor(ids, &r);
		assert_int_equal(ids_monitor(ids, &r), number);
		r.object += 8; /* inflated anew */
		assert_int_equal(ids_monitor(ids, &r), number);
		exact.object = ((uint64_t)i << 8) + 16;
		exact.hash = i;
		assert_int_equal(ids_monitor_numbered(ids, &exact), number);
		assert_int_equal(ids_blocker_numbered(ids, &exact) != 0, true);
		if (i % 3)
			ids_monitor_forget(ids, exact.object);
	}
	assert_true(memory.forgotten[MEMORY_LOCK] > 10000);
	bounded_end(ids);
}

/* Those that have ended go, 2 s later or when there is no room; others never. */
static void threads_that_live_are_not_forgotten(void **state)
{
	struct ids *ids = bounded(*state, 64 * 1024);
	struct wire_thread r = {.start_ns = 1, .comm = "a thread"};
	uint32_t alive[100], refused = 0;

	for (uint32_t i = 0; i < 100; i++)
		alive[i] = ids_thread(ids, 1000000 + i, 0);
	for (uint32_t i = 1; i <= 20000; i++) {
		r.head.tid = i;
		r.head.time_ns = i * 1000;
		r.start_ns = i;
		ids_thread_seen(ids, &r, false);
		refused += !ids_thread(ids, i, i);
		ids_thread_ended(ids, i, i * 1000);
	}
	assert_int_equal(refused, 0);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(ids_thread(ids, 1000000 + i, 0), alive[i]);
	for (uint32_t i = 20001; !refused; i++) /* these do not end */
		refused = !ids_thread(ids, i, i);
	assert_int_equal(memory.shared[MEMORY_THREAD], 1);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(ids_thread(ids, 1000000 + i, 0), alive[i]);
	bounded_end(ids);
}

static void threads_that_have_ended_go_in_time(void **state)
{
	struct ids *ids = bounded(*state, 1 << 20);
	struct wire_thread r = {.comm = "a thread"};

	for (uint32_t i = 1; i <= 100000; i++) {
		r.head.tid = i;
		r.head.time_ns = r.start_ns = i * 100000000ull; /* ten a second */
		ids_thread_seen(ids, &r, false);
		ids_thread_ended(ids, i, r.head.time_ns);
	}
	assert_true(memory.part[MEMORY_THREADS].most < 64 * 1024);
	bounded_end(ids);
}

static void names_are_forgotten(void **state)
{
	struct ids *ids = bounded(*state, 64 * 1024);
	uint32_t hot = ids_string(ids, "hot", 3, 0), last = 0;
	struct wire_class c = {0};
	char text[32];

	for (uint32_t i = 1; i <= 20000; i++) {
		uint32_t length = (uint32_t)snprintf(text, sizeof(text), "name %u", i);

		last = ids_string(ids, text, length, 0);
		assert_int_equal(ids_string(ids, "hot", 3, 0), hot);
		c.klass = i << 8;
		c.name_length = length;
		memcpy(c.name, text, length);
		ids_class(ids, &c);
	}
	assert_true(memory.forgotten[MEMORY_STRING] > 10000);
	assert_true(memory.forgotten[MEMORY_CLASS] > 10000);
	assert_true(last > 10000);
	bounded_end(ids);
}

/* The same within a budget, whatever allocation fails. */
static void memory_may_run_out_within_a_budget(void **state)
{
	struct fixture *f = *state;
	bool failed = true;

	for (unsigned long n = 0; failed; n++) {
		struct ids *ids = NULL;
		struct wire_lock r = {.klass = 0x300};

		memset(&memory, 0, sizeof(memory));
		for (unsigned i = 0; i < MEMORY_PART_COUNT; i++)
			memory.part[i].max = 24 * 1024;
		alloc_fail_at(n);
		if (!ids_new(f->log.w, &memory, &ids)) {
			struct wire_class c = {.klass = 0x300, .name_length = 1, .name = "C"};

			ids_class(ids, &c);
			for (uint32_t i = 1; i < 400; i++) {
				r.head.tid = i % 20;
				r.object = (uint64_t)i << 8;
				r.hash = i;
				ids_thread(ids, i, 0);
				ids_monitor(ids, &r);
				ids_thread_ended(ids, i, 0);
			}
		}
		failed = alloc_fail_off();
		ids_free(ids);
		for (unsigned i = 0; i < MEMORY_PART_COUNT; i++)
			assert_int_equal(memory.part[i].used, 0);
	}
	assert_false(failed);
}

/* Whatever allocation fails, nothing crashes, and the error is kept. */
static void memory_may_run_out(void **state)
{
	struct fixture *f = *state;
	bool failed = true;

	for (unsigned long i = 0; failed; i++) {
		struct wire_lock r = {
			.object = 0x1000, .klass = 0x300, .hash = 5, .head = {.tid = 3}};
		struct wire_lock exact = {.object = 0x2000, .klass = 0x300, .hash = 6};
		struct ids *ids = NULL;

		alloc_fail_at(i);
		if (!ids_new(f->log.w, NULL, &ids)) {
			struct wire_class c = {.klass = 0x300, .name_length = 1, .name = "C"};

			ids_class(ids, &c);
			ids_monitor(ids, &r);
			ids_blocker(ids, &r);
			ids_monitor_numbered(ids, &exact);
			ids_blocker_numbered(ids, &exact);
			ids_thread(ids, 4, 0);
			ids_string(ids, "abc", 3, 0);
		}
		failed = alloc_fail_off();
		ids_free(ids);
	}
	assert_false(failed);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(a_monitor_keeps_its_number),
		TEST(a_reused_monitor_is_another_lock),
		TEST(a_hash_keeps_the_identity_over_inflations),
		TEST(a_class_redefined_at_the_same_address_is_another),
		TEST(a_lock_of_a_class_redefined_is_another),
		TEST(a_lock_without_a_class_gets_it_later),
		TEST(blockers_are_sorted_into_groups),
		TEST(what_is_no_lock_is_told_by_its_class),
		TEST(a_blocker_that_the_collector_moves_is_followed),
		TEST(both_ends_of_a_park_name_the_same_lock),
		TEST(a_patched_jvms_monitor_is_known_until_it_is_deflated),
		TEST(a_monitor_that_was_not_used_is_forgotten),
		TEST(a_patched_jvms_monitor_of_which_nobody_tells),
		TEST(a_patched_jvms_blockers_are_told_by_class_and_hash),
		TEST(many_blockers_of_a_class_become_one),
		TEST(a_reused_tid_is_another_thread),
		TEST(names_come_to_threads_of_a_pid_namespace),
		TEST(threads_of_a_pid_namespace_are_many),
		TEST(text_becomes_valid_utf8),
		TEST(locks_that_nobody_uses_are_forgotten),
		TEST(locks_that_are_needed_are_not_forgotten),
		TEST(objects_with_a_hash_are_forgotten_too),
		TEST(threads_that_live_are_not_forgotten),
		TEST(threads_that_have_ended_go_in_time),
		TEST(names_are_forgotten),
		TEST(memory_may_run_out_within_a_budget),
		TEST(memory_may_run_out),
	};

	return cmocka_run_group_tests_name("ids", tests, NULL, NULL);
}
