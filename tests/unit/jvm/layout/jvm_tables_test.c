/* The version tables of JDK 11, 21, 25 and 27 against what these JVMs say of themselves. */
#include "tests/unit/jvm/jvm_tables.h"
#include "tests/unit/jvm/jvm_tables_11.h"
#include "tests/unit/jvm/jvm_tables_27.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "jvm/layout/code_layout.h"
#include "jvm/layout/code_rules.h"
#include "jvm/layout/layout.h"
#include "jvm/layout/versions/versions.h"
#include "tests/unit/alloc_fail.h"

static struct image image;

static const struct image_value none[] = {{0}};

static struct vmstructs *tables(const struct image_field *f, const struct image_value *types,
				const struct image_value *constants)
{
	uint64_t symbols[VMSYM_COUNT];
	struct vmstructs *v = NULL;

	image_clear(&image);
	image_tables(&image, f, types, constants, none, symbols);
	return vmstructs_load(&image.mem, symbols, &v) ? NULL : v;
}

static struct vmstructs *of_11(void)
{
	return tables(tables_fields_11, tables_types_11, tables_constants_11);
}

static struct vmstructs *of_21(void)
{
	return tables(tables_fields_21, tables_types_21, tables_constants_21);
}

static struct vmstructs *of_25(void)
{
	return tables(tables_fields_25, tables_types_25, tables_constants_25);
}

static struct vmstructs *of_27(void)
{
	return tables(tables_fields_27, tables_types_27, tables_constants_27);
}

static void objects_of_11(void **state)
{
	struct vmstructs *v = of_11();
	struct layout_source s;
	struct jvm_layout l;
	const char *missing = NULL;

	(void)state;
	assert_non_null(v);
	assert_int_equal(layout_load(v, &jdk_11.layout, &l, &s, &missing), 0);
	assert_true(l.raw_oops);
	assert_int_equal(l.java_thread_next, 792);
	assert_int_equal(l.java_thread_thread_obj, 808);
	assert_int_equal(l.java_thread_pending_monitor, 568);
	assert_int_equal(l.owner_word, OWNER_WORD_ADDRESS);
	assert_int_equal(l.mark_hash_shift, 8);
	assert_true(l.java_thread_list && s.narrow_oop_base && s.narrow_klass_shift);
	/* A version whose rules do not say that there are oops: nobody knows what else has them. */
	assert_int_equal(layout_load(v, &jdk_17.layout, &l, &s, &missing), -ENOTSUP);
	assert_non_null(strstr(missing, "OopHandle"));
	vmstructs_free(v);
}

static void code_of_11(void **state)
{
	struct vmstructs *v = of_11();
	const char *missing = NULL;
	struct code_layout l;

	(void)state;
	assert_int_equal(code_layout_load(v, jdk_11.code, &l, &missing), 0);
	assert_int_equal(l.klass_source, 298);
	assert_int_equal(l.pool_source, 0);
	assert_int_equal(l.symbol_length, 0);
	assert_int_equal(l.method_hidden, 8);
	assert_int_equal(l.comp_level_bytes, 4);
	assert_int_equal(l.number_excluded, 0);
	assert_int_equal(l.interpreter_bcp, -8);
	assert_true(!l.blob_kind && !l.address_spare && !l.scopes_apart);
	vmstructs_free(v);
}

static void objects_of_21(void **state)
{
	struct vmstructs *v = of_21();
	struct layout_source s;
	struct jvm_layout l;
	const char *missing = NULL;

	(void)state;
	assert_non_null(v);
	assert_int_equal(layout_load(v, &jdk_21.layout, &l, &s, &missing), 0);
	assert_int_equal(l.owner_word, OWNER_WORD_ADDRESS);
	assert_int_equal(l.mark_hash_shift, 8);
	assert_int_equal(l.java_thread_lock_stack_top, 1720);
	assert_int_equal(l.java_thread_lock_stack_base, 1728);
	assert_int_equal(l.java_thread_owner_id, -1);
	assert_int_equal(l.java_thread_pending_monitor, 1048);
	assert_int_equal(s.heap_gc_active, 48);
	assert_int_equal(layout_mark_klass_shift(v), 0);
	vmstructs_free(v);
}

static void objects_of_25(void **state)
{
	struct vmstructs *v = of_25();
	struct layout_source s;
	struct jvm_layout l;
	const char *missing = NULL;

	(void)state;
	assert_non_null(v);
	/* What vmStructs says of itself is believed, whatever the table says. */
	assert_int_equal(layout_load(v, &jdk_21.layout, &l, &s, &missing), 0);
	assert_int_equal(l.owner_word, OWNER_WORD_ID);
	assert_int_equal(l.mark_hash_shift, 11);
	assert_int_equal(l.java_thread_owner_id, 1312);
	assert_int_equal(l.java_thread_cont_entry, 1560);
	assert_int_equal(l.java_thread_lock_stack_base, 2016);
	assert_int_equal(l.monitor_stack_locker, 192);
	assert_int_equal(layout_mark_klass_shift(v), 42);
	vmstructs_free(v);
}

static void code_of_21(void **state)
{
	struct vmstructs *v = of_21();
	const char *missing = NULL;
	struct code_layout l;

	(void)state;
	assert_int_equal(code_layout_load(v, jdk_21.code, &l, &missing), 0);
	assert_int_equal(l.nmethod_comp_level, 328);
	assert_int_equal(l.comp_level_bytes, 1);
	assert_int_equal(l.number_excluded, 1);
	assert_int_equal(l.method_hidden, 0x1000);
	assert_int_equal(l.const_has_lines, 1);
	assert_true(!l.blob_kind && !l.nmethod_vtable && !l.address_spare && !l.scopes_apart);
	vmstructs_free(v);
}

