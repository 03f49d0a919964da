#include "jvm/layout/layout.h"

#include "jvm/layout/vmstructs.h"
#include "jvm/target/mem.h"

#include <errno.h>
#include <string.h>

/*
 * What a stopped debugger would take from symbols, a running JVM tells in vmStructs; spoor wants a
 * field only if it is there under one of the names that it had from JDK 15 on. Older ones keep
 * oops, not handles, in JavaThread and ObjectMonitor: they are refused by the type of
 * JavaThread::_threadObj.
 */

struct field {
	size_t at; /* in struct jvm_layout: a uint32_t */
	struct {
		const char *type, *name;
	} is[2]; /* the first that there is */
};

#define AT(member) offsetof(struct jvm_layout, member)

static const struct field fields[] = {
	{AT(threads_list_length), {{"ThreadsList", "_length"}}},
	{AT(threads_list_threads), {{"ThreadsList", "_threads"}}},
	{AT(java_thread_osthread), {{"JavaThread", "_osthread"}, {"Thread", "_osthread"}}},
	{AT(java_thread_thread_obj), {{"JavaThread", "_threadObj"}}},
	{AT(java_thread_stack_base), {{"JavaThread", "_stack_base"}, {"Thread", "_stack_base"}}},
	{AT(java_thread_stack_size), {{"JavaThread", "_stack_size"}, {"Thread", "_stack_size"}}},
	{AT(osthread_thread_id), {{"OSThread", "_thread_id"}}},
	{AT(monitor_header), {{"ObjectMonitor", "_header"}, {"ObjectMonitor", "_metadata"}}},
	{AT(monitor_object), {{"ObjectMonitor", "_object"}}},
	{AT(monitor_owner), {{"ObjectMonitor", "_owner"}}},
	{AT(oop_mark), {{"oopDesc", "_mark"}}},
	{AT(oop_klass), {{"oopDesc", "_metadata._klass"}}},
	{AT(klass_name), {{"Klass", "_name"}}},
	{AT(klass_super_check_offset), {{"Klass", "_super_check_offset"}}},
	{AT(symbol_length), {{"Symbol", "_length"}}},
	{AT(symbol_body), {{"Symbol", "_body"}}},
};

#undef AT

static int statics_load(const struct vmstructs *v, struct jvm_layout *l, struct layout_source *s,
			const char **ret_missing)
{
	const struct {
		const char *type, *name, *name_later;
		uint64_t *ret;
	} wanted[] = {
		{"ThreadsSMRSupport", "_java_thread_list", "", &l->java_thread_list},
		{"Universe", "_collectedHeap", "", &s->collected_heap},
		{"CompressedOops", "_narrow_oop._base", "_base", &s->narrow_oop_base},
		{"CompressedOops", "_narrow_oop._shift", "_shift", &s->narrow_oop_shift},
		{"CompressedKlassPointers", "_narrow_klass._base", "_base", &s->narrow_klass_base},
		{"CompressedKlassPointers", "_narrow_klass._shift", "_shift",
		 &s->narrow_klass_shift},
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		if (!vmstructs_address(v, wanted[i].type, wanted[i].name, wanted[i].ret) ||
		    !vmstructs_address(v, wanted[i].type, wanted[i].name_later, wanted[i].ret))
			continue;
		*ret_missing = wanted[i].type;
		return -ENOTSUP;
	}
	return 0;
}

static int offsets_load(const struct vmstructs *v, struct jvm_layout *l, const char **ret_missing)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		uint32_t *at = (uint32_t *)((char *)l + fields[i].at);
		int err = vmstructs_offset(v, fields[i].is[0].type, fields[i].is[0].name, at);

		if (err && fields[i].is[1].type)
			err = vmstructs_offset(v, fields[i].is[1].type, fields[i].is[1].name, at);
		if (!err)
			continue;
		*ret_missing = fields[i].is[0].name;
		return -ENOTSUP;
	}
	return 0;
}

void layout_clear(struct jvm_layout *l)
{
	*l = (struct jvm_layout){0};
	l->thread_park_blocker = l->thread_eetop = l->thread_name = l->thread_tid = -1;
	l->thread_daemon = l->thread_status = l->string_value = l->string_coder = -1;
	l->java_thread_state = -1;
	l->aos_owner = l->aqs_state = l->rrwl_first_reader = -1;
}

