/* Walks that go on in the heap (bpf/walk/chunk.bpf.h), over a made-up stack, code cache and StackChunks. */
#include <linux/types.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/walk/hotspot.bpf.h"

#define MEMORY 0x10000ull
#define MEMORY_BYTES 0x8000
#define SEGMAP (MEMORY + 0x0000)
#define CODE (MEMORY + 0x1000) /* blocks of 0x100 bytes */
#define CODE_END (MEMORY + 0x2000)
#define STACK (MEMORY + 0x2000)
#define STACK_END (MEMORY + 0x3000)
#define THREAD (MEMORY + 0x3000)
#define HANDLE (MEMORY + 0x3100)
#define CARRIER (MEMORY + 0x3200)
#define CONT (MEMORY + 0x3300)
#define OLDER (MEMORY + 0x4000)
#define CHUNK (MEMORY + 0x5000)
#define METHOD (MEMORY + 0x6000)
#define CONST (MEMORY + 0x6100)
#define GC (MEMORY + 0x6200)
#define KLASS 0x77000

enum { OUTER, MIDDLE, INNER, ENTRY, BARRIER, STUB, BLOCKS };

#define BLOB(n) (CODE + 0x100 * (uint64_t)(n) + 16)
#define PC(n) (BLOB(n) + 0x80)
#define INTERPRETER 0x500000ull

static unsigned char memory[MEMORY_BYTES];
static uint64_t fails_at; /* this address cannot be read */
static uint64_t gc_after; /* reads; 0: there is no collection */
static struct hs_host_walk walked;
static struct wire_code code;
static struct hs_start start;

static int memory_read(void *ctx, __u64 addr, void *to, __u32 size)
{
	(void)ctx;
	if (gc_after && !--gc_after)
		memory[GC + 8 - MEMORY]++;
	if (addr < MEMORY || addr - MEMORY > MEMORY_BYTES - size || addr == fails_at)
		return -1;
	memcpy(to, memory + (addr - MEMORY), size);
	return 0;
}

static int no_rule(void *ctx, __u64 pc, int is_return, struct wire_native_rule *ret)
{
	(void)ctx;
	(void)pc;
	(void)is_return;
	(void)ret;
	return -1;
}

static void put(uint64_t addr, uint64_t value)
{
	memcpy(memory + (addr - MEMORY), &value, 8);
}

static void put32(uint64_t addr, uint32_t value)
{
	memcpy(memory + (addr - MEMORY), &value, 4);
}

/* words 0: code without a frame. */
static void blob_put(int n, uint64_t vtable, uint32_t words)
{
	uint64_t block = CODE + 0x100 * (uint64_t)n;

	memory[SEGMAP + (uint64_t)n - MEMORY] = 0;
	memory[block + 8 - MEMORY] = 1;
	put(BLOB(n), vtable);
	put32(BLOB(n) + 8, words);
	put32(BLOB(n) + 12, 100 + (uint32_t)n);
	put32(BLOB(n) + 16, UINT32_MAX);
}

/* sp and bottom in words. */
static void chunk_put(uint64_t chunk, uint64_t parent, uint32_t sp, uint32_t bottom)
{
	put(chunk + 8, KLASS);
	put(chunk + 16, parent);
	put32(chunk + 24, 64);
	put32(chunk + 28, sp);
	put32(chunk + 32, bottom);
}

#define WORD(chunk, n) ((chunk) + 40 + 8 * (uint64_t)(n))

static void fields_put(void)
{
	code = (struct wire_code){
		.heaps = {{CODE, CODE_END, SEGMAP, 8}},
		.interpreter_low = INTERPRETER,
		.interpreter_high = INTERPRETER + 0x1000,
		.nmethod_vtable = 0x1234,
		.barrier_low = BLOB(BARRIER),
		.barrier_high = BLOB(BARRIER) + 0x90,
		.heap_block_size = 16,
		.block_used = 8,
		.blob_frame_size = 8,
		.nmethod_compile_id = 12,
		.nmethod_entry_bci = 16,
		.nmethod_deopt = 24,
		.nmethod_deopt_mh = 24,
		.method_const = 8,
		.const_size = 16,
		.const_code_size = 8,
		.anchor_pc = 8,
		.anchor_fp = 16,
		.interpreter_sender_sp = -1,
		.interpreter_method = -3,
		.interpreter_bcp = -8,
		.ready = 1,
		.chunk = {.gc_active = GC,
			  .gc_count = GC + 8,
			  .chunk_klass = KLASS,
			  .oop_klass = 8,
			  .thread_obj = 64,
			  .thread_cont = 16,
			  .cont_tail = 16,
			  .chunk_parent = 16,
			  .chunk_size = 24,
			  .chunk_sp = 28,
			  .chunk_bottom = 32,
			  .chunk_stack = 40,
			  .ready = 1},
	};
}

