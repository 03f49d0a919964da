/* bpf/lib/kernel.bpf.h: how memory of the kernel is read. */
#pragma once

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/wire/wire_kernel.h"

/*
 * Members of what the verifier knows (an argument of a tp_btf program, bpf_get_current_task_btf(),
 * and all that their pointers lead to) are loaded, without a helper: that is cheaper, and allowed
 * where a kernel that is locked down for confidentiality refuses bpf_probe_read_kernel() and its
 * like (LOCKDOWN_BPF_READ_KERNEL). What has been kept in a map is a number to the verifier, and the
 * index of an array is none that it knows: such addresses become pointers again by
 * bpf_rdonly_cast() (Linux 6.2: a35b9af4ec2c), or are read by the helper; user space knows which.
 * A load of such a pointer that faults gives 0.
 *
 * Since Linux 6.4 the verifier looks, at each load of a pointer out of a struct that it trusts, for
 * types with three other names in all of the kernel's BTF, one by one: 1.4 ms of an attach each.
 * It does not if bpf_rdonly_cast() has made the pointer to the struct.
 */
const volatile __u32 kernel_reads __weak = WIRE_READS_HELPER;

/* One file of each BPF object has KERNEL_CAST(): bpftool 7.1 cannot link two that refer to a
 * function of the kernel's. */
extern __hidden void *kernel_cast(const void *address, __u32 type);

#define KERNEL_CAST()                                                                              \
	extern void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __ksym __weak;                 \
	__hidden void *kernel_cast(const void *address, __u32 type)                                \
	{                                                                                          \
		return bpf_rdonly_cast(address, type);                                             \
	}

#define KERNEL_AT(type, address)                                                                   \
	((type *)kernel_cast((const void *)(address), bpf_core_type_id_kernel(type)))

/* A member of the struct at an address; 0: it cannot be read. */
#define KERNEL_LOAD(type, address, member)                                                         \
	({                                                                                         \
		typeof(((type *)0)->member) loaded = 0;                                            \
                                                                                                   \
		if (kernel_reads == WIRE_READS_CAST)                                               \
			loaded = KERNEL_AT(type, address)->member;                                 \
		else if (kernel_reads == WIRE_READS_HELPER)                                        \
			bpf_core_read(&loaded, sizeof(loaded), &((type *)(address))->member);      \
		loaded;                                                                            \
	})

/* The address that a member of a struct that the verifier trusts holds. */
#define KERNEL_POINTER(type, known, member)                                                        \
	(kernel_reads == WIRE_READS_CAST ? (__u64)KERNEL_AT(type, known)->member                   \
					 : (__u64)(known)->member)

/* Two words anywhere: the struct has no more, and its members are numbers. */
struct timespec64___spoor {
	__s64 tv_sec;
	long tv_nsec;
} __attribute__((preserve_access_index));

static __always_inline __u64 kernel_word(__u64 address)
{
	__u64 v = 0;

	if (kernel_reads == WIRE_READS_CAST)
		v = KERNEL_AT(struct timespec64___spoor, address)->tv_sec;
	else if (kernel_reads == WIRE_READS_HELPER)
		bpf_probe_read_kernel(&v, sizeof(v), (void *)address);
	return v;
}

#define COMM_BYTES 16 /* TASK_COMM_LEN */

/* A name of at most COMM_BYTES with its NUL; 0: it cannot be read. */
static __always_inline int kernel_comm(char to[COMM_BYTES], __u64 address)
{
	__u64 words[2];

	if (kernel_reads == WIRE_READS_HELPER)
		return bpf_probe_read_kernel_str(to, COMM_BYTES, (void *)address) > 0;
	if (kernel_reads != WIRE_READS_CAST)
		return 0;
	words[0] = kernel_word(address);
	words[1] = kernel_word(address + 8);
	__builtin_memcpy(to, words, COMM_BYTES);
	to[COMM_BYTES - 1] = 0;
	return 1;
}

/* Of a task that the verifier knows. */
static __always_inline void task_comm(char to[COMM_BYTES], struct task_struct *task)
{
	const __u64 *from = (const __u64 *)task->comm;
	__u64 words[2] = {from[0], from[1]};

	__builtin_memcpy(to, words, COMM_BYTES);
}

static __always_inline __u32 comm_length(const char name[COMM_BYTES])
{
	for (__u32 i = 0; i < COMM_BYTES; i++)
		if (!name[i])
			return i;
	return COMM_BYTES;
}

/* Of the struct pid of a task that the verifier trusts, whose address is pid. */
static __always_inline __u32 pid_level(struct task_struct *task, __u64 pid)
{
	return kernel_reads == WIRE_READS_CAST ? KERNEL_AT(struct pid, pid)->level
					       : task->thread_pid->level;
}

/* The address of a task's number in the pid namespace of a level. */
static __always_inline __u64 upid_at(__u64 pid, __u32 level)
{
	__u64 offset = level;

	/* Linux 6.1 knows the bounds of a product only if it is the second factor that is known. */
	asm volatile("%0 *= %1" : "+r"(offset) : "r"((__u64)bpf_core_type_size(struct upid)));
	return pid + bpf_core_field_offset(struct pid, numbers) + offset;
}
