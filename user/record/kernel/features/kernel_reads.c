#include "record/kernel/features/kernel_reads.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "record/kernel/features/kernel_try.h"

/* PROC_PID_INIT_INO, include/linux/proc_ns.h: the same in every kernel. */
#define PIDNS_INITIAL 4026531836u

#define LOCKED_DOWN "the kernel is locked down for confidentiality: "

enum wire_reads kernel_reads_of(const struct btf *vmlinux)
{
	const char *choice = getenv("SPOOR_KERNEL_READS");

	if (choice && !strcmp(choice, "none"))
		return WIRE_READS_NONE;
	if (choice && !strcmp(choice, "helper"))
		return WIRE_READS_HELPER;
	if (vmlinux && btf__find_by_name_kind(vmlinux, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0)
		return WIRE_READS_CAST;
	return kernel_try_read() == -EOPNOTSUPP ? WIRE_READS_NONE : WIRE_READS_HELPER;
}

const char *kernel_reads_limits(enum wire_reads reads)
{
	if (reads != WIRE_READS_NONE)
		return NULL;
	return LOCKED_DOWN "the call chain of a lock's owner is taken when the owner next leaves "
			   "its CPU, and stolen time, CPU quotas and new names of running threads "
			   "are not recorded (Linux 6.2 and newer have them)";
}

uint32_t kernel_pidns(ino_t inode)
{
	return inode == PIDNS_INITIAL ? 0 : (uint32_t)inode;
}

/* Whether the process's number is another one in the kernel's own namespace. */
static int in_pid_namespace(pid_t pid, bool *ret)
{
	char path[64];
	struct stat own, its;

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	if (stat("/proc/self/ns/pid", &own) || stat(path, &its))
		return -errno;
	*ret = kernel_pidns(own.st_ino) || kernel_pidns(its.st_ino);
	return 0;
}

const char *kernel_reads_refusal(enum wire_reads reads, pid_t pid)
{
	bool inside = false;

	if (reads != WIRE_READS_NONE || in_pid_namespace(pid, &inside) || !inside)
		return NULL;
	return LOCKED_DOWN "before Linux 6.2 BPF then cannot read the numbers that threads have "
			   "in a pid namespace: record from outside of containers, and JVMs "
			   "outside of them";
}
