#include "jvm/target/labels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/alloc_fail.h"

#define ID "8f0c3a1d5e7b9f2c4a6d8e0b1c3f5a7d9e2b4c6f8a0d1e3b5c7f9a2d4e6b8c0f"
#define UID_OF_POD "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"

static void parse(const char *text, const char *pod, const char *container, const char *runtime,
		  const char *unit)
{
	struct labels l;

	labels_parse(text, &l);
	assert_string_equal(l.value[LABEL_POD], pod);
	assert_string_equal(l.value[LABEL_CONTAINER], container);
	assert_string_equal(l.value[LABEL_RUNTIME], runtime);
	assert_string_equal(l.value[LABEL_UNIT], unit);
}

static void kubernetes(void **state)
{
	(void)state;
	parse("0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-"
	      "pod0a1b2c3d_4e5f_6071_8293_a4b5c6d7e8f9.slice/cri-containerd-" ID ".scope\n",
	      UID_OF_POD, ID, "containerd", "");
	parse("0::/kubepods.slice/kubepods-pod0a1b2c3d_4e5f_6071_8293_a4b5c6d7e8f9.slice/crio-" ID
	      ".scope/container\n",
	      UID_OF_POD, ID, "crio", "");
	/* The cgroupfs driver, version 1. */
	parse("11:memory:/kubepods/burstable/pod" UID_OF_POD "/" ID "\n"
	      "1:name=systemd:/kubepods/burstable/pod" UID_OF_POD "/" ID "\n0::/\n",
	      UID_OF_POD, ID, "", "");
	/* As seen from beside it, in a cgroup namespace. */
	parse("0::/../cri-containerd-" ID ".scope\n", "", ID, "containerd", "");
}

static void containers(void **state)
{
	(void)state;
	parse("0::/system.slice/docker-" ID ".scope\n", "", ID, "docker", "");
	parse("5:cpu:/docker/" ID "\n", "", ID, "docker", "");
	parse("0::/machine.slice/libpod-" ID ".scope/container\n", "", ID, "podman", "");
	parse("0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope\n",
	      "", ID, "podman", "user@1000.service");
	parse("0::/lxc.payload.web1/system.slice/tomcat9.service\n", "", "web1", "lxc",
	      "tomcat9.service");
}

static void units(void **state)
{
	(void)state;
	parse("0::/system.slice/tomcat10.service\n", "", "", "", "tomcat10.service");
	parse("0::/user.slice/user-1000.slice/session-3.scope\n", "", "", "", "session-3.scope");
	parse("0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-x.scope\n", "", "",
	      "", "user@1000.service");
	parse("0::/\n", "", "", "", "");
	parse("", "", "", "", "");
	parse("0:\nx\n::::\n", "", "", "", "");
}

/* Who may make cgroups names them. */
static void names_made_up(void **state)
{
	struct labels l;
	char text[4096] = "0::/";

	(void)state;
	parse("0::/docker-xyz.scope\n", "", "", "", "docker-xyz.scope");
	parse("0::/kubepods-pod.slice/pod1/x\n", "", "", "", "");
	labels_parse("0::/a\033[31m b.service\n", &l);
	assert_string_equal(l.value[LABEL_UNIT], "a?[31m?b.service");
	assert_string_equal(l.cgroup, "/a?[31m?b.service");
	memset(text + 4, 'a', sizeof(text) - 5);
	labels_parse(text, &l);
	assert_int_equal(strlen(l.value[LABEL_CONTAINER]), LABEL_VALUE_MAX - 1);
	assert_int_equal(strlen(l.cgroup), sizeof(l.cgroup) - 1);
}

static void found_by_name(void **state)
{
	(void)state;
	for (enum label l = 0; l < LABEL_COUNT; l++)
		assert_int_equal(label_find(label_name(l), strlen(label_name(l))), l);
	assert_int_equal(label_find("po", 2), LABEL_COUNT);
	assert_int_equal(label_find("pods", 4), LABEL_COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kubernetes),    cmocka_unit_test(containers),
		cmocka_unit_test(units),         cmocka_unit_test(names_made_up),
		cmocka_unit_test(found_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
