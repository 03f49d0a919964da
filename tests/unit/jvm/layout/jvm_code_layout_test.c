#include "jvm/layout/code_layout.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "jvm/jvm_state.h"
#include "tests/unit/jvm/jvm_code_image.h"
#include "tests/unit/alloc_fail.h"

static struct image image;

static void layout_of_17_is_known(void **state)
{
	struct vmstructs *v =
		code_image_tables(&image, code_fields_17, code_types_17, code_ints_17);
	const char *missing = NULL;
	struct code_layout l;

	(void)state;
	assert_non_null(v);
	assert_int_equal(code_layout_load(v, jdk_17.code, &l, &missing), 0);
	assert_int_equal(l.heap_block_size, 16);
	assert_int_equal(l.block_used, 8);
	assert_int_equal(l.nmethod_scopes_data, 120);
	assert_int_equal(l.nmethod_state, 315);
	assert_int_equal(l.pc_desc_size, 16);
	assert_int_equal(l.const_size, 48);
	assert_int_equal(l.method_hidden, 8);
	assert_int_equal(l.const_has_lines, 1);
	assert_int_equal(l.entry_call_wrapper, -6);
	assert_int_equal(l.interpreter_sender_sp, -1);
	assert_int_equal(l.interpreter_method, -3);
	assert_int_equal(l.interpreter_bcp, -8);
	assert_int_equal(l.java_thread_anchor, 656);
	assert_true(!l.heap_count && !l.nmethod_vtable && !l.method_vtable && !l.call_stub_return);
	assert_false(code_layout_usable(&l));
	vmstructs_free(v);
}

/* Whether a layout with field n left out, or changed, is refused by a name. */
static void refused(const struct image_field *f)
{
	struct vmstructs *v = code_image_tables(&image, f, code_types_17, code_ints_17);
	struct code_layout l = {.heap_block_size = 77};
	const char *missing = NULL;

	assert_non_null(v);
	assert_int_equal(code_layout_load(v, jdk_17.code, &l, &missing), -ENOTSUP);
	assert_non_null(missing);
	assert_int_equal(l.heap_block_size, 77);
	vmstructs_free(v);
}

static void each_field_is_needed_as_it_is(void **state)
{
	struct image_field f[CODE_FIELDS];

	(void)state;
	for (size_t n = 0; n < CODE_FIELDS - 1; n++) {
		memcpy(f, code_fields_17, sizeof(f));
		f[n].name = "_gone";
		refused(f);
		if (f[n].is_static)
			continue;
		memcpy(f, code_fields_17, sizeof(f));
		f[n].value = 4096; /* outside of its type */
		if (strcmp(f[n].name, "_stack_traversal_mark"))
			refused(f);
	}
	/* JDK 21: wider, at another offset. */
	memcpy(f, code_fields_17, sizeof(f));
	for (size_t n = 0; n < CODE_FIELDS - 1; n++) {
		if (strcmp(f[n].type, "ConstMethod") || strcmp(f[n].name, "_flags"))
			continue;
		f[n].type_string = "u4";
		refused(f);
	}
	/* The last byte would lie outside of the type. */
	memcpy(f, code_fields_17, sizeof(f));
	f[0].value = 9;
	refused(f);
}

static void each_size_and_constant_is_needed(void **state)
{
	struct image_value types[sizeof(code_types_17) / sizeof(*code_types_17)];
	struct image_value ints[sizeof(code_ints_17) / sizeof(*code_ints_17)];
	struct code_layout l;
	const char *missing;
	struct vmstructs *v;

	(void)state;
	for (size_t n = 0; code_types_17[n].name; n++) {
		memcpy(types, code_types_17, sizeof(types));
		types[n].name = "Gone";
		v = code_image_tables(&image, code_fields_17, types, code_ints_17);
		missing = NULL;
		assert_int_equal(code_layout_load(v, jdk_17.code, &l, &missing), -ENOTSUP);
		assert_non_null(missing);
		vmstructs_free(v);
	}
	for (size_t n = 0; code_ints_17[n].name; n++) {
		for (int gone = 0; gone < 2; gone++) {
			memcpy(ints, code_ints_17, sizeof(ints));
			if (gone)
				ints[n].name = "gone";
			else
				ints[n].value = 0x10000;
			v = code_image_tables(&image, code_fields_17, code_types_17, ints);
			missing = NULL;
			assert_int_equal(code_layout_load(v, jdk_17.code, &l, &missing), -ENOTSUP);
			assert_string_equal(missing, code_ints_17[n].name);
			vmstructs_free(v);
		}
	}
}

