/* Objects, classes and symbols of the fake JVM. Nothing is ever freed. */
#include "fakejvm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ARENA_BYTES (64ul << 20)
#define HEADER_BYTES                                                                               \
	16 /* mark and class; an array's length is the upper half of a narrow class word, else     \
	      behind it */

/* FieldInfo, with other slots than JDK 17's. */
enum {
	SLOT_NAME,
	SLOT_SIGNATURE,
	SLOT_ACCESS,
	SLOT_INITVAL,
	SLOT_HIGH,
	SLOT_LOW,
	SLOT_EXTRA,
	SLOTS
};
#define TAG_SIZE 3
#define TAG_OFFSET 1
#define ACC_STATIC 8

const int32_t fake_field_slots[] = {SLOTS,    SLOT_ACCESS, SLOT_NAME, SLOT_SIGNATURE, SLOT_INITVAL,
				    SLOT_LOW, SLOT_HIGH,   TAG_SIZE,  TAG_OFFSET};

struct fake_vm vm;

struct arena {
	char *base;
	size_t used;
};

static struct arena java_heap, metaspace, handles;

static void arena_init(struct arena *a, uint64_t hint)
{
	a->base = mmap((void *)hint, ARENA_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (a->base == MAP_FAILED)
		abort();
	a->used = 64; /* address 0 relative to a narrow base is null */
}

static void *arena_take(struct arena *a, size_t size)
{
	char *p = a->base + a->used;

	a->used += (size + 15) & ~15ul;
	if (a->used > ARENA_BYTES)
		abort();
	return p;
}

void *fake_c_heap(size_t size)
{
	void *p = calloc(1, size);

	if (!p)
		abort();
	return p;
}

/* A list is not changed as long as it is the VM's, as in HotSpot. The memory of the one before is the
 * next one's, as an allocator likes to have it: the same address does not mean the same list. */
void fake_threads_publish(struct java_thread *added, struct java_thread *removed)
{
	static struct threads_list *free_one;
	struct threads_list *old = vm.threads,
			    *list = free_one ? free_one : fake_c_heap(sizeof(*list));

	list->magic = 0xdeadbeef;
	list->threads = fake_c_heap((old->length + 1) * sizeof(*list->threads));
	list->length = 0;
	for (uint32_t i = 0; i < old->length; i++)
		if (old->threads[i] != removed)
			list->threads[list->length++] = old->threads[i];
	if (added)
		list->threads[list->length++] = added;
	__atomic_store_n(&vm.threads, list, __ATOMIC_RELEASE);
	free_one = old;
}

struct symbol *fake_symbol(const char *text)
{
	size_t length = strlen(text);
	struct symbol *s = arena_take(&metaspace, sizeof(*s) + length + 8);

	s->length = (uint16_t)length;
	memcpy(s->body, text, length);
	memset(s->body + length, '#', 8); /* whoever reads on is seen */
	return s;
}

/* --- classes ----------------------------------------------------------------------------- */

struct java_field {
	const char *name, *signature;
	uint32_t offset;
	bool is_static;
};

static const struct java_field thread_fields[] = {
	{"eetop", "I", 999, false}, /* another signature: not the one */
	{"name", "Ljava/lang/String;", THREAD_NAME, false},
	{"eetop", "J", THREAD_EETOP, false},
	{"daemon", "Z", THREAD_DAEMON, false},
	{"parkBlocker", "Ljava/lang/Object;", THREAD_BLOCKER, false},
	{"threadSeqNumber", "J", 120, true},
	{"tid", "J", THREAD_TID, false},
};
static const struct java_field string_fields[] = {
	{"value", "[B", STRING_VALUE, false},
	{"coder", "B", STRING_CODER, false},
};
static const struct java_field aos_fields[] = {
	{"exclusiveOwnerThread", "Ljava/lang/Thread;", AOS_OWNER, false},
};
static const struct java_field aqs_fields[] = {
	{"state", "J", 888, true},
	{"state", "I", AQS_STATE, false},
};
#ifdef FAKE_JDK24
static const struct java_field aqls_fields[] = {
	{"state", "I", AQS_STATE, false},
	{"state", "J", AQLS_STATE, false},
};
#endif
static const struct java_field rrwl_fields[] = {
	{"firstReader", "Ljava/lang/Thread;", RRWL_FIRST_READER, false},
};

static void fields_set(struct klass *k, const struct java_field *fields, size_t count)
{
	struct constant_pool *pool;
	struct array_u2 *a;

	/* One more field than Java declares: injected by the VM, and not to be looked at. */
	a = arena_take(&metaspace, sizeof(*a) + (count + 1) * SLOTS * sizeof(uint16_t));
	pool = arena_take(&metaspace, sizeof(*pool) + (2 * count + 1) * sizeof(uint64_t));
	a->length = (uint32_t)((count + 1) * SLOTS);
	pool->length = (uint32_t)(2 * count + 1);
	for (size_t i = 0; i < count; i++) {
		uint16_t *f = a->data + i * SLOTS;
		uint32_t packed = fields[i].offset << TAG_SIZE | TAG_OFFSET;

		f[SLOT_NAME] = (uint16_t)(2 * i + 1);
		f[SLOT_SIGNATURE] = (uint16_t)(2 * i + 2);
		f[SLOT_ACCESS] = fields[i].is_static ? ACC_STATIC : 0;
		f[SLOT_LOW] = (uint16_t)packed;
		f[SLOT_HIGH] = (uint16_t)(packed >> 16);
		f[SLOT_EXTRA] = 0xffff;
		pool->entries[2 * i + 1] = (uint64_t)fake_symbol(fields[i].name);
		pool->entries[2 * i + 2] = (uint64_t)fake_symbol(fields[i].signature);
	}
	k->java_fields_count = (uint16_t)count;
	k->fields = a;
	k->constants = pool;
}

/* Added as HotSpot does it: filled in first, then linked at the head of its loader's list. */
struct klass *fake_class(const char *name, struct klass *super, uint32_t bytes)
{
	struct klass *k = arena_take(&metaspace, sizeof(*k));

	k->name = fake_symbol(name);
	k->super = super;
	k->loader = vm.loaders->next;
	k->instance_bytes = bytes ? bytes : super ? super->instance_bytes : HEADER_BYTES;
	if (super) {
		k->depth = super->depth + 1;
		memcpy(k->primary_supers, super->primary_supers, sizeof(k->primary_supers));
	}
	if (k->depth >= SUPERS)
		abort();
	k->primary_supers[k->depth] = k;
	k->super_check_offset = (uint32_t)(offsetof(struct klass, primary_supers) + 8 * k->depth);
	fields_set(k, NULL, 0);
	k->next_link = k->loader->klasses;
	__atomic_store_n(&k->loader->klasses, k, __ATOMIC_RELEASE);
	return k;
}

#define FIELDS(k, f) fields_set(vm.classes[k], f, sizeof(f) / sizeof(*f))

void fake_load_juc(void)
{
	struct klass **c = vm.classes;

	c[CLASS_AOS] = fake_class("java/util/concurrent/locks/AbstractOwnableSynchronizer",
				  c[CLASS_OBJECT], AOS_BYTES);
	FIELDS(CLASS_AOS, aos_fields);
	c[CLASS_AQS] = fake_class("java/util/concurrent/locks/AbstractQueuedSynchronizer",
				  c[CLASS_AOS], AQS_BYTES);
	FIELDS(CLASS_AQS, aqs_fields);
	c[CLASS_REENTRANT] =
		fake_class("java/util/concurrent/locks/ReentrantLock$NonfairSync", c[CLASS_AQS], 0);
#ifdef FAKE_JDK24
	c[CLASS_AQLS] = fake_class("java/util/concurrent/locks/AbstractQueuedLongSynchronizer",
				   c[CLASS_AOS], AQLS_BYTES);
	FIELDS(CLASS_AQLS, aqls_fields);
#else
	c[CLASS_AQLS] = c[CLASS_AQS];
#endif
	c[CLASS_RRWL] = fake_class("java/util/concurrent/locks/ReentrantReadWriteLock$Sync",
				   c[CLASS_AQLS], RRWL_BYTES);
	FIELDS(CLASS_RRWL, rrwl_fields);
}

void fake_heap_init(bool narrow, bool late_juc)
{
	struct klass **c = vm.classes;

	/* Above 4 GB, so that narrow pointers need their base. */
	arena_init(&java_heap, 0x700000000);
	arena_init(&metaspace, 0x800000000);
	arena_init(&handles, 0);
	vm.narrow = vm.compressed_oops = vm.compressed_klass = narrow;
	if (narrow) {
		vm.narrow_oop_base = (uint64_t)java_heap.base - 4096;
		vm.narrow_oop_shift = 4;
		vm.narrow_klass_base = (uint64_t)metaspace.base;
		vm.narrow_klass_shift = 2;
	}
	vm.heap = java_heap.base;
	vm.loaders = fake_c_heap(sizeof(*vm.loaders));
	vm.loaders->next = fake_c_heap(sizeof(*vm.loaders));
	c[CLASS_OBJECT] = fake_class("java/lang/Object", NULL, HEADER_BYTES);
	vm.loaders->class_loader = fake_handle(fake_object(c[CLASS_OBJECT]));
	c[CLASS_BYTES] = fake_class("[B", c[CLASS_OBJECT], 0);
	c[CLASS_STRING] = fake_class("java/lang/String", c[CLASS_OBJECT], STRING_BYTES);
	FIELDS(CLASS_STRING, string_fields);
	c[CLASS_THREAD] = fake_class("java/lang/Thread", c[CLASS_OBJECT], THREAD_BYTES);
	FIELDS(CLASS_THREAD, thread_fields);
	if (!late_juc)
		fake_load_juc();
}

/* --- objects ----------------------------------------------------------------------------- */

static oop object_of_size(struct klass *k, size_t bytes)
{
	uint64_t *o = arena_take(&java_heap, bytes);

	o[0] = 1; /* neutral, no hash */
	if (vm.narrow)
		*(uint32_t *)(o + 1) =
			(uint32_t)(((uint64_t)k - vm.narrow_klass_base) >> vm.narrow_klass_shift);
	else
		o[1] = (uint64_t)k;
	return (oop)o;
}

oop fake_object(struct klass *k)
{
	return object_of_size(k, k->instance_bytes);
}

struct klass *fake_object_class(oop o)
{
	if (!vm.narrow)
		return (struct klass *)((uint64_t *)o)[1];
	return (struct klass *)(vm.narrow_klass_base +
				((uint64_t) * (uint32_t *)(o + 8) << vm.narrow_klass_shift));
}

oop fake_object_move(oop o)
{
	struct klass *k = fake_object_class(o);
	oop to = fake_object(k);

	memcpy((void *)to, (void *)o, k->instance_bytes);
	memset((void *)o, 0xab, k->instance_bytes);
	return to;
}

oop *fake_handle(oop o)
{
	oop *h = arena_take(&handles, sizeof(*h));

	*h = o;
	return h;
}

void fake_put_oop(oop o, uint32_t offset, oop value)
{
	if (vm.narrow)
		fake_put_u32(o, offset,
			     value ? (uint32_t)((value - vm.narrow_oop_base) >> vm.narrow_oop_shift)
				   : 0);
	else
		fake_put_u64(o, offset, value);
}

oop fake_get_oop(oop o, uint32_t offset)
{
	uint32_t narrow;

	if (!vm.narrow)
		return *(volatile uint64_t *)(o + offset);
	narrow = *(volatile uint32_t *)(o + offset);
	return narrow ? vm.narrow_oop_base + ((uint64_t)narrow << vm.narrow_oop_shift) : 0;
}

void fake_put_u64(oop o, uint32_t offset, uint64_t value)
{
	*(volatile uint64_t *)(o + offset) = value;
}

void fake_put_u32(oop o, uint32_t offset, uint32_t value)
{
	*(volatile uint32_t *)(o + offset) = value;
}

void fake_put_u8(oop o, uint32_t offset, uint8_t value)
{
	*(volatile uint8_t *)(o + offset) = value;
}

void fake_put_hash(oop o, uint32_t hash)
{
	fake_put_u64(o, 0, (uint64_t)hash << FAKE_HASH_SHIFT | 1);
}

/* A byte[], as arrayOopDesc: the length fills the gap behind a narrow class word, else it has a
 * word of its own. */
static oop byte_array(const void *bytes, uint32_t length)
{
	uint32_t length_at = vm.narrow ? 12 : 16, base = vm.narrow ? 16 : 24;
	oop a = object_of_size(vm.classes[CLASS_BYTES], base + length);

	fake_put_u32(a, length_at, length);
	memcpy((void *)(a + base), bytes, length);
	return a;
}

/* UTF-8 of up to three bytes a character is enough here. */
static uint16_t next_char(const unsigned char **at)
{
	const unsigned char *s = *at;

	if (s[0] < 0x80) {
		*at += 1;
		return s[0];
	}
	if (s[0] < 0xe0) {
		*at += 2;
		return (uint16_t)((s[0] & 0x1f) << 6 | (s[1] & 0x3f));
	}
	*at += 3;
	return (uint16_t)((s[0] & 0x0f) << 12 | (s[1] & 0x3f) << 6 | (s[2] & 0x3f));
}

oop fake_string(const char *utf8)
{
	const unsigned char *at = (const unsigned char *)utf8;
	oop s = fake_object(vm.classes[CLASS_STRING]), value;
	uint16_t wide[512];
	char narrow[512];
	uint32_t n = 0;
	bool latin1 = true;

	while (*at && n < 512) {
		wide[n] = next_char(&at);
		narrow[n] = (char)wide[n];
		latin1 &= wide[n] < 256;
		n++;
	}
	value = latin1 ? byte_array(narrow, n) : byte_array(wide, 2 * n);
	fake_put_oop(s, STRING_VALUE, value);
	fake_put_u8(s, STRING_CODER, !latin1);
	return s;
}
