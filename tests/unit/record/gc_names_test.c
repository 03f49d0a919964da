#include "record/decode/gc_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "log/format/event.h"

static uint32_t operation(const char *name)
{
	return gc_kind_of_operation(name, (uint32_t)strlen(name));
}

static void managers_have_kinds(void **state)
{
	(void)state;
	assert_int_equal(gc_kind_of_manager("G1 Young Generation"), GC_KIND_YOUNG);
	assert_int_equal(gc_kind_of_manager("PS MarkSweep"), GC_KIND_FULL);
	assert_int_equal(gc_kind_of_manager("G1 Concurrent GC"), GC_KIND_CONCURRENT_PAUSE);
	assert_int_equal(gc_kind_of_manager("G1 Young"), GC_KIND_UNKNOWN);
	assert_int_equal(gc_kind_of_manager(""), GC_KIND_UNKNOWN);
}

static void operations_have_kinds(void **state)
{
	(void)state;
	assert_int_equal(operation("G1PauseRemark"), GC_KIND_CONCURRENT_PAUSE);
	/* JDK 11 */
	assert_int_equal(operation("CGC_Operation"), GC_KIND_CONCURRENT_PAUSE);
	assert_int_equal(operation("CMS_Final_Remark"), GC_KIND_CONCURRENT_PAUSE);
	assert_int_equal(operation("ZOperation"), GC_KIND_CONCURRENT_PAUSE);
	/* JDK 21 and later: one generation, and two. */
	assert_int_equal(operation("XMarkStart"), GC_KIND_CONCURRENT_PAUSE);
	assert_int_equal(operation("ZMarkStartYoungAndOld"), GC_KIND_CONCURRENT_PAUSE);
	assert_int_equal(operation("ShenandoahFullGC"), GC_KIND_FULL);
	assert_int_equal(operation("Shenandoah Init Marking"), GC_KIND_CONCURRENT_PAUSE);
	assert_int_equal(operation("Shenandoah Final Update References"), GC_KIND_CONCURRENT_PAUSE);
	assert_int_equal(operation("Cleanup"), GC_KIND_UNKNOWN);
	assert_int_equal(gc_kind_of_operation("G1PauseRemark", 6), GC_KIND_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(managers_have_kinds),
		cmocka_unit_test(operations_have_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