static void code_of_25(void **state)
{
	struct vmstructs *v = of_25();
	const char *missing = NULL;
	struct code_layout l;

	(void)state;
	assert_int_equal(code_layout_load(v, jdk_25.code, &l, &missing), 0);
	assert_int_equal(l.blob_kind, 56);
	assert_int_equal(l.nmethod_vtable, 1);
	assert_int_equal(l.nmethod_immutable, 96);
	assert_int_equal(l.nmethod_verified_entry, 154);
	assert_int_equal(l.access_bytes, 2);
	assert_int_equal(l.block_length_bytes, 4);
	assert_true(l.scopes_apart);
	vmstructs_free(v);
}

/* There is no field for a class pointer that is not compressed, and one handler of deoptimisation. */
static void layout_of_27(void **state)
{
	struct vmstructs *v = of_27();
	const char *missing = NULL;
	struct layout_source s;
	struct jvm_layout l;
	struct code_layout c;

	(void)state;
	assert_non_null(v);
	assert_int_equal(layout_load(v, &jdk_26.layout, &l, &s, &missing), 0);
	assert_int_equal(l.oop_klass, 8);
	assert_int_equal(l.owner_word, OWNER_WORD_ID);
	assert_int_equal(l.thread_in_native, 4);
	assert_int_equal(layout_mark_klass_shift(v), 42);
	assert_int_equal(code_layout_load(v, jdk_26.code, &c, &missing), 0);
	assert_int_equal(c.nmethod_deopt, 176);
	assert_int_equal(c.nmethod_deopt_mh, 176);
	assert_true(c.scopes_apart);
	vmstructs_free(v);
}

/* A thread's states have other numbers in JDK 28: without that constant its state is not read. */
static void states_without_numbers(void **state)
{
	struct vmstructs *v = tables(tables_fields_27, tables_types_27, none);
	const char *missing = NULL;
	struct layout_source s;
	struct jvm_layout l;

	(void)state;
	assert_non_null(v);
	assert_int_equal(layout_load(v, &jdk_26.layout, &l, &s, &missing), 0);
	assert_int_equal(l.java_thread_state, -1);
	vmstructs_free(v);
}

/* A table of another version is refused, and says what it lacks. */
static void no_version_is_taken_for_another(void **state)
{
	const struct jdk_version *const all[] = {&jdk_11, &jdk_17, &jdk_21, &jdk_25, &jdk_26};
	struct vmstructs *(*const of[])(void) = {of_11, NULL, of_21, of_25, of_27};

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++)
		for (size_t n = 0; n < sizeof(all) / sizeof(*all); n++) {
			struct vmstructs *v = of[i] ? of[i]() : NULL;
			const char *missing = NULL;
			struct code_layout l;
			int err;

			if (!of[i])
				continue;
			err = code_layout_load(v, all[n]->code, &l, &missing);

			assert_int_equal(err, n == i ? 0 : -ENOTSUP);
			assert_true(!err || missing);
			vmstructs_free(v);
		}
}

/* Whether 25's tables are refused if a row of them says this. */
static void refused(const char *type, const char *name, uint64_t offset, uint64_t type_bytes)
{
	struct image_field f[sizeof(tables_fields_25) / sizeof(*tables_fields_25)];
	struct image_value t[sizeof(tables_types_25) / sizeof(*tables_types_25)];
	const char *missing = NULL;
	struct code_layout l;
	struct vmstructs *v;
	int changed = 0;

	memcpy(f, tables_fields_25, sizeof(f));
	memcpy(t, tables_types_25, sizeof(t));
	for (struct image_field *at = f; at->type; at++)
		if (!strcmp(at->type, type) && !strcmp(at->name, name)) {
			at->value = offset;
			changed++;
		}
	for (struct image_value *at = t; at->name; at++)
		if (!strcmp(at->name, type)) {
			at->value = type_bytes;
			changed++;
		}
	assert_int_equal(changed, 2);
	v = tables(f, t, tables_constants_25);
	assert_non_null(v);
	assert_int_equal(code_layout_load(v, jdk_25.code, &l, &missing), -ENOTSUP);
	vmstructs_free(v);
}

/* What is read at these offsets lies in a buffer of the recorder. */
static void offsets_are_within_what_is_read(void **state)
{
	(void)state;
	refused("HeapBlock::Header", "_length", 4096, 8192);
	refused("HeapBlock::Header", "_length", 6, 64);
	refused("HeapBlock::Header", "_used", 4096, 8192);
	refused("HeapBlock::Header", "_used", 8, 64);
	refused("nmethod", "_method", 0xfffffff0, 0xffffffff);
	refused("CodeBlob", "_kind", 0xfffffff0, 0xffffffff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_of_11),
		cmocka_unit_test(code_of_11),
		cmocka_unit_test(objects_of_21),
		cmocka_unit_test(objects_of_25),
		cmocka_unit_test(code_of_21),
		cmocka_unit_test(code_of_25),
		cmocka_unit_test(layout_of_27),
		cmocka_unit_test(states_without_numbers),
		cmocka_unit_test(no_version_is_taken_for_another),
		cmocka_unit_test(offsets_are_within_what_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
