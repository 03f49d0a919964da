/* steal/sources/hypervisor.c: what machines say of themselves; answers of CPUID as such hypervisors give them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arch/arch.h"
#include "steal/sources/hypervisor.h"
#include "tests/unit/alloc_fail.h"

/* A signature's three registers. */
#define SIGNATURE(base, last, b, c, d)                                                                                 \
	{                                                                                                              \
		base, last, b, c, d                                                                                    \
	}
#define KVM(base) SIGNATURE(base, (base) + 1, 0x4b4d564b, 0x564b4d56, 0x4d)
#define XEN(base) SIGNATURE(base, (base) + 4, 0x566e6558, 0x65584d4d, 0x4d4d566e)
#define VMWARE(base) SIGNATURE(base, (base) + 0x10, 0x61774d56, 0x4d566572, 0x65726177)
#define HYPERV(base) SIGNATURE(base, (base) + 0xb, 0x7263694d, 0x666f736f, 0x76482074)
#define GUEST                                                                                                          \
	{                                                                                                              \
		1, 0x506e3, 0, 0xfed83203, 0                                                                           \
	}
#define METAL                                                                                                          \
	{                                                                                                              \
		1, 0x506e3, 0, 0x7ffafbff, 0                                                                           \
	}

static struct hypervisor judge(struct hypervisor_facts f)
{
	struct hypervisor h;

	while (f.leaf_count < HYPERVISOR_LEAVES && f.leaves[f.leaf_count].leaf)
		f.leaf_count++;
	hypervisor_judge(&f, &h);
	return h;
}

static void check(struct hypervisor_facts f, enum hypervisor_kind kind, const char *name, enum hypervisor_steal steal)
{
	struct hypervisor h = judge(f);

	assert_int_equal(h.kind, kind);
	assert_string_equal(h.name, name);
	assert_int_equal(h.steal, steal);
	assert_true(*h.why);
}

static void a_machine_without(void **state)
{
	(void)state;
	check((struct hypervisor_facts){.leaves = {METAL}, .vendor = "QEMU"}, HYPERVISOR_NONE, "none",
	      HYPERVISOR_STEAL_NO);
	check((struct hypervisor_facts){.vendor = "LENOVO", .product = "20XW"}, HYPERVISOR_NONE, "none",
	      HYPERVISOR_STEAL_NO);
	check((struct hypervisor_facts){.vendor = "Amazon EC2", .product = "m7g.metal"}, HYPERVISOR_NONE, "none",
	      HYPERVISOR_STEAL_NO);
}

static void kvm_offers_its_steal_record_or_not(void **state)
{
	struct hypervisor_facts f = {.leaves = {GUEST, KVM(0x40000000), {0x40000001, 0x01007efb, 0, 0, 0}}};
	struct hypervisor h = judge(f);

	(void)state;
	check(f, HYPERVISOR_KVM, "KVM", HYPERVISOR_STEAL_YES);
	assert_string_equal(h.clock, "kvm_steal_time, ns");
	f.leaves[2].eax &= ~0x20u;
	check(f, HYPERVISOR_KVM, "KVM", HYPERVISOR_STEAL_NO);
	assert_string_equal(judge(f).clock, "");
	f.leaves[2].leaf = 0; /* it does not say */
	check(f, HYPERVISOR_KVM, "KVM", HYPERVISOR_STEAL_MAYBE);
}

static void the_others_by_their_signatures(void **state)
{
	(void)state;
	check((struct hypervisor_facts){.leaves = {GUEST, XEN(0x40000000)}}, HYPERVISOR_XEN, "Xen",
	      HYPERVISOR_STEAL_YES);
	check((struct hypervisor_facts){.leaves = {GUEST, VMWARE(0x40000000)}}, HYPERVISOR_VMWARE, "VMware",
	      HYPERVISOR_STEAL_MAYBE);
	check((struct hypervisor_facts){.leaves = {GUEST, HYPERV(0x40000000)}}, HYPERVISOR_HYPERV, "Hyper-V",
	      HYPERVISOR_STEAL_NO);
	check((struct hypervisor_facts){.leaves = {GUEST, {0x40000000, 0, 0x54474354, 0x43544743, 0x47435447}}},
	      HYPERVISOR_OTHER, "QEMU TCG", HYPERVISOR_STEAL_MAYBE);
	check((struct hypervisor_facts){.leaves = {GUEST, {0x40000000, 0, 0x20746e61, 0x44205141, 0x07}}},
	      HYPERVISOR_OTHER, "ant AQ D?", HYPERVISOR_STEAL_MAYBE);
	check((struct hypervisor_facts){.leaves = {GUEST}}, HYPERVISOR_OTHER, "unknown", HYPERVISOR_STEAL_MAYBE);
}

