#include "steal/hypervisor.h"

#include <stddef.h>
#include <string.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

/* CPUID leaf 0x40000000 is set aside for hypervisors; its 12 bytes of signature name them. */
static const struct {
	const char *signature, *name;
} known[] = {
	{"KVMKVMKVM", "KVM"},        {"XenVMMXenVMM", "Xen"},      {"VMwareVMware", "VMware"},
	{"Microsoft Hv", "Hyper-V"}, {"TCGTCGTCGTCG", "QEMU TCG"}, {"bhyve bhyve ", "bhyve"},
};

const char *hypervisor_name(void)
{
#if defined(__x86_64__) || defined(__i386__)
	static char signature[13];
	unsigned a, b, c, d;

	__cpuid(1, a, b, c, d);
	if (!(c & 1u << 31))
		return "none";
	__cpuid(0x40000000, a, b, c, d);
	memcpy(signature, &b, 4);
	memcpy(signature + 4, &c, 4);
	memcpy(signature + 8, &d, 4);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(signature, known[i].signature))
			return known[i].name;
	return signature[0] ? signature : "unknown";
#else
	return "unknown";
#endif
}
