#include "jvm/layout/layout.h"
#include "jvm/layout/chunks.h"

#include "jvm/layout/layout_rules.h"
#include "jvm/layout/vmstructs.h"
#include "jvm/target/mem.h"

#include <errno.h>
#include <string.h>

/*
 * What a stopped debugger would take from symbols, a running JVM says in vmStructs; spoor wants a
 * field only if it is there under one of the names that it had in JDK 11, or from 15 on: vmStructs
 * decides which, not the version. Up to JDK 15 there are oops, not handles, in JavaThread or
 * ObjectMonitor: such a JVM is refused by the type of JavaThread::_threadObj, unless the version's
 * rules say that it has both so. What vmStructs does not say is in these rules (layout_rules.h).
 */

struct field {
	size_t at; /* in struct jvm_layout: a uint32_t */
	struct {
		const char *type, *name, *both;
	} is[2]; /* the first that there is */
};

#define AT(member) offsetof(struct jvm_layout, member)
#define FIELD(type, name)                                                                          \
	{                                                                                          \
		type, name, type "::" name                                                         \
	}

static const struct field fields[] = {
	{AT(java_thread_osthread),
	 {FIELD("JavaThread", "_osthread"), FIELD("Thread", "_osthread")}},
	{AT(java_thread_thread_obj), {FIELD("JavaThread", "_threadObj")}},
	{AT(java_thread_stack_base),
	 {FIELD("JavaThread", "_stack_base"), FIELD("Thread", "_stack_base")}},
	{AT(java_thread_stack_size),
	 {FIELD("JavaThread", "_stack_size"), FIELD("Thread", "_stack_size")}},
	{AT(osthread_thread_id), {FIELD("OSThread", "_thread_id")}},
	{AT(monitor_header),
	 {FIELD("ObjectMonitor", "_header"), FIELD("ObjectMonitor", "_metadata")}},
	{AT(monitor_object), {FIELD("ObjectMonitor", "_object")}},
	{AT(monitor_owner), {FIELD("ObjectMonitor", "_owner")}},
	{AT(oop_mark), {FIELD("oopDesc", "_mark")}},
	{AT(oop_klass),
	 {FIELD("oopDesc", "_metadata._klass"), FIELD("oopDesc", "_compressed_klass")}},
	{AT(klass_name), {FIELD("Klass", "_name")}},
	{AT(klass_super_check_offset), {FIELD("Klass", "_super_check_offset")}},
	{AT(symbol_length), {FIELD("Symbol", "_length")}},
	{AT(symbol_body), {FIELD("Symbol", "_body")}},
};

#undef AT
#undef FIELD

static int statics_load(const struct vmstructs *v, struct layout_source *s,
			const char **ret_missing)
{
	const struct {
		const char *type, *name, *name_later;
		uint64_t *ret;
	} needed[] = {
		{"Universe", "_collectedHeap", "", &s->collected_heap},
		{"CompressedOops", "_narrow_oop._base", "_base", &s->narrow_oop_base},
		{"CompressedOops", "_narrow_oop._shift", "_shift", &s->narrow_oop_shift},
		{"CompressedKlassPointers", "_narrow_klass._base", "_base", &s->narrow_klass_base},
		{"CompressedKlassPointers", "_narrow_klass._shift", "_shift",
		 &s->narrow_klass_shift},
	};

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		if (!vmstructs_address(v, needed[i].type, needed[i].name, needed[i].ret) ||
		    !vmstructs_address(v, needed[i].type, needed[i].name_later, needed[i].ret) ||
		    !vmstructs_address(v, "Universe", needed[i].name, needed[i].ret)) /* JDK 11 */
			continue;
		*ret_missing = needed[i].type;
		return -ENOTSUP;
	}
	return 0;
}

/* An array of JavaThreads, or, where vmStructs does not have that (JDK 11), a chain of them. */
static int threads_load(const struct vmstructs *v, struct jvm_layout *l, const char **ret_missing)
{
	uint32_t next;

	if (!vmstructs_offset(v, "ThreadsList", "_length", &l->threads_list_length) &&
	    !vmstructs_offset(v, "ThreadsList", "_threads", &l->threads_list_threads) &&
	    !vmstructs_address(v, "ThreadsSMRSupport", "_java_thread_list", &l->java_thread_list))
		return 0;
	if (!vmstructs_offset(v, "JavaThread", "_next", &next) &&
	    !vmstructs_address(v, "Threads", "_thread_list", &l->java_thread_list)) {
		l->java_thread_next = (int32_t)next;
		return 0;
	}
	*ret_missing = "ThreadsList::_length";
	return -ENOTSUP;
}

