#include "jvm/layout/klass.h"

#include "jvm/layout/unsigned5.h"
#include "jvm/layout/vmstructs.h"
#include "jvm/target/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A field of a Java class is described in its InstanceKlass: up to JDK 20 by _fields, an Array<u2>
 * of FieldInfo::field_slots numbers per field (access flags, index of the name, of the signature,
 * of the initial value, low and high half of offset << FIELDINFO_TAG_SIZE | tag); from 21 on
 * (JDK-8292818) by _fieldinfo_stream, UNSIGNED5 numbers: counts of Java and injected fields, then
 * per field name, signature, offset, access flags, field flags and what these announce. The names
 * are Symbols in the constant pool, whose entries follow the ConstantPool. Fields that the VM
 * injects come last and are left out: their names are indices of vmSymbols.
 *
 * All needed classes are java.base's, so they are the boot loader's: the only ClassLoaderData
 * without a class loader that is not of a hidden class. It is never freed; its classes are linked,
 * newest first, through Klass::_next_link, and never unloaded, so a walk can stop at the newest
 * that the walk before had seen.
 */

#define CLD_MAX 1000000
#define KLASS_MAX 1000000
#define FIELDS_MAX 65536
#define KLASS_SIZE_MAX 1024
#define ACC_STATIC 8

struct offset_needed {
	const char *type, *field;
	size_t at; /* in struct klass_shape */
};

#define AT(member) offsetof(struct klass_shape, member)

static const struct offset_needed offsets[] = {
	{"Klass", "_name", AT(klass_name)},
	{"Klass", "_next_link", AT(klass_next_link)},
	{"Klass", "_super_check_offset", AT(klass_super_check_offset)},
	{"Symbol", "_length", AT(symbol_length)},
	{"Symbol", "_body", AT(symbol_body)},
	{"InstanceKlass", "_constants", AT(ik_constants)},
	{"ConstantPool", "_length", AT(pool_length)},
	{"Array<u1>", "_data", AT(u1_data)},
	{"Array<u2>", "_data", AT(u2_data)},
	{"ClassLoaderData", "_class_loader", AT(cld_class_loader)},
	{"ClassLoaderData", "_next", AT(cld_next)},
	{"ClassLoaderData", "_klasses", AT(cld_klasses)},
};

struct constant_needed {
	const char *name;
	size_t at;
};

static const struct constant_needed constants[] = {
	{"FieldInfo::field_slots", AT(field_slots)},
	{"FieldInfo::access_flags_offset", AT(field_access)},
	{"FieldInfo::name_index_offset", AT(field_name)},
	{"FieldInfo::low_packed_offset", AT(field_low)},
	{"FieldInfo::high_packed_offset", AT(field_high)},
	{"FIELDINFO_TAG_SIZE", AT(field_tag_size)},
	{"FIELDINFO_TAG_OFFSET", AT(field_tag_offset)},
};

#undef AT

static uint32_t *shape_at(struct klass_shape *s, size_t at)
{
	return (uint32_t *)((char *)s + at);
}

static int fields_shape(const struct vmstructs *v, struct klass_shape *s, const char **ret_missing)
{
	int64_t value;

	*ret_missing = "InstanceKlass::_fields";
	if (!vmstructs_offset(v, "InstanceKlass", "_fieldinfo_stream", &s->ik_fields)) {
		s->field_stream = true;
		return 0;
	}
	if (vmstructs_offset(v, "InstanceKlass", "_fields", &s->ik_fields) ||
	    vmstructs_offset(v, "InstanceKlass", "_java_fields_count", &s->ik_java_fields_count))
		return -ENOENT;
	for (size_t i = 0; i < sizeof(constants) / sizeof(*constants); i++) {
		*ret_missing = constants[i].name;
		if (vmstructs_constant(v, constants[i].name, &value))
			return -ENOENT;
		if (value < 0 || value > 16)
			return -EPROTO;
		*shape_at(s, constants[i].at) = (uint32_t)value;
	}
	*ret_missing = "FieldInfo::field_slots";
	if (s->field_slots <= s->field_access || s->field_slots <= s->field_name ||
	    s->field_slots <= s->field_low || s->field_slots <= s->field_high)
		return -EPROTO;
	return 0;
}

/* The pointer to a well-known class; 0: this JVM's tables do not list it. */
static uint64_t well_known(const struct vmstructs *v, const char *field_17, const char *field_11)
{
	uint64_t addr;

	if (!vmstructs_address(v, "vmClasses", field_17, &addr) ||
	    !vmstructs_address(v, "SystemDictionary", field_11, &addr))
		return addr;
	return 0;
}

