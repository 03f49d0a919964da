/* bpf/wire/wire_gc.h: ring records of collections, pools, VM operations and safepoints. */
#pragma once

/* Fixed-width types come from vmlinux.h in BPF and from linux/types.h in user space. */

#include "bpf/wire/wire.h"

struct wire_vmop {
	struct wire_head head;
	__u32 mode;
	__u32 name_length;
	char name[WIRE_NAME_MAX];
};

struct wire_pool {
	struct wire_head head;
	__u64 used, committed, max;
	__u32 manager_length, pool_length;
	char manager[WIRE_NAME_MAX];
	char pool[WIRE_NAME_MAX];
};

struct wire_collection {
	struct wire_head head;
	__u64 gc;
	__u32 collector_length, cause_length;
	char collector[WIRE_NAME_MAX];
	char cause[WIRE_NAME_MAX];
};

#define WIRE_COLLECTION_SHORT __builtin_offsetof(struct wire_collection, collector)

struct wire_phase {
	struct wire_head head;
	__u64 gc;
	__u32 level;
	__u32 kind; /* SPOOR_PHASE_* */
	__u32 name_length;
	__u32 pad;
	char name[WIRE_NAME_MAX];
};

struct wire_safepoint {
	struct wire_head head; /* the time is that of its end */
	__u64 reach_ns, cleanup_ns, operation_ns;
	__u32 requester; /* kernel thread id; 0: the VM itself */
	__u32 threads, running;
	__u32 name_length;
	char name[WIRE_NAME_MAX];
};

/* As in wire_kinds.h. */
#define WIRE_GC_KINDS(KIND)                                                                        \
	KIND(GC_BEGIN, sizeof(struct wire_head), EVENT_GC_BEGIN)                                   \
	KIND(GC_END, sizeof(struct wire_head), EVENT_GC_END)                                       \
	KIND(GC_POOL, sizeof(struct wire_pool), EVENT_GC_POOL)                                     \
	KIND(SAFEPOINT_BEGIN, sizeof(struct wire_head), EVENT_SAFEPOINT_BEGIN)                     \
	KIND(SAFEPOINT_END, sizeof(struct wire_head), EVENT_SAFEPOINT_END)                         \
	KIND(VMOP_REQUEST, sizeof(struct wire_vmop), EVENT_VM_OPERATION_REQUEST)                   \
	KIND(VMOP_BEGIN, sizeof(struct wire_vmop), EVENT_VM_OPERATION_BEGIN)                       \
	KIND(VMOP_END, sizeof(struct wire_vmop), EVENT_VM_OPERATION_END)                           \
	KIND(COLLECTION_BEGIN, sizeof(struct wire_collection), EVENT_COLLECTION_BEGIN)             \
	KIND(COLLECTION_END, WIRE_COLLECTION_SHORT, EVENT_COLLECTION_END)                          \
	KIND(PHASE_BEGIN, sizeof(struct wire_phase), EVENT_GC_PHASE_BEGIN)                         \
	KIND(PHASE_END, sizeof(struct wire_phase), EVENT_GC_PHASE_END)                             \
	KIND(SAFEPOINT, sizeof(struct wire_safepoint), EVENT_SAFEPOINT)
