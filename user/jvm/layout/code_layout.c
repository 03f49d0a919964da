#include "jvm/layout/code_layout.h"

#include "jvm/layout/code_vtables.h"
#include "jvm/layout/vmstructs.h"
#include "jvm/target/mem.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/*
 * This is the layout of JDK 17; 18 and 19 have the same. What came later is told apart by what
 * vmStructs lacks or spells otherwise:
 * - 20 codes numbers in debug information without zero bytes (JDK-8292758, late August 2022), which
 *   vmStructs does not show. A week before it, also in 20 only, the sweeper went (JDK-8290025), and
 *   nmethod::_stack_traversal_mark with it: that field stands for the old coding.
 * - 21 has no Method::_flags, and a wider ConstMethod::_flags._flags; 23 has no CompiledMethod.
 * So each field is wanted with its C++ type, and refused if it does not lie within its struct.
 *
 * Of an interpreted frame vmStructs tells the places of the sender's sp and of the last sp only.
 * The slots below it are in one order in 17 to 19 on x86-64: last sp, method, mirror, profile,
 * constant pool cache, locals, bytecode pointer. The method is thus one word below the last sp, the
 * bytecode pointer six.
 */

#define HEAP_MAX (2ull << 30) /* ReservedCodeCacheSize is 2 GiB at most */
#define SHIFT_MIN 4           /* CodeCacheSegmentSize: 64 or 128 */
#define SHIFT_MAX 12

struct field {
	size_t at; /* a uint32_t of struct code_layout or struct code_source */
	const char *type, *name, *both;
	const char *is; /* its C++ type; NULL: any */
	uint32_t bytes; /* that are read of it */
};

#define FIELD(member, type, name, is, bytes)                                                       \
	{                                                                                          \
		offsetof(struct OF, member), type, name, type "::" name, is, bytes                 \
	}
#define OF code_layout

static const struct field fields[] = {
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

static const struct field source_fields[] = {
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

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

/* --- what does not change ---------------------------------------------------------------- */

static int fields_load(const struct vmstructs *v, const struct field *f, size_t count, void *ret,
		       const char **ret_missing)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t *at = (uint32_t *)((char *)ret + f[i].at);
		const char *is = vmstructs_field_type(v, f[i].type, f[i].name);
		uint32_t size;

		*ret_missing = f[i].both;
		if (vmstructs_offset(v, f[i].type, f[i].name, at) ||
		    vmstructs_size(v, f[i].type, &size) || *at + f[i].bytes > size)
			return -ENOTSUP;
		if (f[i].is && (!is || strcmp(is, f[i].is)))
			return -ENOTSUP;
	}
	return 0;
}

static int sizes_load(const struct vmstructs *v, struct code_layout *l, const char **ret_missing)
{
	const struct {
		const char *type;
		uint32_t *ret, max;
	} wanted[] = {
		{"HeapBlock", &l->heap_block_size, 64},
		{"PcDesc", &l->pc_desc_size, 64},
		{"ConstMethod", &l->const_size, 1024},
		{"ConstantPool", &l->pool_size, 1024},
	};

	for (size_t i = 0; i < COUNT(wanted); i++) {
		*ret_missing = wanted[i].type;
		if (vmstructs_size(v, wanted[i].type, wanted[i].ret) ||
		    *wanted[i].ret > wanted[i].max)
			return -ENOTSUP;
	}
	return 0;
}

static int constants_load(const struct vmstructs *v, struct code_layout *l,
			  const char **ret_missing)
{
	int64_t wrapper, sender_sp, last_sp, hidden, lines;
	const struct {
		const char *name;
		int64_t *ret, min, max;
	} wanted[] = {
		{"frame::entry_frame_call_wrapper_offset", &wrapper, -64, 64},
		{"frame::interpreter_frame_sender_sp_offset", &sender_sp, -1, -1},
		{"frame::interpreter_frame_last_sp_offset", &last_sp, -2, -2},
		{"Method::_hidden", &hidden, 1, 0x8000},
		{"ConstMethod::_has_linenumber_table", &lines, 1, 0x8000},
	};

	for (size_t i = 0; i < COUNT(wanted); i++) {
		*ret_missing = wanted[i].name;
		if (vmstructs_constant(v, wanted[i].name, wanted[i].ret) ||
		    *wanted[i].ret < wanted[i].min || *wanted[i].ret > wanted[i].max)
			return -ENOTSUP;
	}
	l->entry_call_wrapper = (int32_t)wrapper;
	l->interpreter_sender_sp = (int32_t)sender_sp;
	l->interpreter_method = (int32_t)last_sp - 1;
	l->interpreter_bcp = (int32_t)last_sp - 6;
	l->method_hidden = (uint32_t)hidden;
	l->const_has_lines = (uint32_t)lines;
	return 0;
}

static int source_load(const struct vmstructs *v, struct code_source *s, const char **ret_missing)
{
	const struct {
		const char *type, *name;
		uint64_t *ret;
	} wanted[] = {
		{"CodeCache", "_heaps", &s->heaps},
		{"AbstractInterpreter", "_code", &s->interpreter},
		{"StubRoutines", "_call_stub_return_address", &s->call_stub},
	};

	for (size_t i = 0; i < COUNT(wanted); i++) {
		*ret_missing = wanted[i].type;
		if (vmstructs_address(v, wanted[i].type, wanted[i].name, wanted[i].ret))
			return -ENOTSUP;
	}
	*ret_missing = "vmClasses::_klasses";
	if (!code_vtables_possible(v))
		return -ENOTSUP;
	return fields_load(v, source_fields, COUNT(source_fields), s, ret_missing);
}

