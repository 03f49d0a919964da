#include "jvm/layout/layout.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <unistd.h>

#include "jvm/jvm_state.h"
#include "jvm/layout/chunks.h"
#include "tests/unit/jvm/jvm_image.h"
#include "tests/unit/alloc_fail.h"

/* The VM's variables, in the upper half of the image. */
#define VARIABLES (IMAGE_BASE + 0x10000)
enum {
	LIST = 0,
	HEAP = 8,
	OOP_BASE = 16,
	OOP_SHIFT = 24,
	KLASS_BASE = 32,
	KLASS_SHIFT = 40,
	CLD = 48,
	THREAD = 56,
	STRING = 64
};

#define VMCLASS(name) "_klasses[static_cast<int>(vmClassID::" name "_klass_knum)]"

/* What OpenJDK 17.0.15 says of itself on x86-64, as far as it is used. */
static const struct image_field fields_17[] = {
	{"ThreadsList", "_length", "const uint", 0, 4},
	{"ThreadsList", "_threads", "JavaThread *const *const", 0, 16},
	{"JavaThread", "_osthread", "OSThread*", 0, 560},
	{"JavaThread", "_threadObj", "OopHandle", 0, 648},
	{"JavaThread", "_stack_base", "address", 0, 592},
	{"JavaThread", "_stack_size", "size_t", 0, 600},
	{"OSThread", "_thread_id", "OSThread::thread_id_t", 0, 208},
	{"ObjectMonitor", "_header", "markWord", 0, 0},
	{"ObjectMonitor", "_object", NULL, 0, 8},
	{"ObjectMonitor", "_owner", NULL, 0, 64},
	{"oopDesc", "_mark", "markWord", 0, 0},
	{"oopDesc", "_metadata._klass", "Klass*", 0, 8},
	{"Klass", "_name", "Symbol*", 0, 24},
	{"Klass", "_next_link", "Klass*", 0, 144},
	{"Klass", "_super_check_offset", "juint", 0, 20},
	{"Symbol", "_length", "u2", 0, 4},
	{"Symbol", "_body", NULL, 0, 6},
	{"InstanceKlass", "_constants", "ConstantPool*", 0, 232},
	{"InstanceKlass", "_fields", "Array<u2>*", 0, 456},
	{"InstanceKlass", "_java_fields_count", "u2", 0, 310},
	{"ConstantPool", "_length", "int", 0, 60},
	{"Array<u1>", "_data", NULL, 0, 4},
	{"Array<u2>", "_data", NULL, 0, 4},
	{"ClassLoaderData", "_class_loader", "OopHandle", 0, 8},
	{"ClassLoaderData", "_next", "ClassLoaderData*", 0, 112},
	{"ClassLoaderData", "_klasses", "Klass*", 0, 56},
	{"ThreadsSMRSupport", "_java_thread_list", "ThreadsList*", 1, VARIABLES + LIST},
	{"Universe", "_collectedHeap", "CollectedHeap*", 1, VARIABLES + HEAP},
	{"CompressedOops", "_narrow_oop._base", "address", 1, VARIABLES + OOP_BASE},
	{"CompressedOops", "_narrow_oop._shift", "int", 1, VARIABLES + OOP_SHIFT},
	{"CompressedKlassPointers", "_narrow_klass._base", "address", 1, VARIABLES + KLASS_BASE},
	{"CompressedKlassPointers", "_narrow_klass._shift", "int", 1, VARIABLES + KLASS_SHIFT},
	{"ClassLoaderDataGraph", "_head", "ClassLoaderData*", 1, VARIABLES + CLD},
	{"vmClasses", VMCLASS("Thread"), "InstanceKlass*", 1, VARIABLES + THREAD},
	{"vmClasses", VMCLASS("String"), "InstanceKlass*", 1, VARIABLES + STRING},
	{NULL, NULL, NULL, 0, 0},
};

#define FIELDS (sizeof(fields_17) / sizeof(*fields_17))

