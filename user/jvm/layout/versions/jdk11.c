/*
 * JDK 11. Code, monitors and objects are those of JDK 17, but for what refers to what: JavaThread
 * and ObjectMonitor have oops where 17 has handles (JDK-8244997), Java threads are a chain, as
 * vmStructs does not have the array that the VM itself uses (JDK-8167108), a class's source file is
 * named in InstanceKlass, and a list's length is GenericGrowableArray's. Frames have the slots that
 * jdk17.c describes, and debug information is coded as there. Compiled code polls before its return
 * by reading a page, not by comparing sp (bpf/walk/frames_x86_64.bpf.h). Read from vmStructs and
 * code of Debian's 11.0.32.1.
 */
#include "jvm/layout/versions/code_common.h"
#include "jvm/layout/versions/versions.h"

#define OF code_layout

static const struct code_field rows[] = {
	CODE_FIELD(nmethod_comp_level, "nmethod", "_comp_level", "int", 4),
	CODE_FIELD(method_flags, "Method", "_flags", "u2", 2),
	CODE_FIELD(method_access, "Method", "_access_flags", "AccessFlags", 4),
	CODE_FIELD(const_flags, "ConstMethod", "_flags", "u2", 2),
	CODE_FIELD(klass_source, "InstanceKlass", "_source_file_name_index", "u2", 2),
	CODE_FIELD(symbol_length, "Symbol", "_length", "unsigned short", 2),
};

#undef OF
#define OF code_source

static const struct code_field source_rows[] = {
	CODE_FIELD(block_length, "HeapBlock::Header", "_length", "size_t", 8),
	CODE_FIELD(array_length, "GenericGrowableArray", "_len", "int", 4),
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
	.fields = {&code_common_layout, &code_common_addresses, &fields},
	.sources = {&code_common_sources, &sources},
	.constants = constants,
	.constant_count = CODE_COUNT(constants),
	.coding_type = "nmethod",
	.coding_field = "_stack_traversal_mark",
	.coding_missing = "debug information as JDK 11 to 19 code it",
	.coding_of_17 = true,
};

const struct jdk_version jdk_11 = {
	.first = 11,
	.last = 11,
	.layout =
		{
			.owner_word = OWNER_WORD_ADDRESS,
			.mark_hash_shift = 8,
			.array_data = ARRAY_DATA_ALIGNED,
			.raw_oops = true,
		},
	.code = &code,
};
