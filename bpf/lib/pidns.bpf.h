/* bpf/lib/pidns.bpf.h: the numbers of tasks as user space, in its pid namespace, knows them. */
#pragma once

#include "vmlinux.h"

#include "bpf/lib/kernel.bpf.h"

#define PID_LEVELS_MAX 32 /* MAX_PID_NS_LEVEL, a power of two */

const volatile __u32 own_pidns = 0; /* of user space: the inode number; 0: the initial one */

struct pid_search {
	__u64 pid;
	__u32 level, found;
};

static long pid_look(__u32 level, struct pid_search *s)
{
	__u64 at, ns;

	asm volatile("%0 &= %1" : "+r"(level) : "i"(PID_LEVELS_MAX - 1));
	at = upid_at(s->pid, level);
	ns = (__u64)KERNEL_LOAD(struct upid, at, ns);
	if (ns && KERNEL_LOAD(struct pid_namespace, ns, ns.inum) == own_pidns) {
		s->found = KERNEL_LOAD(struct upid, at, nr);
		return 1;
	}
	return level >= s->level;
}

/* The number of a task in user space's pid namespace; 0: it has none. */
static __always_inline __u32 own_tid(struct task_struct *task)
{
	struct pid_search s = {};

	if (!own_pidns)
		return task->pid;
	s.pid = KERNEL_POINTER(struct task_struct, task, thread_pid);
	s.level = pid_level(task, s.pid);
	bpf_loop(PID_LEVELS_MAX, pid_look, &s, 0);
	return s.found;
}

static __always_inline __u32 own_tgid(struct task_struct *task)
{
	return own_pidns ? own_tid(task->group_leader) : (__u32)task->tgid;
}
