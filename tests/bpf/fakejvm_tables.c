/* The exported tables of the fake JVM, as HotSpot's vmStructs.cpp exports its own; the entries are
 * ordered differently. */
#include "fakejvm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct struct_entry {
	void *address;
	uint64_t offset;
	const char *type_string, *field, *type;
	int32_t is_static, pad;
	uint64_t pad2;
};

struct type_entry {
	uint64_t size;
	const char *superclass, *name;
	int32_t is_oop, is_integer, is_unsigned, pad;
};

struct int_entry {
	int32_t value, pad;
	const char *name;
	uint64_t pad2;
};

struct long_entry {
	uint64_t value;
	const char *name;
	uint64_t pad;
};

extern const int32_t fake_field_slots[];

#define FIELD(t, f, s, c, member)                                                                  \
	{                                                                                          \
		NULL, offsetof(struct c, member), s, f, t, 0, 0, 0                                 \
	}
#define STATIC(t, f, s, where)                                                                     \
	{                                                                                          \
		(void *)&(where), 0, s, f, t, 1, 0, 0                                              \
	}
#define KNUM(name) "_klasses[static_cast<int>(vmClassID::" name "_klass_knum)]"

static struct struct_entry structs[] = {
	{NULL, 0, "markWord", "_mark", "oopDesc", 0, 0, 0},
	{NULL, 8, "Klass*", "_metadata._klass", "oopDesc", 0, 0, 0},
	{NULL, 8, "narrowKlass", "_metadata._compressed_klass", "oopDesc", 0, 0, 0},
	FIELD("Symbol", "_hash_and_refcount", "unsigned int", symbol, hash),
	FIELD("Symbol", "_length", "u2", symbol, length),
	FIELD("Symbol", "_body", NULL, symbol, body),
	FIELD("Symbol", "_body[0]", "u1", symbol, body),
	FIELD("Klass", "_super_check_offset", "juint", klass, super_check_offset),
	FIELD("Klass", "_primary_supers[0]", "Klass*", klass, primary_supers),
	FIELD("Klass", "_super", "Klass*", klass, super),
	FIELD("Klass", "_name", "Symbol*", klass, name),
	FIELD("Klass", "_next_link", "Klass*", klass, next_link),
	FIELD("Klass", "_class_loader_data", "ClassLoaderData*", klass, loader),
	FIELD("InstanceKlass", "_fields", "Array<u2>*", klass, fields),
	FIELD("InstanceKlass", "_java_fields_count", "u2", klass, java_fields_count),
	FIELD("InstanceKlass", "_constants", "ConstantPool*", klass, constants),
	FIELD("ConstantPool", "_length", "int", constant_pool, length),
	FIELD("ConstantPool", "_tags", "Array<u1>*", constant_pool, tags),
	FIELD("Array<int>", "_length", "int", array_u2, length),
	FIELD("Array<u1>", "_data", NULL, array_u2, data),
	FIELD("Array<u2>", "_data", NULL, array_u2, data),
	{NULL, 0, "oop*", "_obj", "OopHandle", 0, 0, 0},
	FIELD("ClassLoaderData", "_class_loader", "OopHandle", class_loader_data, class_loader),
	FIELD("ClassLoaderData", "_next", "ClassLoaderData*", class_loader_data, next),
	FIELD("ClassLoaderData", "_klasses", "Klass*", class_loader_data, klasses),
	STATIC("ClassLoaderDataGraph", "_head", "ClassLoaderData*", vm.loaders),
	STATIC("vmClasses", KNUM("Object"), "InstanceKlass*", vm.classes[CLASS_OBJECT]),
	STATIC("vmClasses", KNUM("String"), "InstanceKlass*", vm.classes[CLASS_STRING]),
	STATIC("vmClasses", KNUM("Thread"), "InstanceKlass*", vm.classes[CLASS_THREAD]),
	STATIC("Universe", "_collectedHeap", "CollectedHeap*", vm.heap),
	STATIC("CompressedOops", "_narrow_oop._base", "address", vm.narrow_oop_base),
	STATIC("CompressedOops", "_narrow_oop._shift", "int", vm.narrow_oop_shift),
	STATIC("CompressedKlassPointers", "_narrow_klass._base", "address", vm.narrow_klass_base),
	STATIC("CompressedKlassPointers", "_narrow_klass._shift", "int", vm.narrow_klass_shift),
	STATIC("ThreadsSMRSupport", "_java_thread_list", "ThreadsList*", vm.threads),
	FIELD("ThreadsList", "_length", "const uint", threads_list, length),
	FIELD("ThreadsList", "_threads", "JavaThread *const *const", threads_list, threads),
	FIELD("JavaThread", "_threadObj", "OopHandle", java_thread, thread_obj),
	FIELD("JavaThread", "_anchor", "JavaFrameAnchor", java_thread, anchor),
	FIELD("JavaThread", "_thread_state", "JavaThreadState", java_thread, state),
	FIELD("JavaThread", "_osthread", "OSThread*", java_thread, osthread),
	FIELD("JavaThread", "_stack_base", "address", java_thread, stack_base),
	FIELD("JavaThread", "_stack_size", "size_t", java_thread, stack_size),
	FIELD("JavaThread", "_current_pending_monitor", "ObjectMonitor*", java_thread,
	      pending_monitor),
	FIELD("JavaThread", "_current_waiting_monitor", "ObjectMonitor*", java_thread,
	      waiting_monitor),
	FIELD("OSThread", "_thread_id", "OSThread::thread_id_t", osthread, thread_id),
	FIELD("OSThread", "_pthread_id", "pthread_t", osthread, pthread_id),
	FIELD("OSThread", "_state", "ThreadState", osthread, state),
	FIELD("ObjectMonitor", "_header", "markWord", object_monitor, header),
	FIELD("ObjectMonitor", "_object", NULL, object_monitor, object),
	FIELD("ObjectMonitor", "_owner", FAKE_OWNER_TYPE, object_monitor, owner),
	FIELD("JVMFlag", "_type", "int", jvm_flag, type),
	FIELD("JVMFlag", "_name", "const char*", jvm_flag, name),
	FIELD("JVMFlag", "_addr", NULL, jvm_flag, addr),
	FIELD("JVMFlag", "_flags", "JVMFlag::Flags", jvm_flag, flags),
	STATIC("JVMFlag", "flags", "JVMFlag*", vm.flags),
	STATIC("JVMFlag", "numFlags", "size_t", vm.flag_count),
	STATIC("Abstract_VM_Version", "_s_vm_release", "const char*", vm.release),
	STATIC("Abstract_VM_Version", "_s_internal_vm_info_string", "const char*", vm.info),
	STATIC("Abstract_VM_Version", "_vm_major_version", "int", vm.major),
	STATIC("Abstract_VM_Version", "_vm_minor_version", "int", vm.minor),
	STATIC("Abstract_VM_Version", "_vm_security_version", "int", vm.security),
	STATIC("Abstract_VM_Version", "_vm_build_number", "int", vm.build),
	{0},
};

