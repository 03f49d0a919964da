/* bpf/lib/pidns.bpf.h: the numbers of tasks as user space, in its pid namespace, knows them. */
#pragma once

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define PID_LEVELS_MAX 32 /* MAX_PID_NS_LEVEL */

const volatile __u32 own_pidns = 0; /* of user space: the inode number; 0: the initial one */

/* The number of a task in user space's pid namespace; 0: it has none. */
static __always_inline __u32 own_tid(struct task_struct *task)
{
	struct pid *pid;
	unsigned int level;

	if (!own_pidns)
		return task->pid;
	pid = BPF_CORE_READ(task, thread_pid);
	level = BPF_CORE_READ(pid, level);
	for (unsigned int i = 0; i < PID_LEVELS_MAX && i <= level; i++) {
		struct upid upid = {};

		bpf_core_read(&upid, sizeof(upid), &pid->numbers[i]);
		if (BPF_CORE_READ(upid.ns, ns.inum) == own_pidns)
			return upid.nr;
	}
	return 0;
}

static __always_inline __u32 own_tgid(struct task_struct *task)
{
	return own_pidns ? own_tid(task->group_leader) : (__u32)task->tgid;
}
