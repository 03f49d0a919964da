/* bpf/lib/blocker.bpf.h: what a thread parks on, and who owns that. */
#pragma once

#include "bpf/lib/lock.bpf.h"
#include "bpf/lib/virtual.bpf.h"

/* tid: whose blocker, as of thread_subject(). */
static __always_inline __u64 blocker_read(struct thread_state *t, __u32 tid)
{
	__u64 oop = layout.thread_park_blocker < 0 ? 0
		    : tid & WIRE_VIRTUAL           ? vthread_object(t->java.thread)
						   : thread_object(t);

	return oop ? read_oop(oop + layout.thread_park_blocker) : 0;
}

/* The thread that a java.lang.Thread object stands for. */
static __always_inline __u32 thread_object_tid(__u64 oop)
{
	__u64 java_thread;

	if (!oop || layout.thread_eetop < 0)
		return 0;
	java_thread = read_u64(oop + layout.thread_eetop);
	if (java_thread)
		return java_thread_tid(java_thread);
	if (!virtual_klass || layout.thread_tid < 0 || oop_klass(oop) != virtual_klass)
		return 0;
	return virtual_tid(read_u64(oop + layout.thread_tid));
}

/* How many holds readers have of a ReentrantReadWriteLock. */
static __always_inline __u32 reader_holds(__u64 object)
{
	__u64 at = object + layout.rrwl_state;
	__u64 state = layout.rrwl_state_long ? read_u64(at) : read_u32(at);

	return state >> (layout.rrwl_shared_shift & 63);
}

/* Who holds it, as far as java.util.concurrent's own fields say. Never a guess: 0 when they do
 * not. */
static __always_inline __u32 blocker_owner(__u64 object, __u32 flags, __u32 *ret_source,
					   __u32 *ret_readers)
{
	__u64 thread;
	__u32 tid;

	*ret_source = WIRE_OWNER_UNKNOWN;
	*ret_readers = 0;
	if (!(flags & WIRE_CLASS_AOS) || layout.aos_owner < 0)
		return 0;
	thread = read_oop(object + layout.aos_owner);
	if (thread) {
		tid = thread_object_tid(thread);
		*ret_source = tid ? WIRE_OWNER_EXCLUSIVE : WIRE_OWNER_UNRESOLVED;
		return tid;
	}
	*ret_source = WIRE_OWNER_NONE;
	if (!(flags & WIRE_CLASS_RRWL) || layout.rrwl_first_reader < 0)
		return 0;
	/* Readers may hold it, and cannot be seen. */
	if (layout.rrwl_state < 0) {
		*ret_source = WIRE_OWNER_UNKNOWN;
		return 0;
	}
	*ret_readers = reader_holds(object);
	if (!*ret_readers)
		return 0;
	/* Not null: a thread that has held a read lock since the count was last zero. */
	tid = thread_object_tid(read_oop(object + layout.rrwl_first_reader));
	*ret_source = tid ? WIRE_OWNER_FIRST_READER : WIRE_OWNER_UNKNOWN;
	return tid;
}

/* The call chain of a blocker's owner. 0: it is not there, or others may have got the blocker
 * during the walk. */
static __always_inline __u32 blocker_owner_stack(__u64 object, __u32 flags, __u32 owner)
{
	__u64 switches;
	__u32 stack = stack_of_owner(owner, current_tid(), &switches), again;

	if (stack && (blocker_owner(object, flags, &again, &again) != owner ||
		      !owner_still(owner, switches)))
		stack = 0;
	return stack;
}

/* A blocker as it is found when a thread parks. */
struct blocker {
	__u64 object, klass;
	__u32 flags; /* WIRE_CLASS_* */
	__u32 hash;
	__u32 owner, owner_source, readers;
	__u32 pad;
};

/* What the park's end needs of its begin. */
static __always_inline void park_keep(struct thread_state *t, const struct blocker *b)
{
	t->park.object = b->object;
	t->park.klass = b->klass;
	t->park.owner = b->owner;
	t->park.owner_source = b->owner_source;
	t->park.hash = b->hash;
}

/* What is known of ret->object. */
static __always_inline void blocker_look(struct blocker *ret)
{
	ret->owner_source = WIRE_OWNER_UNKNOWN;
	if (!ret->object)
		return;
	ret->klass = oop_klass(ret->object);
	ret->flags = class_flags(ret->klass);
	ret->hash = mark_hash(read_u64(ret->object + layout.oop_mark));
	ret->owner = blocker_owner(ret->object, ret->flags, &ret->owner_source, &ret->readers);
}

/* The begin of a park of the running thread, or of what it carries. */
static __always_inline void park_begin_set(struct wire_lock *r, struct thread_state *t, __u32 tid,
					   const struct blocker *b, __u32 stack, __u32 owner_stack,
					   __u64 now)
{
	lock_fill(r, WIRE_PARK_BEGIN, 0, tid, t, now);
	r->object = b->object;
	r->klass = b->klass;
	r->hash = b->hash;
	r->readers = b->readers;
	r->stack = stack;
	lock_owner(r, b->owner, b->owner & WIRE_VIRTUAL ? 0 : b->owner, b->owner_source,
		   owner_stack, now);
}

/* The same as a record; NULL: it is lost, and counted. */
static __always_inline struct wire_lock *park_begin_fill(struct thread_state *t, __u32 tid,
							 const struct blocker *b, __u32 stack,
							 __u32 owner_stack, __u64 now)
{
	struct wire_lock *r = emit_reserve(WIRE_PARK_BEGIN, sizeof(*r));

	if (r)
		park_begin_set(r, t, tid, b, stack, owner_stack, now);
	return r;
}
