/*
 * JDK 17, 18 and 19, which lay out code alike. What came later:
 * - 20 codes numbers in debug information without zero bytes (JDK-8292758, late August 2022), which
 *   vmStructs does not show. A week before it, also in 20 only, the sweeper went (JDK-8290025), and
 *   nmethod::_stack_traversal_mark with it: that field stands for the old coding.
 * - 21 has no Method::_flags, and a wider ConstMethod::_flags._flags; 23 has no CompiledMethod.
 * So each field is wanted with its C++ type, and refused if it does not lie within its struct.
 *
 * Of an interpreted frame vmStructs has the slots of the sender's sp and of the last sp only. The
 * slots below that are in one order from 17 to 25 on x86-64 (cpu/x86/frame_x86.hpp): last sp,
 * method, mirror, profile, constant pool cache, locals, bytecode pointer. The method is thus one
 * word below the last sp, the bytecode pointer six.
 */
#include "jvm/layout/versions/versions.h"

#include <stddef.h>

#include "jvm/layout/code_layout.h"
#include "jvm/layout/code_rules.h"
#include "jvm/layout/code_vtables.h"

#define FIELD(member, type, name, is, bytes)                                                       \
	{                                                                                          \
		offsetof(struct OF, member), type, name, type "::" name, is, bytes                 \
	}
#define OF code_layout

static const struct code_field fields[] = {
	FIELD(block_used, "HeapBlock::Header", "_used", "bool", 1),
	FIELD(blob_name, "CodeBlob", "_name", "const char*", 8),
	FIELD(blob_size, "CodeBlob", "_size", "int", 4),
	FIELD(blob_frame_complete, "CodeBlob", "_frame_complete_offset", "int", 4),
	FIELD(blob_frame_size, "CodeBlob", "_frame_size", "int", 4),
	FIELD(blob_code_begin, "CodeBlob", "_code_begin", "address", 8),
	FIELD(blob_code_end, "CodeBlob", "_code_end", "address", 8),
	FIELD(nmethod_method, "CompiledMethod", "_method", "Method*", 8),
	FIELD(nmethod_deopt, "CompiledMethod", "_deopt_handler_begin", "address", 8),
	FIELD(nmethod_deopt_mh, "CompiledMethod", "_deopt_mh_handler_begin", "address", 8),
	FIELD(nmethod_scopes_data, "CompiledMethod", "_scopes_data_begin", "address", 8),
	FIELD(nmethod_compile_id, "nmethod", "_compile_id", "int", 4),
	FIELD(nmethod_comp_level, "nmethod", "_comp_level", "int", 4),
	FIELD(nmethod_entry_bci, "nmethod", "_entry_bci", "int", 4),
	FIELD(nmethod_state, "nmethod", "_state", "volatile signed char", 1),
	FIELD(nmethod_orig_pc_offset, "nmethod", "_orig_pc_offset", "int", 4),
	FIELD(nmethod_verified_entry, "nmethod", "_verified_entry_point", "address", 8),
	FIELD(nmethod_scopes_pcs, "nmethod", "_scopes_pcs_offset", "int", 4),
	FIELD(nmethod_dependencies, "nmethod", "_dependencies_offset", "int", 4),
	FIELD(nmethod_metadata, "nmethod", "_metadata_offset", "int", 4),
	FIELD(pc_desc_pc, "PcDesc", "_pc_offset", "int", 4),
	FIELD(pc_desc_scope, "PcDesc", "_scope_decode_offset", "int", 4),
	FIELD(method_const, "Method", "_constMethod", "ConstMethod*", 8),
	FIELD(method_flags, "Method", "_flags", "u2", 2),
	FIELD(method_access, "Method", "_access_flags", "AccessFlags", 4),
	FIELD(const_words, "ConstMethod", "_constMethod_size", "int", 4),
	FIELD(const_pool, "ConstMethod", "_constants", "ConstantPool*", 8),
	FIELD(const_flags, "ConstMethod", "_flags", "u2", 2),
	FIELD(const_code_size, "ConstMethod", "_code_size", "u2", 2),
	FIELD(const_name, "ConstMethod", "_name_index", "u2", 2),
	FIELD(const_signature, "ConstMethod", "_signature_index", "u2", 2),
	FIELD(pool_length, "ConstantPool", "_length", "int", 4),
	FIELD(pool_holder, "ConstantPool", "_pool_holder", "InstanceKlass*", 8),
	FIELD(pool_source, "ConstantPool", "_source_file_name_index", "u2", 2),
	FIELD(klass_name, "Klass", "_name", "Symbol*", 8),
	FIELD(symbol_length, "Symbol", "_length", "u2", 2),
	FIELD(symbol_body, "Symbol", "_body", NULL, 0),
	FIELD(java_thread_anchor, "JavaThread", "_anchor", "JavaFrameAnchor", 24),
	FIELD(anchor_sp, "JavaFrameAnchor", "_last_Java_sp", NULL, 8),
	FIELD(anchor_pc, "JavaFrameAnchor", "_last_Java_pc", NULL, 8),
	FIELD(anchor_fp, "JavaFrameAnchor", "_last_Java_fp", NULL, 8),
	FIELD(call_wrapper_anchor, "JavaCallWrapper", "_anchor", "JavaFrameAnchor", 24),
};

