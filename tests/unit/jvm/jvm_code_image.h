/* tests/unit/jvm/jvm_code_image.h: an image with the code cache, Methods and vtables of OpenJDK 17.0.15. */
#pragma once

#include <stdlib.h>

#include "jvm/layout/code_layout.h"
#include "jvm_image.h"

/* The lower half holds the tables and what image_room gives; each of these has its own pages. */
#define IMAGE_VARIABLES (IMAGE_BASE + 0x10000)
#define IMAGE_HEAP (IMAGE_BASE + 0x12000)
#define IMAGE_HEAP_END (IMAGE_BASE + 0x1a000)
#define IMAGE_SEGMAP (IMAGE_BASE + 0x1a000)
#define IMAGE_LIBJVM (IMAGE_BASE + 0x1c000) /* its vtables */
#define IMAGE_ARCHIVE (IMAGE_BASE + 0x1f000)

#define IMAGE_SHIFT 7
#define NMETHOD_VTABLE (IMAGE_LIBJVM + 0x200)
#define STUB_VTABLE (IMAGE_LIBJVM + 0x300)
#define METHOD_VTABLE (IMAGE_LIBJVM + 0x400)
#define METHOD_VTABLE_SHARED (IMAGE_ARCHIVE + 0x30)

enum { IMAGE_HEAPS = 0, IMAGE_INTERPRETER = 8, IMAGE_CALL_STUB = 16, IMAGE_OBJECT = 24 };

#define IMAGE_OBJECT_CLASS "_klasses[static_cast<int>(vmClassID::Object_klass_knum)]"

static const struct image_field code_fields_17[] = {
	{"HeapBlock::Header", "_length", "size_t", 0, 0},
	{"HeapBlock::Header", "_used", "bool", 0, 8},
	{"CodeBlob", "_name", "const char*", 0, 96},
	{"CodeBlob", "_size", "int", 0, 12},
	{"CodeBlob", "_frame_complete_offset", "int", 0, 20},
	{"CodeBlob", "_frame_size", "int", 0, 28},
	{"CodeBlob", "_code_begin", "address", 0, 32},
	{"CodeBlob", "_code_end", "address", 0, 40},
	{"CompiledMethod", "_method", "Method*", 0, 112},
	{"CompiledMethod", "_scopes_data_begin", "address", 0, 120},
	{"CompiledMethod", "_deopt_handler_begin", "address", 0, 128},
	{"CompiledMethod", "_deopt_mh_handler_begin", "address", 0, 136},
	{"nmethod", "_entry_bci", "int", 0, 192},
	{"nmethod", "_state", "volatile signed char", 0, 315},
	{"nmethod", "_orig_pc_offset", "int", 0, 300},
	{"nmethod", "_metadata_offset", "int", 0, 260},
	{"nmethod", "_scopes_pcs_offset", "int", 0, 268},
	{"nmethod", "_dependencies_offset", "int", 0, 272},
	{"nmethod", "_verified_entry_point", "address", 0, 224},
	{"nmethod", "_stack_traversal_mark", "long", 0, 328},
	{"nmethod", "_compile_id", "int", 0, 304},
	{"nmethod", "_comp_level", "int", 0, 308},
	{"PcDesc", "_pc_offset", "int", 0, 0},
	{"PcDesc", "_scope_decode_offset", "int", 0, 4},
	{"Method", "_constMethod", "ConstMethod*", 0, 8},
	{"Method", "_access_flags", "AccessFlags", 0, 40},
	{"Method", "_flags", "u2", 0, 50},
	{"ConstMethod", "_constants", "ConstantPool*", 0, 8},
	{"ConstMethod", "_constMethod_size", "int", 0, 24},
	{"ConstMethod", "_flags", "u2", 0, 28},
	{"ConstMethod", "_code_size", "u2", 0, 32},
	{"ConstMethod", "_name_index", "u2", 0, 34},
	{"ConstMethod", "_signature_index", "u2", 0, 36},
	{"ConstantPool", "_length", "int", 0, 60},
	{"ConstantPool", "_pool_holder", "InstanceKlass*", 0, 24},
	{"ConstantPool", "_source_file_name_index", "u2", 0, 54},
	{"Klass", "_name", "Symbol*", 0, 24},
	{"Symbol", "_length", "u2", 0, 4},
	{"Symbol", "_body", NULL, 0, 6},
	{"JavaThread", "_anchor", "JavaFrameAnchor", 0, 656},
	{"JavaFrameAnchor", "_last_Java_sp", "intptr_t*", 0, 0},
	{"JavaFrameAnchor", "_last_Java_pc", "address", 0, 8},
	{"JavaFrameAnchor", "_last_Java_fp", "intptr_t*", 0, 16},
	{"JavaCallWrapper", "_anchor", "JavaFrameAnchor", 0, 32},
	{"GrowableArrayBase", "_len", "int", 0, 0},
	{"GrowableArray<int>", "_data", "int*", 0, 8},
	{"CodeHeap", "_memory", "VirtualSpace", 0, 8},
	{"CodeHeap", "_segmap", "VirtualSpace", 0, 120},
	{"CodeHeap", "_log2_segment_size", "int", 0, 256},
	{"VirtualSpace", "_low_boundary", "char*", 0, 0},
	{"VirtualSpace", "_high_boundary", "char*", 0, 8},
	{"VirtualSpace", "_low", "char*", 0, 16},
	{"VirtualSpace", "_high", "char*", 0, 24},
	{"StubQueue", "_stub_buffer", "address", 0, 8},
	{"StubQueue", "_buffer_limit", "int", 0, 20},
	{"InstanceKlass", "_methods", "Array<Method*>*", 0, 408},
	{"Array<int>", "_length", "int", 0, 0},
	{"Array<Method*>", "_data", NULL, 0, 8},
	{"CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", 1, IMAGE_VARIABLES + IMAGE_HEAPS},
	{"AbstractInterpreter", "_code", "StubQueue*", 1, IMAGE_VARIABLES + IMAGE_INTERPRETER},
	{"StubRoutines", "_call_stub_return_address", "address", 1,
	 IMAGE_VARIABLES + IMAGE_CALL_STUB},
	{"vmClasses", IMAGE_OBJECT_CLASS, "InstanceKlass*", 1, IMAGE_VARIABLES + IMAGE_OBJECT},
	{NULL, NULL, NULL, 0, 0},
};

