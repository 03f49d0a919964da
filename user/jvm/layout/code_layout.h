/* jvm/layout/code_layout.h: where HotSpot keeps compiled and interpreted code, and how their
 * frames look */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct code_rules;
struct mem;
struct vmstructs;

#define CODE_HEAPS_MAX 3

/* A part of the code cache: reserved at start, never moved; what is not committed is not readable.
 */
struct code_heap {
	uint64_t low, high; /* of the reserved memory */
	uint64_t segmap;    /* one byte per segment */
	uint32_t segment_shift;
};

/* Offsets in bytes from vmStructs unless said otherwise; what they are follows code_rules.h. */
struct code_layout {
	const struct code_rules *rules; /* of the target's version */
	/* addresses; 0 until the VM has made them: see code_layout_refresh */
	struct code_heap heaps[CODE_HEAPS_MAX];
	uint32_t heap_count;
	uint64_t interpreter_low, interpreter_high; /* the interpreter's own code */
	/* The code of which the return barrier is a part, to which frames of virtual threads return
	 * if their callers are in the heap; 0: there is none. */
	uint64_t barrier_low, barrier_high;
	uint64_t call_stub_return; /* where Java code returns to from the call stub */
	/* First word of each nmethod, "native nmethod" included; if there is a blob_kind, the value
	 * of that, and known from the start. */
	uint64_t nmethod_vtable;
	/* ... of each Method, either of the two: libjvm's, and its copy in the archive of shared
	 * classes (CDS); in any order, and 0: there is no second. */
	uint64_t method_vtable, method_vtable_too;

	uint32_t heap_block_size; /* sizeof(HeapBlock): a CodeBlob begins after it */
	uint32_t block_used;      /* in HeapBlock: u1, 0: free */
	uint32_t blob_name, blob_size, blob_frame_complete, blob_frame_size;
	uint32_t blob_code_begin, blob_code_end;
	uint32_t blob_kind;    /* u1, from JDK 25 on; 0: blobs begin with their vtable */
	uint32_t nmethod_kind; /* ... of an nmethod */
	uint32_t blob_mutable, blob_mutable_size, blob_relocation; /* JDK 25: see scopes_apart */

	uint32_t nmethod_method, nmethod_compile_id, nmethod_comp_level, nmethod_entry_bci;
	uint32_t nmethod_state; /* s1; more than 2: unloaded or zombie */
	uint32_t nmethod_orig_pc_offset, nmethod_deopt, nmethod_deopt_mh, nmethod_verified_entry;
	uint32_t nmethod_scopes_data; /* address, up to nmethod + *nmethod_scopes_pcs */
	uint32_t nmethod_scopes_pcs,
		nmethod_dependencies; /* PcDescs: from, to (offsets from nmethod) */
	uint32_t nmethod_metadata; /* offset of an array of addresses, up to *nmethod_scopes_data */
	/* JDK 25: an address and an int. Scopes' data and PcDescs are there. */
	uint32_t nmethod_immutable, nmethod_immutable_size;
	uint32_t pc_desc_size, pc_desc_pc, pc_desc_scope;

	/* u2 flags, and the bit in it; method_flags 0: the bit is one of const_flags. */
	uint32_t method_const, method_flags, method_hidden;
	uint32_t method_access; /* 0x100 is native */
	uint32_t const_size;  /* sizeof(ConstMethod): the bytecodes begin after it */
	uint32_t const_words; /* int: its size in words, with all that follows it */
	uint32_t const_pool, const_flags, const_code_size, const_name, const_signature;
	uint32_t const_has_lines; /* bit of const_flags: a compressed line table follows the
				     bytecodes */
	uint32_t pool_size, pool_length, pool_holder, pool_source;
	uint32_t klass_source; /* of InstanceKlass; 0: it is pool_source */
	uint32_t klass_name, symbol_length, symbol_body;

	uint32_t java_thread_anchor; /* offset of JavaThread::_anchor */
	uint32_t anchor_sp, anchor_pc, anchor_fp;
	uint32_t call_wrapper_anchor; /* JavaCallWrapper::_anchor */
	/* in words from the frame pointer */
	int32_t entry_call_wrapper;
	int32_t interpreter_sender_sp, interpreter_method, interpreter_bcp;

	/* What is otherwise from version to version, and not to be seen in vmStructs' offsets. */
	uint32_t number_excluded; /* byte values of compressed numbers: see unsigned5.h */
	/* Bits of a word that is read above those of the value: 0: the fields blob_code_begin,
	 * blob_code_end, nmethod_deopt and nmethod_deopt_mh are addresses; 32: they are ints, from
	 * the blob. Likewise nmethod_verified_entry, 48: u2, from the code; and
	 * blob_frame_complete: 0: an int, 16: s2. */
	uint32_t address_spare, entry_spare, frame_complete_spare;
	uint32_t comp_level_bytes, access_bytes, const_flags_bytes, block_length_bytes;
	bool scopes_apart; /* debug information is outside of the blob */
};

/*
 * rules: of the target's version, lent as long as *ret is used. -ENOTSUP: code of this JVM is not
 * laid out as they say: *ret_missing is the static name of what differs. Addresses are 0
 * afterwards.
 */
int code_layout_load(const struct vmstructs *v, const struct code_rules *rules,
		     struct code_layout *ret, const char **ret_missing);

/*
 * Fills in the addresses. 1: all are there now; 0: the VM has not made them yet; negative errno. A
 * JVM that compiles nothing (-Xint) never makes an nmethod: see code_layout_usable.
 */
int code_layout_refresh(const struct mem *m, const struct vmstructs *v, struct code_layout *l);

/* Whether interpreted frames can be walked and named: all is there but perhaps nmethod_vtable. */
bool code_layout_usable(const struct code_layout *l);