int layout_load(const struct vmstructs *v, struct jvm_layout *ret, struct layout_source *ret_source,
		const char **ret_missing)
{
	struct layout_source s = {.thread_holder = -1, .holder_daemon = -1, .holder_status = -1};
	struct jvm_layout l;
	const char *type;
	uint32_t state;
	int64_t shift;
	int err;

	layout_clear(&l);
	err = offsets_load(v, &l, ret_missing);
	if (!err)
		err = statics_load(v, &l, &s, ret_missing);
	if (!err && klass_shape_load(v, &s.shape, ret_missing))
		err = -ENOTSUP;
	if (err)
		return err;
	type = vmstructs_field_type(v, "JavaThread", "_threadObj");
	if (!type || strcmp(type, "OopHandle")) {
		*ret_missing = "JavaThread::_threadObj as an OopHandle (JDK 16 or later)";
		return -ENOTSUP;
	}
	if (!vmstructs_offset(v, "JavaThread", "_thread_state", &state))
		l.java_thread_state = (int32_t)state;
	type = vmstructs_field_type(v, "ObjectMonitor", "_owner");
	l.monitor_owner_is_id = type && !strcmp(type, "int64_t");
	l.mark_hash_shift =
		vmstructs_constant(v, "markWord::hash_shift", &shift) ? 8 : (uint32_t)shift;
	*ret = l;
	*ret_source = s;
	return 0;
}

static int narrow_load(const struct mem *m, const struct layout_source *s, struct jvm_layout *l)
{
	int err = mem_u64(m, s->narrow_oop_base, &l->narrow_oop_base);

	if (!err)
		err = mem_u32(m, s->narrow_oop_shift, &l->narrow_oop_shift);
	if (!err)
		err = mem_u64(m, s->narrow_klass_base, &l->narrow_klass_base);
	if (!err)
		err = mem_u32(m, s->narrow_klass_shift, &l->narrow_klass_shift);
	/* What is not used may hold anything: JDK 25 puts -1 there. */
	if (!err && ((l->compressed_oops && l->narrow_oop_shift > 16) ||
		     (l->compressed_klass && l->narrow_klass_shift > 16)))
		err = -EAGAIN;
	return err;
}

/* A class that vmClasses lists; 0: not loaded yet. */
static uint64_t listed_klass(const struct mem *m, uint64_t addr)
{
	uint64_t klass;

	return addr && !mem_u64(m, addr, &klass) ? klass : 0;
}

struct wanted_field {
	const char *name, *signature;
	int32_t *ret;
	bool optional;
};

/* 0, or -EAGAIN when a field that has to be there is not. */
static int fields_find(const struct mem *m, const struct klass_shape *s, uint64_t klass,
		       const struct wanted_field *f, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (klass_field(m, s, klass, f[i].name, f[i].signature, f[i].ret) && !f[i].optional)
			return -EAGAIN;
	return 0;
}

static int thread_fields(const struct mem *m, struct layout_source *s, struct jvm_layout *l)
{
	uint64_t thread = listed_klass(m, s->shape.thread),
		 string = listed_klass(m, s->shape.string);
	uint64_t holder = listed_klass(m, s->shape.thread_holder);
	const struct wanted_field of_thread[] = {
		{"name", "Ljava/lang/String;", &l->thread_name, false},
		{"tid", "J", &l->thread_tid, false},
		{"eetop", "J", &l->thread_eetop, false},
		{"parkBlocker", "Ljava/lang/Object;", &l->thread_park_blocker, true},
		{"daemon", "Z", &l->thread_daemon, true},
		{"threadStatus", "I", &l->thread_status, true},
		{"holder", "Ljava/lang/Thread$FieldHolder;", &s->thread_holder, true},
	};
	const struct wanted_field of_string[] = {
		{"value", "[B", &l->string_value, false},
		{"coder", "B", &l->string_coder, false},
	};
	const struct wanted_field of_holder[] = {{"daemon", "Z", &s->holder_daemon, true},
						 {"threadStatus", "I", &s->holder_status, true}};

	if (!thread || !string)
		return -EAGAIN;
	if (fields_find(m, &s->shape, thread, of_thread, sizeof(of_thread) / sizeof(*of_thread)) ||
	    fields_find(m, &s->shape, string, of_string, sizeof(of_string) / sizeof(*of_string)))
		return -EAGAIN;
	return holder ? fields_find(m, &s->shape, holder, of_holder, 2) : 0;
}

