/* tests/bpf/fakejvm.h: the parts of a HotSpot that spoor reads, laid out differently from the real
 * one. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Every offset that vmStructs exports differs from JDK 17's, so that nothing in spoor can be a
 * constant by accident. The exceptions are facts that HotSpot does not export and that a reader
 * must know: the mark word before the class word, and with it the header of an array.
 */

/* Since JDK 24 a monitor's owner is a thread's id, and the hash is further up in the mark word. */
#ifdef FAKE_JDK24
#define FAKE_MAJOR 24
#define FAKE_HASH_SHIFT 11
#define FAKE_OWNER_TYPE "int64_t"
#else
#define FAKE_MAJOR 17
#define FAKE_HASH_SHIFT 8
#define FAKE_OWNER_TYPE NULL
#endif

/* As no JDK has it. */
#define FAKE_THREAD_IN_NATIVE 6

typedef uint64_t oop; /* HotSpot's word; the address of an object, 0: null */

struct symbol {
	uint32_t refcount, hash;
	uint16_t pad, length;
	char body[]; /* not NUL terminated */
};

struct array_u2 {
	uint32_t pad;
	uint32_t length;
	uint16_t data[];
};

struct constant_pool {
	uint64_t tags, holder, cache[2];
	uint32_t pad, length;
	uint64_t entries[];
};

struct class_loader_data {
	uint64_t pad[3];
	struct class_loader_data *next;
	struct klass *klasses;
	oop *class_loader;
	uint64_t dictionary;
};

#define SUPERS 8

struct klass {
	uint64_t vtable;
	struct klass *next_link;
	struct class_loader_data *loader;
	struct klass *super;
	struct klass *primary_supers[SUPERS]; /* [depth] is the class itself */
	uint32_t super_check_offset, depth;
	struct symbol *name;
	uint64_t pad;
	/* an InstanceKlass from here on */
	struct array_u2 *fields;
	struct constant_pool *constants;
	uint32_t instance_bytes;
	uint16_t pad2, java_fields_count;
};

#define KLASS_BYTES offsetof(struct klass, fields)

struct osthread {
	uint64_t pthread_id;
	uint32_t state;
	int32_t thread_id;
	uint64_t pad[2];
};

struct parker {
	uint64_t pad[4];
};

struct java_thread {
	uint64_t vtable, pad[5];
	char *stack_base;
	uint64_t stack_size;
	struct osthread *osthread;
	struct {
		uint64_t sp, pc, fp;
	} anchor;
	oop *thread_obj;
	struct parker parker;
	uint32_t pad2;
	int32_t state; /* JavaThreadState */
	struct object_monitor *pending_monitor, *waiting_monitor;
	uint64_t pad3[6];
};

struct threads_list {
	struct java_thread **threads;
	uint64_t pad[2];
	uint32_t magic, length;
};

struct object_monitor {
	oop *object;
	uint64_t pad[3];
	uint64_t header;
	uint64_t pad2[6];
	void *owner;
	uint64_t pad3[4];
};

struct jvm_flag {
	const char *name;
	int32_t flags, type;
	void *addr;
	uint64_t pad;
};

enum fake_class { /* made before main's first command, except the last ones: see fake_load_juc */
		  CLASS_OBJECT,
		  CLASS_STRING,
		  CLASS_BYTES,
		  CLASS_THREAD,
		  CLASS_AOS,
		  CLASS_AQS,
		  CLASS_AQLS, /* ReentrantReadWriteLock's superclass */
		  CLASS_REENTRANT,
		  CLASS_RRWL,
		  CLASS_COUNT,
};

/* Offsets of the Java fields; other than in any JDK. */
enum {
	STRING_CODER = 20,
	STRING_VALUE = 24,
	STRING_BYTES = 32,
	THREAD_TID = 24,
	THREAD_EETOP = 40,
	THREAD_NAME = 56,
	THREAD_DAEMON = 68,
	THREAD_BLOCKER = 72,
	THREAD_BYTES = 88,
	AOS_OWNER = 24,
	AOS_BYTES = 32,
	AQS_STATE = 36,
	AQS_BYTES = 40,
	AQLS_STATE = 40,
	AQLS_BYTES = 48,
	RRWL_FIRST_READER = 48,
	RRWL_BYTES = 56,
};

/* What the tables point to; the VM of this process. */
struct fake_vm {
	bool narrow;
	struct threads_list *threads;
	struct class_loader_data *loaders;
	struct klass *classes[CLASS_COUNT];
	uint64_t narrow_oop_base, narrow_klass_base;
	int32_t narrow_oop_shift, narrow_klass_shift;
	struct jvm_flag *flags;
	uint64_t flag_count;
	volatile bool monitor_probes, extended_probes, use_g1, use_serial, use_parallel;
	bool compressed_oops, compressed_klass;
	const char *release, *info;
	int32_t major, minor, security, build;
	void *heap;
};

extern struct fake_vm vm;

/* fakejvm_heap.c */
void fake_heap_init(bool narrow, bool late_juc);
/*
 * What somebody has done to DTraceMonitorProbes before, by main's arguments: --flag-on, --flag-no:
 * the user, by -XX:+DTraceMonitorProbes or -XX:-; --flag-left: on, and nobody told the JVM.
 * --no-flag-origin: vmStructs do not have JVMFlag::_flags.
 */
void fake_flags_init(int argc, char **argv);
void fake_tables_init(int argc, char **argv);
void fake_load_juc(void);
struct symbol *fake_symbol(const char *text);
struct klass *fake_class(const char *name, struct klass *super, uint32_t bytes);
oop fake_object(struct klass *k);
oop fake_string(const char *utf8);
oop fake_object_move(oop o);
oop *fake_handle(oop o);
struct klass *fake_object_class(oop o);
void fake_put_oop(oop o, uint32_t offset, oop value);
oop fake_get_oop(oop o, uint32_t offset);
void fake_put_u64(oop o, uint32_t offset, uint64_t value);
void fake_put_u32(oop o, uint32_t offset, uint32_t value);
void fake_put_u8(oop o, uint32_t offset, uint8_t value);
void fake_put_hash(oop o, uint32_t hash);
void *fake_c_heap(size_t size);
/* The VM has a list of its threads, one more or one less: either may be NULL. */
void fake_threads_publish(struct java_thread *added, struct java_thread *removed);

/* fakejvm.c: reads commands, one a line, and answers each; the exit status. */
__attribute__((visibility("default"))) int fake_main(int argc, char **argv);