/* For Windows guests they show Hyper-V's leaves first. */
static void one_that_poses_as_hyperv(void **state)
{
	(void)state;
	check(
		(struct hypervisor_facts){
			.leaves = {GUEST, HYPERV(0x40000000), KVM(0x40000100), {0x40000101, 0x20, 0, 0, 0}}},
		HYPERVISOR_KVM, "KVM", HYPERVISOR_STEAL_YES);
	check((struct hypervisor_facts){.leaves = {GUEST, HYPERV(0x40000000), XEN(0x40000100)}}, HYPERVISOR_XEN, "Xen",
	      HYPERVISOR_STEAL_YES);
	/* Leaves that do not exist have the last one's answer on some CPUs. */
	check((struct hypervisor_facts){.leaves = {GUEST, HYPERV(0x40000000), {0x40000100, 7, 0x340, 0x340, 0x10}}},
	      HYPERVISOR_HYPERV, "Hyper-V", HYPERVISOR_STEAL_NO);
}

static void files_tell_where_the_cpu_does_not(void **state)
{
	(void)state;
	check((struct hypervisor_facts){.leaves = {METAL}, .type = "xen"}, HYPERVISOR_XEN, "Xen", HYPERVISOR_STEAL_YES);
	check((struct hypervisor_facts){.vendor = "Amazon EC2", .product = "m7g.large"}, HYPERVISOR_KVM, "KVM",
	      HYPERVISOR_STEAL_MAYBE);
	check((struct hypervisor_facts){.vendor = "QEMU", .product = "KVM Virtual Machine"}, HYPERVISOR_KVM, "KVM",
	      HYPERVISOR_STEAL_MAYBE);
	check((struct hypervisor_facts){.vendor = "Microsoft Corporation", .product = "Virtual Machine"},
	      HYPERVISOR_HYPERV, "Hyper-V", HYPERVISOR_STEAL_NO);
	check((struct hypervisor_facts){.vendor = "VMware, Inc.", .product = "VMware7,1"}, HYPERVISOR_VMWARE, "VMware",
	      HYPERVISOR_STEAL_MAYBE);
	check((struct hypervisor_facts){.type = "lguest"}, HYPERVISOR_OTHER, "lguest", HYPERVISOR_STEAL_MAYBE);
}

/* arm64 has no CPUID, and a machine without firmware tables (a micro VM) has no names. */
static void without_cpuid(void **state)
{
	struct hypervisor h;

	(void)state;
	check((struct hypervisor_facts){.arch = &arch_arm64}, HYPERVISOR_OTHER, "unknown",
	      HYPERVISOR_STEAL_MAYBE);
	check((struct hypervisor_facts){.arch = &arch_arm64,
					.vendor = "Ampere",
					.product = "Mt. Jade"},
	      HYPERVISOR_NONE, "none", HYPERVISOR_STEAL_NO);
	check((struct hypervisor_facts){.arch = &arch_x86_64}, HYPERVISOR_NONE, "none",
	      HYPERVISOR_STEAL_NO);
	h = judge((struct hypervisor_facts){
		.arch = &arch_arm64, .vendor = "Amazon EC2", .product = "m7g.large"});
	assert_int_equal(h.kind, HYPERVISOR_KVM);
	assert_non_null(strstr(h.clock, "PVTime"));
	assert_non_null(strstr(h.why, "stolen time PV"));
}

static void this_machine(void **state)
{
	struct hypervisor_facts f;
	struct hypervisor h;

	(void)state;
	hypervisor_read(&f);
	hypervisor_judge(&f, &h);
	assert_string_equal(h.name, hypervisor_name());
	assert_true(h.name[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_without),
		cmocka_unit_test(kvm_offers_its_steal_record_or_not),
		cmocka_unit_test(the_others_by_their_signatures),
		cmocka_unit_test(one_that_poses_as_hyperv),
		cmocka_unit_test(files_tell_where_the_cpu_does_not),
		cmocka_unit_test(without_cpuid),
		cmocka_unit_test(this_machine),
	};

	return cmocka_run_group_tests_name("steal_hypervisor", tests, NULL, NULL);
}