#define CODE_FIELDS (sizeof(code_fields_17) / sizeof(*code_fields_17))

static const struct image_value code_types_17[] = {
	{"HeapBlock", 16},
	{"HeapBlock::Header", 16},
	{"CodeBlob", 104},
	{"CompiledMethod", 192},
	{"nmethod", 352},
	{"PcDesc", 16},
	{"Method", 88},
	{"ConstMethod", 48},
	{"ConstantPool", 72},
	{"Klass", 208},
	{"Symbol", 8},
	{"JavaThread", 1384},
	{"JavaFrameAnchor", 24},
	{"JavaCallWrapper", 64},
	{"GrowableArrayBase", 8},
	{"GrowableArray<int>", 24},
	{"CodeHeap", 344},
	{"VirtualSpace", 112},
	{"StubQueue", 48},
	{"InstanceKlass", 464},
	{"Array<int>", 8},
	{"Array<Method*>", 16},
	{NULL, 0},
};

static const struct image_value code_ints_17[] = {
	{"frame::entry_frame_call_wrapper_offset", (uint32_t)-6},
	{"frame::interpreter_frame_sender_sp_offset", (uint32_t)-1},
	{"frame::interpreter_frame_last_sp_offset", (uint32_t)-2},
	{"Method::_hidden", 8},
	{"ConstMethod::_has_linenumber_table", 1},
	{NULL, 0},
};
static const struct image_value code_longs_17[] = {{"oopSize", 8}, {NULL, 0}};

/* Fills the image anew with the tables; the caller frees what it returns. NULL: no memory. */
static inline struct vmstructs *code_image_tables(struct image *i, const struct image_field *f,
						  const struct image_value *types,
						  const struct image_value *ints)
{
	uint64_t symbols[VMSYM_COUNT];
	struct vmstructs *v = NULL;

	image_clear(i);
	image_tables(i, f, types, ints, code_longs_17, symbols);
	return vmstructs_load(&i->mem, symbols, &v) ? NULL : v;
}

/* The vtables of libjvm, and Method's copy in the archive, with another vtable's size behind it. */
static inline void code_image_vtables(struct image *i)
{
	for (uint64_t n = 0; n < 14; n++) {
		/* Subclasses of Method, with a function more. */
		image_u64(i, IMAGE_LIBJVM + 0x100 + 8 * n, 0x5000 + n);
		image_u64(i, IMAGE_LIBJVM + 0x800 + 8 * n, 0x5000 + n);
		image_u64(i, NMETHOD_VTABLE + 8 * n, 0x6000 + n);
		image_u64(i, STUB_VTABLE + 8 * n, 0x7000 + n);
		image_u64(i, METHOD_VTABLE + 8 * n, 0x5000 + n);
		image_u64(i, METHOD_VTABLE_SHARED + 8 * n, 0x5000 + n);
	}
	image_u64(i, IMAGE_LIBJVM + 0x100 + 8 * 14, 0x5100);
	image_u64(i, IMAGE_LIBJVM + 0x800 + 8 * 14, 0x5101);
	image_u64(i, METHOD_VTABLE_SHARED + 8 * 14, 43);
}

