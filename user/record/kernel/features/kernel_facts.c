#include "record/kernel/features/kernel_facts.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/types.h>
#include <stdarg.h>
#include <string.h>

#include "bpf/wire/wire_steal.h"
#include "record/kernel/features/kernel_reads.h"
#include "record/kernel/features/vmlinux_btf.h"
#include "steal/sources/hypervisor.h"

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

static int quiet(enum libbpf_print_level level, const char *format, va_list ap)
{
	(void)level, (void)format, (void)ap;
	return 0;
}

void kernel_facts_read(struct kernel_facts *ret)
{
	static struct kernel_facts known; /* reading the BTF takes some 20 ms of CPU time */
	static bool is_known;
	libbpf_print_fn_t before;
	struct btf *btf;

	if (is_known) {
		*ret = known;
		return;
	}
	before = libbpf_set_print(quiet);
	btf = vmlinux_btf_load();
	libbpf_set_print(before);
	*ret = (struct kernel_facts){.steal.clock = WIRE_STEAL_NONE,
				     .throttle_clock = "none",
				     .reads = kernel_reads_of(btf)};
	if (!btf)
		return;
	ret->switch_has_state = switch_has_state(btf);
	ret->sched_entry =
		btf__find_by_name_kind(btf, "btf_trace_sched_entry_tp", BTF_KIND_TYPEDEF) > 0;
	if (ret->reads != WIRE_READS_NONE)
		ret->throttle_clock = throttle_clock_of(btf);
	if (ret->reads == WIRE_READS_NONE ||
	    steal_clock_find(btf, hypervisor_name(), NULL, &ret->steal) || ret->steal.ticks)
		ret->steal = (struct steal_clock){.clock = WIRE_STEAL_NONE};
	vmlinux_btf_lend(btf);
	known = *ret;
	is_known = true;
}
