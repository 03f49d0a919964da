#include "record/kernel/bpf_session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/types.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/wire/wire.h"
#include "bpf/wire/wire_cpu.h"
#include "bpf/wire/wire_layout.h"
#include "bpf/wire/wire_relay.h"
#include "bpf/wire/wire_stack.h"
#include "bpf/wire/wire_states.h"
#include "bpf/wire/wire_steal.h"
#include "jvm/elf/parser.h"
#include "jvm/jvm.h"
#include "record/decode/spin_ranges.h"
#include "record/decode/walk_host.h"
#include "record/kernel/features/cpu_counters.h"
#include "record/kernel/features/kernel_facts.h"
#include "record/kernel/features/kernel_reads.h"
#include "record/kernel/features/refusal.h"
#include "record/kernel/features/uprobe_multi.h"
#include "record/kernel/hooks.h"
#include "record/kernel/map_sizes.h"
#include "record/kernel/mark.h"
#include "record/kernel/probe_table.h"
#include "record/kernel/relay.h"
#include "record/kernel/programs.h"
#include "record/kernel/sampler.h"
#include "record/kernel/thread_clocks.h"
#include "spoor.skel.h"


/* Links of single locations, or the descriptor of a uprobe_multi link; 0: there is none. */
struct attachment {
	struct uprobe_links *links;
	int fd;
};

struct bpf_session {
	struct jvm *j;
	struct spoor_bpf *skel;
	struct bpf_program *hit; /* of the probes */
	struct ring_buffer *ring;
	struct fragment_ring *fragments; /* NULL: there are none */
	struct bpf_link *sched[7]; /* the last two only by switches */
	struct attachment usdt[PROBE_COUNT];
	struct attachment gates[PROBE_COUNT]; /* of switches */
	bool missing[PROBE_COUNT];
	enum probe_set probes;
	const char *steal_clock, *throttle_clock;
	enum wire_reads reads;
	bool by_entry; /* sched_entry() is there */
	bool virtual_parks, multi; /* multi: this kernel has uprobe_multi links */
	struct uprobe_multi uprobes;
	struct sampler *owners;
	struct thread_clocks_options sample; /* period_ns 0: threads are not sampled */
	struct thread_clocks *clocks;
	struct marks *marks; /* NULL: nobody has looked for them yet */
	unsigned cpus;
	struct relay *relay; /* lent; NULL: the programs of the scheduler are attached */
	unsigned relay_slot;
	bool joined;
};

static int fail(char why[PROGRAMS_WHY_MAX], int err, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, PROGRAMS_WHY_MAX, format, ap);
	va_end(ap);
	return err;
}

/* libbpf's own words are for developers: what matters is said once, by fail(). */
static int quiet(enum libbpf_print_level level, const char *format, va_list ap)
{
	if (!getenv("SPOOR_DEBUG_BPF"))
		return 0;
	(void)level;
	return vfprintf(stderr, format, ap);
}

static void look_at_kernel(struct bpf_session *p)
{
	struct kernel_facts k;

	kernel_facts_read(&k);
	p->skel->rodata->switch_has_state = k.switch_has_state;
	p->by_entry = probes_by_switches(p->probes) && k.sched_entry &&
		      !getenv("SPOOR_NO_SCHED_ENTRY"); /* to try older kernels' way */
	bpf_program__set_autoload(p->skel->progs.sched_entry, p->by_entry);
	bpf_program__set_autoload(p->skel->progs.sched_switch_entry, p->by_entry);
	bpf_program__set_autoload(p->skel->progs.sched_switch, !p->by_entry);
	p->skel->rodata->steal_clock = k.steal.clock;
	p->skel->rodata->steal_offset = k.steal.offset;
	p->steal_clock = steal_clock_name(k.steal.clock);
	p->throttle_clock = k.throttle_clock;
	p->skel->rodata->kernel_reads = p->reads = k.reads;
}

static bool applies(const struct bpf_session *p, const struct probe_row *w)
{
	return probe_applies(w, p->probes) &&
	       (w->of != PROBE_OF_FUNCTION || jvm_has_thread_ids(p->j)) &&
	       (w->of != PROBE_OF_MOVE || p->virtual_parks);
}