static struct vmstructs *target_fill(struct code_layout *l)
{
	struct vmstructs *v =
		code_image_tables(&image, code_fields_17, code_types_17, code_ints_17);
	const char *missing;

	assert_non_null(v);
	assert_int_equal(code_layout_load(v, jdk_17.code, l, &missing), 0);
	code_image_vtables(&image);
	return v;
}

static void a_jvm_that_starts_becomes_complete(void **state)
{
	uint64_t name, stub_name, method, blob;
	struct code_layout l;
	struct vmstructs *v = target_fill(&l);

	(void)state;
	assert_int_equal(code_layout_refresh(&image.mem, v, &l), 0);
	code_image_heaps(&image);
	assert_int_equal(code_layout_refresh(&image.mem, v, &l), 0);
	assert_int_equal(l.heap_count, 1);
	assert_true(l.heaps[0].low == IMAGE_HEAP && l.heaps[0].high == IMAGE_HEAP_END);
	assert_true(l.heaps[0].segmap == IMAGE_SEGMAP && l.heaps[0].segment_shift == 7);
	assert_true(l.interpreter_low == 0x700000 && l.interpreter_high == 0x701000);
	assert_true(l.call_stub_return == 0x6ff000);
	assert_false(code_layout_usable(&l));
	stub_name = image_string(&image, "Interpreter");
	code_image_block(&image, 0, 4, STUB_VTABLE, stub_name);
	/* A free block is not looked at: there is nothing but its length. */
	image_u64(&image, IMAGE_HEAP + (4 << 7), 3);
	method = code_image_object(&image, METHOD_VTABLE_SHARED);
	assert_int_equal(code_layout_refresh(&image.mem, v, &l), 0);
	assert_true(code_layout_usable(&l));
	assert_true(l.method_vtable == METHOD_VTABLE_SHARED &&
		    l.method_vtable_too == METHOD_VTABLE);
	assert_true(!l.nmethod_vtable);
	name = image_string(&image, "native nmethod");
	blob = code_image_block(&image, 7, 4, NMETHOD_VTABLE, name);
	/* Unloaded. */
	assert_int_equal(code_layout_refresh(&image.mem, v, &l), 0);
	image_u64(&image, blob + 112, method);
	assert_int_equal(code_layout_refresh(&image.mem, v, &l), 1);
	assert_true(l.nmethod_vtable == NMETHOD_VTABLE);
	assert_true(l.method_vtable == METHOD_VTABLE_SHARED &&
		    l.method_vtable_too == METHOD_VTABLE);
	/* It is not looked for again. */
	image_clear(&image);
	assert_int_equal(code_layout_refresh(&image.mem, v, &l), 1);
	vmstructs_free(v);
}

static uint64_t stub_put(uint32_t segment, const char *name, uint64_t low, uint64_t high)
{
	uint64_t blob =
		code_image_block(&image, segment, 4, STUB_VTABLE, image_string(&image, name));

	image_u64(&image, blob + 32, blob + low);
	image_u64(&image, blob + 40, blob + high);
	return blob;
}

