/* bpf/vmlinux/kernel_types.h: the kernel's types that the programs use, alike on all architectures,
 * with the members used.
 *
 * The kernel that loads a program says where members are (CO-RE): their names and types must be
 * right here, offsets and order need not be. Types of the ABI (kinds of maps, flags) are fixed. So
 * no input of the build comes from the kernel of the machine that builds. A member that a program
 * comes to need is added here, with the kernel's type.
 */
#pragma once

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __s8 s8;
typedef __u8 u8;
typedef __s32 s32;
typedef __u32 u32;
typedef __s64 s64;
typedef __u64 u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef int pid_t;
typedef _Bool bool;

enum { false = 0, true = 1 };

/* include/uapi/linux/bpf.h; numbers are ABI. */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PROG_ARRAY = 3,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum { BPF_ANY = 0, BPF_NOEXIST = 1, BPF_EXIST = 2 };
enum { BPF_F_NO_PREALLOC = 1, BPF_F_MMAPABLE = 1024 };
enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2 };
enum { BPF_RB_AVAIL_DATA = 0, BPF_RB_RING_SIZE = 1 };

struct bpf_raw_tracepoint_args {
	__u64 args[0];
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct thread_info {
	u32 cpu;
};

struct sched_entity {
	u64 exec_start;
	u64 sum_exec_runtime;
	u64 prev_sum_exec_runtime;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	unsigned int on_cpu; /* these two: int, and u8 since 7.x: libbpf adapts only */
	unsigned int on_rq;  /* loads of unsigned integers to another size */
	struct sched_entity se;
	pid_t pid;
	pid_t tgid;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	unsigned long nvcsw;
	unsigned long nivcsw;
	u64 start_boottime;
	char comm[16];
};

struct hrtimer {
	void *function; /* enum hrtimer_restart (*)(struct hrtimer *) */
};

struct bpf_iter_meta;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop
