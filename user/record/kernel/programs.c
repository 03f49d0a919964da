#include "record/kernel/programs.h"

#include <bpf/libbpf.h>
#include <linux/types.h>

#include "base/text/units.h"
#include "bpf/wire/wire_layout.h"
#include "bpf/wire/wire_stack.h"
#include "record/kernel/features/uprobe_multi.h"
#include "spoor.skel.h"

/* Each has the handlers of its probes only: the verifier sees nothing of the others. */
static struct bpf_program *choose_hit(struct spoor_bpf *skel, enum probe_set probes)
{
	struct bpf_program *wanted = probes_hooked(probes)	    ? skel->progs.probe_hit_hooks
				     : probes_by_switches(probes) ? skel->progs.probe_hit_none
								   : skel->progs.probe_hit_usdt;

	bpf_program__set_autoload(skel->progs.probe_hit_none, false);
	bpf_program__set_autoload(skel->progs.probe_hit_usdt, false);
	bpf_program__set_autoload(skel->progs.probe_hit_hooks, false);
	bpf_program__set_autoload(wanted, true);
	return wanted;
}

struct bpf_program *programs_choose(struct spoor_bpf *skel, const struct programs_wanted *w)
{
	bool hooked = probes_hooked(w->probes), by_switches = probes_by_switches(w->probes);
	struct bpf_program *hit = choose_hit(skel, w->probes);

	bpf_program__set_autoload(skel->progs.numbered_gate, hooked && w->multi);
	bpf_program__set_autoload(skel->progs.sched_waking, by_switches);
	bpf_program__set_autoload(skel->progs.flush_waits, by_switches);
	bpf_program__set_autoload(skel->progs.flush_parks, w->virtual_parks);
	bpf_program__set_autoload(skel->progs.profile_thread,
				  w->sample == SAMPLE_CPU_CLOCK || w->sample == SAMPLE_CYCLES);
	bpf_program__set_autoload(skel->progs.profile_tick, w->sample == SAMPLE_TICK);
	bpf_program__set_autoload(skel->progs.timer_make, w->sample == SAMPLE_TIMER);
	if (w->multi) {
		uprobe_multi_prepare(skel->progs.numbered_gate);
		uprobe_multi_prepare(hit);
	}
	skel->rodata->numbered = hooked;
	skel->rodata->by_switches = by_switches;
	skel->rodata->may_be_unmounted = w->thread_ids;
	skel->rodata->virtual_parks_too = w->virtual_parks;
	skel->rodata->walk_chunks = w->virtual_threads;
	return hit;
}

void programs_set_sample(struct spoor_bpf *skel, const struct thread_clocks_options *o,
			 uint64_t tick)
{
	uint64_t tick_ns = clock_tick_ns();

	skel->rodata->tick_function = tick;
	skel->rodata->sample_ticks =
		tick_ns && o->period_ns > tick_ns ? (__u32)(o->period_ns / tick_ns) : 1;
	if (!o->period_ns || o->event != SAMPLE_TIMER)
		return;
	skel->rodata->timer_period_ns = thread_clocks_period_ns(o);
	skel->rodata->timer_jitter = o->jitter;
}