#define TYPE(name, bytes)                                                                          \
	{                                                                                          \
		bytes, NULL, name, 0, 0, 0, 0                                                      \
	}
#define SUBTYPE(name, super, bytes)                                                                \
	{                                                                                          \
		bytes, super, name, 0, 0, 0, 0                                                     \
	}

static struct type_entry types[] = {
	TYPE("oopDesc", 16),
	SUBTYPE("arrayOopDesc", "oopDesc", 16),
	SUBTYPE("instanceOopDesc", "oopDesc", 16),
	SUBTYPE("Klass", "Metadata", KLASS_BYTES),
	SUBTYPE("InstanceKlass", "Klass", sizeof(struct klass)),
	SUBTYPE("ConstantPool", "Metadata", sizeof(struct constant_pool)),
	TYPE("Symbol", sizeof(struct symbol)),
	TYPE("Array<int>", sizeof(struct array_u2)),
	TYPE("Array<u1>", sizeof(struct array_u2)),
	TYPE("Array<u2>", sizeof(struct array_u2)),
	TYPE("OopHandle", 8),
	TYPE("ClassLoaderData", sizeof(struct class_loader_data)),
	TYPE("ClassLoaderDataGraph", 1),
	TYPE("vmClasses", 1),
	TYPE("Universe", 1),
	TYPE("CompressedOops", 1),
	TYPE("CompressedKlassPointers", 1),
	TYPE("ThreadsSMRSupport", 1),
	TYPE("ThreadsList", sizeof(struct threads_list)),
	TYPE("Thread", 48),
	SUBTYPE("JavaThread", "Thread", sizeof(struct java_thread)),
	TYPE("OSThread", sizeof(struct osthread)),
	TYPE("ObjectMonitor", sizeof(struct object_monitor)),
	TYPE("JVMFlag", sizeof(struct jvm_flag)),
	TYPE("Abstract_VM_Version", 1),
	{.size = 8, .name = "markWord", .is_integer = 1, .is_unsigned = 1},
	{.size = 1, .name = "bool", .is_integer = 1, .is_unsigned = 1},
	{.size = 4, .name = "OSThread::thread_id_t", .is_integer = 1},
	{0},
};

