/* record/kernel/features/kernel_reads.h: how BPF programs may read the kernel's memory here, and
 * what a recording lacks if they may not. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "bpf/wire/wire_kernel.h"

struct btf;

/* vmlinux: the kernel's types, or NULL. SPOOR_KERNEL_READS=helper or =none tries the way of other
 * kernels. */
enum wire_reads kernel_reads_of(const struct btf *vmlinux);
/* What a recording lacks, for users; NULL: nothing. Static. */
const char *kernel_reads_limits(enum wire_reads reads);
/* Why a process cannot be recorded; NULL: it can. Static. */
const char *kernel_reads_refusal(enum wire_reads reads, pid_t pid);

/* For bpf/lib/pidns.bpf.h, of the inode number of /proc/self/ns/pid: 0 for the initial one. */
uint32_t kernel_pidns(ino_t inode);
