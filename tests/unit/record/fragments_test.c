/* record/decode/fragments.c: recorded stacks (tests/unit/images) as fragments, whole, cut and damaged, beside the walk
 * that BPF would have done. No JVM is needed. */
#include <linux/types.h>

#include "bpf/wire/wire_kinds.h"
#include "tests/walk/image_files.h"
#include "tests/walk/image_fragment.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "log/format/event.h"
#include "log/read/reader.h"
#include "log/write/writer.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/temp_folder.h"

/* Of this machine's architecture: user/record/decode/fragments.c has no other frames. */
#ifdef HS_FRAMES_ARM64
#define IMAGES IMAGES_OF "/images_arm64"
#else
#define IMAGES IMAGES_OF "/images"
#endif
#define CHAIN 5 /* the id that BPF has given */
#define ROOM (sizeof(struct wire_fragment) + WIRE_FRAGMENT_MAX)

static struct image image;
static struct hs_walk walked;
static uint32_t code_epoch, class_epoch;
static bool wants_callers;
static struct wire_fragment *fragment;
static struct fragments *fragments;
static struct fragment_found found;
static const struct mem mem = {.read = image_mem_read, .image = &image};

static int files_load(void **state)
{
	(void)state;
	fragment = malloc(ROOM);
	return !fragment || files_read(IMAGES) || file_count < 50;
}

static int files_free(void **state)
{
	(void)state;
	files_forget();
	free(fragment);
	return 0;
}

static void begin(const struct file *f)
{
	const struct fragments_options o = {.code = &image.code,
					    .mem = &mem,
					    .native_rule = image_rule_find,
					    .ctx = &image,
					    .code_epoch = &code_epoch,
					    .class_epoch = &class_epoch,
					    .bytes = WIRE_FRAGMENT_MAX,
					    .callers = wants_callers};

	assert_int_equal(image_parse(&image, f->bytes, f->size), 0);
	image.code.ready = 1;
	assert_int_equal(fragments_new(&o, &fragments), 0);
	image_walk_sampled(&image, &walked);
	walked.stack.id = CHAIN;
	fragments_chain(fragments, &walked.stack,
			offsetof(struct wire_stack, frames) + walked.stack.count * sizeof(struct wire_frame));
	image_fragment(&image, WIRE_FRAGMENT_MAX, fragment);
	image_sample(&walked, CHAIN, &fragment->sample);
}

static void end(void)
{
	assert_int_equal(fragments_error(fragments), 0);
	fragments_free(fragments);
}

/* As long as it was read: ASan sees a step beyond. */
static uint32_t decode(uint32_t length)
{
	size_t size = sizeof(*fragment) + length;
	struct wire_fragment *exact = malloc(size);

	assert_non_null(exact);
	memcpy(exact, fragment, size);
	exact->length = length;
	fragments_decode(fragments, exact, size, &found);
	free(exact);
	return found.result;
}

static bool is_whole(void)
{
	return walked.stack.result == WIRE_WALK_COMPLETE || walked.stack.result == WIRE_WALK_CUT;
}

static void the_chain_is_the_same(void **state)
{
	int whole = 0, kinds[FRAGMENT_RESULT_COUNT] = {0};

	(void)state;
	for (size_t i = 0; i < file_count; i++) {
		uint32_t result;

		begin(&files[i]);
		result = decode(fragment->length);
		kinds[result]++;
		if (is_whole() && result != FRAGMENT_RESULT_EQUAL)
			fail_msg("%s: result %u", files[i].name, result);
		whole += is_whole();
		assert_null(found.sample);
		end();
	}
	assert_true(whole > 80);
	assert_true(kinds[FRAGMENT_RESULT_EQUAL] == whole && kinds[FRAGMENT_RESULT_NOT_COMPARED] >= 1);
}