/* What refers to the object of a JavaThread or a monitor. */
static int handles_load(const struct vmstructs *v, const struct layout_rules *rules,
			struct jvm_layout *l, const char **ret_missing)
{
	const char *type = vmstructs_field_type(v, "JavaThread", "_threadObj");

	l->raw_oops = rules->raw_oops && type && !strcmp(type, "oop");
	if (l->raw_oops || (type && !strcmp(type, "OopHandle")))
		return 0;
	*ret_missing = "JavaThread::_threadObj as an OopHandle (JDK 16 or later)";
	return -ENOTSUP;
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
		*ret_missing = fields[i].is[0].both;
		return -ENOTSUP;
	}
	return 0;
}

void layout_clear(struct jvm_layout *l)
{
	*l = (struct jvm_layout){0};
	l->thread_park_blocker = l->thread_eetop = l->thread_name = l->thread_tid = -1;
	l->thread_holder = l->holder_status = -1;
	l->thread_daemon = l->thread_status = l->string_value = l->string_coder = -1;
	l->java_thread_state = l->java_thread_next = -1;
	l->java_thread_pending_monitor = l->java_thread_waiting_monitor = l->osthread_state = -1;
	l->java_thread_owner_id = l->java_thread_cont_entry = l->monitor_stack_locker = -1;
	l->java_thread_vthread = l->array_length = l->array_bytes = -1;
	l->java_thread_lock_stack_top = l->java_thread_lock_stack_base = -1;
	l->aos_owner = l->rrwl_state = l->rrwl_first_reader = -1;
	l->compiler_env = l->env_task = l->task_method = -1;
}

/* vmStructs of 17 to 23 gives the word no type, as it is volatile. */
static enum owner_word owner_word(const struct vmstructs *v, const struct layout_rules *rules)
{
	const char *type = vmstructs_field_type(v, "ObjectMonitor", "_owner");

	if (!type)
		return rules->owner_word;
	if (!strcmp(type, "int64_t"))
		return OWNER_WORD_ID;
	return strchr(type, '*') ? OWNER_WORD_ADDRESS : OWNER_WORD_UNKNOWN;
}

#define MARK_HASH_MASK 0x7fffffff /* 31 bits in 64-bit JVMs, 11 to 25 */

static void mark_hash_load(const struct vmstructs *v, const struct layout_rules *rules,
			   struct jvm_layout *l)
{
	int64_t shift;

	if (vmstructs_constant(v, "markWord::hash_shift", &shift))
		shift = rules->mark_hash_shift;
	if (shift <= 0 || shift > 33)
		return;
	l->mark_hash_shift = (uint32_t)shift;
	l->mark_hash_mask = MARK_HASH_MASK;
}

uint32_t layout_mark_klass_shift(const struct vmstructs *v)
{
	int64_t shift;

	return vmstructs_constant(v, "markWord::klass_shift", &shift) || shift < 32 || shift > 63
		       ? 0
		       : (uint32_t)shift;
}

/*
 * The length of an array follows its class pointer, the bytes follow the length: at 12 and 16 with
 * a compressed class pointer, in all versions; at 8 and 12 if that is in the mark; at 16 and 20
 * without one, or at 16 and 24 where the bytes are aligned, which vmStructs does not say.
 */
void layout_arrays(struct jvm_layout *l)
{
	uint32_t length = l->mark_klass_shift ? l->oop_mark + 8
					      : l->oop_klass + (l->compressed_klass ? 4 : 8);
	uint32_t bytes = length + 4;

	l->array_length = l->array_bytes = -1;
	if (l->array_data == ARRAY_DATA_UNKNOWN && bytes & 7)
		return;
	l->array_length = (int32_t)length;
	l->array_bytes = (int32_t)(l->array_data == ARRAY_DATA_PACKED ? bytes : (bytes + 7) & ~7u);
}

/* Without it, nobody knows which of a thread's states is that. */
static void native_state_load(const struct vmstructs *v, struct jvm_layout *l)
{
	int64_t state;

	if (vmstructs_constant(v, "_thread_in_native", &state))
		l->java_thread_state = -1;
	else
		l->thread_in_native = (uint32_t)state;
}

