/* What AppArmor and SELinux say of who confines a process. */
#include "jvm/target/confined.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void check(const char *text, size_t len, const char *wanted)
{
	char got[CONFINED_MAX];

	memset(got, 'x', sizeof(got));
	confined_parse(text, len, got);
	assert_string_equal(got, wanted);
}

static void labels_are_read(void **state)
{
	(void)state;
	check("docker-default (enforce)\n", 25, "docker-default (enforce)");
	check("unconfined\n", 11, "unconfined");
	check("system_u:system_r:container_t:s0:c1,c2\0rest", 43, "system_u:system_r:container_t:s0:c1,c2");
	check("", 0, "");
	check("\n", 1, "");
	check("a\033[31mb\377", 8, "a?[31mb?");
}

static void a_long_one_is_cut(void **state)
{
	char text[3 * CONFINED_MAX], wanted[CONFINED_MAX];

	(void)state;
	memset(text, 'a', sizeof(text));
	memset(wanted, 'a', sizeof(wanted) - 1);
	wanted[sizeof(wanted) - 1] = 0;
	for (size_t len = CONFINED_MAX; len <= sizeof(text); len++)
		check(text, len, wanted);
}

static void nobody_is_apart_from_himself(void **state)
{
	char own[CONFINED_MAX], its[CONFINED_MAX];

	(void)state;
	assert_false(confined_apart(getpid(), own, its));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_are_read),
		cmocka_unit_test(a_long_one_is_cut),
		cmocka_unit_test(nobody_is_apart_from_himself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