static const struct image_value types_17[] = {
	{"ThreadsList", 32},
	{"JavaThread", 1384},
	{"OSThread", 216},
	{"ObjectMonitor", 208},
	{"oopDesc", 16},
	{"Klass", 208},
	{"Symbol", 8},
	{"InstanceKlass", 464},
	{"ConstantPool", 72},
	{"Array<u1>", 8},
	{"Array<u2>", 8},
	{"ClassLoaderData", 152},
	{NULL, 0},
};
static const struct image_value ints_17[] = {
	{"FieldInfo::access_flags_offset", 0}, {"FieldInfo::name_index_offset", 1},
	{"FieldInfo::low_packed_offset", 4},   {"FieldInfo::high_packed_offset", 5},
	{"FieldInfo::field_slots", 6},         {"FIELDINFO_TAG_SIZE", 2},
	{"FIELDINFO_TAG_OFFSET", 1},           {NULL, 0},
};
static const struct image_value longs_17[] = {{"markWord::hash_shift", 8}, {NULL, 0}};

static struct image image;

static struct vmstructs *vmstructs_of(const struct image_field *f)
{
	uint64_t symbols[VMSYM_COUNT];
	struct vmstructs *v;

	image_clear(&image);
	image_tables(&image, f, types_17, ints_17, longs_17, symbols);
	assert_int_equal(vmstructs_load(&image.mem, symbols, &v), 0);
	return v;
}

static void layout_of_17_is_known(void **state)
{
	struct vmstructs *v = vmstructs_of(fields_17);
	struct layout_source s;
	struct jvm_layout l;
	const char *missing = NULL;

	(void)state;
	assert_int_equal(layout_load(v, &jdk_17.layout, &l, &s, &missing), 0);
	assert_int_equal(l.java_thread_osthread, 560);
	assert_int_equal(l.monitor_owner, 64);
	assert_true(l.java_thread_list == VARIABLES + LIST);
	assert_int_equal(l.thread_name, -1);
	assert_int_equal(l.aos_owner, -1);
	assert_int_equal(l.mark_hash_shift, 8);
	assert_int_equal(l.mark_hash_mask, 0x7fffffff);
	assert_int_equal(l.array_data, ARRAY_DATA_ALIGNED);
	assert_true(!l.ready && l.owner_word == OWNER_WORD_ADDRESS);
	vmstructs_free(v);
}

static void each_part_that_is_missing_is_named(void **state)
{
	(void)state;
	for (size_t without = 0; without + 1 < FIELDS; without++) {
		struct image_field f[FIELDS];
		const char *missing = NULL;
		struct layout_source s;
		struct jvm_layout l;
		struct vmstructs *v;

		memcpy(f, fields_17, without * sizeof(*f));
		memcpy(f + without, fields_17 + without + 1, (FIELDS - without - 1) * sizeof(*f));
		v = vmstructs_of(f);
		assert_int_equal(layout_load(v, &jdk_17.layout, &l, &s, &missing), -ENOTSUP);
		assert_non_null(missing);
		vmstructs_free(v);
	}
}

static void oops_instead_of_handles_are_refused(void **state)
{
	struct image_field f[FIELDS];
	const char *missing = NULL;
	struct layout_source s;
	struct jvm_layout l;
	struct vmstructs *v;

	(void)state;
	memcpy(f, fields_17, sizeof(f));
	f[3].type_string = "oop";
	v = vmstructs_of(f);
	assert_int_equal(layout_load(v, &jdk_17.layout, &l, &s, &missing), -ENOTSUP);
	assert_non_null(strstr(missing, "_threadObj"));
	vmstructs_free(v);
}

/* vmStructs as 17's, but for one thing; rules NULL: those of no version. */
static struct jvm_layout layout_with(const char *owner_type, const struct image_value *longs,
				     const struct layout_rules *rules)
{
	static const struct layout_rules none;
	struct image_field f[FIELDS];
	uint64_t symbols[VMSYM_COUNT];
	const char *missing;
	struct layout_source s;
	struct jvm_layout l;
	struct vmstructs *v;

	memcpy(f, fields_17, sizeof(f));
	for (size_t i = 0; i < FIELDS - 1; i++)
		if (!strcmp(f[i].name, "_owner"))
			f[i].type_string = owner_type;
	image_clear(&image);
	image_tables(&image, f, types_17, ints_17, longs, symbols);
	assert_int_equal(vmstructs_load(&image.mem, symbols, &v), 0);
	assert_int_equal(layout_load(v, rules ? rules : &none, &l, &s, &missing), 0);
	vmstructs_free(v);
	return l;
}

