/* bpf/wire/wire_lock.h: ring records of locks, of their classes, and of who owns them. */
#pragma once

/* Fixed-width types come from vmlinux.h in BPF and from linux/types.h in user space. */

#include "bpf/wire/wire.h"

#define WIRE_CLASS_NAME_MAX 256 /* bytes; a power of two; longer names are cut and marked */

enum wire_owner_source { /* the order of owner_source in events.json */
			 WIRE_OWNER_UNKNOWN,
			 WIRE_OWNER_NONE,
			 WIRE_OWNER_JAVA_THREAD,
			 WIRE_OWNER_STACK_LOCK,
			 WIRE_OWNER_EXCLUSIVE,
			 WIRE_OWNER_FIRST_READER,
			 WIRE_OWNER_UNRESOLVED, /* the owner word is set, but no thread of ours fits
						 */
};

struct wire_lock {
	struct wire_head head;
	struct wire_counters self;
	__u64 object; /* ObjectMonitor, or the blocker's address when it parked; 0: none */
	__u64 handle; /* monitors: the WeakHandle's slot. park end: the blocker's address now */
	__u64 klass;  /* 0: could not be read */
	__u64 time;   /* wait: ms. park: ns or deadline */
	__u32 hash;   /* identity hash; 0: none */
	__u32 readers;
	__u32 stack; /* id of a struct wire_stack; 0: not known */
	__u32 pad;
	/* records without an owner end here */
	struct wire_counters owner;
	__u64 owner_doing_ns; /* for how long it has been blocked; 0: it is not */
	__u32 owner_tid, owner_source;
	__u32 owner_stack, owner_doing; /* enum wire_reason */
};

#define WIRE_LOCK_SHORT __builtin_offsetof(struct wire_lock, owner)

struct wire_unpark {
	struct wire_head head;
	struct wire_counters self;
	__u32 target_tid;
	__u32 stack;
};

struct wire_class {
	struct wire_head head;
	__u64 klass;
	__u32 name_length; /* bytes in name; '/' separated, modified UTF-8 */
	__u32 pad;
	char name[WIRE_CLASS_NAME_MAX];
};