static int open_and_load(struct bpf_session *p, const struct bpf_session_options *o,
			 char why[PROGRAMS_WHY_MAX])
{
	const struct map_sizes sizes = {.pid = jvm_pid(p->j),
					.buffer_bytes = o->buffer_bytes,
					.max_threads = o->max_threads,
					.cpus = p->cpus,
					.fragment_bytes = o->fragments.bytes,
					.samples = p->sample.period_ns != 0,
					.timers = p->sample.event == SAMPLE_TIMER,
					.by_switches = probes_by_switches(p->probes),
					.thread_ids = jvm_has_thread_ids(p->j),
					.virtual_threads = jvm_has_virtual(p->j),
					.virtual_parks = p->virtual_parks};
	struct programs_wanted wanted = {.probes = p->probes,
					 .virtual_threads = jvm_has_virtual(p->j),
					 .virtual_parks = p->virtual_parks,
					 .thread_ids = jvm_has_thread_ids(p->j),
					 .sample = p->sample.event};
	struct stat st;
	int err;

	libbpf_set_print(quiet);
	err = sampler_new(&p->owners);
	if (err)
		return fail(why, err, "out of memory");
	p->skel = spoor_bpf__open();
	if (!p->skel)
		return fail(why, -errno, "the BPF programs cannot be opened: %s", strerror(errno));
	wanted.multi = p->multi = uprobe_multi_supported();
	p->hit = programs_choose(p->skel, &wanted);
	programs_set_sample(p->skel, &p->sample, o->sample_tick);
	sampler_choose(p->owners, p->skel);
	look_at_kernel(p);
	if (kernel_reads_refusal(p->reads, jvm_pid(p->j)))
		return fail(why, -ENOTSUP, "%s", kernel_reads_refusal(p->reads, jvm_pid(p->j)));
	if (stat("/proc/self/ns/pid", &st))
		return fail(why, -errno, "/proc/self/ns/pid cannot be read: %s", strerror(errno));
	p->skel->rodata->find_pid = (__u32)jvm_pid(p->j);
	p->skel->rodata->own_pidns = kernel_pidns(st.st_ino);
	p->skel->rodata->wake_bytes = sizes.buffer_bytes / 8;
	p->skel->rodata->off_cpu_ns = o->off_cpu_ns;
	p->skel->rodata->off_cpu_chains = o->sample_ns != 0;
	p->skel->rodata->single_ns = o->single_ns;
	p->skel->rodata->fragment_bytes = o->fragments.bytes;
	p->skel->rodata->native_callers = o->fragments.callers;
	p->skel->rodata->walk_whole = o->fragments.bytes != 0;
	err = map_sizes_set(p->skel, &sizes);
	if (!err && p->relay) {
		p->skel->rodata->relayed = 1;
		err = bpf_map__reuse_fd(p->skel->maps.relay_cpus, relay_cpus_fd(p->relay));
	}
	if (!err)
		err = spoor_bpf__load(p->skel);
	sampler_prepared(p->owners);
	/* Where libbpf's own try of a map that can be mapped fails, it loads all the same. */
	if (!err && !p->skel->bss)
		err = -ENOTSUP;
	if (err)
		refusal_of_load(err, why, PROGRAMS_WHY_MAX);
	return err;
}

int bpf_session_load(struct jvm *j, const struct bpf_session_options *o, struct bpf_session **ret,
		     char why[PROGRAMS_WHY_MAX])
{
	struct bpf_session *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return fail(why, -ENOMEM, "out of memory");
	p->j = j;
	p->probes = o->probes;
	p->virtual_parks = o->virtual_parks && !probes_hooked(o->probes) && jvm_has_virtual(j);
	p->sample = (struct thread_clocks_options){
		.pid = jvm_pid(j),
		.period_ns = o->sample_ns,
		.jitter = o->sample_jitter,
		.event = o->sample_ns ? o->sample_event : SAMPLE_AUTO};
	p->relay = o->relay;
	p->relay_slot = o->relay_slot;
	err = cpus_possible(WIRE_CPUS_MAX, &p->cpus, why, PROGRAMS_WHY_MAX);
	if (err)
		goto fail;
	err = open_and_load(p, o, why);
	if (err)
		goto fail;
	p->ring = ring_buffer__new(bpf_map__fd(p->skel->maps.events), o->record, o->ctx, NULL);
	if (!p->ring) {
		err = fail(why, -errno, "the ring buffer cannot be mapped: %s", strerror(errno));
		goto fail;
	}
	if (o->fragments.bytes)
		err = fragment_ring_new(p->skel, &o->fragments, &p->fragments);
	if (err) {
		fail(why, err, "the ring buffer of fragments cannot be mapped: %s", strerror(-err));
		goto fail;
	}
	bpf_session_set_layout(p);
	if (o->sample_ns)
		spin_ranges_find(j, p->skel->bss->java_code.spins);
	*ret = p;
	return 0;
fail:
	bpf_session_free(p);
	return err;
}

