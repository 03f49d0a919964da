/* steal/sources/hypervisor.h: which hypervisor this machine runs on, and what it reports of stolen
 * time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "KVM", "Xen", "VMware", "Hyper-V", another one's own signature, or "none". Static. */
const char *hypervisor_name(void);

struct arch;

enum hypervisor_kind {
	HYPERVISOR_NONE,
	HYPERVISOR_KVM,
	HYPERVISOR_XEN,
	HYPERVISOR_VMWARE,
	HYPERVISOR_HYPERV,
	HYPERVISOR_OTHER, /* known by name, or not at all */
	HYPERVISOR_KIND_COUNT,
};

enum hypervisor_steal {
	HYPERVISOR_STEAL_NO,    /* always 0, however much is stolen */
	HYPERVISOR_STEAL_MAYBE, /* cannot be seen from here */
	HYPERVISOR_STEAL_YES,
};

struct hypervisor {
	enum hypervisor_kind kind;
	char name[32];
	enum hypervisor_steal steal;
	const char *clock; /* static: what reports stolen time, and its unit; "" if nothing does */
	const char *why;   /* static: how that is known, and what to do if nothing reports it */
};

#define HYPERVISOR_LEAVES 8

/* One answer of CPUID. */
struct hypervisor_leaf {
	uint32_t leaf, eax, ebx, ecx, edx;
};

/* What the machine says of itself; leaves that are not listed have no answer. */
struct hypervisor_facts {
	struct hypervisor_leaf leaves[HYPERVISOR_LEAVES];
	size_t leaf_count;
	const struct arch *arch; /* NULL: the one that this is compiled for */
	char type[32];    /* /sys/hypervisor/type */
	char vendor[64];  /* /sys/class/dmi/id/sys_vendor */
	char product[64]; /* /sys/class/dmi/id/product_name */
};

void hypervisor_read(struct hypervisor_facts *ret);
void hypervisor_judge(const struct hypervisor_facts *f, struct hypervisor *ret);
