/* Java threads: start, stop, sleep, renaming; classes: unloading. */
#include "bpf/lib/stack.bpf.h"
#include "bpf/lib/probe.bpf.h"

PROBE(thread_start, __u64 name, __u32 length, __u64 java_id, __u64 os_tid, __u32 daemon)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *t = thread_current(now);
	struct wire_thread_java *r;

	if (!t) {
		count_drop(WIRE_THREAD_JAVA, WIRE_LOST_MAP);
		return 0;
	}
	t->java.list = 0;
	r = emit_reserve(WIRE_THREAD_JAVA, sizeof(*r));
	if (!r)
		return 0;
	head_fill(&r->head, WIRE_THREAD_JAVA, daemon & 0xff ? WIRE_DAEMON : 0, current_tid(), now);
	if (length >= WIRE_NAME_MAX)
		r->head.flags |= WIRE_NAME_CUT;
	r->java_id = java_id;
	r->java_thread = java_thread_current(t);
	r->ns_tid = t->ns_tid;
	r->name_length = read_name(r->name, WIRE_NAME_MAX, name, length);
	emit_submit(r);
	return 0;
}

PROBE(thread_stop)
{
	emit_head(WIRE_THREAD_STOP, current_tid());
	return 0;
}

/* In off_cpu records and samples: no record of its own. */
PROBE(thread_sleep_begin)
{
	struct thread_state *t = thread_current(bpf_ktime_get_ns());

	if (t)
		set_probe_reason(t, WIRE_BLOCKED_SLEEP);
	return 0;
}

PROBE(thread_sleep_end)
{
	struct thread_state *t = thread_find(current_tid());

	if (t)
		thread_done(t, WIRE_BLOCKED_SLEEP);
	return 0;
}

/* Thread.setName of a running thread reaches the kernel, which keeps 15 bytes. */
SEC("tp_btf/task_rename")
int BPF_PROG(task_rename, struct task_struct *task, const char *comm)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *t;
	struct wire_span *r;
	__u32 tid;

	if (!target_tgid || (__u32)task->tgid != target_tgid)
		return 0;
	tid = task->pid;
	t = thread_find(tid);
	if (!t)
		return 0;
	r = emit_reserve(WIRE_RENAME, sizeof(*r));
	if (!r)
		return 0;
	head_fill(&r->head, WIRE_RENAME, 0, tid, now);
	thread_states(t, tid, now, &r->self);
	r->pad = 0;
	r->name_length = kernel_comm(r->name, (__u64)comm) ? comm_length(r->name) : 0;
	emit_submit(r);
	return 0;
}

/* The address of a compiled method may be used again after this: every pc is looked up anew. */
PROBE(compiled_method_unload)
{
	__sync_fetch_and_add(&code_epoch, 1);
	return 0;
}

/* A Klass address may be used again after this: every class is named anew at its next use. */
PROBE(class_unloaded)
{
	__sync_fetch_and_add(&class_epoch, 1);
	return 0;
}