#define COPY(type, name, from) w->name = (type)l->from;

static void set_chunks(struct wire_chunk *w, const struct jvm_layout *l)
{
	WIRE_CHUNK_FIELDS(COPY)
	__atomic_store_n(&w->ready, 1, __ATOMIC_RELEASE);
}

void bpf_session_set_layout(struct bpf_session *p)
{
	const struct jvm_layout *l = jvm_layout(p->j);
	struct wire_layout *w = &p->skel->bss->layout;
	/* Classes that were sent before these were known are sent again, with their flags. */
	bool classes = w->aos_klass != l->aos_klass || w->rrwl_klass != l->rrwl_sync_klass;

	WIRE_LAYOUT_FIELDS(COPY)
#undef COPY
	if (l->chunk.ready)
		set_chunks(&p->skel->bss->java_code.chunk, l);
	if (classes)
		__atomic_fetch_add(&p->skel->bss->class_epoch, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&w->ready, l->ready, __ATOMIC_RELEASE);
}

void bpf_session_set_code(struct bpf_session *p)
{
	walk_code_fill(p->j, &p->skel->bss->java_code);
}

const volatile uint32_t *bpf_session_class_epoch(const struct bpf_session *p)
{
	return &p->skel->bss->class_epoch;
}

void bpf_session_set_native_rule(struct bpf_session *p, uint64_t key,
				 const struct wire_native_rule *rule)
{
	bpf_map_update_elem(bpf_map__fd(p->skel->maps.native_rules), &key, rule, BPF_ANY);
}

int bpf_session_set_java_threads(struct bpf_session *p)
{
	struct jvm_thread *threads;
	size_t count;
	int err = jvm_threads(p->j, &threads, &count);

	if (err)
		return err;
	for (size_t i = 0; i < count; i++) {
		struct wire_java_thread j = {.stack_low =
						     threads[i].stack_base - threads[i].stack_size,
					     .stack_high = threads[i].stack_base};
		__u64 address = threads[i].java_thread;

		if (bpf_map_lookup_elem(bpf_map__fd(p->skel->maps.ns_tids), &threads[i].ns_tid,
					&j.tid))
			j.tid = threads[i].ns_tid;
		if (jvm_has_thread_ids(p->j) && threads[i].java_id) {
			j.id = threads[i].java_id;
			if (bpf_map_update_elem(bpf_map__fd(p->skel->maps.java_threads), &j.id, &j,
						BPF_ANY))
				p->skel->bss->ids_incomplete = 1;
		}
		bpf_map_update_elem(bpf_map__fd(p->skel->maps.java_threads), &address, &j, BPF_ANY);
		bpf_map_update_elem(bpf_map__fd(p->skel->maps.java_thread_of), &j.tid, &address,
				    BPF_ANY);
	}
	free(threads);
	return 0;
}

void bpf_session_refresh(struct bpf_session *p)
{
	if (p->missing[WIRE_PROBE_thread_start])
		bpf_session_set_java_threads(p);
	if (p->missing[WIRE_PROBE_compiled_method_unload])
		__atomic_fetch_add(&p->skel->bss->code_epoch, 1, __ATOMIC_RELAXED);
	if (p->missing[WIRE_PROBE_class_unloaded])
		__atomic_fetch_add(&p->skel->bss->class_epoch, 1, __ATOMIC_RELAXED);
}

