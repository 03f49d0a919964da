/*
 * JDK 20 to 22. Objects and monitors are those of JDK 17. Of code there is more than JDK 17 has:
 * nmethod::_comp_level has one byte, flags of Method are in ConstMethod (JDK-8291970), where the
 * bit of a hidden frame has no name in vmStructs (share/oops/constMethodFlags.hpp), and debug
 * information is coded without zero bytes (JDK-8292758).
 */
#include "jvm/layout/versions/code_common.h"
#include "jvm/layout/versions/versions.h"

#define OF code_layout

static const struct code_field rows[] = {
	CODE_FIELD(nmethod_comp_level, "nmethod", "_comp_level", "CompLevel", 1),
	CODE_FIELD(method_access, "Method", "_access_flags", "AccessFlags", 4),
	CODE_FIELD(const_flags, "ConstMethod", "_flags._flags", "u4", 4),
};

#undef OF
#define OF code_source

static const struct code_field source_rows[] = {
	CODE_FIELD(block_length, "HeapBlock::Header", "_length", "size_t", 8),
};

#undef OF

static const struct code_constant constants[] = {
	{CODE_AT(entry_call_wrapper), "frame::entry_frame_call_wrapper_offset", -64, 64, 0},
	{CODE_AT(interpreter_sender_sp), "frame::interpreter_frame_sender_sp_offset", -1, -1, 0},
	{CODE_AT(interpreter_method), "frame::interpreter_frame_last_sp_offset", -2, -2, -1},
	{CODE_AT(interpreter_bcp), "frame::interpreter_frame_last_sp_offset", -2, -2, -6},
	{CODE_AT(const_has_lines), "ConstMethodFlags::_misc_has_linenumber_table", 1, 0x8000, 0},
};

static const struct code_fields fields = {rows, CODE_COUNT(rows)};
static const struct code_fields sources = {source_rows, CODE_COUNT(source_rows)};

static const struct code_rules code = {
	.fixed =
		{
			.method_hidden = 1 << 12,
			.number_excluded = 1,
			.comp_level_bytes = 1,
			.access_bytes = 4,
			.const_flags_bytes = 4,
			.block_length_bytes = 8,
		},
	.fields = {&code_common_layout, &code_common_names, &code_common_addresses, &fields},
	.sources = {&code_common_sources, &code_common_arrays, &sources},
	.constants = constants,
	.constant_count = CODE_COUNT(constants),
	.coding_type = "nmethod",
	.coding_field = "_stack_traversal_mark",
	.coding_missing = "debug information as JDK 20 and later code it",
};

const struct jdk_version jdk_21 = {
	.first = 20,
	.last = 22,
	.layout =
		{
			.owner_word = OWNER_WORD_ADDRESS,
			.mark_hash_shift = 8,
			.array_data = ARRAY_DATA_ALIGNED,
		},
	.code = &code,
};