/* What a version may have otherwise without the layout being another one. */
static void rules_apply(const struct vmstructs *v, const struct layout_rules *rules,
			struct jvm_layout *l)
{
	l->owner_word = owner_word(v, rules);
	l->owners_resolved = l->owner_word == OWNER_WORD_ADDRESS ||
			     (l->owner_word == OWNER_WORD_ID && l->java_thread_owner_id >= 0);
	mark_hash_load(v, rules, l);
	l->array_data = rules->array_data;
}

/* What a JVM may lack, and is recorded all the same. */
static void optional_load(const struct vmstructs *v, struct jvm_layout *l, struct layout_source *s)
{
	const struct {
		const char *type, *name;
		int32_t *ret;
	} needed[] = {
		{"JavaThread", "_thread_state", &l->java_thread_state},
		{"JavaThread", "_current_pending_monitor", &l->java_thread_pending_monitor},
		{"JavaThread", "_current_waiting_monitor", &l->java_thread_waiting_monitor},
		{"Thread", "_current_pending_monitor", &l->java_thread_pending_monitor}, /* 11 */
		{"Thread", "_current_waiting_monitor", &l->java_thread_waiting_monitor},
		{"OSThread", "_state", &l->osthread_state},
		{"JavaThread", "_monitor_owner_id", &l->java_thread_owner_id},
		{"JavaThread", "_cont_entry", &l->java_thread_cont_entry},
		{"JavaThread", "_vthread", &l->java_thread_vthread},
		{"CompilerThread", "_env", &l->compiler_env},
		{"ciEnv", "_task", &l->env_task},
		{"CompileTask", "_method", &l->task_method},
		{"ObjectMonitor", "_stack_locker", &l->monitor_stack_locker},
		{"CollectedHeap", "_is_gc_active", &s->heap_gc_active},
		{"CollectedHeap", "_is_stw_gc_active", &s->heap_gc_active}, /* JDK 21 on */
		{"CollectedHeap", "_total_collections", &s->heap_collections},
	};
	uint32_t offset, top, base;

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (!vmstructs_offset(v, needed[i].type, needed[i].name, &offset))
			*needed[i].ret = (int32_t)offset;
	if (!vmstructs_offset(v, "JavaThread", "_lock_stack", &offset) &&
	    !vmstructs_offset(v, "LockStack", "_top", &top) &&
	    !vmstructs_offset(v, "LockStack", "_base[0]", &base)) {
		l->java_thread_lock_stack_top = (int32_t)(offset + top);
		l->java_thread_lock_stack_base = (int32_t)(offset + base);
	}
}

int layout_load(const struct vmstructs *v, const struct layout_rules *rules, struct jvm_layout *ret,
		struct layout_source *ret_source, const char **ret_missing)
{
	struct layout_source s = {
		.holder_daemon = -1, .heap_gc_active = -1, .heap_collections = -1};
	struct jvm_layout l;
	int err;

	layout_clear(&l);
	err = offsets_load(v, &l, ret_missing);
	if (!err)
		err = threads_load(v, &l, ret_missing);
	if (!err)
		err = statics_load(v, &s, ret_missing);
	if (!err && klass_shape_load(v, &s.shape, ret_missing))
		err = -ENOTSUP;
	if (!err && vmstructs_offset(v, "Klass", "_super", &s.klass_super))
		s.klass_super = 0;
	if (!err && vmstructs_address(v, "ContinuationEntry", "_return_pc", &s.entry_return))
		s.entry_return = 0;
	if (!err && vmstructs_offset(v, "Klass", "_layout_helper", &s.klass_layout))
		s.klass_layout = 0;
	if (!err)
		err = handles_load(v, rules, &l, ret_missing);
	if (err)
		return err;
	optional_load(v, &l, &s);
	native_state_load(v, &l);
	rules_apply(v, rules, &l);
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

struct field_needed {
	const char *name, *signature;
	int32_t *ret;
	bool optional;
};

/* 0, or -EAGAIN when a field that has to be there is not. */
static int fields_find(const struct mem *m, const struct klass_shape *s, uint64_t klass,
		       const struct field_needed *f, size_t count)
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
	const struct field_needed of_thread[] = {
		{"name", "Ljava/lang/String;", &l->thread_name, false},
		{"tid", "J", &l->thread_tid, false},
		{"eetop", "J", &l->thread_eetop, false},
		{"parkBlocker", "Ljava/lang/Object;", &l->thread_park_blocker, true},
		{"daemon", "Z", &l->thread_daemon, true},
		{"threadStatus", "I", &l->thread_status, true},
		{"holder", "Ljava/lang/Thread$FieldHolder;", &l->thread_holder, true},
	};
	const struct field_needed of_string[] = {
		{"value", "[B", &l->string_value, false},
		{"coder", "B", &l->string_coder, false},
	};
	const struct field_needed of_holder[] = {{"daemon", "Z", &s->holder_daemon, true},
						 {"threadStatus", "I", &l->holder_status, true}};

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
	if (s->heap_gc_active >= 0 && s->heap_collections >= 0) {
		l->heap_gc_active = heap + (uint64_t)s->heap_gc_active;
		l->heap_collections = heap + (uint64_t)s->heap_collections;
	}
	layout_arrays(l);
	l->ready = true;
	return 1;
}

