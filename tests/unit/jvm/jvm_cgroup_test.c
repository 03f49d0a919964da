#include "jvm/flag/cgroup.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/alloc_fail.h"

static const char mountinfo[] =
	"22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
	"31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
	"32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
	"33 31 0:30 /docker/4711 /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids\n"
	"41 31 0:38 / /sys/fs/cgroup/uni\\040fied rw shared:4 master:1 - cgroup2 cgroup2 rw\n"
	"42 31 0:39 / /mnt/cgroup - cgroup3 cgroup2 rw\n"
	"43 31 0:39 /\n"
	"44 31 0:39 / /mnt/last rw - cgroup2 none rw";

struct seen {
	char text[512];
	int unified;
};

static void take(void *ctx, const char *procs, bool unified)
{
	struct seen *s = ctx;
	size_t len = strlen(s->text);

	snprintf(s->text + len, sizeof(s->text) - len, "%s;", procs);
	s->unified += unified;
}

static void tops_are_found(void **state)
{
	struct seen s = {0};

	(void)state;
	cgroup_tops_each(mountinfo, take, &s);
	assert_string_equal(s.text, "/sys/fs/cgroup/cpu/cgroup.procs;"
				    "/sys/fs/cgroup/uni fied/cgroup.procs;"
				    "/mnt/last/cgroup.procs;");
	assert_int_equal(s.unified, 2);
}

static void damage_is_survived(void **state)
{
	char text[sizeof(mountinfo)];

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(mountinfo); i++) {
		struct seen s = {0};

		memcpy(text, mountinfo, sizeof(text));
		text[i] = text[i] == ' ' ? '\\' : ' ';
		cgroup_tops_each(text, take, &s);
		text[i] = 0;
		cgroup_tops_each(text, take, &s);
	}
}

static void a_path_that_is_too_long(void **state)
{
	static char text[6000];
	struct seen s = {0};

	(void)state;
	snprintf(text, sizeof(text), "1 2 0:1 / /%05000d rw - cgroup2 none rw\n", 0);
	cgroup_tops_each(text, take, &s);
	assert_string_equal(s.text, "");
}

static void allocations_may_fail(void **state)
{
	(void)state;
	alloc_fail_at(0);
	assert_int_equal(cgroup_may_leave(), -ENOENT);
	assert_true(alloc_fail_off());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tops_are_found),
		cmocka_unit_test(damage_is_survived),
		cmocka_unit_test(a_path_that_is_too_long),
		cmocka_unit_test(allocations_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
