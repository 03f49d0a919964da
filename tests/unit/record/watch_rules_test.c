#include "record/watch/rules.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "jvm/target/labels.h"
#include "record/watch/jvm_name.h"
#include "tests/unit/alloc_fail.h"

static const struct labels orders = {
	.value = {[LABEL_POD] = "0a1b", [LABEL_RUNTIME] = "containerd"},
	.cgroup = "/kubepods.slice/x"};

static bool match(struct rules *r, const char *command)
{
	return rules_match(r, command, &orders);
}

static void without_any_all_fit(void **state)
{
	struct rules r = {.count = 0};

	(void)state;
	assert_true(match(&r, "java -jar orders.jar"));
}

static void one_of_each_kind(void **state)
{
	struct rules r = {.count = 0};

	(void)state;
	assert_int_equal(rules_add(&r, RULE_NAME, "billing"), 0);
	assert_int_equal(rules_add(&r, RULE_NAME, "orders"), 0);
	assert_true(match(&r, "java -jar orders.jar"));
	assert_false(match(&r, "java -jar users.jar"));
	assert_int_equal(rules_add(&r, RULE_LABEL, "pod=0*"), 0);
	assert_true(match(&r, "java -jar orders.jar"));
	assert_int_equal(rules_add(&r, RULE_CGROUP, "/system.slice/*"), 0);
	assert_false(match(&r, "java -jar orders.jar"));
	assert_int_equal(rules_add(&r, RULE_CGROUP, "*kubepods*"), 0);
	assert_true(match(&r, "java -jar orders.jar"));
}

static void none_that_excludes(void **state)
{
	struct rules r = {.count = 0};

	(void)state;
	assert_int_equal(rules_add(&r, RULE_NAME, "!test"), 0);
	assert_true(match(&r, "java -jar orders.jar"));
	assert_false(match(&r, "java -jar orders-test.jar"));
	assert_int_equal(rules_add(&r, RULE_LABEL, "!container=*"), 0); /* it has none */
	assert_true(match(&r, "java -jar orders.jar"));
	assert_int_equal(rules_add(&r, RULE_LABEL, "!runtime=c*"), 0);
	assert_false(match(&r, "java -jar orders.jar"));
}

static void a_label_that_is_there(void **state)
{
	struct rules r = {.count = 0};

	(void)state;
	assert_int_equal(rules_add(&r, RULE_LABEL, "container=*"), 0);
	assert_false(match(&r, "java"));
}

static void wrong_ones(void **state)
{
	struct rules r = {.count = 0};

	(void)state;
	assert_int_equal(rules_add(&r, RULE_NAME, ""), -EINVAL);
	assert_int_equal(rules_add(&r, RULE_NAME, "!"), -EINVAL);
	assert_int_equal(rules_add(&r, RULE_LABEL, "pod"), -EINVAL);
	assert_int_equal(rules_add(&r, RULE_LABEL, "pod="), -EINVAL);
	assert_int_equal(rules_add(&r, RULE_LABEL, "namespace=x"), -ENOENT);
	assert_int_equal(r.count, 0);
	for (int i = 0; i < RULES_MAX; i++)
		assert_int_equal(rules_add(&r, RULE_NAME, "x"), 0);
	assert_int_equal(rules_add(&r, RULE_NAME, "x"), -E2BIG);
}

static void name_is(const char *wanted, const char *arguments, size_t length)
{
	char name[JVM_NAME_MAX];

	jvm_name(arguments, length, name);
	assert_string_equal(name, wanted);
}

/* Arguments with a NUL after each, as in /proc. */
#define NAME_IS(wanted, arguments) name_is(wanted, arguments, sizeof(arguments) - 1)

static void names_of_jvms(void **state)
{
	(void)state;
	NAME_IS("orders-1.2", "java\0-Xmx1g\0-jar\0/srv/orders-1.2.jar\0--port\0"
			      "80\0");
	NAME_IS("Main", "/usr/bin/java\0-cp\0a.jar:b.jar\0-Dx=y\0com.shop.Main\0arg\0");
	NAME_IS("Main", "java\0@args\0--class-path\0x\0Main\0");
	NAME_IS("Main", "java\0-m\0shop.module/com.shop.Main\0");
	NAME_IS("Bootstrap", "java\0--add-opens\0java.base/java.lang=ALL-UNNAMED\0"
			     "org.apache.catalina.startup.Bootstrap\0start\0");
	NAME_IS("java", "java\0-version\0");
	NAME_IS("java", "java\0-jar\0");
	NAME_IS("java", "java\0-cp\0");
	NAME_IS("java", "java\0-cp\0x");
	NAME_IS("java", "java");
	NAME_IS("java", "");
	NAME_IS("_..x_y", "java\0-jar\0/a/...x y.jar\0");
	NAME_IS("java", "java\0-jar\0/a/\0");
	NAME_IS("a__0_____", "java\0-jar\0a\x1b]0;\xc3\xa9\n;\0");
	NAME_IS("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"java\0aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_any_all_fit), cmocka_unit_test(one_of_each_kind),
		cmocka_unit_test(none_that_excludes),  cmocka_unit_test(a_label_that_is_there),
		cmocka_unit_test(wrong_ones),          cmocka_unit_test(names_of_jvms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