bool layout_complete(const struct jvm_layout *l)
{
	return l->ready && l->aos_owner >= 0 && l->rrwl_first_reader >= 0 &&
	       (l->chunk.ready || !chunks_possible(l));
}

#define LOCKS "java/util/concurrent/locks/"

/*
 * Where ReentrantReadWriteLock counts its holds: in its superclass's state, of which readers have
 * the upper half. That is an int, from JDK 25 on a long (another superclass): the class that is
 * loaded says which. It stays unknown (-1) if it is neither.
 */
static int rrwl_state_find(const struct mem *m, const struct layout_source *s, uint64_t sync,
			   struct jvm_layout *l)
{
	static const struct {
		const char *class, *signature;
		uint32_t shift;
		bool is_long;
	} kinds[] = {
		{LOCKS "AbstractQueuedSynchronizer", "I", 16, false},
		{LOCKS "AbstractQueuedLongSynchronizer", "J", 32, true},
	};
	uint64_t super;
	int err = s->klass_super ? mem_u64(m, sync + s->klass_super, &super) : 0;

	if (err || !s->klass_super)
		return err;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!klass_is_named(m, &s->shape, super, kinds[i].class))
			continue;
		l->rrwl_shared_shift = kinds[i].shift;
		l->rrwl_state_long = kinds[i].is_long;
		return klass_field(m, &s->shape, super, "state", kinds[i].signature,
				   &l->rrwl_state);
	}
	return 0;
}

/* What is read of a class of java.util.concurrent. */
struct juc_class {
	const char *name, *field;
	int32_t *ret;
	uint64_t *ret_klass;
	uint32_t *ret_check;
	bool rrwl; /* and its superclass's state */
};

static int juc_take(const struct mem *m, const struct layout_source *s, uint64_t klass,
		    const struct juc_class *c, struct jvm_layout *l)
{
	int32_t offset;
	uint32_t check;
	int err = mem_u32(m, klass + l->klass_super_check_offset, &check);

	if (!err)
		err = klass_field(m, &s->shape, klass, c->field, "Ljava/lang/Thread;", &offset);
	if (!err && c->rrwl)
		err = rrwl_state_find(m, s, klass, l);
	if (err)
		return err;
	*c->ret = offset;
	*c->ret_klass = klass;
	*c->ret_check = check;
	return 0;
}

/* The classes of java.util.concurrent; each once it is loaded. */
static int juc_find(const struct mem *m, struct layout_source *s, struct jvm_layout *l)
{
	enum { AOS, SYNC, CLASSES };
	const struct juc_class classes[CLASSES] = {
		[AOS] = {LOCKS "AbstractOwnableSynchronizer", "exclusiveOwnerThread", &l->aos_owner,
			 &l->aos_klass, &l->aos_super_check_offset, false},
		[SYNC] = {LOCKS "ReentrantReadWriteLock$Sync", "firstReader", &l->rrwl_first_reader,
			  &l->rrwl_sync_klass, &l->rrwl_sync_super_check_offset, true},
	};
	struct klass_query needed[CLASSES];
	int err, found = 0;

	for (int i = 0; i < CLASSES; i++)
		needed[i] = (struct klass_query){classes[i].name, *classes[i].ret >= 0};
	err = klass_walk(m, &s->shape, &s->walk, needed, CLASSES);
	if (err <= 0)
		return err;
	for (int i = 0; i < CLASSES; i++) {
		if (needed[i].klass <= 1)
			continue;
		/* It is being loaded: look at the whole list again. */
		if (juc_take(m, s, needed[i].klass, &classes[i], l))
			s->walk.seen = 0;
		else
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
	if (found >= 0 && !l->chunk.ready && chunks_possible(l))
		found |= chunks_find(m, s, l);
	/* A list that changes under the reader is looked at again next time. */
	if (found < 0 && found != -ESRCH)
		found = 0;
	return found < 0 ? found : ready | found;
}
