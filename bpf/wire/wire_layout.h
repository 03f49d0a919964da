/* bpf/wire/wire_layout.h: what user/record tells BPF of the target: layout, Java threads. */
#pragma once

/* Fixed-width types come from vmlinux.h in BPF and from linux/types.h in user space. */

/* A Java thread by the address of its JavaThread. */
struct wire_java_thread {
	__u32 tid;
	__u32 pad;
	__u64 stack_low;
	__u64 stack_high;
};

/* struct jvm_layout (user/jvm/jvm.h), as BPF needs it; offset -1: not known yet. */
struct wire_layout {
	__u64 java_thread_list;
	__u64 narrow_klass_base;
	__u64 narrow_oop_base;
	__u64 aos_klass;
	__u64 rrwl_klass;
	__s32 list_length, list_threads;
	__s32 jt_osthread, jt_thread_obj, jt_stack_base, jt_stack_size;
	__s32 jt_state; /* -1: not known */
	__s32 os_thread_id;
	__s32 mon_header, mon_object, mon_owner;
	__s32 oop_mark, oop_klass;
	__s32 klass_name, symbol_length, symbol_body;
	__s32 thread_park_blocker, thread_eetop;
	__s32 aos_owner, aqs_state, rrwl_first_reader;
	__s32 aos_super_check, rrwl_super_check;
	__u32 narrow_klass_shift, narrow_oop_shift;
	__u32 compressed_klass, compressed_oops;
	__u32 ready; /* heap bases and java.lang.Thread are known */
};