/* From the states of JVMTI; 0: none of these. */
static __u32 reason_of_status(uint32_t status)
{
	static const struct {
		uint32_t bit, reason;
	} known[] = {
		{0x400, WIRE_BLOCKED_LOCK}, /* BLOCKED_ON_MONITOR_ENTER */
		{0x100, WIRE_BLOCKED_WAIT}, /* IN_OBJECT_WAIT */
		{0x200, WIRE_BLOCKED_PARK}, /* PARKED */
		{0x40, WIRE_BLOCKED_SLEEP}, /* SLEEPING */
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (status & known[i].bit)
			return known[i].reason;
	return WIRE_BLOCKED_OTHER;
}

int bpf_session_set_first_reasons(struct bpf_session *p, bool monitors)
{
	struct jvm_thread *threads;
	size_t count;
	int err = jvm_threads(p->j, &threads, &count);

	if (err)
		return err;
	for (size_t i = 0; i < count; i++) {
		__u32 reason = reason_of_status(threads[i].status), tid;
		bool parked = reason == WIRE_BLOCKED_PARK || reason == WIRE_BLOCKED_SLEEP;

		if (!reason && threads[i].in_native)
			reason = WIRE_BLOCKED_IO;
		if (!reason)
			continue;
		if (parked ? !probes_by_switches(p->probes)
			   : monitors && p->probes != PROBES_NONE && reason != WIRE_BLOCKED_IO)
			reason |= WIRE_FIRST_HAS_END;
		if (bpf_map_lookup_elem(bpf_map__fd(p->skel->maps.ns_tids), &threads[i].ns_tid,
					&tid))
			tid = threads[i].ns_tid;
		bpf_map_update_elem(bpf_map__fd(p->skel->maps.first_reasons), &tid, &reason,
				    BPF_ANY);
	}
	free(threads);
	return 0;
}

static int iterate(struct bpf_program *program) /* tasks, once through */
{
	struct bpf_link *link = bpf_program__attach_iter(program, NULL);
	char buf[64];
	int fd, err = 0;
	ssize_t n;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0) {
		err = -errno;
		goto out;
	}
	do {
		n = read(fd, buf, sizeof(buf));
	} while (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)));
	if (n < 0)
		err = -errno;
	close(fd);
out:
	bpf_link__destroy(link);
	return err;
}

/* To be attached in this order. */
#define SCHED_PROGRAMS 7

static void sched_programs(const struct bpf_session *p, struct bpf_program *ret[SCHED_PROGRAMS])
{
	struct bpf_program *on_switch =
		p->by_entry ? p->skel->progs.sched_switch_entry : p->skel->progs.sched_switch;
	struct bpf_program *programs[SCHED_PROGRAMS] = {
		p->skel->progs.sched_process_exit, on_switch,
		p->skel->progs.sched_wakeup,       p->skel->progs.sched_wakeup_new,
		p->skel->progs.task_rename,        p->skel->progs.sched_waking,
		p->skel->progs.sched_entry};

	_Static_assert(SCHED_PROGRAMS == sizeof(p->sched) / sizeof(*p->sched), "all");
	memcpy(ret, programs, sizeof(programs));
}

static int attach_own(struct bpf_session *p, char why[PROGRAMS_WHY_MAX])
{
	struct bpf_program *programs[SCHED_PROGRAMS];

	sched_programs(p, programs);
	for (size_t i = 0; i < SCHED_PROGRAMS; i++) {
		if (!bpf_program__autoload(programs[i]))
			continue;
		p->sched[i] = bpf_program__attach(programs[i]);
		if (!p->sched[i])
			return fail(why, -errno, "%s cannot be attached: %s",
				    bpf_program__name(programs[i]), strerror(errno));
	}
	return 0;
}

/* Those of one set for many recorders call ours. */
static int join_relay(struct bpf_session *p, char why[PROGRAMS_WHY_MAX])
{
	static const enum wire_relay_hook hooks[SCHED_PROGRAMS] = {
		WIRE_RELAY_EXIT,   WIRE_RELAY_SWITCH, WIRE_RELAY_WAKEUP, WIRE_RELAY_WAKEUP_NEW,
		WIRE_RELAY_RENAME, WIRE_RELAY_WAKING, WIRE_RELAY_ENTRY};
	struct bpf_program *programs[SCHED_PROGRAMS];
	int fds[WIRE_RELAY_HOOK_COUNT], err;

	_Static_assert(SCHED_PROGRAMS == WIRE_RELAY_HOOK_COUNT, "each has its hook");
	sched_programs(p, programs);
	for (size_t i = 0; i < SCHED_PROGRAMS; i++)
		fds[hooks[i]] =
			bpf_program__autoload(programs[i]) ? bpf_program__fd(programs[i]) : -1;
	err = relay_join(p->relay, p->relay_slot, p->skel->bss->target_tgid, fds);
	if (err)
		return fail(why, err, "the programs of the scheduler cannot be shared: %s",
			    strerror(-err));
	p->joined = true;
	return 0;
}