int code_layout_load(const struct vmstructs *v, struct code_layout *ret, const char **ret_missing)
{
	struct code_layout l = {0};
	struct code_source s;
	int err = fields_load(v, fields, COUNT(fields), &l, ret_missing);

	if (!err)
		err = sizes_load(v, &l, ret_missing);
	if (!err)
		err = constants_load(v, &l, ret_missing);
	if (!err)
		err = source_load(v, &s, ret_missing);
	if (err)
		return err;
	if (!vmstructs_field_type(v, "nmethod", "_stack_traversal_mark")) {
		*ret_missing = "debug information as JDK 17 to 19 code it";
		return -ENOTSUP;
	}
	*ret = l;
	return 0;
}

/* --- what the VM makes at its start ------------------------------------------------------- */

/* A heap that is listed but not reserved yet: -EAGAIN. */
static int heap_read(const struct mem *m, const struct code_source *s, uint64_t heap,
		     struct code_heap *ret)
{
	struct code_heap h;
	int err = mem_u64(m, heap + s->heap_memory + s->space_low_boundary, &h.low);

	if (!err)
		err = mem_u64(m, heap + s->heap_memory + s->space_high_boundary, &h.high);
	if (!err)
		err = mem_u64(m, heap + s->heap_segmap + s->space_low, &h.segmap);
	if (!err)
		err = mem_u32(m, heap + s->heap_segment_shift, &h.segment_shift);
	if (err)
		return err;
	if (!h.low || !h.high || !h.segmap)
		return -EAGAIN;
	if (h.high <= h.low || h.high - h.low > HEAP_MAX || h.segment_shift < SHIFT_MIN ||
	    h.segment_shift > SHIFT_MAX)
		return -EPROTO;
	*ret = h;
	return 0;
}

/* The addresses of the CodeHeaps; -EAGAIN: none yet. */
static int heap_list(const struct mem *m, const struct code_source *s, uint64_t ret[CODE_HEAPS_MAX],
		     uint32_t *ret_count)
{
	uint64_t array, data;
	uint32_t count;
	int err = mem_u64(m, s->heaps, &array);

	if (!err && !array)
		err = -EAGAIN;
	if (!err)
		err = mem_u32(m, array + s->array_length, &count);
	if (!err && !count)
		err = -EAGAIN;
	if (!err && count > CODE_HEAPS_MAX)
		err = -EPROTO;
	if (!err)
		err = mem_u64(m, array + s->array_data, &data);
	if (!err)
		err = m->read(m, data, ret, count * sizeof(*ret));
	if (!err)
		*ret_count = count;
	return err;
}

/* The interpreter's code, and the call stub. */
static int stubs_read(const struct mem *m, const struct code_source *s, struct code_layout *l)
{
	uint64_t queue, buffer, stub;
	uint32_t limit;
	int err = mem_u64(m, s->interpreter, &queue);

	if (!err && !queue)
		err = -EAGAIN;
	if (!err)
		err = mem_u64(m, queue + s->queue_buffer, &buffer);
	if (!err)
		err = mem_u32(m, queue + s->queue_limit, &limit);
	if (!err)
		err = mem_u64(m, s->call_stub, &stub);
	if (!err && (!buffer || !stub))
		err = -EAGAIN;
	if (!err && (!limit || limit > HEAP_MAX))
		err = -EPROTO;
	if (err)
		return err;
	l->interpreter_low = buffer;
	l->interpreter_high = buffer + limit;
	l->call_stub_return = stub;
	return 0;
}

bool code_layout_usable(const struct code_layout *l)
{
	return l->heap_count && l->interpreter_high && l->call_stub_return && l->method_vtable;
}

int code_layout_refresh(const struct mem *m, const struct vmstructs *v, struct code_layout *l)
{
	uint64_t heaps[CODE_HEAPS_MAX], again[CODE_HEAPS_MAX];
	struct code_layout now = *l;
	const char *missing;
	uint32_t count;
	struct code_source s;
	int err;

	if (code_layout_usable(l) && l->nmethod_vtable)
		return 1;
	err = source_load(v, &s, &missing);
	if (!err)
		err = heap_list(m, &s, heaps, &count);
	for (uint32_t i = 0; !err && i < count; i++)
		err = heap_read(m, &s, heaps[i], &now.heaps[i]);
	if (!err)
		err = stubs_read(m, &s, &now);
	now.heap_count = err ? 0 : count;
	if (!err)
		err = code_vtables_find(m, v, &s, heaps, &now);
	/* One that was being added would be missing for ever. */
	if (!err)
		err = heap_list(m, &s, again, &now.heap_count);
	if (!err && now.heap_count != count)
		err = -EAGAIN;
	/* What is being made may be read half: it is looked at again. */
	if (err)
		return err == -EAGAIN || err == -EFAULT ? 0 : err;
	*l = now;
	return code_layout_usable(l) && l->nmethod_vtable;
}