/* Only a JVM that has virtual threads has it. */
static void the_return_barrier_is_found_by_its_name(void **state)
{
	static const char *const names[] = {"StubRoutines (continuation stubs)",
					    "StubRoutines (continuationstubs)", "StubRoutines (1)"};
	struct image_field f[CODE_FIELDS + 1];
	struct code_layout l;
	struct vmstructs *v;
	const char *missing;
	uint64_t blob;

	(void)state;
	memcpy(f, code_fields_17, sizeof(code_fields_17));
	f[CODE_FIELDS] = f[CODE_FIELDS - 1];
	f[CODE_FIELDS - 1] = (struct image_field){"JavaThread", "_vthread", "OopHandle", 0, 904};
	for (size_t i = 0; i < 2 * sizeof(names) / sizeof(*names); i++) {
		const char *name = names[i / 2];
		bool there = i / 2 < 2 && !(i & 1);

		v = code_image_tables(&image, i & 1 ? code_fields_17 : f, code_types_17,
				      code_ints_17);
		assert_int_equal(code_layout_load(v, jdk_17.code, &l, &missing), 0);
		code_image_vtables(&image);
		code_image_heaps(&image);
		stub_put(0, "RuntimeStub", 200, 300);
		stub_put(4, name, 300, 200); /* no code at all */
		blob = stub_put(8, name, 200, 300);
		code_image_object(&image, METHOD_VTABLE);
		assert_int_equal(code_layout_refresh(&image.mem, v, &l), 0);
		assert_true(l.barrier_low == (there ? blob + 200 : 0));
		assert_true(l.barrier_high == (there ? blob + 300 : 0));
		vmstructs_free(v);
	}
}

static void half_made_heaps_are_waited_for(void **state)
{
	struct code_layout l;
	struct vmstructs *v = target_fill(&l);
	uint64_t array, data, heap;

	(void)state;
	code_image_heaps(&image);
	assert_int_equal(mem_u64(&image.mem, IMAGE_VARIABLES + IMAGE_HEAPS, &array), 0);
	assert_int_equal(mem_u64(&image.mem, array + 8, &data), 0);
	assert_int_equal(mem_u64(&image.mem, data, &heap), 0);
	image_u64(&image, heap + 8, 0);
	assert_int_equal(code_layout_refresh(&image.mem, v, &l), 0);
	image_u64(&image, heap + 8, IMAGE_HEAP);
	image_u32(&image, array, 0);
	assert_int_equal(code_layout_refresh(&image.mem, v, &l), 0);
	assert_int_equal(l.heap_count, 0);
	image_u32(&image, array, 4);
	assert_int_equal(code_layout_refresh(&image.mem, v, &l), -EPROTO);
	image_u32(&image, array, 1);
	image_u32(&image, heap + 256, 40);
	assert_int_equal(code_layout_refresh(&image.mem, v, &l), -EPROTO);
	image_u32(&image, heap + 256, 7);
	image_u64(&image, heap + 16, IMAGE_HEAP - 8);
	assert_int_equal(code_layout_refresh(&image.mem, v, &l), -EPROTO);
	image_u64(&image, data, 0x40);
	assert_int_equal(code_layout_refresh(&image.mem, v, &l), 0);
	image_u64(&image, data, heap);
	image_u64(&image, heap + 16, IMAGE_HEAP_END);
	image_u64(&image, IMAGE_VARIABLES + IMAGE_CALL_STUB, 0);
	assert_int_equal(code_layout_refresh(&image.mem, v, &l), 0);
	assert_int_equal(l.heap_count, 0);
	vmstructs_free(v);
}

/* Blocks change while they are walked: any of their bytes may be wrong. */
static void damaged_blocks_are_survived(void **state)
{
	struct code_layout l, first;
	struct vmstructs *v = target_fill(&first);
	uint64_t blob;

	(void)state;
	code_image_heaps(&image);
	code_image_block(&image, 0, 2, STUB_VTABLE, image_string(&image, "Interpreter"));
	blob = code_image_block(&image, 2, 2, NMETHOD_VTABLE, image_string(&image, "nmethod"));
	image_u64(&image, blob + 112, code_image_object(&image, METHOD_VTABLE));
	for (uint32_t at = 0; at < 4 << IMAGE_SHIFT; at++) {
		uint8_t *byte = &image.bytes[IMAGE_HEAP - IMAGE_BASE + at], was = *byte;

		for (int value = 0; value < 256; value += 51) {
			*byte = (uint8_t)value;
			l = first;
			assert_true(code_layout_refresh(&image.mem, v, &l) >= 0);
			assert_true(!l.nmethod_vtable || l.nmethod_vtable == NMETHOD_VTABLE ||
				    (at >= 272 && at < 280));
		}
		*byte = was;
	}
	vmstructs_free(v);
}

