/* record/kernel/features/vmlinux_btf.h: the types of the running kernel, read once for an attach.
 */
#pragma once

struct btf;

/*
 * What /sys/kernel/btf/vmlinux says; NULL and errno: it is not there. It is some 5 MB, which is
 * read and indexed in 10 to 20 ms of CPU time. vmlinux_btf_lend() keeps it for libbpf, which needs
 * the same to load programs: the next caller of btf__load_vmlinux_btf() owns it then.
 */
struct btf *vmlinux_btf_load(void);
void vmlinux_btf_lend(struct btf *btf);