static int attach_sched(struct bpf_session *p, char why[PROGRAMS_WHY_MAX])
{
	int err;

	/* First pass: which task is the target, in the kernel's own numbers. */
	err = iterate(p->skel->progs.find_threads);
	if (err)
		return fail(why, err, "the threads of the JVM cannot be listed by BPF: %s",
			    strerror(-err));
	if (!p->skel->bss->target_tgid)
		return fail(why, -ESRCH, "process %d has ended", jvm_pid(p->j));
	err = p->relay ? join_relay(p, why) : attach_own(p, why);
	if (err)
		return err;
	err = iterate(p->skel->progs.find_threads);
	if (err)
		return fail(why, err, "the threads of the JVM cannot be listed by BPF: %s",
			    strerror(-err));
	return 0;
}

/* A switch goes without its own semaphore where it can have a gate. */
static int attach_multi(struct bpf_session *p, size_t i, const struct uprobe_name *name)
{
	const struct probe_row *a = &probe_table[i];
	int gate, fd = -ENOTSUP;

	if (a->gate)
		fd = uprobe_multi_attach(&p->uprobes, name, true);
	/* EINVAL: somebody else has attached to it with its semaphore. */
	if (fd < 0 && fd != -ENOENT)
		return uprobe_multi_attach(&p->uprobes, name, false);
	if (fd < 0)
		return fd;
	gate = uprobe_multi_gate(&p->uprobes, p->skel->progs.numbered_gate, a->provider, a->name,
				 a->gate);
	if (gate > 0) {
		p->gates[i].fd = gate;
		return fd;
	}
	close(fd);
	return uprobe_multi_attach(&p->uprobes, name, false);
}

static int attach_usdt(struct bpf_session *p, size_t i, char why[PROGRAMS_WHY_MAX])
{
	const struct probe_row *a = &probe_table[i];
	const struct uprobe_name name = {a->provider, a->name, (uint32_t)i};
	int err = 0;

	if (!applies(p, a))
		return 0;
	if (p->multi) {
		err = attach_multi(p, i, &name);
		if (err > 0)
			p->usdt[i].fd = err;
	} else {
		err = uprobe_single_attach(&p->uprobes, &name, &p->usdt[i].links);
	}
	if (err >= 0)
		return 0;
	if (err == -ENOENT) {
		p->missing[i] = true;
		return 0;
	}
	if (!jvm_alive(p->j))
		return fail(why, -ESRCH, "process %d has ended", jvm_pid(p->j));
	return fail(why, err, "probe %s:%s cannot be attached: %s%s", a->provider, a->name,
		    strerror(-err),
		    err == -EPERM || err == -EACCES ? " (uprobes need CAP_PERFMON or CAP_SYS_ADMIN)"
						    : "");
}

static bool any_attached(const struct bpf_session *p)
{
	for (size_t i = 0; i < PROBE_COUNT; i++)
		if (p->usdt[i].fd || p->usdt[i].links)
			return true;
	return false;
}

static const char *const no_clock[SAMPLE_EVENT_COUNT] = {
	[SAMPLE_TIMER] = "the CPUs get no timers (try event=cpu-clock)",
	[SAMPLE_CPU_CLOCK] = "perf_event_open() gives threads no clock (event=timer needs none)",
	[SAMPLE_TICK] = "the kernel's tick cannot be attached to",
	[SAMPLE_CYCLES] = "the CPUs have no counter of cycles for this process, as in most virtual "
			  "machines (event=cpu-clock needs none)"};

