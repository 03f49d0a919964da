#include "jvm/layout/code_vtables.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "jvm/layout/versions/versions.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/jvm/jvm_code_image.h"

static struct image image;

/* The archive is another mapping than libjvm: there is a page between them that cannot be read. */
static int gap_read(const struct mem *m, uint64_t addr, void *ret, size_t len)
{
	if (addr < IMAGE_ARCHIVE && addr + len > IMAGE_ARCHIVE - 0x1000)
		return -EFAULT;
	return image_read(m, addr, ret, len);
}

/* A JVM with code heaps and one stub, and java.lang.Object whose Method has this vtable. */
static struct vmstructs *target_fill(struct code_layout *l, uint64_t method_vtable)
{
	struct vmstructs *v =
		code_image_tables(&image, code_fields_17, code_types_17, code_ints_17);
	const char *missing;

	assert_non_null(v);
	assert_int_equal(code_layout_load(v, jdk_17.code, l, &missing), 0);
	assert_true(code_vtables_possible(v));
	code_image_vtables(&image);
	code_image_heaps(&image);
	code_image_block(&image, 0, 4, STUB_VTABLE, image_string(&image, "RuntimeStub"));
	code_image_object(&image, method_vtable);
	image.mem.read = gap_read;
	return v;
}

static uint64_t method_put(uint64_t vtable)
{
	uint64_t method = image_room(&image, 88);

	image_u64(&image, method, vtable);
	return method;
}

static void without_an_archive_there_is_one_vtable(void **state)
{
	struct code_layout l;
	struct vmstructs *v = target_fill(&l, METHOD_VTABLE);

	(void)state;
	assert_int_equal(code_layout_refresh(&image.mem, v, &l), 0);
	assert_true(code_layout_usable(&l));
	assert_true(l.method_vtable == METHOD_VTABLE && !l.method_vtable_too);
	vmstructs_free(v);
}

static void the_other_vtable_is_searched_for(void **state)
{
	struct code_layout l;
	struct vmstructs *v = target_fill(&l, METHOD_VTABLE_SHARED);

	(void)state;
	assert_int_equal(code_layout_refresh(&image.mem, v, &l), 0);
	assert_true(code_layout_usable(&l));
	assert_true(l.method_vtable == METHOD_VTABLE_SHARED &&
		    l.method_vtable_too == METHOD_VTABLE);
	vmstructs_free(v);
}

/* libjvm, that begins below the image and is all zero there but for one vtable, which may go across
 * what is read at once. */
static uint64_t far_vtable;
static size_t far_bytes_read;

static int far_read(const struct mem *m, uint64_t addr, void *ret, size_t len)
{
	size_t below = addr < IMAGE_BASE ? IMAGE_BASE - addr : 0;
	uint64_t word;

	if (len > below && gap_read(m, addr + below, (char *)ret + below, len - below))
		return -EFAULT;
	len = len < below ? len : below;
	far_bytes_read += len;
	memset(ret, 0, len);
	for (uint64_t n = 0; n < 14; n++) {
		word = 0x5000 + n;
		if (far_vtable + 8 * n >= addr && far_vtable + 8 * n < addr + len)
			memcpy((char *)ret + (far_vtable + 8 * n - addr), &word, sizeof(word));
	}
	return 0;
}

static void it_is_searched_for_far_away(void **state)
{
	static const uint64_t below[] = {0x78, 0x3f00, 0x4008, 0x4038, 0x4070, 0xe000};
	struct code_layout l;
	struct vmstructs *v;

	(void)state;
	for (size_t i = 0; i < sizeof(below) / sizeof(*below); i++) {
		v = target_fill(&l, METHOD_VTABLE_SHARED);
		image_u64(&image, METHOD_VTABLE + 8, 1);
		image_u64(&image, METHOD_VTABLE_SHARED - 8, 14);
		image.mem.read = far_read;
		far_vtable = IMAGE_BASE - below[i];
		far_bytes_read = 0;
		assert_int_equal(code_layout_refresh(&image.mem, v, &l), 0);
		assert_true(l.method_vtable_too == far_vtable);
		assert_true(far_bytes_read <= below[i] + 0x10000);
		vmstructs_free(v);
	}
}

/* Something that is not zero stands behind it: it cannot be told from a subclass's. */
static void what_is_not_found_is_learned_from_methods(void **state)
{
	struct code_layout l;
	struct vmstructs *v = target_fill(&l, METHOD_VTABLE_SHARED);
	uint64_t name = image_string(&image, "nmethod"), blob;

	(void)state;
	image_u64(&image, METHOD_VTABLE + 8 * 14, 0x9999);
	assert_int_equal(code_layout_refresh(&image.mem, v, &l), 0);
	assert_false(code_layout_usable(&l));
	blob = code_image_block(&image, 4, 4, NMETHOD_VTABLE, name);
	image_u64(&image, blob + 112, method_put(METHOD_VTABLE_SHARED));
	assert_int_equal(code_layout_refresh(&image.mem, v, &l), 0);
	assert_false(code_layout_usable(&l));
	blob = code_image_block(&image, 8, 4, NMETHOD_VTABLE, name);
	/* What is no Method teaches nothing. */
	image_u64(&image, blob + 112, method_put(STUB_VTABLE));
	assert_int_equal(code_layout_refresh(&image.mem, v, &l), 0);
	assert_true(!l.method_vtable_too);
	image_u64(&image, blob + 112, method_put(METHOD_VTABLE));
	assert_int_equal(code_layout_refresh(&image.mem, v, &l), 1);
	assert_true(l.method_vtable == METHOD_VTABLE_SHARED &&
		    l.method_vtable_too == METHOD_VTABLE);
	assert_true(l.nmethod_vtable == NMETHOD_VTABLE);
	vmstructs_free(v);
}

static void allocations_may_fail(void **state)
{
	struct code_layout l;
	struct vmstructs *v = target_fill(&l, METHOD_VTABLE_SHARED);
	unsigned long n = 0;
	int ret;

	(void)state;
	do {
		alloc_fail_at(n++);
		ret = code_layout_refresh(&image.mem, v, &l);
		assert_true(ret == 0 || ret == -ENOMEM);
	} while (alloc_fail_off());
	assert_int_equal(ret, 0);
	assert_true(n == 2 && l.method_vtable_too == METHOD_VTABLE);
	vmstructs_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_an_archive_there_is_one_vtable),
		cmocka_unit_test(the_other_vtable_is_searched_for),
		cmocka_unit_test(it_is_searched_for_far_away),
		cmocka_unit_test(what_is_not_found_is_learned_from_methods),
		cmocka_unit_test(allocations_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
