/*
 * JDK 24 to 27. A monitor keeps the id of the java.lang.Thread that owns it, and a blocked virtual
 * thread leaves its carrier (JEP 491); the hash has moved in the mark (JEP 450). Code blobs have no
 * vtable but a kind, and offsets where there were addresses (JDK-8343789 and those before it);
 * debug information is in memory of its own (JDK-8331087). From 26 on a method has one handler of
 * deoptimisation, not one for method handles' calls besides, and its entry is a field of its own;
 * from 27 on class pointers are always compressed, and compact headers and a table of monitors are
 * the default.
 */
#include "jvm/layout/versions/code_common.h"
#include "jvm/layout/versions/versions.h"

#define OF code_layout

static const struct code_field rows[] = {
	CODE_FIELD(blob_frame_complete, "CodeBlob", "_frame_complete_offset", "int16_t", 2),
	CODE_FIELD(blob_code_begin, "CodeBlob", "_code_offset", "int", 4),
	CODE_FIELD(blob_code_end, "CodeBlob", "_data_offset", "int", 4),
	CODE_FIELD(blob_kind, "CodeBlob", "_kind", "CodeBlobKind", 1),
	CODE_FIELD(blob_mutable, "CodeBlob", "_mutable_data", "address", 8),
	CODE_FIELD(blob_mutable_size, "CodeBlob", "_mutable_data_size", "int", 4),
	CODE_FIELD(blob_relocation, "CodeBlob", "_relocation_size", "int", 4),
	CODE_FIELD(nmethod_method, "nmethod", "_method", "Method*", 8),
	CODE_FIELD(nmethod_verified_entry, "nmethod", "_verified_entry_offset", "u2", 2),
	CODE_FIELD(nmethod_scopes_pcs, "nmethod", "_scopes_pcs_offset", "int", 4),
	CODE_FIELD(nmethod_scopes_data, "nmethod", "_scopes_data_offset", "int", 4),
	CODE_FIELD(nmethod_immutable, "nmethod", "_immutable_data", "address", 8),
	CODE_FIELD(nmethod_immutable_size, "nmethod", "_immutable_data_size", "int", 4),
	CODE_FIELD(nmethod_comp_level, "nmethod", "_comp_level", "CompLevel", 1),
	CODE_FIELD(method_access, "Method", "_access_flags", "AccessFlags", 2),
	CODE_FIELD(const_flags, "ConstMethod", "_flags._flags", "u4", 4),
};

static const struct code_field rows_25[] = {
	CODE_FIELD(nmethod_deopt, "nmethod", "_deopt_handler_offset", "int", 4),
	CODE_FIELD(nmethod_deopt_mh, "nmethod", "_deopt_mh_handler_offset", "int", 4),
};

static const struct code_field rows_26[] = {
	CODE_FIELD(nmethod_deopt, "nmethod", "_deopt_handler_entry_offset", "int", 4),
	CODE_FIELD(nmethod_deopt_mh, "nmethod", "_deopt_handler_entry_offset", "int", 4),
};

#undef OF
#define OF code_source

static const struct code_field source_rows[] = {
	CODE_FIELD(block_length, "HeapBlock::Header", "_length", "uint32_t", 4),
};

#undef OF

static const struct code_constant constants[] = {
	{CODE_AT(entry_call_wrapper), "frame::entry_frame_call_wrapper_offset", -64, 64, 0},
	{CODE_AT(interpreter_sender_sp), "frame::interpreter_frame_sender_sp_offset", -1, -1, 0},
	{CODE_AT(interpreter_method), "frame::interpreter_frame_last_sp_offset", -2, -2, -1},
	{CODE_AT(interpreter_bcp), "frame::interpreter_frame_last_sp_offset", -2, -2, -6},
	{CODE_AT(nmethod_kind), "CodeBlobKind::Nmethod", 1, 0xff, 0},
	{CODE_AT(const_has_lines), "ConstMethodFlags::_misc_has_linenumber_table", 1, 0x8000, 0},
};

static const struct code_fields fields = {rows, CODE_COUNT(rows)};
static const struct code_fields fields_25 = {rows_25, CODE_COUNT(rows_25)};
static const struct code_fields fields_26 = {rows_26, CODE_COUNT(rows_26)};
static const struct code_fields sources = {source_rows, CODE_COUNT(source_rows)};

#define RULES(own)                                                                                 \
	{                                                                                          \
		.fixed =                                                                           \
			{                                                                          \
				.method_hidden = 1 << 12,                                          \
				.number_excluded = 1,                                              \
				.address_spare = 32,                                               \
				.entry_spare = 48,                                                 \
				.frame_complete_spare = 16,                                        \
				.comp_level_bytes = 1,                                             \
				.access_bytes = 2,                                                 \
				.const_flags_bytes = 4,                                            \
				.block_length_bytes = 4,                                           \
				.scopes_apart = true,                                              \
			},                                                                         \
		.fields = {&code_common_layout, &code_common_names, &fields, &(own)},              \
		.sources = {&code_common_sources, &code_common_arrays, &sources},                  \
		.constants = constants, .constant_count = CODE_COUNT(constants),                   \
		.coding_type = "nmethod", .coding_field = "_stack_traversal_mark",                 \
		.coding_missing = "debug information as JDK 20 and later code it",                 \
	}
#define LAYOUT                                                                                     \
	{                                                                                          \
		.owner_word = OWNER_WORD_ID, .mark_hash_shift = 11,                                \
		.array_data = ARRAY_DATA_PACKED,                                                   \
	}

static const struct code_rules code_25 = RULES(fields_25), code_26 = RULES(fields_26);

const struct jdk_version jdk_25 = {
	.first = 24,
	.last = 25,
	.layout = LAYOUT,
	.code = &code_25,
	.virtual_threads_unmount = true,
};

const struct jdk_version jdk_26 = {
	.first = 26,
	.last = 27,
	.layout = LAYOUT,
	.code = &code_26,
	.virtual_threads_unmount = true,
};