#undef OF
#define OF code_source

static const struct code_field sources[] = {
	FIELD(array_length, "GrowableArrayBase", "_len", "int", 4),
	FIELD(array_data, "GrowableArray<int>", "_data", NULL, 8),
	FIELD(heap_memory, "CodeHeap", "_memory", "VirtualSpace", 32),
	FIELD(heap_segmap, "CodeHeap", "_segmap", "VirtualSpace", 32),
	FIELD(heap_segment_shift, "CodeHeap", "_log2_segment_size", "int", 4),
	FIELD(space_low_boundary, "VirtualSpace", "_low_boundary", NULL, 8),
	FIELD(space_high_boundary, "VirtualSpace", "_high_boundary", NULL, 8),
	FIELD(space_low, "VirtualSpace", "_low", NULL, 8),
	FIELD(space_high, "VirtualSpace", "_high", NULL, 8),
	FIELD(block_length, "HeapBlock::Header", "_length", "size_t", 8),
	FIELD(queue_buffer, "StubQueue", "_stub_buffer", "address", 8),
	FIELD(queue_limit, "StubQueue", "_buffer_limit", "int", 4),
	FIELD(klass_methods, "InstanceKlass", "_methods", "Array<Method*>*", 8),
	FIELD(methods_length, "Array<int>", "_length", "int", 4),
	FIELD(methods_data, "Array<Method*>", "_data", NULL, 0),
};

#undef OF
#undef FIELD

#define AT(member) offsetof(struct code_layout, member)

static const struct code_constant constants[] = {
	{AT(entry_call_wrapper), "frame::entry_frame_call_wrapper_offset", -64, 64, 0},
	{AT(interpreter_sender_sp), "frame::interpreter_frame_sender_sp_offset", -1, -1, 0},
	{AT(interpreter_method), "frame::interpreter_frame_last_sp_offset", -2, -2, -1},
	{AT(interpreter_bcp), "frame::interpreter_frame_last_sp_offset", -2, -2, -6},
	{AT(method_hidden), "Method::_hidden", 1, 0x8000, 0},
	{AT(const_has_lines), "ConstMethod::_has_linenumber_table", 1, 0x8000, 0},
};

#undef AT

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

static const struct code_rules code = {
	.fields = fields,
	.field_count = COUNT(fields),
	.sources = sources,
	.source_count = COUNT(sources),
	.constants = constants,
	.constant_count = COUNT(constants),
	.coding_type = "nmethod",
	.coding_field = "_stack_traversal_mark",
	.coding_missing = "debug information as JDK 17 to 19 code it",
	.number_excluded = 0,
};

const struct jdk_version jdk_17 = {
	.first = 17,
	.last = 19,
	.layout =
		{
			.owner_word = OWNER_WORD_ADDRESS,
			.mark_hash_shift = 8,
			.array_data = ARRAY_DATA_ALIGNED,
		},
	.code = &code,
};
