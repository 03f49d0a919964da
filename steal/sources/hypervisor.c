/*
 * CPUID says whether there is a hypervisor (leaf 1, ecx bit 31); the leaves from 0x40000000 on are
 * set aside for it, and the 12 bytes of signature in the first name it. One that poses as Hyper-V
 * for Windows (KVM and Xen can) has its own signature 0x100 leaves further on, as Linux knows
 * (hypervisor_cpuid_base). Where there is no CPUID, and for a paravirtual Xen guest,
 * /sys/hypervisor and the names in the machine's DMI table say.
 *
 * What is known of each about stolen time:
 * - KVM: one record per CPU that the host writes, in ns (kvm_steal_time.steal), if bit 5 of leaf
 *   0x40000001 offers it (KVM_FEATURE_STEAL_TIME).
 * - Xen: the run states of each CPU, in ns: runnable + offline. Always there.
 * - VMware: a stolen-time counter, in ns, if the host's administrator lets the guest have it
 *   (stealclock.enable in the guest's configuration; Linux 5.7).
 * - Hyper-V: Linux has no steal clock there.
 */
#include "steal/sources/hypervisor.h"

#include <stdio.h>
#include <string.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "base/arch/arch.h"
#include "steal/sources/procfile.h"

#define LEAF_FEATURES 1u
#define LEAF_FIRST 0x40000000u
#define LEAF_STEP 0x100u
#define FEATURE_HYPERVISOR (1u << 31)
#define KVM_FEATURE_STEAL_TIME (1u << 5)

static const struct {
	const char *signature, *name;
	enum hypervisor_kind kind;
} signatures[] = {
	{"KVMKVMKVM", "KVM", HYPERVISOR_KVM},
	{"XenVMMXenVMM", "Xen", HYPERVISOR_XEN},
	{"VMwareVMware", "VMware", HYPERVISOR_VMWARE},
	{"Microsoft Hv", "Hyper-V", HYPERVISOR_HYPERV},
	{"TCGTCGTCGTCG", "QEMU TCG", HYPERVISOR_OTHER},
	{"bhyve bhyve ", "bhyve", HYPERVISOR_OTHER},
};

/* Parts of names in the DMI table. */
static const struct {
	const char *part, *name;
	enum hypervisor_kind kind;
} machines[] = {
	{"KVM", "KVM", HYPERVISOR_KVM},
	{"Amazon EC2", "KVM", HYPERVISOR_KVM},
	{"Google Compute Engine", "KVM", HYPERVISOR_KVM},
	{"OpenStack", "KVM", HYPERVISOR_KVM},
	{"Xen", "Xen", HYPERVISOR_XEN},
	{"HVM domU", "Xen", HYPERVISOR_XEN},
	{"VMware", "VMware", HYPERVISOR_VMWARE},
	{"Microsoft Corporation Virtual", "Hyper-V", HYPERVISOR_HYPERV},
	{"QEMU", "QEMU", HYPERVISOR_OTHER},
	{"innotek GmbH", "VirtualBox", HYPERVISOR_OTHER},
};

static const struct {
	enum hypervisor_steal steal;
	const char *clock, *why;
} kinds[HYPERVISOR_KIND_COUNT] = {
	[HYPERVISOR_NONE] = {HYPERVISOR_STEAL_NO, "", "there is no hypervisor that could steal"},
	[HYPERVISOR_KVM] = {HYPERVISOR_STEAL_MAYBE, NULL, NULL}, /* struct arch says */
	[HYPERVISOR_XEN] = {HYPERVISOR_STEAL_YES, "run states, ns", "Xen always reports it"},
	[HYPERVISOR_VMWARE] = {HYPERVISOR_STEAL_MAYBE, "VMware's steal clock, ns",
			       "only if the host's administrator has set stealclock.enable = TRUE "
			       "for this guest; else it is always 0"},
	[HYPERVISOR_HYPERV] = {HYPERVISOR_STEAL_NO, "",
			       "Linux has no steal clock on Hyper-V: 0 does not mean that nothing "
			       "is stolen; ask the host (CPU Wait Time Per Dispatch)"},
	[HYPERVISOR_OTHER] = {HYPERVISOR_STEAL_MAYBE, "",
			      "nothing is known of this hypervisor: 0 need not mean that nothing "
			      "is stolen"},
};

static const struct hypervisor_leaf *find(const struct hypervisor_facts *f, uint32_t leaf)
{
	size_t count = f->leaf_count < HYPERVISOR_LEAVES ? f->leaf_count : HYPERVISOR_LEAVES;

	for (size_t i = 0; i < count; i++)
		if (f->leaves[i].leaf == leaf)
			return &f->leaves[i];
	return NULL;
}

static void read_signature(const struct hypervisor_leaf *l, char ret[13])
{
	memcpy(ret, &l->ebx, 4);
	memcpy(ret + 4, &l->ecx, 4);
	memcpy(ret + 8, &l->edx, 4);
	ret[12] = 0;
}

static void set(struct hypervisor *h, enum hypervisor_kind kind, const char *name)
{
	h->kind = kind;
	snprintf(h->name, sizeof(h->name), "%s", name);
	h->steal = kinds[kind].steal;
	h->clock = kinds[kind].clock;
	h->why = kinds[kind].why;
}