/* A chain of which one frame is another is seen. */
static void another_chain_differs(void **state)
{
	(void)state;
	for (size_t i = 0; i < file_count; i++) {
		begin(&files[i]);
		if (is_whole() && walked.stack.count) {
			struct wire_frame *f = &walked.stack.frames[walked.stack.count / 2];

			f->id++;
			fragments_chain(fragments, &walked.stack, sizeof(walked.stack));
			assert_int_equal(decode(fragment->length), FRAGMENT_RESULT_DIFFERENT);
			f->id--;
			f->kind ^= 1;
			fragments_chain(fragments, &walked.stack, sizeof(walked.stack));
			assert_int_equal(decode(fragment->length), FRAGMENT_RESULT_DIFFERENT);
			fragment->sample.stack = CHAIN + 1;
			assert_false(fragments_knows_chain(fragments, fragment, ROOM));
			assert_int_equal(decode(fragment->length), FRAGMENT_RESULT_NOT_COMPARED);
		}
		if (is_whole() && walked.top.code) {
			fragment->sample.stack = walked.stack.count ? CHAIN : 0;
			fragment->sample.top.id++;
			assert_int_equal(decode(fragment->length), FRAGMENT_RESULT_DIFFERENT);
		}
		end();
	}
}

/* The walk in BPF has failed: the sample gets the chain of its fragment. */
static void it_takes_the_place_of_a_walk(void **state)
{
	int given = 0;

	(void)state;
	for (size_t i = 0; i < file_count; i++) {
		begin(&files[i]);
		fragment->own = 1;
		fragment->sample.result = WIRE_WALK_TOO_OFTEN;
		fragment->sample.stack = 0;
		fragment->sample.top.code = 0;
		decode(fragment->length);
		assert_non_null(found.sample);
		assert_int_equal(found.result == FRAGMENT_RESULT_FALLBACK, is_whole());
		if (!is_whole()) {
			assert_true(found.sample->result == WIRE_WALK_TOO_OFTEN && !found.chain);
			end();
			continue;
		}
		assert_int_equal(found.sample->via, WIRE_VIA_FRAGMENT);
		assert_int_equal(found.sample->result, walked.stack.result);
		assert_memory_equal(&found.sample->top, &walked.top, walked.top.code ? sizeof(walked.top) : 8);
		assert_int_equal(!found.chain, !walked.stack.count);
		if (found.chain) {
			given++;
			assert_int_equal(found.chain->count, walked.stack.count);
			assert_int_equal(found.chain->id, found.sample->stack);
			assert_memory_equal(found.chain->frames, walked.stack.frames,
					    walked.stack.count * sizeof(struct wire_frame));
		}
		end();
	}
	assert_true(given > 50);
}

static bool is_on_stack(uint64_t word)
{
	uint64_t at;

	for (uint32_t n = 0; n + 8 <= fragment->length; n += 8) {
		memcpy(&at, fragment->bytes + n, 8);
		if (at == word)
			return true;
	}
	return false;
}

static void decode_callers(uint32_t mode)
{
	fragment->own = 1;
	fragment->sample.mode = mode;
	decode(fragment->length);
	assert_non_null(found.sample);
}

/* Each is a return address that is on the stack; in Java code nobody looks. */
static void native_callers(void **state)
{
	unsigned sum = 0;

	(void)state;
	wants_callers = true;
	for (size_t i = 0; i < file_count; i++) {
		begin(&files[i]);
		decode_callers(WIRE_MODE_VM);
		for (uint32_t n = 0; n < found.caller_count; n++)
			assert_true(is_on_stack(found.callers[n] + 1));
		sum += found.caller_count;
		decode_callers(WIRE_MODE_JAVA);
		assert_int_equal(found.caller_count, 0);
		fragment->unread = 1;
		decode_callers(WIRE_MODE_VM);
		assert_int_equal(found.caller_count, 0);
		end();
	}
	wants_callers = false;
	assert_true(sum >= 10);
}

