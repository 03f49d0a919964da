#include "jvm/oop.h"

#include "base/arch/arch.h"
#include "base/text/utf.h"
#include "jvm/target/mem.h"

#include <errno.h>
#include <string.h>

#define UNITS_MAX 512 /* of a String, read at most */
#define STRING_MAX (1u << 30)

/*
 * The address of an object, from a word that refers to it. Of generational ZGC's 16 low bits one of
 * bits 12 to 15 says how far the address is shifted (share/gc/z/zAddress.hpp), but where the
 * architecture shifts it by all of them.
 */
static uint64_t oop_address(const struct jvm_layout *l, uint64_t word)
{
	uint32_t color = word >> 12 & 15;

	if (!l->colored_oops)
		return word;
	if (ARCH_JVM.zgc_shift)
		return word >> ARCH_JVM.zgc_shift;
	return color ? word >> (13 + __builtin_ctz(color)) : 0;
}

#define MARK_FORWARDED 3 /* markWord::marked_value */
#define OOP_ALIGNED 7

/* Where the object is that may have been copied (Shenandoah): see bpf/lib/jvm.bpf.h. */
static int oop_copy(const struct mem *m, const struct jvm_layout *l, uint64_t *oop)
{
	uint64_t mark;
	int err;

	if (!l->forwards || !*oop)
		return 0;
	err = mem_u64(m, *oop + l->oop_mark, &mark);
	if (!err && (mark & MARK_FORWARDED) == MARK_FORWARDED)
		*oop = mark & ~(uint64_t)OOP_ALIGNED;
	return err;
}

int oop_handle(const struct mem *m, const struct jvm_layout *l, uint64_t addr, uint64_t *ret)
{
	uint64_t word;
	int err = mem_u64(m, addr, &word);

	if (err)
		return err;
	*ret = oop_address(l, word);
	return oop_copy(m, l, ret);
}

int oop_field(const struct mem *m, const struct jvm_layout *l, uint64_t addr, uint64_t *ret)
{
	uint32_t narrow;
	int err;

	if (!l->compressed_oops)
		return oop_handle(m, l, addr, ret);
	err = mem_u32(m, addr, &narrow);
	if (err)
		return err;
	*ret = narrow ? l->narrow_oop_base + ((uint64_t)narrow << l->narrow_oop_shift) : 0;
	return oop_copy(m, l, ret);
}

int oop_klass(const struct mem *m, const struct jvm_layout *l, uint64_t oop, uint64_t *ret)
{
	uint64_t mark = 0;
	uint32_t narrow = 0;
	int err;

	if (!l->compressed_klass)
		return mem_u64(m, oop + l->oop_klass, ret);
	if (l->mark_klass_shift) {
		err = mem_u64(m, oop + l->oop_mark, &mark);
		narrow = (uint32_t)(mark >> l->mark_klass_shift);
	} else {
		err = mem_u32(m, oop + l->oop_klass, &narrow);
	}
	if (!err)
		*ret = l->narrow_klass_base + ((uint64_t)narrow << l->narrow_klass_shift);
	return err;
}

static int text_read(const struct mem *m, const struct jvm_layout *l, uint64_t array, uint8_t coder,
		     char *ret, size_t size)
{
	union {
		uint8_t latin1[UNITS_MAX * 2];
		uint16_t utf16[UNITS_MAX];
	} text;
	uint32_t length;
	int err = l->array_length >= 0 ? mem_u32(m, array + (uint32_t)l->array_length, &length)
				       : -ENOTSUP;

	if (!err && length > STRING_MAX)
		err = -EPROTO;
	if (err)
		return err;
	if (length > (coder ? sizeof(text) : UNITS_MAX))
		length = coder ? sizeof(text) : UNITS_MAX;
	err = m->read(m, array + (uint32_t)l->array_bytes, &text, length);
	if (err)
		return err;
	if (coder)
		utf16_to_utf8(text.utf16, length / 2, ret, size);
	else
		latin1_to_utf8(text.latin1, length, ret, size);
	return 0;
}

int oop_string(const struct mem *m, const struct jvm_layout *l, uint64_t string_klass, uint64_t oop,
	       char *ret, size_t size)
{
	uint64_t klass, array, again;
	uint8_t coder;
	int err = oop_klass(m, l, oop, &klass);

	if (!err && klass != string_klass)
		err = -EPROTO;
	if (!err)
		err = oop_field(m, l, oop + (uint32_t)l->string_value, &array);
	if (!err)
		err = m->read(m, oop + (uint32_t)l->string_coder, &coder, 1);
	if (!err && (!array || coder > 1))
		err = -EPROTO;
	if (!err)
		err = text_read(m, l, array, coder, ret, size);
	/* A collector may have moved it, and reused the memory, meanwhile. */
	if (!err)
		err = oop_klass(m, l, oop, &klass);
	if (!err)
		err = oop_field(m, l, oop + (uint32_t)l->string_value, &again);
	if (!err && (klass != string_klass || again != array))
		err = -EPROTO;
	return err;
}