/* INNER, on the stack, returns to the barrier; MIDDLE is in the chunk, OUTER in the one before. */
static int setup(void **state)
{
	(void)state;
	memset(memory, 0, sizeof(memory));
	memset(memory + (SEGMAP - MEMORY), 0xff, 16);
	fields_put();
	fails_at = gc_after = 0;
	for (int n = 0; n < BLOCKS; n++)
		blob_put(n, n < BARRIER ? 0x1234 : 0x4321, n == BARRIER ? 0 : 4);
	put(THREAD, STACK + 0x100);
	put(THREAD + 8, PC(INNER));
	put(THREAD + 64, HANDLE);
	put(HANDLE, CARRIER);
	put(CARRIER + 16, CONT);
	put(CONT + 16, CHUNK);
	put(STACK + 0x100 + 24, PC(BARRIER));
	chunk_put(CHUNK, OLDER, 20, 24);
	put(WORD(CHUNK, 19), PC(MIDDLE));
	put(WORD(CHUNK, 23), PC(BARRIER));
	chunk_put(OLDER, 0, 40, 44);
	put(WORD(OLDER, 39), PC(OUTER));
	put(WORD(OLDER, 43), PC(ENTRY));
	start = (struct hs_start){.pc = 1,
				  .sp = STACK + 0x80,
				  .java_thread = THREAD,
				  .stack_high = STACK_END,
				  .settled = HS_SETTLED};
	return 0;
}

static void walk(uint32_t result, uint32_t count)
{
	static const struct hs_host host = {&code, memory_read, no_rule, NULL};

	memset(&walked, 0, sizeof(walked));
	walked.host = &host;
	hs_walk_host(&walked, &start);
	assert_int_equal(walked.walk.stack.result, result);
	assert_int_equal(walked.walk.stack.count, count);
}

static void frames(const int *blocks, uint32_t count)
{
	walk(WIRE_WALK_COMPLETE, count);
	for (uint32_t i = 0; i < count; i++)
		assert_true(walked.walk.stack.frames[i].code == PC(blocks[i]));
}

static void compiled_frames_in_two_chunks(void **state)
{
	(void)state;
	frames((int[]){INNER, MIDDLE, OUTER, ENTRY}, 4);
	assert_true(walked.walk.memo.notes > HS_NOTES_MAX);
}

static void where_the_vm_says_the_entry(void **state)
{
	(void)state;
	put(WORD(OLDER, 43), 0);
	frames((int[]){INNER, MIDDLE, OUTER}, 3);
	code.chunk.entry_return = PC(ENTRY);
	frames((int[]){INNER, MIDDLE, OUTER, ENTRY}, 4);
}

static void empty_chunks_are_skipped(void **state)
{
	(void)state;
	chunk_put(CHUNK, OLDER, 64, 64);
	frames((int[]){INNER, OUTER, ENTRY}, 3);
	/* JDK 21: how much of the end is arguments. */
	code.chunk.chunk_bottom_is_argsize = 1;
	chunk_put(CHUNK, OLDER, 20, 40);
	chunk_put(OLDER, 0, 40, 20);
	frames((int[]){INNER, MIDDLE, OUTER, ENTRY}, 4);
}