/* What is before the interrupted function has interrupted it; behind the kernel's come the program's. */
static void callers_in_the_kernel(void **state)
{
	const uint64_t kernel = 1ull << 63;
	uint32_t own;

	(void)state;
	wants_callers = true;
	for (size_t i = 0; i < file_count; i++) {
		begin(&files[i]);
		decode_callers(WIRE_MODE_KERNEL);
		own = found.caller_count;
		assert_true(own >= 1 && found.callers[0] == fragment->pc);
		for (uint32_t n = 0; n < WIRE_KERNEL_FRAMES; n++)
			fragment->kernel[n] = kernel + 16 * n;
		fragment->sample.pc = kernel + 16 * 3;
		fragment->kernel_count = 6;
		decode_callers(WIRE_MODE_KERNEL);
		assert_int_equal(found.caller_count, own + 2);
		assert_true(found.callers[0] == kernel + 16 * 4 - 1 && found.callers[2] == fragment->pc);
		fragment->kernel_count = UINT32_MAX;
		decode_callers(WIRE_MODE_KERNEL);
		assert_true(found.caller_count >= WIRE_KERNEL_FRAMES - 4 &&
			    found.caller_count <= FRAGMENT_CALLERS_MAX);
		fragment->sample.pc = kernel + 1;
		decode_callers(WIRE_MODE_KERNEL);
		assert_int_equal(found.caller_count, own);
		end();
	}
	wants_callers = false;
}

/* Up to some length it is incomplete, from there on it is the same chain. */
static uint32_t least_length(const char *name)
{
	uint32_t step = (fragment->length / 512 + 8) & ~7u, least = fragment->length + step, low;

	for (uint32_t n = 0; n <= fragment->length; n += step) {
		uint32_t result = decode(n);

		if (result == FRAGMENT_RESULT_EQUAL && least > n)
			least = n;
		else if (result != (least > n ? FRAGMENT_RESULT_INCOMPLETE : FRAGMENT_RESULT_EQUAL))
			fail_msg("%s: result %u of %u bytes, whole from %u on", name, result, n, least);
	}
	low = least > step ? least - step : 0;
	for (least = low; decode(least) != FRAGMENT_RESULT_EQUAL; least += 8)
		assert_true(least <= fragment->length);
	return least;
}

/* How many of the smaller sizes are said to do. */
static void counts_read(uint64_t ret[][FRAGMENT_RESULT_COUNT])
{
	struct temp temp;
	struct log_writer_options o = {0};
	struct log_reader *reader;
	struct log_writer *w;
	json_t *header = json_object();
	const struct event *e;

	assert_int_equal(temp_begin(&temp), 0);
	o.path = temp.path;
	assert_int_equal(log_writer_open(&o, header, &w), 0);
	json_decref(header);
	fragments_write(fragments, 3, w);
	fragments_write(fragments, 3, w); /* nothing new */
	assert_int_equal(log_writer_close(w), 0);
	assert_int_equal(log_reader_open(temp.path, &reader), 0);
	while (log_reader_next(reader, &e) == 1) {
		if (e->id != EVENT_FRAGMENT_STATS)
			continue;
		for (unsigned i = 0; i < 5; i++)
			if (e->v[FRAGMENT_STATS_BYTES].u == (uint64_t)WIRE_FRAGMENT_MIN << i) {
				assert_int_equal(ret[i][e->v[FRAGMENT_STATS_RESULT].u], 0);
				ret[i][e->v[FRAGMENT_STATS_RESULT].u] = e->v[FRAGMENT_STATS_COUNT].u;
			}
	}
	log_reader_close(reader);
	assert_int_equal(temp_end(&temp), 0);
}

