/* jvm/layout/jvm_layout.h: where the parts of a HotSpot VM are, as BPF and jvm/ read them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "jvm/layout/chunk_layout.h"

/* What ObjectMonitor::_owner holds while a thread owns the monitor. */
enum owner_word {
	OWNER_WORD_UNKNOWN,
	OWNER_WORD_ADDRESS, /* a JavaThread's, or a BasicLock's on the owner's stack */
	OWNER_WORD_ID,      /* java.lang.Thread's id */
};

/* Where the elements of an array begin: after its length, */
enum array_data {
	ARRAY_DATA_UNKNOWN,
	ARRAY_DATA_ALIGNED, /* at the next multiple of 8 bytes */
	ARRAY_DATA_PACKED,  /* at once */
};

/*
 * Offsets and addresses in the target, from the exported vmStructs; bytes unless said otherwise.
 * A JVM that is still starting has parts of it only: see jvm_layout_refresh.
 */
struct jvm_layout {
	/* threads */
	/* Address of ThreadsSMRSupport::_java_thread_list; or, if there is java_thread_next (else
	 * -1), of Threads::_thread_list, the first of JavaThreads that are chained. */
	uint64_t java_thread_list;
	int32_t java_thread_next;
	uint32_t threads_list_length; /* ThreadsList::_length, ::_threads */
	uint32_t threads_list_threads;
	uint32_t java_thread_osthread;
	int32_t java_thread_state;       /* -1: unknown */
	uint32_t thread_in_native; /* JavaThreadState::_thread_in_native: another one in JDK 28 */
	uint32_t java_thread_thread_obj; /* OopHandle: the address of an oop; see raw_oops */
	uint32_t java_thread_stack_base;
	uint32_t java_thread_stack_size;
	uint32_t osthread_thread_id;
	/* What a thread blocks on, as the VM itself knows it; -1: unknown. The first two hold
	 * addresses of ObjectMonitors, the third has a value of HotSpot's enum ThreadState. */
	int32_t java_thread_pending_monitor;
	int32_t java_thread_waiting_monitor;
	int32_t osthread_state;
	/* Of JDK 21 or 25 on; -1: unknown. _monitor_owner_id: the id of the java.lang.Thread that
	 * runs on it, a virtual one or its own; _cont_entry: not NULL while a virtual thread does.
	 * Objects that it has locked without a monitor: _lock_stack._base, up to _lock_stack._top,
	 * which is an offset from the JavaThread (share/runtime/lockStack.hpp). */
	int32_t java_thread_owner_id;
	int32_t java_thread_cont_entry;
	int32_t compiler_env, env_task, task_method; /* of CompilerThread, ciEnv, CompileTask; -1 */
	int32_t java_thread_vthread; /* OopHandle, likewise of what runs on it: JDK 21 on; -1 */
	int32_t java_thread_lock_stack_top, java_thread_lock_stack_base;
	/* monitors */
	uint32_t monitor_header;
	uint32_t monitor_object; /* WeakHandle: the address of an oop; see raw_oops */
	bool raw_oops;           /* ... and java_thread_thread_obj are oops themselves */
	uint32_t monitor_owner;
	int32_t monitor_stack_locker; /* JDK 25, LockingMode=1: an anonymous owner's BasicLock */
	/* objects and classes */
	uint32_t oop_mark;
	uint32_t oop_klass;
	uint32_t klass_name;
	uint32_t klass_super_check_offset;
	uint32_t symbol_length; /* u2 */
	uint32_t symbol_body;
	/* Addresses of CollectedHeap::_is_gc_active (1 byte) and ::_total_collections (4 bytes):
	 * while neither changes, no collection moves objects. 0: unknown, for good or yet */
	uint64_t heap_gc_active;
	uint64_t heap_collections;
	bool compressed_klass; /* UseCompressedClassPointers: the field at oop_klass has 4 bytes */
	/* UseCompactObjectHeaders (JEP 450): the compressed class pointer is what is above these
	 * bits of the mark; 0: it is a field of its own. */
	uint32_t mark_klass_shift;
	bool compressed_oops; /* UseCompressedOops: oop fields in objects have 4 bytes */
	bool colored_oops;    /* generational ZGC: a word that refers to an object is no address */
	bool forwards; /* Shenandoah: the mark of an object that was copied is the copy's address */
	uint64_t narrow_klass_base;
	uint64_t narrow_oop_base;
	uint32_t narrow_klass_shift;
	uint32_t narrow_oop_shift;
	bool ready; /* the heap is set up, java.lang.Thread is loaded: all above is valid */
	/* offsets of Java fields; -1: the class is not loaded yet */
	int32_t thread_park_blocker; /* java.lang.Thread.parkBlocker, .eetop, .name, .tid, .daemon
				      */
	int32_t thread_eetop;
	int32_t thread_name;
	int32_t thread_tid;
	int32_t thread_daemon;
	int32_t thread_status; /* JVMTI's thread state, as java.lang.Thread keeps it; from JDK 19 on
				  it is in Thread.holder: */
	int32_t thread_holder, holder_status;
	int32_t string_value; /* java.lang.String.value, .coder */
	int32_t string_coder;
	int32_t array_length, array_bytes; /* of a byte[], as array_data says; -1: not known */
	int32_t aos_owner;                 /* AbstractOwnableSynchronizer.exclusiveOwnerThread */
	int32_t rrwl_state; /* of ReentrantReadWriteLock$Sync: AbstractQueuedSynchronizer.state, or
			       AbstractQueuedLongSynchronizer's; -1, too: spoor does not know its
			       superclass */
	uint32_t rrwl_shared_shift; /* bits: holds of readers are above these, */
	bool rrwl_state_long;       /* in a long, or else in an int */
	int32_t rrwl_first_reader;  /* ReentrantReadWriteLock$Sync.firstReader */
	/* Klass addresses and their _super_check_offset, for "is a subclass of"; 0: not loaded yet
	 */
	uint64_t aos_klass;
	uint64_t rrwl_sync_klass;
	uint32_t aos_super_check_offset;
	uint32_t rrwl_sync_super_check_offset;
	bool stops_to_move; /* the collector moves objects only while Java threads stand still */
	struct chunk_layout chunk; /* not looked for unless stops_to_move */
	enum owner_word owner_word;
	bool owners_resolved; /* ... is known, and so is which thread has which id */
	/* UseObjectMonitorTable (share/runtime/objectMonitorTable.hpp): a monitor's header is the
	 * hash of its object, and no mark; the object does not refer to its monitor. */
	bool monitor_table;
	uint32_t mark_hash_shift, mark_hash_mask; /* mask 0: nobody knows where the hash is */
	enum array_data array_data;
};
