/* bpf/wire/wire_thread.h: ring records of threads that come. */
#pragma once

/* Fixed-width types come from vmlinux.h in BPF and from linux/types.h in user space. */

#include "bpf/wire/wire.h"

struct wire_thread {
	struct wire_head head;
	__u64 start_ns; /* task_struct::start_boottime */
	__u32 ns_tid;
	__u32 pad;
	char comm[16];
};

/* Of a virtual thread, too: THREAD_VIRTUAL; its name is as in a String, cut to the room. */
struct wire_thread_java {
	struct wire_head head;
	__u64 java_id;
	__u64 java_thread;
	__u32 ns_tid;
	__u32 name_length;
	char name[WIRE_NAME_MAX];
};

/* As in wire_kinds.h. */
#define WIRE_THREAD_KINDS(KIND)                                                                    \
	KIND(THREAD, sizeof(struct wire_thread), EVENT_THREAD)                                     \
	KIND(THREAD_JAVA, sizeof(struct wire_thread_java), EVENT_THREAD_START)                     \
	KIND(THREAD_VIRTUAL, sizeof(struct wire_thread_java), EVENT_THREAD)                        \
	KIND(THREAD_STOP, sizeof(struct wire_head), 0)
