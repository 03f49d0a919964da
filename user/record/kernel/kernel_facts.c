#include "record/kernel/kernel_facts.h"

#include <bpf/btf.h>
#include <linux/types.h>
#include <string.h>

#include "bpf/wire/wire_steal.h"
#include "steal/hypervisor.h"

/* PROC_PID_INIT_INO, include/linux/proc_ns.h: the same in every kernel. */
#define PIDNS_INITIAL 4026531836u

/* Whether a struct of the kernel has a member of this name. */
static bool has_member(const struct btf *btf, const char *type, const char *member)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, (__u32)id) : NULL;

	for (int i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(t)[i].name_off), member))
			return true;
	return false;
}

/* In the order in which bpf/lib/throttle.bpf.h takes them. */
static const char *throttle_clock_of(const struct btf *btf)
{
	static const char *const clocks[] = {"throttled_clock_self_time",
					     "throttled_clock_pelt_time",
					     "throttled_clock_task_time"};

	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++)
		if (has_member(btf, "cfs_rq", clocks[i]))
			return clocks[i];
	return "none";
}

/* A pointer to a function (void *, preempt, prev, next, prev_state). */
static bool switch_has_state(const struct btf *btf)
{
	int id = btf__find_by_name_kind(btf, "btf_trace_sched_switch", BTF_KIND_TYPEDEF);
	const struct btf_type *t;

	t = id > 0 ? btf__type_by_id(btf, btf__type_by_id(btf, (__u32)id)->type) : NULL;
	t = t ? btf__type_by_id(btf, t->type) : NULL;
	return t && btf_is_func_proto(t) && btf_vlen(t) >= 5;
}

void kernel_facts_read(struct kernel_facts *ret)
{
	struct btf *btf = btf__load_vmlinux_btf();

	*ret = (struct kernel_facts){.steal.clock = WIRE_STEAL_NONE, .throttle_clock = "none"};
	if (!btf)
		return;
	ret->switch_has_state = switch_has_state(btf);
	ret->sched_entry =
		btf__find_by_name_kind(btf, "btf_trace_sched_entry_tp", BTF_KIND_TYPEDEF) > 0;
	if (steal_clock_find(btf, hypervisor_name(), NULL, &ret->steal) || ret->steal.ticks)
		ret->steal = (struct steal_clock){.clock = WIRE_STEAL_NONE};
	ret->throttle_clock = throttle_clock_of(btf);
	btf__free(btf);
}

uint32_t kernel_pidns(ino_t inode)
{
	return inode == PIDNS_INITIAL ? 0 : (uint32_t)inode;
}
