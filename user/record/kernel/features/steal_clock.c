#include "record/kernel/features/steal_clock.h"

#include <bpf/btf.h>
#include <errno.h>
#include <linux/types.h>
#include <string.h>

#include "bpf/wire/wire_steal.h"

#define PERCPU_SECTION ".data..percpu"
#define CPUTIME_STEAL 7 /* enum cpu_usage_stat; the same since 2.6.39 */

/* In the order of preference, which is that of enum wire_steal_clock. */
static const struct candidate {
	const char *name;
	const char *hypervisor; /* NULL: any */
	const char *variable;   /* per CPU; NULL: the clock is in the run queue */
	const char *type, *member;
	unsigned element; /* of the member, an array of 64-bit numbers */
	bool ticks;
} candidates[WIRE_STEAL_COUNT] = {
	[WIRE_STEAL_NONE] = {.name = "none"},
	[WIRE_STEAL_RQ_CLOCK] = {"rq_clock", NULL, NULL, "rq", "prev_steal_time_rq", 0, false},
	[WIRE_STEAL_KVM] = {"kvm_steal_time", "KVM", "steal_time", "kvm_steal_time", "steal", 0,
			    false},
	[WIRE_STEAL_XEN] = {"xen_runstate", "Xen", "xen_runstate", "vcpu_runstate_info", "time", 0,
			    false},
	[WIRE_STEAL_RQ_TICKS] = {"rq_ticks", NULL, NULL, "rq", "prev_steal_time", 0, true},
	[WIRE_STEAL_CPUSTAT] = {"cpustat", NULL, "kernel_cpustat", "kernel_cpustat", "cpustat",
				CPUTIME_STEAL, true},
};

const char *steal_clock_name(uint32_t clock)
{
	return clock < WIRE_STEAL_COUNT ? candidates[clock].name : "unknown";
}

static const struct btf_type *type_of(const struct btf *btf, const char *name, __u32 kind)
{
	int id = btf__find_by_name_kind(btf, name, kind);

	return id > 0 ? btf__type_by_id(btf, (__u32)id) : NULL;
}

/* In bytes; -1: the structure, or the kernel, has no such member. */
static int64_t member_offset(const struct btf *btf, const char *type, const char *member)
{
	const struct btf_type *t = type_of(btf, type, BTF_KIND_STRUCT);

	for (__u32 i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(t)[i].name_off), member))
			return btf_member_bit_offset(t, i) / 8;
	return -1;
}

static bool is_struct_named(const struct btf *btf, __u32 id, const char *name)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(btf, t->type);
	return t && btf_is_struct(t) && !strcmp(btf__name_by_offset(btf, t->name_off), name);
}

/* Where in each CPU's area the variable lies; -1: BTF does not say. */
static int64_t percpu_offset(const struct btf *btf, const char *variable, const char *type)
{
	const struct btf_type *section = type_of(btf, PERCPU_SECTION, BTF_KIND_DATASEC);
	const struct btf_var_secinfo *v = section ? btf_var_secinfos(section) : NULL;

	for (__u32 i = 0; section && i < btf_vlen(section); i++) {
		const struct btf_type *t = btf__type_by_id(btf, v[i].type);

		if (t && !strcmp(btf__name_by_offset(btf, t->name_off), variable) &&
		    is_struct_named(btf, t->type, type))
			return v[i].offset;
	}
	return -1;
}

static bool has(const struct btf *btf, const struct candidate *c, const char *hypervisor,
		int64_t *ret_offset)
{
	int64_t member = member_offset(btf, c->type, c->member), variable, rq;

	if (member < 0 || (c->hypervisor && strcmp(c->hypervisor, hypervisor) != 0))
		return false;
	if (!c->variable)
		return true;
	variable = percpu_offset(btf, c->variable, c->type);
	rq = percpu_offset(btf, "runqueues", "rq");
	if (variable < 0 || rq < 0)
		return false;
	*ret_offset = variable - rq + member + 8 * (int64_t)c->element;
	return true;
}

int steal_clock_find(const struct btf *vmlinux, const char *hypervisor, const char *name,
		     struct steal_clock *ret)
{
	struct steal_clock found = {.name = candidates[WIRE_STEAL_NONE].name};
	bool known = !name;

	found.why = "this kernel keeps no steal clock that BPF can find";
	/* Every clock is found by the run queue, and that through a task's. */
	if (member_offset(vmlinux, "sched_entity", "cfs_rq") < 0) {
		found.why = "this kernel was built without CONFIG_FAIR_GROUP_SCHED";
		*ret = found;
		return 0;
	}
	for (uint32_t i = 0; i < WIRE_STEAL_COUNT; i++) {
		const struct candidate *c = &candidates[i];

		if (name && strcmp(name, c->name) != 0)
			continue;
		known = true;
		if (i == WIRE_STEAL_NONE || !has(vmlinux, c, hypervisor, &found.offset))
			continue;
		found.clock = i;
		found.name = c->name;
		found.ticks = c->ticks;
		found.why = NULL;
		break;
	}
	if (!known)
		return -ENOENT;
	*ret = found;
	return 0;
}