/* Filled in by a constructor: an initializer cannot read fake_field_slots. */
static struct int_entry ints[] = {
	{0, 0, "FieldInfo::field_slots", 0},
	{0, 0, "FieldInfo::access_flags_offset", 0},
	{0, 0, "FieldInfo::name_index_offset", 0},
	{0, 0, "FieldInfo::signature_index_offset", 0},
	{0, 0, "FieldInfo::initval_index_offset", 0},
	{0, 0, "FieldInfo::low_packed_offset", 0},
	{0, 0, "FieldInfo::high_packed_offset", 0},
	{0, 0, "FIELDINFO_TAG_SIZE", 0},
	{0, 0, "FIELDINFO_TAG_OFFSET", 0},
	{8, 0, "oopSize", 0},
	{FAKE_THREAD_IN_NATIVE, 0, "_thread_in_native", 0},
	{0},
};

static struct long_entry longs[] = {
	{FAKE_HASH_SHIFT, "markWord::hash_shift", 0},
	{0x7fffffff, "markWord::hash_mask", 0},
	{1, "markWord::unlocked_value", 0},
	{3, "markWord::lock_mask", 0},
	{0},
};

__attribute__((constructor)) static void ints_fill(void)
{
	for (int i = 0; i < 9; i++)
		ints[i].value = fake_field_slots[i];
}

/* A field, TYPE::NAME, or a constant of this name: the tables do not have it any more. */
static void hide(const char *what)
{
	char both[256];

	for (struct struct_entry *e = structs; e->field; e++) {
		snprintf(both, sizeof(both), "%s::%s", e->type ? e->type : "", e->field);
		if (!strcmp(both, what))
			e->field = "_hidden";
	}
	for (struct long_entry *e = longs; e->name; e++)
		if (!strcmp(e->name, what))
			e->name = "_hidden";
}

/* --major=N: of the version; --hide=NAME, as often as wanted. */
void fake_tables_init(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "--major=", 8))
			vm.major = atoi(argv[i] + 8);
		if (!strncmp(argv[i], "--hide=", 7))
			hide(argv[i] + 7);
		if (!strcmp(argv[i], "--no-flag-origin"))
			hide("JVMFlag::_flags");
	}
}

static bool is_given(int argc, char **argv, const char *option)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], option))
			return true;
	return false;
}