static void judge_kvm(const struct hypervisor_facts *f, uint32_t base, struct hypervisor *h)
{
	const struct hypervisor_leaf *features = find(f, base + 1);

	if (!features)
		return;
	h->clock = arch_x86_64.kvm_clock;
	if (features->eax & KVM_FEATURE_STEAL_TIME) {
		h->steal = HYPERVISOR_STEAL_YES;
		h->why = "the host offers it (KVM_FEATURE_STEAL_TIME)";
		return;
	}
	h->steal = HYPERVISOR_STEAL_NO;
	h->clock = "";
	h->why = "this host does not offer KVM_FEATURE_STEAL_TIME (an old or nested one, or a CPU "
		 "model without kvm-steal-time): 0 does not mean that nothing is stolen";
}

/* False: nobody answers there; or somebody who is not known, of whom other_too does not want to
 * hear: leaves that do not exist have anything in them. */
static bool judge_leaf(const struct hypervisor_facts *f, uint32_t base, bool other_too,
		       struct hypervisor *h)
{
	const struct hypervisor_leaf *l = find(f, base);
	char signature[13];

	if (!l || (!l->ebx && !l->ecx && !l->edx))
		return false;
	read_signature(l, signature);
	for (size_t i = 0; i < sizeof(signatures) / sizeof(*signatures); i++) {
		if (strcmp(signature, signatures[i].signature))
			continue;
		set(h, signatures[i].kind, signatures[i].name);
		if (h->kind == HYPERVISOR_KVM)
			judge_kvm(f, base, h);
		return true;
	}
	if (!other_too)
		return false;
	for (char *c = signature; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	set(h, HYPERVISOR_OTHER, signature[0] ? signature : "unknown");
	return true;
}

static bool judge_machine(const struct hypervisor_facts *f, struct hypervisor *h)
{
	char both[sizeof(f->vendor) + sizeof(f->product) + 1];

	snprintf(both, sizeof(both), "%.*s %.*s", (int)sizeof(f->vendor) - 1, f->vendor,
		 (int)sizeof(f->product) - 1, f->product);
	if (strstr(both, ".metal"))
		return false;
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		if (!strstr(both, machines[i].part))
			continue;
		set(h, machines[i].kind, machines[i].name);
		return true;
	}
	return false;
}

/* Without CPUID the machine's names are all there is, and a machine may have none. */
static void judge_named(const struct hypervisor_facts *f, const struct arch *a,
			struct hypervisor *h)
{
	if (judge_machine(f, h))
		return;
	if (f->type[0])
		set(h, HYPERVISOR_OTHER, f->type);
	else if (!f->vendor[0] && !f->product[0] && !a->nameless_is_physical)
		set(h, HYPERVISOR_OTHER, "unknown");
}

static void judge(const struct hypervisor_facts *f, const struct arch *a, struct hypervisor *h)
{
	const struct hypervisor_leaf *features = find(f, LEAF_FEATURES);

	set(h, HYPERVISOR_NONE, "none");
	if (!strncmp(f->type, "xen", 3)) {
		set(h, HYPERVISOR_XEN, "Xen");
		return;
	}
	if (!features) {
		judge_named(f, a, h);
		return;
	}
	/* A CPU that says so is right. */
	if (!(features->ecx & FEATURE_HYPERVISOR))
		return;
	if (!judge_leaf(f, LEAF_FIRST, true, h)) {
		if (!judge_machine(f, h))
			set(h, HYPERVISOR_OTHER, "unknown");
		return;
	}
	if (h->kind == HYPERVISOR_HYPERV)
		judge_leaf(f, LEAF_FIRST + LEAF_STEP, false, h);
}

void hypervisor_judge(const struct hypervisor_facts *f, struct hypervisor *ret)
{
	const struct arch *a = f->arch ? f->arch : &ARCH_HERE;

	judge(f, a, ret);
	if (ret->kind == HYPERVISOR_KVM && !ret->why) {
		ret->clock = a->kvm_clock;
		ret->why = a->kvm_unknown;
	}
}

static void read_text(const char *path, char *ret, size_t size)
{
	struct procfile f = {0};

	ret[0] = 0;
	if (procfile_read(&f, path) > 0) {
		f.text[strcspn(f.text, "\n")] = 0;
		snprintf(ret, size, "%s", f.text);
	}
	procfile_free(&f);
}

#if defined(__x86_64__) || defined(__i386__)
static const struct hypervisor_leaf *ask(struct hypervisor_facts *f, uint32_t leaf)
{
	struct hypervisor_leaf *l = &f->leaves[f->leaf_count++];

	l->leaf = leaf;
	__cpuid(leaf, l->eax, l->ebx, l->ecx, l->edx);
	return l;
}

static void read_leaves(struct hypervisor_facts *f)
{
	if (!(ask(f, LEAF_FEATURES)->ecx & FEATURE_HYPERVISOR))
		return;
	for (uint32_t base = LEAF_FIRST; base <= LEAF_FIRST + LEAF_STEP; base += LEAF_STEP) {
		uint32_t last = ask(f, base)->eax;

		/* Old KVMs say 0 and mean the next. */
		if (!last || last > base)
			ask(f, base + 1);
	}
}
#else
static void read_leaves(struct hypervisor_facts *f)
{
	(void)f;
}
#endif

void hypervisor_read(struct hypervisor_facts *ret)
{
	memset(ret, 0, sizeof(*ret));
	read_leaves(ret);
	read_text("/sys/hypervisor/type", ret->type, sizeof(ret->type));
	read_text("/sys/class/dmi/id/sys_vendor", ret->vendor, sizeof(ret->vendor));
	read_text("/sys/class/dmi/id/product_name", ret->product, sizeof(ret->product));
}

const char *hypervisor_name(void)
{
	static struct hypervisor here;
	struct hypervisor_facts f;

	hypervisor_read(&f);
	hypervisor_judge(&f, &here);
	return here.name;
}
