/* steal/hypervisor.h: which hypervisor this machine runs on. */
#pragma once

/* "KVM", "Xen", "VMware", "Hyper-V", another one's own signature, or "none". Static. */
const char *hypervisor_name(void);