/* One code heap, an interpreter and a call stub, without code yet. */
static inline void code_image_heaps(struct image *i)
{
	uint64_t array = image_room(i, 24), data = image_room(i, 8), heap = image_room(i, 344);
	uint64_t queue = image_room(i, 48);

	image_u64(i, IMAGE_VARIABLES + IMAGE_HEAPS, array);
	image_u32(i, array, 1);
	image_u64(i, array + 8, data);
	image_u64(i, data, heap);
	image_u64(i, heap + 8, IMAGE_HEAP);
	image_u64(i, heap + 16, IMAGE_HEAP_END);
	image_u64(i, heap + 24, IMAGE_HEAP);
	image_u64(i, heap + 32, IMAGE_HEAP_END);
	image_u64(i, heap + 120 + 16, IMAGE_SEGMAP);
	image_u32(i, heap + 256, IMAGE_SHIFT);
	memset(i->bytes + (IMAGE_SEGMAP - IMAGE_BASE), 0xff,
	       (IMAGE_HEAP_END - IMAGE_HEAP) >> IMAGE_SHIFT);
	image_u64(i, IMAGE_VARIABLES + IMAGE_INTERPRETER, queue);
	image_u64(i, queue + 8, 0x700000);
	image_u32(i, queue + 20, 0x1000);
	image_u64(i, IMAGE_VARIABLES + IMAGE_CALL_STUB, 0x6ff000);
}

/* A used block of the heap at this segment: the address of its blob. */
static inline uint64_t code_image_block(struct image *i, uint32_t segment, uint32_t segments,
					uint64_t vtable, uint64_t name)
{
	uint64_t block = IMAGE_HEAP + ((uint64_t)segment << IMAGE_SHIFT);

	image_u64(i, block, segments);
	i->bytes[block + 8 - IMAGE_BASE] = 1;
	for (uint32_t n = 0; n < segments; n++)
		i->bytes[IMAGE_SEGMAP + segment + n - IMAGE_BASE] = (uint8_t)n;
	image_u64(i, block + 16, vtable);
	image_u64(i, block + 16 + 96, name);
	return block + 16;
}

/* java.lang.Object with a Method that has this vtable. */
static inline uint64_t code_image_object(struct image *i, uint64_t method_vtable)
{
	uint64_t klass = image_room(i, 464), methods = image_room(i, 16),
		 method = image_room(i, 88);

	image_u64(i, IMAGE_VARIABLES + IMAGE_OBJECT, klass);
	image_u64(i, klass + 408, methods);
	image_u32(i, methods, 1);
	image_u64(i, methods + 8, method);
	image_u64(i, method, method_vtable);
	return method;
}

struct code_image_method {
	const char *class_name, *name, *signature, *source;
	uint64_t vtable;
	uint16_t code_size, flags;
	uint32_t access;
	const uint8_t *lines;
	uint32_t lines_size;
};

static inline uint64_t code_image_symbol(struct image *i, const void *text, uint32_t length)
{
	uint64_t addr = image_room(i, 6 + length);

	image_u16(i, addr + 4, (uint16_t)length);
	image_put(i, addr + 6, text, length);
	return addr;
}

/* A Method with a ConstMethod, a pool of its own and a class; its address. */
static inline uint64_t code_image_method(struct image *i, const struct code_image_method *m)
{
	uint32_t size = (48u + m->code_size + m->lines_size + 7) & ~7u;
	uint64_t method = image_room(i, 88), klass = image_room(i, 208);
	uint64_t pool = image_room(i, 72 + 8 * 4), at = image_room(i, size);
	const char *const names[] = {m->name, m->signature, m->source};

	image_u64(i, method, m->vtable);
	image_u64(i, method + 8, at);
	image_u32(i, method + 40, m->access);
	image_u16(i, method + 50, m->flags);
	image_u64(i, at + 8, pool);
	image_u32(i, at + 24, size / 8);
	image_u16(i, at + 28, m->lines ? 1 : 0);
	image_u16(i, at + 32, m->code_size);
	image_u16(i, at + 34, 1);
	image_u16(i, at + 36, 2);
	if (m->lines)
		image_put(i, at + 48 + m->code_size, m->lines, m->lines_size);
	image_u64(i, klass + 24,
		  code_image_symbol(i, m->class_name, (uint32_t)strlen(m->class_name)));
	image_u64(i, pool + 24, klass);
	image_u16(i, pool + 54, m->source ? 3 : 0);
	image_u32(i, pool + 60, 4);
	for (uint32_t n = 0; n < 3; n++)
		if (names[n])
			image_u64(i, pool + 72 + 8 * (n + 1),
				  code_image_symbol(i, names[n], (uint32_t)strlen(names[n])));
	return method;
}

