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
#include "jvm/layout/versions/code_common.h"
#include "jvm/layout/versions/versions.h"

#define OF code_layout

static const struct code_field rows[] = {
	CODE_FIELD(nmethod_comp_level, "nmethod", "_comp_level", "int", 4),
	CODE_FIELD(method_flags, "Method", "_flags", "u2", 2),
	CODE_FIELD(method_access, "Method", "_access_flags", "AccessFlags", 4),
	CODE_FIELD(const_flags, "ConstMethod", "_flags", "u2", 2),
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
	{CODE_AT(method_hidden), "Method::_hidden", 1, 0x8000, 0},
	{CODE_AT(const_has_lines), "ConstMethod::_has_linenumber_table", 1, 0x8000, 0},
};

static const struct code_fields fields = {rows, CODE_COUNT(rows)};
static const struct code_fields sources = {source_rows, CODE_COUNT(source_rows)};

static const struct code_rules code = {
	.fixed =
		{
			.number_excluded = 0,
			.comp_level_bytes = 4,
			.access_bytes = 4,
			.const_flags_bytes = 2,
			.block_length_bytes = 8,
		},
	.fields = {&code_common_layout, &code_common_names, &code_common_addresses, &fields},
	.sources = {&code_common_sources, &code_common_arrays, &sources},
	.constants = constants,
	.constant_count = CODE_COUNT(constants),
	.coding_type = "nmethod",
	.coding_field = "_stack_traversal_mark",
	.coding_missing = "debug information as JDK 17 to 19 code it",
	.coding_of_17 = true,
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
