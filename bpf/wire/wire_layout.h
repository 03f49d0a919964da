/* bpf/wire/wire_layout.h: what user/record gives BPF of the target: layout, Java threads. */
#pragma once

/* Fixed-width types come from vmlinux.h in BPF and from linux/types.h in user space. */

/* So much of an OSThread, and of a java.lang.Thread, is read when a thread blocks. */
#define WIRE_WAIT_BYTES 256

/* A Java thread by the address of its JavaThread, and by its id. */
struct wire_java_thread {
	__u32 tid;
	__u32 pad;
	__u64 stack_low;
	__u64 stack_high;
	/* java.lang.Thread's, if monitors keep that of their owner: then it is a key, too. 0: it is
	 * not known, or a virtual thread's. */
	__u64 id;
};

/* What ObjectMonitor::_owner holds, as in enum owner_word (user/jvm/layout/jvm_layout.h). */
enum wire_owner_word {
	WIRE_OWNER_WORD_UNKNOWN,
	WIRE_OWNER_WORD_ADDRESS,
	WIRE_OWNER_WORD_ID,
};

/* ObjectMonitor::ANONYMOUS_OWNER and DEFLATER_MARKER, 21 to 25: owners that are none of these
 * threads. */
#define WIRE_OWNER_ANONYMOUS 1
#define WIRE_OWNER_DEFLATER 2

/*
 * What BPF needs of struct jvm_layout (user/jvm/layout/jvm_layout.h): type, name, the name there.
 * This list makes the struct and the code that fills it in, so that no field can be forgotten.
 * Offset -1: not known yet.
 */
#define WIRE_LAYOUT_FIELDS(F)                                                                      \
	F(__u64, java_thread_list, java_thread_list)                                               \
	F(__u64, narrow_klass_base, narrow_klass_base)                                             \
	F(__u64, narrow_oop_base, narrow_oop_base)                                                 \
	F(__u64, aos_klass, aos_klass)                                                             \
	F(__u64, rrwl_klass, rrwl_sync_klass)                                                      \
	F(__u64, gc_active, heap_gc_active)                                                        \
	F(__u64, gc_count, heap_collections)                                                       \
	F(__s32, jt_next, java_thread_next)                                                        \
	F(__s32, list_length, threads_list_length)                                                 \
	F(__s32, list_threads, threads_list_threads)                                               \
	F(__s32, jt_osthread, java_thread_osthread)                                                \
	F(__s32, jt_thread_obj, java_thread_thread_obj)                                            \
	F(__s32, jt_stack_base, java_thread_stack_base)                                            \
	F(__s32, jt_stack_size, java_thread_stack_size)                                            \
	F(__s32, jt_state, java_thread_state)                                                      \
	F(__u32, thread_in_native, thread_in_native)                                               \
	F(__s32, jt_pending_monitor, java_thread_pending_monitor)                                  \
	F(__s32, jt_waiting_monitor, java_thread_waiting_monitor)                                  \
	F(__s32, os_thread_id, osthread_thread_id)                                                 \
	F(__s32, os_state, osthread_state)                                                         \
	F(__s32, mon_header, monitor_header)                                                       \
	F(__s32, mon_object, monitor_object)                                                       \
	F(__u32, raw_oops, raw_oops)                                                               \
	F(__s32, mon_owner, monitor_owner)                                                         \
	F(__u32, mon_owner_word, owner_word)                                                       \
	F(__s32, mon_stack_locker, monitor_stack_locker)                                           \
	F(__s32, jt_owner_id, java_thread_owner_id)                                                \
	F(__s32, jt_cont_entry, java_thread_cont_entry)                                            \
	F(__s32, jt_vthread, java_thread_vthread)                                                  \
	F(__s32, compiler_env, compiler_env)                                                       \
	F(__s32, env_task, env_task)                                                               \
	F(__s32, task_method, task_method)                                                         \
	F(__s32, jt_lock_stack_top, java_thread_lock_stack_top)                                    \
	F(__s32, jt_lock_stack_base, java_thread_lock_stack_base)                                  \
	F(__s32, oop_mark, oop_mark)                                                               \
	F(__u32, mark_hash_shift, mark_hash_shift)                                                 \
	F(__u32, mark_hash_mask, mark_hash_mask)                                                   \
	F(__s32, oop_klass, oop_klass)                                                             \
	F(__s32, klass_name, klass_name)                                                           \
	F(__s32, symbol_length, symbol_length)                                                     \
	F(__s32, symbol_body, symbol_body)                                                         \
	F(__s32, thread_park_blocker, thread_park_blocker)                                         \
	F(__s32, thread_eetop, thread_eetop)                                                       \
	F(__s32, thread_tid, thread_tid)                                                           \
	F(__s32, thread_name, thread_name)                                                         \
	F(__s32, string_value, string_value)                                                       \
	F(__s32, string_coder, string_coder)                                                       \
	F(__s32, array_length, array_length)                                                       \
	F(__s32, array_bytes, array_bytes)                                                         \
	F(__s32, thread_status, thread_status)                                                     \
	F(__s32, thread_holder, thread_holder)                                                     \
	F(__s32, holder_status, holder_status)                                                     \
	F(__s32, aos_owner, aos_owner)                                                             \
	F(__s32, rrwl_state, rrwl_state)                                                           \
	F(__u32, rrwl_shared_shift, rrwl_shared_shift)                                             \
	F(__u32, rrwl_state_long, rrwl_state_long)                                                 \
	F(__s32, rrwl_first_reader, rrwl_first_reader)                                             \
	F(__s32, aos_super_check, aos_super_check_offset)                                          \
	F(__s32, rrwl_super_check, rrwl_sync_super_check_offset)                                   \
	F(__u32, narrow_klass_shift, narrow_klass_shift)                                           \
	F(__u32, narrow_oop_shift, narrow_oop_shift)                                               \
	F(__u32, compressed_klass, compressed_klass)                                               \
	F(__u32, mark_klass_shift, mark_klass_shift)                                               \
	F(__u32, compressed_oops, compressed_oops)                                                 \
	F(__u32, colored_oops, colored_oops)                                                       \
	F(__u32, forwards, forwards)                                                               \
	F(__u32, stops_to_move, stops_to_move)                                                     \
	F(__u32, monitor_table, monitor_table)

#define WIRE_FIELD(type, name, ...) type name;

struct wire_layout {
	WIRE_LAYOUT_FIELDS(WIRE_FIELD)
	__u32 ready; /* heap bases and java.lang.Thread are known */
};