/* Its words are relative: fp is at word 30, saved in word 18, 12 above; the sender's sp is word 33. */
static void interpreted_frames(void **state)
{
	(void)state;
	chunk_put(CHUNK, OLDER, 20, 37);
	put(WORD(CHUNK, 18), 12);
	put(WORD(CHUNK, 19), INTERPRETER + 8);
	put(WORD(CHUNK, 27), METHOD);
	put(WORD(CHUNK, 22), CONST + 16 + 5);
	put(WORD(CHUNK, 29), 3);
	put(WORD(CHUNK, 31), PC(MIDDLE));
	put(METHOD + 8, CONST);
	put32(CONST + 8, 10);
	walk(WIRE_WALK_COMPLETE, 5);
	assert_true(walked.walk.stack.frames[1].code == METHOD);
	assert_int_equal(walked.walk.stack.frames[1].id, 5);
	assert_int_equal(walked.walk.stack.frames[1].kind, WIRE_FRAME_INTERPRETED);
	assert_true(walked.walk.stack.frames[2].code == PC(MIDDLE));
}

/* The chain ends where the heap begins, as if nobody had looked. */
static void in_heap(void)
{
	walk(WIRE_WALK_IN_HEAP, 1);
	assert_true(walked.walk.stack.frames[0].code == PC(INNER));
	assert_true(walked.walk.hash1 == walked.walk.heap_hash1);
}

static void what_cannot_be_believed_is_not_used(void **state)
{
	(void)state;
	start.settled = HS_UNSETTLED;
	in_heap();
	start.settled = HS_SETTLED;
	code.chunk.ready = 0;
	in_heap();
	code.chunk.ready = 1;
	memory[GC - MEMORY] = 1; /* a collection is going on */
	in_heap();
	memory[GC - MEMORY] = 0;
	put(CONT + 16, 0);
	in_heap();
	put(CONT + 16, CHUNK);
	put(OLDER + 8, KLASS + 8);
	in_heap();
	put(OLDER + 8, KLASS);
	chunk_put(OLDER, 0, 40, 65); /* beyond its end */
	in_heap();
	chunk_put(OLDER, 0, UINT32_MAX, 44);
	in_heap();
	chunk_put(OLDER, CHUNK, 40, 44); /* for ever */
	in_heap();
	chunk_put(OLDER, 0, 40, 44);
	put(WORD(OLDER, 39), 5); /* no code */
	in_heap();
	put(WORD(OLDER, 39), PC(STUB));
	walk(WIRE_WALK_COMPLETE, 3);
	/* The thread has been unmounted just now, and its frames are on the stack still. */
	put(WORD(CHUNK, 19), PC(INNER));
	in_heap();
}

/* From the first look at its count to the last one. */
static void a_collection_meanwhile_is_seen(void **state)
{
	bool seen = false;

	for (uint64_t n = 1; n < 500; n++) {
		setup(state);
		gc_after = n;
		memset(&walked, 0, sizeof(walked));
		walked.host = &(struct hs_host){&code, memory_read, no_rule, NULL};
		hs_walk_host(&walked, &start);
		if (walked.walk.stack.result == WIRE_WALK_COMPLETE)
			assert_true(!seen || gc_after);
		else
			assert_int_equal(walked.walk.stack.result, WIRE_WALK_IN_HEAP);
		seen |= walked.walk.stack.result == WIRE_WALK_IN_HEAP;
	}
	assert_true(seen);
}

static void reads_may_fail(void **state)
{
	(void)state;
	for (fails_at = CARRIER; fails_at < GC + 16; fails_at += 4) {
		memset(&walked, 0, sizeof(walked));
		walked.host = &(struct hs_host){&code, memory_read, no_rule, NULL};
		hs_walk_host(&walked, &start);
		if (walked.walk.stack.result != WIRE_WALK_COMPLETE)
			assert_int_equal(walked.walk.stack.result, WIRE_WALK_IN_HEAP);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(compiled_frames_in_two_chunks, setup),
		cmocka_unit_test_setup(where_the_vm_says_the_entry, setup),
		cmocka_unit_test_setup(empty_chunks_are_skipped, setup),
		cmocka_unit_test_setup(interpreted_frames, setup),
		cmocka_unit_test_setup(what_cannot_be_believed_is_not_used, setup),
		cmocka_unit_test_setup(a_collection_meanwhile_is_seen, setup),
		cmocka_unit_test_setup(reads_may_fail, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