int klass_shape_load(const struct vmstructs *v, struct klass_shape *ret, const char **ret_missing)
{
	struct klass_shape s = {0};
	const char *missing = NULL;
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(offsets) / sizeof(*offsets); i++) {
		err = vmstructs_offset(v, offsets[i].type, offsets[i].field,
				       shape_at(&s, offsets[i].at));
		missing = err ? offsets[i].type : NULL;
	}
	if (!err && (vmstructs_size(v, "Klass", &s.klass_size) || s.klass_size > KLASS_SIZE_MAX ||
		     s.klass_size < s.klass_name + 8 || s.klass_size < s.klass_next_link + 8 ||
		     vmstructs_size(v, "ConstantPool", &s.pool_size))) {
		missing = "the size of Klass or ConstantPool";
		err = -EPROTO;
	}
	if (!err && vmstructs_address(v, "ClassLoaderDataGraph", "_head", &s.cld_head)) {
		missing = "ClassLoaderDataGraph::_head";
		err = -ENOENT;
	}
	if (!err)
		err = fields_shape(v, &s, &missing);
	s.thread = well_known(v, "_klasses[static_cast<int>(vmClassID::Thread_klass_knum)]",
			      "_well_known_klasses[SystemDictionary::Thread_klass_knum]");
	s.string = well_known(v, "_klasses[static_cast<int>(vmClassID::String_klass_knum)]",
			      "_well_known_klasses[SystemDictionary::String_klass_knum]");
	s.thread_holder = well_known(
		v, "_klasses[static_cast<int>(vmClassID::Thread_FieldHolder_klass_knum)]", "");
	if (!err && (!s.thread || !s.string)) {
		missing = "vmClasses::_klasses of Thread and String";
		err = -ENOENT;
	}
	if (!err)
		*ret = s;
	else if (ret_missing)
		*ret_missing = missing;
	return err;
}

/* Whether the Symbol at addr, of this length, is text. */
static bool body_is(const struct mem *m, const struct klass_shape *s, uint64_t addr, size_t length,
		    const char *text)
{
	char body[256];

	if (length != strlen(text) || length > sizeof(body) ||
	    m->read(m, addr + s->symbol_body, body, length))
		return false;
	return !memcmp(body, text, length);
}

static bool symbol_is(const struct mem *m, const struct klass_shape *s, uint64_t addr,
		      const char *text)
{
	uint16_t length;

	return addr && !mem_u16(m, addr + s->symbol_length, &length) &&
	       body_is(m, s, addr, length, text);
}

bool klass_is_named(const struct mem *m, const struct klass_shape *s, uint64_t klass,
		    const char *name)
{
	uint64_t symbol;

	return !mem_u64(m, klass + s->klass_name, &symbol) && symbol_is(m, s, symbol, name);
}

struct pool {
	uint64_t entries;
	uint32_t length;
};

static int pool_open(const struct mem *m, const struct klass_shape *s, uint64_t klass,
		     struct pool *ret)
{
	uint64_t addr;
	int err = mem_u64(m, klass + s->ik_constants, &addr);

	if (!err && !addr)
		err = -EAGAIN;
	if (!err)
		err = mem_u32(m, addr + s->pool_length, &ret->length);
	ret->entries = addr + s->pool_size;
	return err;
}

static bool pool_symbol_is(const struct mem *m, const struct klass_shape *s, const struct pool *p,
			   uint32_t index, const char *text)
{
	uint64_t symbol;

	return index && index < p->length &&
	       !mem_u64(m, p->entries + 8 * (uint64_t)index, &symbol) &&
	       symbol_is(m, s, symbol, text);
}

struct field_search {
	const struct mem *m;
	const struct klass_shape *s;
	struct pool pool;
	const char *name, *signature;
};

static bool field_matches(const struct field_search *f, uint32_t access, uint32_t name,
			  uint32_t sig)
{
	return !(access & ACC_STATIC) && pool_symbol_is(f->m, f->s, &f->pool, name, f->name) &&
	       pool_symbol_is(f->m, f->s, &f->pool, sig, f->signature);
}

static int array_find(const struct field_search *f, const uint16_t *slots, uint32_t fields,
		      int32_t *ret)
{
	const struct klass_shape *s = f->s;

	for (; fields; fields--, slots += s->field_slots) {
		uint32_t packed = (uint32_t)slots[s->field_high] << 16 | slots[s->field_low];

		/* The signature stands after the name. */
		if (!field_matches(f, slots[s->field_access], slots[s->field_name],
				   slots[s->field_name + 1]))
			continue;
		/* Not laid out yet: the class is being loaded. */
		if (!(packed & s->field_tag_offset))
			return -EAGAIN;
		*ret = (int32_t)(packed >> s->field_tag_size);
		return 0;
	}
	return -ENOENT;
}

/* The stream came a year after JDK 20's coding of numbers. */
static bool stream_number(const uint8_t *bytes, size_t len, size_t *at, uint32_t *ret)
{
	return unsigned5_read(bytes, len, at, 1, ret);
}

enum { FF_INITIALIZED = 1, FF_GENERIC = 4, FF_CONTENDED = 16 };