static void what_vmstructs_says_is_preferred(void **state)
{
	static const struct image_value eleven[] = {{"markWord::hash_shift", 11}, {NULL, 0}};
	static const struct image_value strange[] = {{"markWord::hash_shift", 60}, {NULL, 0}};
	static const struct image_value nothing[] = {{NULL, 0}};
	struct jvm_layout l;

	(void)state;
	l = layout_with("int64_t", eleven, &jdk_17.layout);
	assert_int_equal(l.owner_word, OWNER_WORD_ID);
	assert_int_equal(l.mark_hash_shift, 11);
	l = layout_with("void*", nothing, &jdk_25.layout);
	assert_int_equal(l.owner_word, OWNER_WORD_ADDRESS);
	assert_int_equal(l.mark_hash_shift, 11);
	l = layout_with("narrowThing", strange, &jdk_17.layout);
	assert_int_equal(l.owner_word, OWNER_WORD_UNKNOWN);
	assert_int_equal(l.mark_hash_mask, 0);
}

static void what_nobody_says_is_not_assumed(void **state)
{
	static const struct image_value nothing[] = {{NULL, 0}};
	struct jvm_layout l = layout_with(NULL, nothing, NULL);

	(void)state;
	assert_int_equal(l.owner_word, OWNER_WORD_UNKNOWN);
	assert_int_equal(l.mark_hash_mask, 0);
	assert_int_equal(l.array_data, ARRAY_DATA_UNKNOWN);
	l = layout_with(NULL, longs_17, NULL);
	assert_int_equal(l.mark_hash_shift, 8);
	assert_int_equal(l.mark_hash_mask, 0x7fffffff);
}

/* A class with instance fields: name, signature, offset. */
struct class_field {
	const char *name, *signature;
	uint16_t offset;
};

static uint64_t symbol_put(const char *text)
{
	uint64_t addr = image_room(&image, 6 + (uint32_t)strlen(text));

	image_u16(&image, addr + 4, (uint16_t)strlen(text));
	image_put(&image, addr + 6, text, strlen(text));
	return addr;
}

static uint64_t class_put(const char *name, const struct class_field *f, uint16_t count,
			  uint64_t next)
{
	uint64_t klass = image_room(&image, 464),
		 pool = image_room(&image, 72 + 8 * (2u * count + 1));
	uint64_t array = image_room(&image, 4 + 12u * count);

	image_u32(&image, klass + 20, 56);
	image_u64(&image, klass + 24, symbol_put(name));
	image_u64(&image, klass + 144, next);
	image_u64(&image, klass + 232, pool);
	image_u16(&image, klass + 310, count);
	image_u64(&image, klass + 456, array);
	image_u32(&image, pool + 60, 2u * count + 1);
	image_u32(&image, array, 6u * count);
	for (uint16_t i = 0; i < count; i++) {
		const uint16_t slots[6] = {0,
					   (uint16_t)(2 * i + 1),
					   (uint16_t)(2 * i + 2),
					   0,
					   (uint16_t)(f[i].offset << 2 | 1),
					   0};

		image_u64(&image, pool + 72 + 8 * slots[1], symbol_put(f[i].name));
		image_u64(&image, pool + 72 + 8 * slots[2], symbol_put(f[i].signature));
		image_put(&image, array + 4 + 12u * i, slots, sizeof(slots));
	}
	return klass;
}

static const struct class_field thread_fields[] = {
	{"eetop", "J", 16},
	{"tid", "J", 32},
	{"daemon", "Z", 44},
	{"name", "Ljava/lang/String;", 48},
	{"parkBlocker", "Ljava/lang/Object;", 76},
};
static const struct class_field string_fields[] = {{"coder", "B", 16}, {"value", "[B", 20}};
static const struct class_field aos_fields[] = {{"exclusiveOwnerThread", "Ljava/lang/Thread;", 12}};

static void variable_set(uint32_t at, uint64_t value)
{
	image_u64(&image, VARIABLES + at, value);
}

static void a_jvm_that_starts_becomes_ready(void **state)
{
	struct vmstructs *v = vmstructs_of(fields_17);
	const char *missing;
	struct layout_source s;
	struct jvm_layout l;
	uint64_t boot, aos;

	(void)state;
	assert_int_equal(layout_load(v, &jdk_17.layout, &l, &s, &missing), 0);
	assert_int_equal(layout_refresh(&image.mem, &s, true, true, &l), 0);
	variable_set(HEAP, 1);
	variable_set(LIST, 1);
	assert_int_equal(layout_refresh(&image.mem, &s, true, true, &l), 0);
	variable_set(STRING, class_put("java/lang/String", string_fields, 2, 0));
	/* Thread is there, but not what it needs. */
	variable_set(THREAD, class_put("java/lang/Thread", thread_fields, 2, 0));
	assert_int_equal(layout_refresh(&image.mem, &s, true, true, &l), 0);
	assert_false(l.ready);
	variable_set(THREAD, class_put("java/lang/Thread", thread_fields, 5, 0));
	variable_set(OOP_SHIFT, 3);
	variable_set(KLASS_BASE, 0x7f0000000000);
	assert_int_equal(layout_refresh(&image.mem, &s, true, true, &l), 1);
	assert_true(l.ready && l.compressed_oops && l.compressed_klass);
	assert_int_equal(l.narrow_oop_shift, 3);
	assert_true(l.narrow_klass_base == 0x7f0000000000);
	assert_int_equal(l.thread_park_blocker, 76);
	assert_int_equal(l.string_value, 20);
	assert_int_equal(l.aos_owner, -1);
	assert_int_equal(layout_refresh(&image.mem, &s, true, true, &l), 0);
	boot = image_room(&image, 152);
	aos = class_put("java/util/concurrent/locks/AbstractOwnableSynchronizer", aos_fields, 1, 0);
	variable_set(CLD, boot);
	image_u64(&image, boot + 56, aos);
	assert_int_equal(layout_refresh(&image.mem, &s, true, true, &l), 1);
	assert_int_equal(l.aos_owner, 12);
	assert_true(l.aos_klass == aos);
	assert_int_equal(l.aos_super_check_offset, 56);
	assert_int_equal(layout_refresh(&image.mem, &s, true, true, &l), 0);
	assert_false(layout_complete(&l));
	vmstructs_free(v);
}

/* As in JDK 25; argsize: as in 21. helper: the class's layout helper. */
static int chunks_with(const char *last, uint32_t helper, struct jvm_layout *l)
{
	const struct class_field of_thread[] = {{"cont", "Ljdk/internal/vm/Continuation;", 92}};
	const struct class_field of_cont[] = {{"tail", "Ljdk/internal/vm/StackChunk;", 24}};
	const struct class_field of_chunk[] = {{"parent", "Ljdk/internal/vm/StackChunk;", 12},
					       {"size", "I", 16},
					       {"sp", "I", 20},
					       {last, "I", 28}};
	struct vmstructs *v = vmstructs_of(fields_17);
	struct layout_source s;
	const char *missing;
	uint64_t boot, klass;
	int found;

	assert_int_equal(layout_load(v, &jdk_17.layout, l, &s, &missing), 0);
	assert_false(chunks_possible(l));
	l->java_thread_vthread = 904;
	l->heap_gc_active = l->heap_collections = 1;
	l->stops_to_move = true;
	assert_true(chunks_possible(l));
	s.klass_layout = 8;
	s.entry_return = VARIABLES + 128;
	variable_set(128, 0x7777);
	boot = image_room(&image, 152);
	variable_set(CLD, boot);
	assert_int_equal(chunks_find(&image.mem, &s, l), 0);
	klass = class_put("jdk/internal/vm/StackChunk", of_chunk, 4, 0);
	image_u32(&image, klass + 8, helper);
	klass = class_put("jdk/internal/vm/Continuation", of_cont, 1, klass);
	image_u64(&image, boot + 56, klass);
	assert_int_equal(chunks_find(&image.mem, &s, l), 0);
	image_u64(&image, boot + 56, class_put("java/lang/Thread", of_thread, 1, klass));
	found = chunks_find(&image.mem, &s, l);
	assert_true(found == l->chunk.ready);
	vmstructs_free(v);
	return found;
}

static void stack_chunks_are_found_by_their_fields(void **state)
{
	struct jvm_layout l;

	(void)state;
	assert_int_equal(chunks_with("bottom", 65, &l), 1);
	assert_int_equal(l.chunk.thread_cont, 92);
	assert_int_equal(l.chunk.cont_tail, 24);
	assert_int_equal(l.chunk.parent, 12);
	assert_int_equal(l.chunk.size, 16);
	assert_int_equal(l.chunk.sp, 20);
	assert_int_equal(l.chunk.bottom, 28);
	assert_int_equal(l.chunk.stack, 64);
	assert_true(!l.chunk.bottom_is_argsize && l.chunk.entry_return == 0x7777);
	assert_int_equal(chunks_with("argsize", 64, &l), 1);
	assert_true(l.chunk.bottom_is_argsize && l.chunk.bottom == 28);
	assert_int_equal(chunks_with("other", 64, &l), 0);
	assert_int_equal(chunks_with("bottom", 1, &l), 0);
	assert_int_equal(chunks_with("bottom", 0x80000000, &l), 0);
}

/* ReentrantReadWriteLock$Sync is loaded, with this superclass. */
static struct jvm_layout rrwl_with(const char *super_name, const struct class_field *state)
{
	static const struct class_field sync_fields[] = {
		{"firstReader", "Ljava/lang/Thread;", 28}};
	struct image_field f[FIELDS + 1];
	const char *missing;
	struct layout_source s;
	struct vmstructs *v;
	struct jvm_layout l;
	uint64_t boot, super, sync;

	f[0] = (struct image_field){"Klass", "_super", "Klass*", 0, 120};
	memcpy(f + 1, fields_17, sizeof(fields_17));
	v = vmstructs_of(f);
	assert_int_equal(layout_load(v, &jdk_17.layout, &l, &s, &missing), 0);
	variable_set(HEAP, 1);
	variable_set(LIST, 1);
	variable_set(STRING, class_put("java/lang/String", string_fields, 2, 0));
	variable_set(THREAD, class_put("java/lang/Thread", thread_fields, 5, 0));
	super = class_put(super_name, state, 1, 0);
	sync = class_put("java/util/concurrent/locks/ReentrantReadWriteLock$Sync", sync_fields, 1,
			 super);
	image_u64(&image, sync + 120, super);
	boot = image_room(&image, 152);
	variable_set(CLD, boot);
	image_u64(&image, boot + 56, sync);
	assert_int_equal(layout_refresh(&image.mem, &s, true, true, &l), 1);
	assert_int_equal(l.rrwl_first_reader, 28);
	assert_true(l.rrwl_sync_klass == sync);
	vmstructs_free(v);
	return l;
}

static void readers_are_counted_where_the_superclass_says(void **state)
{
	static const struct class_field narrow = {"state", "I", 20}, wide = {"state", "J", 24};
	struct jvm_layout l;

	(void)state;
	l = rrwl_with("java/util/concurrent/locks/AbstractQueuedSynchronizer", &narrow);
	assert_true(l.rrwl_state == 20 && l.rrwl_shared_shift == 16 && !l.rrwl_state_long);
	l = rrwl_with("java/util/concurrent/locks/AbstractQueuedLongSynchronizer", &wide);
	assert_true(l.rrwl_state == 24 && l.rrwl_shared_shift == 32 && l.rrwl_state_long);
	l = rrwl_with("java/util/concurrent/locks/Another", &wide);
	assert_int_equal(l.rrwl_state, -1);
}

/* A JavaThread with kernel thread tid, named if object is set; its address. */
static uint64_t java_thread_put(uint32_t tid, uint64_t object)
{
	uint64_t thread = image_room(&image, 664), osthread = image_room(&image, 216);
	uint64_t handle = image_room(&image, 8);

	image_u64(&image, thread + 560, osthread);
	image_u32(&image, osthread + 208, tid);
	image_u64(&image, thread + 648, handle);
	image_u64(&image, handle, object);
	image_u64(&image, thread + 592, 0x7000);
	image_u64(&image, thread + 600, 0x1000);
	return thread;
}

