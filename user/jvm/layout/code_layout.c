#include "jvm/layout/code_layout.h"

#include "base/arch/arch.h"
#include "jvm/layout/code_barrier.h"
#include "jvm/layout/code_rules.h"
#include "jvm/layout/code_vtables.h"
#include "jvm/layout/vmstructs.h"
#include "jvm/target/mem.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define HEAP_MAX (2ull << 30) /* ReservedCodeCacheSize is 2 GiB at most */
#define SHIFT_MIN 4           /* CodeCacheSegmentSize: 64 or 128 */
#define SHIFT_MAX 12
#define TYPE_BYTES_MAX 65536 /* of a type with such fields: the largest, JavaThread, has 2,000 */

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

/* --- what does not change ---------------------------------------------------------------- */

static int rows_load(const struct vmstructs *v, const struct code_field *f, size_t count, void *ret,
		     const char **ret_missing)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t *at = (uint32_t *)((char *)ret + f[i].at);
		const char *is = vmstructs_field_type(v, f[i].type, f[i].name);
		uint32_t size;

		*ret_missing = f[i].both;
		if (vmstructs_offset(v, f[i].type, f[i].name, at) ||
		    vmstructs_size(v, f[i].type, &size) || size > TYPE_BYTES_MAX || *at > size ||
		    f[i].bytes > size - *at)
			return -ENOTSUP;
		if (f[i].is && (!is || strcmp(is, f[i].is)))
			return -ENOTSUP;
	}
	return 0;
}

static int fields_load(const struct vmstructs *v,
		       const struct code_fields *const f[CODE_FIELDS_MAX], void *ret,
		       const char **ret_missing)
{
	int err = 0;

	for (size_t i = 0; !err && i < CODE_FIELDS_MAX && f[i]; i++)
		err = rows_load(v, f[i]->rows, f[i]->count, ret, ret_missing);
	return err;
}

static int sizes_load(const struct vmstructs *v, struct code_layout *l, const char **ret_missing)
{
	const struct {
		const char *type;
		uint32_t *ret, max;
	} needed[] = {
		{"HeapBlock", &l->heap_block_size, 64},
		{"PcDesc", &l->pc_desc_size, 64},
		{"ConstMethod", &l->const_size, 1024},
		{"ConstantPool", &l->pool_size, 1024},
	};

	for (size_t i = 0; i < COUNT(needed); i++) {
		*ret_missing = needed[i].type;
		if (vmstructs_size(v, needed[i].type, needed[i].ret) ||
		    *needed[i].ret > needed[i].max)
			return -ENOTSUP;
	}
	return 0;
}

/* A slot of frames where the architecture says which: vmStructs has those of x86-64 only. */
static int slot_of(const struct arch_slots *slots, size_t at, int32_t *ret)
{
	const struct {
		size_t at;
		int8_t slot;
	} table[] = {
		{offsetof(struct code_layout, entry_call_wrapper), slots->call_wrapper},
		{offsetof(struct code_layout, interpreter_sender_sp), slots->sender_sp},
		{offsetof(struct code_layout, interpreter_method), slots->method},
		{offsetof(struct code_layout, interpreter_bcp), slots->bcp},
	};

	for (size_t i = 0; i < COUNT(table); i++)
		if (table[i].at == at && table[i].slot) {
			*ret = table[i].slot;
			return 1;
		}
	return 0;
}

static int constants_load(const struct vmstructs *v, const struct code_rules *rules,
			  struct code_layout *l, const char **ret_missing)
{
	for (size_t i = 0; i < rules->constant_count; i++) {
		const struct code_constant *c = &rules->constants[i];
		int32_t *to = (int32_t *)((char *)l + c->at);
		int64_t value;

		if (slot_of(&ARCH_JVM.slots, c->at, to))
			continue;
		*ret_missing = c->name;
		if (vmstructs_constant(v, c->name, &value) || value < c->min || value > c->max)
			return -ENOTSUP;
		*to = (int32_t)value + c->plus;
	}
	return 0;
}

/* These statics are in 11 to 25. */
static int source_load(const struct vmstructs *v, const struct code_rules *rules,
		       struct code_source *s, const char **ret_missing)
{
	const struct {
		const char *type, *name;
		uint64_t *ret;
	} needed[] = {
		{"CodeCache", "_heaps", &s->heaps},
		{"AbstractInterpreter", "_code", &s->interpreter},
		{"StubRoutines", "_call_stub_return_address", &s->call_stub},
	};

	for (size_t i = 0; i < COUNT(needed); i++) {
		*ret_missing = needed[i].type;
		if (vmstructs_address(v, needed[i].type, needed[i].name, needed[i].ret))
			return -ENOTSUP;
	}
	*ret_missing = "vmClasses::_klasses";
	if (!code_vtables_possible(v))
		return -ENOTSUP;
	return fields_load(v, rules->sources, s, ret_missing);
}

int code_layout_load(const struct vmstructs *v, const struct code_rules *rules,
		     struct code_layout *ret, const char **ret_missing)
{
	struct code_layout l = rules->fixed;
	struct code_source s;
	int err = fields_load(v, rules->fields, &l, ret_missing);

	l.rules = rules;
	if (!err)
		err = sizes_load(v, &l, ret_missing);
	if (!err)
		err = constants_load(v, rules, &l, ret_missing);
	if (!err)
		err = source_load(v, rules, &s, ret_missing);
	if (err)
		return err;
	if (!vmstructs_field_type(v, rules->coding_type, rules->coding_field) ==
	    rules->coding_of_17) {
		*ret_missing = rules->coding_missing;
		return -ENOTSUP;
	}
	/* A block's head is read with so many bytes of its blob, and no more. */
	*ret_missing = "HeapBlock::Header within HeapBlock";
	if (l.block_used >= l.heap_block_size ||
	    s.block_length + l.block_length_bytes > l.heap_block_size)
		return -ENOTSUP;
	if (l.blob_kind)
		l.nmethod_vtable = l.nmethod_kind;
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
	err = source_load(v, l->rules, &s, &missing);
	if (!err)
		err = heap_list(m, &s, heaps, &count);
	for (uint32_t i = 0; !err && i < count; i++)
		err = heap_read(m, &s, heaps[i], &now.heaps[i]);
	if (!err)
		err = stubs_read(m, &s, &now);
	now.heap_count = err ? 0 : count;
	if (!err)
		err = code_vtables_find(m, v, &s, heaps, &now);
	if (!err)
		code_barrier_find(m, v, &s, heaps, &now);
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
