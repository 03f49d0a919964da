/*
 * jvm/layout/versions/code_common.c: fields of code that are alike in several versions: the same
 * name, C++ type and width in JDK 11, 17, 21 and 25, in all but 11 ("names", "arrays"), or in all
 * but 25 ("addresses": what points into code is a word, and debug information is in the blob).
 * Read from vmStructs of Debian's 11.0.32.1, 17.0.19, 21.0.11 and 25.0.3.
 */
#include "jvm/layout/versions/code_common.h"

#define OF code_layout

static const struct code_field layout_rows[] = {
	CODE_FIELD(block_used, "HeapBlock::Header", "_used", "bool", 1),
	CODE_FIELD(blob_name, "CodeBlob", "_name", "const char*", 8),
	CODE_FIELD(blob_size, "CodeBlob", "_size", "int", 4),
	CODE_FIELD(blob_frame_size, "CodeBlob", "_frame_size", "int", 4),
	CODE_FIELD(nmethod_compile_id, "nmethod", "_compile_id", "int", 4),
	CODE_FIELD(nmethod_entry_bci, "nmethod", "_entry_bci", "int", 4),
	CODE_FIELD(nmethod_state, "nmethod", "_state", "volatile signed char", 1),
	CODE_FIELD(nmethod_orig_pc_offset, "nmethod", "_orig_pc_offset", "int", 4),
	CODE_FIELD(nmethod_scopes_pcs, "nmethod", "_scopes_pcs_offset", "int", 4),
	CODE_FIELD(pc_desc_pc, "PcDesc", "_pc_offset", "int", 4),
	CODE_FIELD(pc_desc_scope, "PcDesc", "_scope_decode_offset", "int", 4),
	CODE_FIELD(method_const, "Method", "_constMethod", "ConstMethod*", 8),
	CODE_FIELD(const_words, "ConstMethod", "_constMethod_size", "int", 4),
	CODE_FIELD(const_pool, "ConstMethod", "_constants", "ConstantPool*", 8),
	CODE_FIELD(const_code_size, "ConstMethod", "_code_size", "u2", 2),
	CODE_FIELD(const_name, "ConstMethod", "_name_index", "u2", 2),
	CODE_FIELD(const_signature, "ConstMethod", "_signature_index", "u2", 2),
	CODE_FIELD(pool_length, "ConstantPool", "_length", "int", 4),
	CODE_FIELD(pool_holder, "ConstantPool", "_pool_holder", "InstanceKlass*", 8),
	CODE_FIELD(klass_name, "Klass", "_name", "Symbol*", 8),
	CODE_FIELD(symbol_body, "Symbol", "_body", NULL, 0),
	CODE_FIELD(java_thread_anchor, "JavaThread", "_anchor", "JavaFrameAnchor", 24),
	CODE_FIELD(anchor_sp, "JavaFrameAnchor", "_last_Java_sp", NULL, 8),
	CODE_FIELD(anchor_pc, "JavaFrameAnchor", "_last_Java_pc", NULL, 8),
	CODE_FIELD(anchor_fp, "JavaFrameAnchor", "_last_Java_fp", NULL, 8),
	CODE_FIELD(call_wrapper_anchor, "JavaCallWrapper", "_anchor", "JavaFrameAnchor", 24),
};

static const struct code_field name_rows[] = {
	CODE_FIELD(pool_source, "ConstantPool", "_source_file_name_index", "u2", 2),
	CODE_FIELD(symbol_length, "Symbol", "_length", "u2", 2),
};

static const struct code_field address_rows[] = {
	CODE_FIELD(blob_frame_complete, "CodeBlob", "_frame_complete_offset", "int", 4),
	CODE_FIELD(blob_code_begin, "CodeBlob", "_code_begin", "address", 8),
	CODE_FIELD(blob_code_end, "CodeBlob", "_code_end", "address", 8),
	CODE_FIELD(nmethod_method, "CompiledMethod", "_method", "Method*", 8),
	CODE_FIELD(nmethod_deopt, "CompiledMethod", "_deopt_handler_begin", "address", 8),
	CODE_FIELD(nmethod_deopt_mh, "CompiledMethod", "_deopt_mh_handler_begin", "address", 8),
	CODE_FIELD(nmethod_scopes_data, "CompiledMethod", "_scopes_data_begin", "address", 8),
	CODE_FIELD(nmethod_verified_entry, "nmethod", "_verified_entry_point", "address", 8),
	CODE_FIELD(nmethod_dependencies, "nmethod", "_dependencies_offset", "int", 4),
	CODE_FIELD(nmethod_metadata, "nmethod", "_metadata_offset", "int", 4),
};

#undef OF
#define OF code_source

static const struct code_field source_rows[] = {
	CODE_FIELD(array_data, "GrowableArray<int>", "_data", NULL, 8),
	CODE_FIELD(heap_memory, "CodeHeap", "_memory", "VirtualSpace", 32),
	CODE_FIELD(heap_segmap, "CodeHeap", "_segmap", "VirtualSpace", 32),
	CODE_FIELD(heap_segment_shift, "CodeHeap", "_log2_segment_size", "int", 4),
	CODE_FIELD(space_low_boundary, "VirtualSpace", "_low_boundary", NULL, 8),
	CODE_FIELD(space_high_boundary, "VirtualSpace", "_high_boundary", NULL, 8),
	CODE_FIELD(space_low, "VirtualSpace", "_low", NULL, 8),
	CODE_FIELD(space_high, "VirtualSpace", "_high", NULL, 8),
	CODE_FIELD(queue_buffer, "StubQueue", "_stub_buffer", "address", 8),
	CODE_FIELD(queue_limit, "StubQueue", "_buffer_limit", "int", 4),
	CODE_FIELD(klass_methods, "InstanceKlass", "_methods", "Array<Method*>*", 8),
	CODE_FIELD(methods_length, "Array<int>", "_length", "int", 4),
	CODE_FIELD(methods_data, "Array<Method*>", "_data", NULL, 0),
};

static const struct code_field array_rows[] = {
	CODE_FIELD(array_length, "GrowableArrayBase", "_len", "int", 4),
};

#undef OF

const struct code_fields code_common_layout = {layout_rows, CODE_COUNT(layout_rows)};
const struct code_fields code_common_addresses = {address_rows, CODE_COUNT(address_rows)};
const struct code_fields code_common_names = {name_rows, CODE_COUNT(name_rows)};
const struct code_fields code_common_arrays = {array_rows, CODE_COUNT(array_rows)};
const struct code_fields code_common_sources = {source_rows, CODE_COUNT(source_rows)};