int bpf_session_attach(struct bpf_session *p, char why[PROGRAMS_WHY_MAX])
{
	const struct uprobe_target target = {.pid = jvm_pid(p->j),
					     .file = jvm_libjvm_file(p->j),
					     .parser = jvm_parser(p->j),
					     .deadline_ms = PARSER_ATTACH_MS,
					     .functions = p->virtual_parks ||
							  (p->probes == PROBES_USDT &&
							   jvm_has_thread_ids(p->j)),
					     .program = p->hit,
					     .specs = bpf_map__fd(p->skel->maps.probe_specs)};
	const struct thread_clock_programs clocks = {
		p->skel->progs.timer_make, p->skel->progs.profile_thread,
		p->skel->progs.profile_tick, &p->skel->bss->timers_on};
	int err = attach_sched(p, why);

	if (err)
		return err;
	err = uprobe_multi_open(&p->uprobes, &target);
	if (err)
		return fail(why, err, "the probes of %s cannot be read: %s", jvm_libjvm_name(p->j),
			    parser_error_text(err));
	bpf_session_set_java_threads(p); /* a JVM that is starting has none yet: BPF finds them */
	for (size_t i = 0; i < PROBE_COUNT; i++) {
		err = attach_usdt(p, i, why);
		if (err)
			return err;
	}
	p->skel->bss->no_virtual_ends =
		p->missing[WIRE_PROBE_virtual_epilog] || p->missing[WIRE_PROBE_virtual_tried];
	p->skel->bss->safepoints_told = !p->missing[WIRE_PROBE_safepoint_begin] &&
					!p->missing[WIRE_PROBE_safepoint_end];
	if (!any_attached(p) && p->probes != PROBES_NONE)
		return fail(why, -ENOTSUP,
			    "%s has no USDT probes (a JVM built without dtrace): nothing of its "
			    "locks and pauses can be recorded; run the program on an OpenJDK "
			    "that has them, as Debian's",
			    jvm_libjvm_name(p->j));
	/* Without it, silent owners that keep their CPU are missed: not worth failing for. */
	sampler_open(p->owners, &p->skel->bss->looks_on);
	p->sample.cpus = p->cpus;
	err = thread_clocks_open(&clocks, &p->sample, &p->clocks);
	return err ? fail(why, err, "--sample: %s: %s", no_clock[p->sample.event], strerror(-err))
		   : 0;
}

int bpf_session_look_for_marks(struct bpf_session *p,
			       void (*report)(void *ctx, const char *path, const char *why),
			       void *ctx)
{
	struct marks_options o = {.pid = jvm_pid(p->j),
				  .program = p->hit,
				  .multi = p->multi,
				  .specs = bpf_map__fd(p->skel->maps.probe_specs),
				  .first_spec = p->uprobes.spec_count,
				  .specs_max = bpf_map__max_entries(p->skel->maps.probe_specs),
				  .parser = jvm_parser(p->j),
				  .report = report,
				  .ctx = ctx};
	int err = p->marks ? 0 : marks_new(&o, &p->marks);

	return err ? err : marks_look(p->marks);
}

static void *detach(void *attachment)
{
	struct attachment *a = attachment;

	if (a->fd)
		close(a->fd);
	uprobe_links_free(a->links);
	return NULL;
}

/*
 * Detaching a uprobe waits for an RCU grace period: 90 ms each (Linux 6.18). The periods are shared
 * by all who wait at the same time, so each link gets a thread to wait in. (That helps uprobe_multi
 * links only: the perf events of older kernels are closed under one mutex, 2.2 s in all.)
 */
static void detach_all(struct attachment *list, size_t count)
{
	pthread_t threads[PROBE_COUNT];
	bool started[PROBE_COUNT];

	for (size_t i = 0; i < count; i++) {
		started[i] = (list[i].fd || list[i].links) &&
			     !pthread_create(&threads[i], NULL, detach, &list[i]);
		if (!started[i])
			detach(&list[i]);
	}
	for (size_t i = 0; i < count; i++)
		if (started[i])
			pthread_join(threads[i], NULL);
	memset(list, 0, count * sizeof(*list));
}

/* Those with gates were switched off by them before; without, they are to be the first. */
static void detach_switches(struct bpf_session *p)
{
	struct attachment switches[PROBE_COUNT] = {0};

	for (size_t i = 0; i < PROBE_COUNT; i++) {
		struct attachment *a = p->gates[i].fd ? &p->gates[i] : &p->usdt[i];

		if (!probe_table[i].gate)
			continue;
		switches[i] = *a;
		*a = (struct attachment){0};
	}
	detach_all(switches, PROBE_COUNT);
}

void bpf_session_detach(struct bpf_session *p)
{
	if (p->skel && p->skel->bss)
		p->skel->bss->safepoints_told = 0;
	marks_detach(p->marks);
	detach_switches(p);
	detach_all(p->usdt, PROBE_COUNT);
	sampler_close(p->owners);
	thread_clocks_close(p->clocks);
	p->clocks = NULL;
	/* All of the scheduler's programs at once: each goes by what the others have seen. */
	if (p->skel && p->skel->bss)
		p->skel->bss->target_tgid = 0;
	if (p->joined)
		relay_leave(p->relay, p->relay_slot);
	p->joined = false;
	for (size_t i = 0; i < sizeof(p->sched) / sizeof(*p->sched); i++) {
		bpf_link__destroy(p->sched[i]);
		p->sched[i] = NULL;
	}
}