/* A java.lang.Thread called "main", with uncompressed pointers. */
static uint64_t thread_object_put(uint64_t string_klass)
{
	uint64_t object = image_room(&image, 96), string = image_room(&image, 32),
		 array = image_room(&image, 32);

	image_u64(&image, object + 32, 7);
	image_u32(&image, object + 44, 1);
	image_u64(&image, object + 48, string);
	image_u64(&image, string + 8, string_klass);
	image_u64(&image, string + 20, array);
	image_u32(&image, array + 16, 4);
	image_put(&image, array + 24, "main", 4);
	return object;
}

/* A ready JVM in the image with three threads: one with a name, one without, one that is just
 * ending. */
static void target_fill(struct jvm *j)
{
	struct vmstructs *v = vmstructs_of(fields_17);
	uint64_t string = class_put("java/lang/String", string_fields, 2, 0);
	uint64_t list = image_room(&image, 32), array = image_room(&image, 24);
	const char *missing;

	*j = (struct jvm){.pid = getpid(), .vms = v, .mem = image.mem, .pidfd = -1};
	assert_int_equal(layout_load(v, &jdk_17.layout, &j->layout, &j->source, &missing), 0);
	variable_set(HEAP, 1);
	variable_set(LIST, list);
	variable_set(STRING, string);
	variable_set(THREAD, class_put("java/lang/Thread", thread_fields, 5, 0));
	assert_int_equal(layout_refresh(&image.mem, &j->source, false, false, &j->layout), 1);
	image_u32(&image, list + 4, 3);
	image_u64(&image, list + 16, array);
	image_u64(&image, array, java_thread_put(101, thread_object_put(string)));
	image_u64(&image, array + 8, java_thread_put(102, 0));
	image_u64(&image, array + 16, java_thread_put(0, 0));
}

static void threads_are_read(void **state)
{
	struct jvm_thread *threads;
	struct jvm j;
	size_t count;

	(void)state;
	target_fill(&j);
	assert_int_equal(jvm_threads(&j, &threads, &count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(threads[0].ns_tid, 101);
	assert_int_equal(threads[0].java_id, 7);
	assert_string_equal(threads[0].name, "main");
	assert_true(threads[0].daemon);
	assert_true(threads[0].stack_base == 0x7000 && threads[0].stack_size == 0x1000);
	assert_int_equal(threads[1].ns_tid, 102);
	assert_string_equal(threads[1].name, "");
	free(threads);
	/* An empty list is none. */
	variable_set(LIST, image_room(&image, 32));
	assert_int_equal(jvm_threads(&j, &threads, &count), -EAGAIN);
	variable_set(LIST, 0);
	assert_int_equal(jvm_threads(&j, &threads, &count), -EAGAIN);
	vmstructs_free(j.vms);
}

static void thread_allocations_may_fail(void **state)
{
	struct jvm_thread *threads = NULL;
	unsigned long n = 0;
	struct jvm j;
	size_t count;
	int err;

	(void)state;
	target_fill(&j);
	do {
		alloc_fail_at(n++);
		err = jvm_threads(&j, &threads, &count);
		assert_true(err == 0 || err == -ENOMEM);
	} while (alloc_fail_off());
	assert_int_equal(err, 0);
	assert_int_equal(n, 5);
	free(threads);
	vmstructs_free(j.vms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layout_of_17_is_known),
		cmocka_unit_test(each_part_that_is_missing_is_named),
		cmocka_unit_test(oops_instead_of_handles_are_refused),
		cmocka_unit_test(what_vmstructs_says_is_preferred),
		cmocka_unit_test(what_nobody_says_is_not_assumed),
		cmocka_unit_test(a_jvm_that_starts_becomes_ready),
		cmocka_unit_test(stack_chunks_are_found_by_their_fields),
		cmocka_unit_test(readers_are_counted_where_the_superclass_says),
		cmocka_unit_test(threads_are_read),
		cmocka_unit_test(thread_allocations_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
