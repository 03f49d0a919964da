#include "base/text/cxx_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/alloc_fail.h"

static void names_are_as_people_write_them(void **state)
{
	static const char *const wanted[][2] = {
		{"memcpy", "memcpy"},
		{"_ZN14PhaseIdealLoop15build_loop_treeEv", "PhaseIdealLoop::build_loop_tree"},
		{"_ZNK6Symbol9as_stringEv", "Symbol::as_string"},
		{"_Z10JVM_handlev", "JVM_handle"},
		{"_ZL12thread_entryP10JavaThread", "thread_entry"},
		{"_ZN8CompilerC2Ev", "Compiler::Compiler"},
		{"_ZN8CompilerD0Ev", "Compiler::~Compiler"},
		{"_ZN13GrowableArrayIP6MethodE4pushERKS1_", "GrowableArray<>::push"},
		{"_ZN4TakeIN1a1bILi3EEELb1ES_St4lessIiEE3runEv", "Take<>::run"},
		{"_ZN14BasicHashtableIL8MEMFLAGS5EE10initializeEiii",
		 "BasicHashtable<>::initialize"},
		{"_ZN7LogImplILN6LogTag4typeE43ELS1_11EE4infoEPKcz", "LogImpl<>::info"},
		{"_ZNSt6vectorIiE9push_backEv", "std::vector<>::push_back"},
		{"_ZN12_GLOBAL__N_13runEv", "(anonymous)::run"},
		{"_ZN9G1Closure4workEj.part.0", "G1Closure::work"},
		/* What is not known stays. */
		{"_ZN3FooplERKS_", "_ZN3FooplERKS_"},
		{"_ZTV6Method", "_ZTV6Method"},
		{"_ZN", "_ZN"},
		{"_ZN3Fo", "_ZN3Fo"},
		{"_Z99999999999999999999x", "_Z99999999999999999999x"},
		{"_ZN1aI", "_ZN1aI"},
		{"_", "_"},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		char name[128];

		cxx_name(wanted[i][0], name, sizeof(name));
		assert_string_equal(name, wanted[i][1]);
	}
}

static void a_long_name_is_cut(void **state)
{
	char name[8];

	(void)state;
	cxx_name("_ZN14PhaseIdealLoop15build_loop_treeEv", name, sizeof(name));
	assert_true(strlen(name) < sizeof(name));
	assert_memory_equal(name, "Phas", 4);
	cxx_name("a_function_of_c", name, sizeof(name));
	assert_true(strlen(name) < sizeof(name));
	cxx_name("_ZN1a1bEv", name, 1);
	assert_string_equal(name, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_as_people_write_them),
		cmocka_unit_test(a_long_name_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