bool bpf_session_detached(const struct bpf_session *p)
{
	return !p->sched[0] && !p->joined;
}

void bpf_session_free(struct bpf_session *p)
{
	if (!p)
		return;
	bpf_session_detach(p);
	marks_free(p->marks);
	uprobe_multi_close(&p->uprobes);
	ring_buffer__free(p->ring);
	fragment_ring_free(p->fragments);
	sampler_free(p->owners);
	spoor_bpf__destroy(p->skel);
	free(p);
}

static json_t *names(const struct bpf_session *p, bool missing)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < PROBE_COUNT; i++)
		if (missing ? p->missing[i] : p->usdt[i].fd || p->usdt[i].links)
			json_array_append_new(list, json_sprintf("%s:%s", probe_table[i].provider,
								 probe_table[i].name));
	return list;
}

json_t *bpf_session_attached(const struct bpf_session *p)
{
	return names(p, false);
}

bool bpf_session_has_all(const struct bpf_session *p, enum probe_of of)
{
	for (size_t i = 0; i < PROBE_COUNT; i++)
		if (probe_table[i].of == of && !p->usdt[i].fd && !p->usdt[i].links)
			return false;
	return true;
}

json_t *bpf_session_missing(const struct bpf_session *p)
{
	return names(p, true);
}

const char *bpf_session_steal_clock(const struct bpf_session *p)
{
	return p->steal_clock ? p->steal_clock : "none";
}

const char *bpf_session_limits(const struct bpf_session *p)
{
	return kernel_reads_limits(p->reads);
}

const char *bpf_session_throttle_clock(const struct bpf_session *p)
{
	return p->throttle_clock ? p->throttle_clock : "none";
}

int bpf_session_fd(const struct bpf_session *p)
{
	return ring_buffer__epoll_fd(p->ring);
}

int bpf_session_consume(struct bpf_session *p)
{
	return ring_buffer__consume(p->ring);
}

struct fragment_ring *bpf_session_fragments(const struct bpf_session *p)
{
	return p->fragments;
}

int bpf_session_sample_owners(struct bpf_session *p, bool on)
{
	return sampler_run(p->owners, on);
}

const char *bpf_session_owner_clock(const struct bpf_session *p)
{
	return sampler_name(p->owners);
}

uint64_t bpf_session_owner_period_ns(const struct bpf_session *p)
{
	return sampler_period_ns(p->owners);
}

static int run(struct bpf_program *program)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	return bpf_prog_test_run_opts(bpf_program__fd(program), &opts) ? -errno : 0;
}

void bpf_session_flush_waits(struct bpf_session *p)
{
	if (probes_by_switches(p->probes))
		run(p->skel->progs.flush_waits);
	if (p->virtual_parks)
		run(p->skel->progs.flush_parks);
}

bool bpf_session_contended(struct bpf_session *p)
{
	return p->skel->bss->contended && __sync_lock_test_and_set(&p->skel->bss->contended, 0);
}

int bpf_session_sample_threads(struct bpf_session *p)
{
	return run(p->skel->progs.sample_threads);
}

int bpf_session_sample_cpus(struct bpf_session *p, struct wire_cpu *cpus, unsigned count)
{
	int err = run(p->skel->progs.sample_cpus);

	if (err)
		return err;
	/* Nobody switches accounts any more: threads are sampled against exactly these clocks. */
	if (bpf_session_detached(p))
		p->skel->bss->frozen = 1;
	for (__u32 i = 0; i < count; i++)
		if (bpf_map_lookup_elem(bpf_map__fd(p->skel->maps.cpus), &i, &cpus[i]))
			return -errno;
	return 0;
}

int bpf_session_lost(struct bpf_session *p, uint64_t *ret, unsigned count)
{
	return cpu_counters_read(p->skel->maps.lost, ret, count);
}

int bpf_session_walks(struct bpf_session *p, uint64_t *ret)
{
	return cpu_counters_read(p->skel->maps.walks, ret, WIRE_WALK_COUNT);
}