static void smaller_ones_are_counted_as_if_cut(void **state)
{
	int cut = 0;

	(void)state;
	for (size_t i = 0; i < file_count; i++) {
		uint64_t counts[5][FRAGMENT_RESULT_COUNT] = {0};
		uint32_t least;

		/* Of stubs a read that fails may be the answer: tests/unit/bpf/hotspot_walk_test.c. */
		if (strstr(files[i].name, "-stub_"))
			continue;
		begin(&files[i]);
		if (!is_whole()) {
			end();
			continue;
		}
		least = least_length(files[i].name);
		end();
		begin(&files[i]);
		decode(fragment->length);
		counts_read(counts);
		for (unsigned k = 0; k < 5; k++) {
			bool fits = least <= (uint32_t)WIRE_FRAGMENT_MIN << k;

			cut += !fits;
			assert_int_equal(counts[k][FRAGMENT_RESULT_EQUAL], fits);
			assert_int_equal(counts[k][FRAGMENT_RESULT_INCOMPLETE], !fits);
			assert_int_equal(counts[k][FRAGMENT_RESULT_LOST], 3);
		}
		end();
	}
	assert_true(cut > 0);
}

static void what_is_stale_is_not_compared(void **state)
{
	(void)state;
	begin(&files[0]);
	code_epoch++;
	assert_int_equal(decode(fragment->length), FRAGMENT_RESULT_STALE);
	code_epoch--;
	fragment->sample.class_epoch++;
	assert_int_equal(decode(fragment->length), FRAGMENT_RESULT_STALE);
	fragment->sample.class_epoch--;
	fragment->unread = 1;
	assert_int_equal(decode(fragment->length), FRAGMENT_RESULT_UNREAD);
	fragment->unread = 0;
	image.code.ready = 0;
	fragment->own = 1;
	decode(fragment->length);
	assert_int_equal(found.result, FRAGMENT_RESULT_BOTH_FAILED);
	assert_true(found.sample && !found.chain);
	image.code.ready = 1;
	fragment->sample.result = WIRE_WALK_NATIVE_RULE;
	fragment->sample.compiling = 0x7000;
	assert_int_equal(decode(fragment->length), FRAGMENT_RESULT_NOT_COMPARED);
	assert_true(found.sample && !found.chain && found.sample->compiling);
	end();
}

static void damage_is_survived(void **state)
{
	uint32_t random = 1;

	(void)state;
	for (size_t i = 0; i < file_count; i++) {
		begin(&files[i]);
		for (int n = 0; n < 200; n++) {
			size_t size = sizeof(*fragment) + fragment->length;
			struct wire_fragment *copy = malloc(size);

			assert_non_null(copy);
			memcpy(copy, fragment, size);
			for (int k = 0; k < 1 + n % 4; k++) {
				random = random * 1664525 + 1013904223;
				((unsigned char *)copy)[(random >> 4) % (n % 2 ? sizeof(*copy) : size)] ^=
					(unsigned char)(1u << (random >> 29));
			}
			fragments_decode(fragments, copy, n % 8 ? size : (random >> 4) % size, &found);
			assert_true(found.result < FRAGMENT_RESULT_COUNT);
			free(copy);
		}
		end();
	}
}

static void allocations_may_fail(void **state)
{
	const struct fragments_options o = {.bytes = WIRE_FRAGMENT_MIN};
	struct wire_stack stack = {.id = 100};
	struct fragments *f;

	(void)state;
	alloc_fail_at(0);
	assert_int_equal(fragments_new(&o, &f), -ENOMEM);
	alloc_fail_off();
	assert_int_equal(fragments_new(&o, &f), 0);
	alloc_fail_at(0);
	fragments_chain(f, &stack, sizeof(stack));
	alloc_fail_off();
	assert_int_equal(fragments_error(f), -ENOMEM);
	stack.id = UINT32_MAX; /* not kept, and no reason to allocate */
	fragments_chain(f, &stack, sizeof(stack));
	fragments_free(f);
	fragments_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_chain_is_the_same),
		cmocka_unit_test(another_chain_differs),
		cmocka_unit_test(it_takes_the_place_of_a_walk),
		cmocka_unit_test(native_callers),
		cmocka_unit_test(callers_in_the_kernel),
		cmocka_unit_test(smaller_ones_are_counted_as_if_cut),
		cmocka_unit_test(what_is_stale_is_not_compared),
		cmocka_unit_test(damage_is_survived),
		cmocka_unit_test(allocations_may_fail),
	};

	return cmocka_run_group_tests(tests, files_load, files_free);
}