/* JVMFlag::_type counts bool first; the last entry has no name. */
void fake_flags_init(int argc, char **argv)
{
	bool on = is_given(argc, argv, "--flag-on"), no = is_given(argc, argv, "--flag-no");
	int32_t product = 0x10, command_line = 1;
	struct jvm_flag flags[] = {
		{"UseCompressedOops", 0, 0, &vm.compressed_oops, 0},
		{"UseCompressedClassPointers", 0, 0, &vm.compressed_klass, 0},
		{"UseSerialGC", 0, 0, (void *)&vm.use_serial, 0},
		{"UseParallelGC", 0, 0, (void *)&vm.use_parallel, 0},
		{"UseG1GC", 0, 0, (void *)&vm.use_g1, 0},
		{"ExtendedDTraceProbes", 0, 0, (void *)&vm.extended_probes, 0},
		{"DTraceMonitorProbes", product | (on || no ? command_line : 0), 0,
		 (void *)&vm.monitor_probes, 0},
		{NULL, 0, 0, NULL, 0},
	};

	vm.flags = fake_c_heap(sizeof(flags));
	memcpy(vm.flags, flags, sizeof(flags));
	vm.flag_count = sizeof(flags) / sizeof(*flags);
	vm.monitor_probes = on || is_given(argc, argv, "--flag-left");
}

#define EXPORT __attribute__((visibility("default")))
#define EXPORT_U64(name, value)                                                                    \
	extern EXPORT const uint64_t name;                                                         \
	const uint64_t name = value
#define EXPORT_TABLE(type, name, table)                                                            \
	extern EXPORT struct type *name;                                                           \
	struct type *name = table

EXPORT_TABLE(struct_entry, gHotSpotVMStructs, structs);
EXPORT_TABLE(type_entry, gHotSpotVMTypes, types);
EXPORT_TABLE(int_entry, gHotSpotVMIntConstants, ints);
EXPORT_TABLE(long_entry, gHotSpotVMLongConstants, longs);
EXPORT_U64(gHotSpotVMStructEntryTypeNameOffset, offsetof(struct struct_entry, type));
EXPORT_U64(gHotSpotVMStructEntryFieldNameOffset, offsetof(struct struct_entry, field));
EXPORT_U64(gHotSpotVMStructEntryTypeStringOffset, offsetof(struct struct_entry, type_string));
EXPORT_U64(gHotSpotVMStructEntryIsStaticOffset, offsetof(struct struct_entry, is_static));
EXPORT_U64(gHotSpotVMStructEntryOffsetOffset, offsetof(struct struct_entry, offset));
EXPORT_U64(gHotSpotVMStructEntryAddressOffset, offsetof(struct struct_entry, address));
EXPORT_U64(gHotSpotVMStructEntryArrayStride, sizeof(struct struct_entry));
EXPORT_U64(gHotSpotVMTypeEntryTypeNameOffset, offsetof(struct type_entry, name));
EXPORT_U64(gHotSpotVMTypeEntrySuperclassNameOffset, offsetof(struct type_entry, superclass));
EXPORT_U64(gHotSpotVMTypeEntryIsOopTypeOffset, offsetof(struct type_entry, is_oop));
EXPORT_U64(gHotSpotVMTypeEntryIsIntegerTypeOffset, offsetof(struct type_entry, is_integer));
EXPORT_U64(gHotSpotVMTypeEntryIsUnsignedOffset, offsetof(struct type_entry, is_unsigned));
EXPORT_U64(gHotSpotVMTypeEntrySizeOffset, offsetof(struct type_entry, size));
EXPORT_U64(gHotSpotVMTypeEntryArrayStride, sizeof(struct type_entry));
EXPORT_U64(gHotSpotVMIntConstantEntryNameOffset, offsetof(struct int_entry, name));
EXPORT_U64(gHotSpotVMIntConstantEntryValueOffset, offsetof(struct int_entry, value));
EXPORT_U64(gHotSpotVMIntConstantEntryArrayStride, sizeof(struct int_entry));
EXPORT_U64(gHotSpotVMLongConstantEntryNameOffset, offsetof(struct long_entry, name));
EXPORT_U64(gHotSpotVMLongConstantEntryValueOffset, offsetof(struct long_entry, value));
EXPORT_U64(gHotSpotVMLongConstantEntryArrayStride, sizeof(struct long_entry));
