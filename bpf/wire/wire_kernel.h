/* bpf/wire/wire_kernel.h: how the programs read the kernel's memory; user space chooses. */
#pragma once

enum wire_reads {
	WIRE_READS_HELPER, /* bpf_probe_read_kernel() */
	WIRE_READS_CAST,   /* bpf_rdonly_cast(), and loads */
	WIRE_READS_NONE,   /* only what the verifier knows the pointers of */
};