struct code_image_nmethod {
	uint32_t id, level, entry_bci;
	uint64_t method, name; /* name: of the blob */
	uint64_t metadata[4];
	const uint8_t *scopes;
	uint32_t scopes_size;
	const uint32_t (*pcs)[2]; /* offset, scope */
	uint32_t pc_count;
};

#define CODE_IMAGE_BEGIN 368 /* of the code, in the blob */
#define CODE_IMAGE_SIZE 256

/* An nmethod at this segment, in use; the address of its blob. */
static inline uint64_t code_image_nmethod(struct image *i, uint32_t segment,
					  const struct code_image_nmethod *n)
{
	uint32_t metadata = CODE_IMAGE_BEGIN + CODE_IMAGE_SIZE;
	uint32_t scopes = metadata + (uint32_t)sizeof(n->metadata);
	uint32_t pcs = scopes + ((n->scopes_size + 7) & ~7u), end = pcs + n->pc_count * 16;
	uint64_t blob = code_image_block(i, segment, (16 + end + 127) >> IMAGE_SHIFT,
					 NMETHOD_VTABLE, n->name);

	image_u32(i, blob + 12, end);
	image_u64(i, blob + 32, blob + CODE_IMAGE_BEGIN);
	image_u64(i, blob + 40, blob + metadata);
	image_u64(i, blob + 112, n->method);
	image_u64(i, blob + 120, blob + scopes);
	image_u32(i, blob + 192, n->entry_bci);
	image_u32(i, blob + 260, metadata);
	image_u32(i, blob + 268, pcs);
	image_u32(i, blob + 272, end);
	image_u32(i, blob + 304, n->id);
	image_u32(i, blob + 308, n->level);
	image_put(i, blob + metadata, n->metadata, sizeof(n->metadata));
	if (n->scopes)
		image_put(i, blob + scopes, n->scopes, n->scopes_size);
	for (uint32_t p = 0; p < n->pc_count; p++) {
		image_u32(i, blob + pcs + 16 * p, n->pcs[p][0]);
		image_u32(i, blob + pcs + 16 * p + 4, n->pcs[p][1]);
	}
	return blob;
}

/* The layout of this image, as code_layout_load and _refresh find it. */
static inline struct code_layout code_image_layout(void)
{
	return (struct code_layout){
		.heaps = {{IMAGE_HEAP, IMAGE_HEAP_END, IMAGE_SEGMAP, IMAGE_SHIFT}},
		.heap_count = 1,
		.nmethod_vtable = NMETHOD_VTABLE,
		.comp_level_bytes = 4,
		.access_bytes = 4,
		.const_flags_bytes = 2,
		.block_length_bytes = 8,
		.method_vtable = METHOD_VTABLE_SHARED,
		.method_vtable_too = METHOD_VTABLE,
		.heap_block_size = 16,
		.block_used = 8,
		.blob_name = 96,
		.blob_size = 12,
		.blob_code_begin = 32,
		.blob_code_end = 40,
		.nmethod_method = 112,
		.nmethod_compile_id = 304,
		.nmethod_comp_level = 308,
		.nmethod_entry_bci = 192,
		.nmethod_state = 315,
		.nmethod_scopes_data = 120,
		.nmethod_scopes_pcs = 268,
		.nmethod_dependencies = 272,
		.nmethod_metadata = 260,
		.pc_desc_size = 16,
		.pc_desc_scope = 4,
		.method_const = 8,
		.method_flags = 50,
		.method_hidden = 8,
		.method_access = 40,
		.const_size = 48,
		.const_words = 24,
		.const_pool = 8,
		.const_flags = 28,
		.const_code_size = 32,
		.const_name = 34,
		.const_signature = 36,
		.const_has_lines = 1,
		.pool_size = 72,
		.pool_length = 60,
		.pool_holder = 24,
		.pool_source = 54,
		.klass_name = 24,
		.symbol_length = 4,
		.symbol_body = 6,
	};
}