static int ready_check(const struct mem *m, struct layout_source *s, bool compressed_oops,
		       bool compressed_klass, struct jvm_layout *l)
{
	uint64_t heap, list;
	int err = mem_u64(m, s->collected_heap, &heap);

	if (!err)
		err = mem_u64(m, l->java_thread_list, &list);
	if (!err && (!heap || !list))
		err = -EAGAIN;
	if (!err)
		err = thread_fields(m, s, l);
	l->compressed_oops = compressed_oops;
	l->compressed_klass = compressed_klass;
	if (!err)
		err = narrow_load(m, s, l);
	if (err)
		return err == -EAGAIN ? 0 : err;
	l->ready = true;
	return 1;
}

bool layout_complete(const struct jvm_layout *l)
{
	return l->ready && l->aos_owner >= 0 && l->aqs_state >= 0 && l->rrwl_first_reader >= 0;
}

#define LOCKS "java/util/concurrent/locks/"

/* The classes of java.util.concurrent; each once it is loaded. */
static int juc_find(const struct mem *m, struct layout_source *s, struct jvm_layout *l)
{
	enum { AOS, AQS, SYNC, CLASSES };
	static const char thread[] = "Ljava/lang/Thread;";
	struct klass_wanted wanted[CLASSES] = {
		[AOS] = {LOCKS "AbstractOwnableSynchronizer", l->aos_owner >= 0},
		[AQS] = {LOCKS "AbstractQueuedSynchronizer", l->aqs_state >= 0},
		[SYNC] = {LOCKS "ReentrantReadWriteLock$Sync", l->rrwl_first_reader >= 0},
	};
	const struct {
		const char *field, *signature;
		int32_t *ret;
		uint64_t *ret_klass;
		uint32_t *ret_check;
	} take[CLASSES] = {
		[AOS] = {"exclusiveOwnerThread", thread, &l->aos_owner, &l->aos_klass,
			 &l->aos_super_check_offset},
		[AQS] = {"state", "I", &l->aqs_state, NULL, NULL},
		[SYNC] = {"firstReader", thread, &l->rrwl_first_reader, &l->rrwl_sync_klass,
			  &l->rrwl_sync_super_check_offset},
	};
	int err = klass_walk(m, &s->shape, &s->walk, wanted, CLASSES), found = 0;
	int32_t offset;
	uint32_t check;

	if (err <= 0)
		return err;
	for (int i = 0; i < CLASSES; i++) {
		if (wanted[i].klass <= 1)
			continue;
		err = mem_u32(m, wanted[i].klass + l->klass_super_check_offset, &check);
		if (!err)
			err = klass_field(m, &s->shape, wanted[i].klass, take[i].field,
					  take[i].signature, &offset);
		if (err) {
			/* It is being loaded: look at the whole list again. */
			s->walk.seen = 0;
			continue;
		}
		*take[i].ret = offset;
		if (take[i].ret_klass) {
			*take[i].ret_klass = wanted[i].klass;
			*take[i].ret_check = check;
		}
		found = 1;
	}
	return found;
}

int layout_refresh(const struct mem *m, struct layout_source *s, bool compressed_oops,
		   bool compressed_klass, struct jvm_layout *l)
{
	int ready = 0, found;

	if (layout_complete(l))
		return 0;
	if (!l->ready) {
		ready = ready_check(m, s, compressed_oops, compressed_klass, l);
		if (ready <= 0)
			return ready;
	}
	found = juc_find(m, s, l);
	/* A list that changes under the reader is looked at again next time. */
	if (found < 0 && found != -ESRCH)
		found = 0;
	return found < 0 ? found : ready | found;
}