static int stream_find(const struct field_search *f, const uint8_t *bytes, size_t len, int32_t *ret)
{
	enum { NAME, SIGNATURE, OFFSET, ACCESS, FLAGS, NUMBERS };
	uint32_t fields, injected, n[NUMBERS], skipped;
	size_t at = 0;

	if (!stream_number(bytes, len, &at, &fields) || !stream_number(bytes, len, &at, &injected))
		return -EPROTO;
	for (; fields; fields--) {
		for (int i = 0; i < NUMBERS; i++)
			if (!stream_number(bytes, len, &at, &n[i]))
				return -EPROTO;
		if (field_matches(f, n[ACCESS], n[NAME], n[SIGNATURE])) {
			*ret = (int32_t)n[OFFSET];
			return 0;
		}
		for (uint32_t flag = FF_INITIALIZED; flag <= FF_CONTENDED; flag <<= 2)
			if (n[FLAGS] & flag && !stream_number(bytes, len, &at, &skipped))
				return -EPROTO;
	}
	return -ENOENT;
}

/* The description of the fields: *ret is the Array's data, *ret_len its bytes. */
static int fields_read(const struct mem *m, const struct klass_shape *s, uint64_t klass, void **ret,
		       size_t *ret_len)
{
	uint32_t length, data = s->field_stream ? s->u1_data : s->u2_data;
	size_t len;
	uint64_t array;
	int err = mem_u64(m, klass + s->ik_fields, &array);

	if (!err && !array)
		err = -EAGAIN;
	/* Array<T>::_length is an int in front of the data. */
	if (!err)
		err = mem_u32(m, array + data - sizeof(uint32_t), &length);
	if (!err && (!length || length > FIELDS_MAX * 6))
		err = -ENOENT;
	if (err)
		return err;
	len = (size_t)length * (s->field_stream ? 1 : 2);
	*ret = malloc(len);
	if (!*ret)
		return -ENOMEM;
	*ret_len = len;
	err = m->read(m, array + data, *ret, len);
	if (err)
		free(*ret);
	return err;
}

int klass_field(const struct mem *m, const struct klass_shape *s, uint64_t klass, const char *name,
		const char *signature, int32_t *ret)
{
	struct field_search f = {.m = m, .s = s, .name = name, .signature = signature};
	uint16_t fields = 0;
	int32_t offset;
	size_t len;
	void *data;
	int err = pool_open(m, s, klass, &f.pool);

	if (!err && !s->field_stream)
		err = mem_u16(m, klass + s->ik_java_fields_count, &fields);
	if (!err)
		err = fields_read(m, s, klass, &data, &len);
	if (err)
		return err;
	if (s->field_stream)
		err = stream_find(&f, data, len, &offset);
	else if ((size_t)fields * s->field_slots * 2 > len)
		err = -EPROTO;
	else
		err = array_find(&f, data, fields, &offset);
	free(data);
	if (!err && (offset <= 0 || offset > 65536))
		err = -EPROTO;
	if (!err)
		*ret = offset;
	return err;
}

/* The boot loader's ClassLoaderData is the first there was: the last in the list. */
static int boot_find(const struct mem *m, const struct klass_shape *s, struct klass_walk *w)
{
	uint64_t cld, next, loader;
	int err = mem_u64(m, s->cld_head, &cld);

	for (int i = 0; !err && cld && i < CLD_MAX && w->steps < KLASS_STEPS_MAX; i++, cld = next) {
		w->steps++;
		err = mem_u64(m, cld + s->cld_next, &next);
		if (!err)
			err = mem_u64(m, cld + s->cld_class_loader, &loader);
		if (err || next)
			continue;
		if (loader)
			return -EPROTO;
		w->boot = cld;
		return 0;
	}
	return err ? err : -EAGAIN;
}

/* Whether one of the needed classes has this name: it is taken then. */
static bool query_take(const struct mem *m, const struct klass_shape *s, uint64_t klass,
		       uint64_t name, struct klass_query *needed, size_t count)
{
	uint16_t length;

	if (!name || mem_u16(m, name + s->symbol_length, &length))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (needed[i].klass || !body_is(m, s, name, length, needed[i].name))
			continue;
		needed[i].klass = klass;
		return true;
	}
	return false;
}

int klass_walk(const struct mem *m, const struct klass_shape *s, struct klass_walk *w,
	       struct klass_query *needed, size_t count)
{
	char bytes[KLASS_SIZE_MAX];
	uint64_t head, klass, name;
	size_t missing = 0, found = 0;
	int err = w->boot ? 0 : boot_find(m, s, w);

	for (size_t i = 0; i < count; i++)
		missing += !needed[i].klass;
	if (err == -EAGAIN)
		return 0;
	if (!err)
		err = mem_u64(m, w->boot + s->cld_klasses, &head);
	klass = err ? 0 : head;
	for (int n = 0; found < missing && klass && klass != w->seen && n < KLASS_MAX &&
			w->steps < KLASS_STEPS_MAX;
	     n++) {
		w->steps++;
		err = m->read(m, klass, bytes, s->klass_size);
		if (err)
			break;
		memcpy(&name, bytes + s->klass_name, sizeof(name));
		found += query_take(m, s, klass, name, needed, count);
		memcpy(&klass, bytes + s->klass_next_link, sizeof(klass));
	}
	if (!err)
		w->seen = head;
	return found ? 1 : err;
}