static void allocations_may_fail(void **state)
{
	struct code_layout l;
	struct vmstructs *v = target_fill(&l);
	unsigned long n = 0;
	int ret;

	(void)state;
	code_image_heaps(&image);
	code_image_block(&image, 0, 4, STUB_VTABLE, image_string(&image, "RuntimeStub"));
	code_image_object(&image, METHOD_VTABLE_SHARED);
	do {
		alloc_fail_at(n++);
		ret = code_layout_refresh(&image.mem, v, &l);
		assert_true(ret == 0 || ret == -ENOMEM);
	} while (alloc_fail_off());
	assert_int_equal(ret, 0);
	assert_true(n > 1 && l.method_vtable_too == METHOD_VTABLE);
	vmstructs_free(v);
}

/* What jvm.h makes of it. */
static void a_jvm_tells_what_it_lacks(void **state)
{
	const char *missing = "?";
	struct jvm j = {.pidfd = -1};

	(void)state;
	/* It is only starting. */
	assert_null(jvm_code_layout(&j, &missing));
	assert_null(missing);
	assert_int_equal(jvm_code_refresh(&j), 0);
	j.vms = target_fill(&j.code);
	j.mem = image.mem;
	j.code_missing = "CodeHeap::_memory";
	assert_null(jvm_code_layout(&j, &missing));
	assert_string_equal(missing, "CodeHeap::_memory");
	assert_null(jvm_code_layout(&j, NULL));
	assert_int_equal(jvm_code_refresh(&j), -ENOTSUP);
	j.code_missing = NULL;
	assert_ptr_equal(jvm_code_layout(&j, &missing), &j.code);
	assert_null(missing);
	assert_int_equal(jvm_code_refresh(&j), 0);
	assert_ptr_equal(jvm_mem(&j), &j.mem);
	vmstructs_free(j.vms);
}

/* With -Xint no nmethod ever comes: all that there will be is there once the heap is. */
static void without_a_compiler_nothing_is_waited_for(void **state)
{
	struct flag compiler = {.name = "UseCompiler", .addr = IMAGE_VARIABLES + 0x800};
	struct jvm j = {.pidfd = -1, .flags = {.flags = &compiler, .count = 1}};

	(void)state;
	j.vms = target_fill(&j.code);
	code_image_heaps(&image);
	code_image_block(&image, 0, 4, STUB_VTABLE, image_string(&image, "RuntimeStub"));
	code_image_object(&image, METHOD_VTABLE);
	j.mem = image.mem;
	assert_int_equal(jvm_code_refresh(&j), 0);
	assert_true(code_layout_usable(&j.code));
	/* The flag may not have its value yet. */
	assert_int_equal(jvm_code_refresh(&j), 0);
	j.layout.ready = true;
	assert_int_equal(jvm_code_refresh(&j), 1);
	assert_true(!j.code.nmethod_vtable);
	image.bytes[compiler.addr - IMAGE_BASE] = 1;
	assert_int_equal(jvm_code_refresh(&j), 0);
	vmstructs_free(j.vms);
}

static void the_text_of_libjvm_is_told(void **state)
{
	struct jvm j = {.lib.start = 0x7f0000200000,
			.elf = {.first_vaddr = 0x1000, .text_low = 0x3000, .text_high = 0x9010}};
	uint64_t low, high, bias;

	(void)state;
	jvm_libjvm_text(&j, &low, &high, &bias);
	assert_true(bias == 0x7f00001ff000);
	assert_true(low == 0x7f0000202000 && high == 0x7f0000208010);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layout_of_17_is_known),
		cmocka_unit_test(each_field_is_needed_as_it_is),
		cmocka_unit_test(each_size_and_constant_is_needed),
		cmocka_unit_test(a_jvm_that_starts_becomes_complete),
		cmocka_unit_test(the_return_barrier_is_found_by_its_name),
		cmocka_unit_test(half_made_heaps_are_waited_for),
		cmocka_unit_test(damaged_blocks_are_survived),
		cmocka_unit_test(allocations_may_fail),
		cmocka_unit_test(a_jvm_tells_what_it_lacks),
		cmocka_unit_test(without_a_compiler_nothing_is_waited_for),
		cmocka_unit_test(the_text_of_libjvm_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
