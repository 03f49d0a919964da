#include "record/kernel/steal_audit.h"
#include "record/kernel/features/refusal.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/types.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "audit.skel.h"
#include "bpf/wire/wire_steal.h"
#include "record/decode/audit_accounts.h"
#include "record/kernel/features/kernel_facts.h"
#include "record/kernel/features/kernel_reads.h"
#include "record/kernel/features/steal_clock.h"
#include "steal/sources/hypervisor.h"
#include "steal/sources/source.h"

#define BATCH 1024
#define THREADS_MIN 4096
#define THREADS_MAX 1048576

struct audit {
	struct audit_bpf *skel;
	struct bpf_link *links[5];
	struct ring_buffer *ring;
	struct audit_accounts *accounts;
	struct steal_sink *sink; /* while a sample is being collected */
	pid_t pid;
	int pidfd; /* of pid; -1: all */
	bool ended;
	unsigned cpus;
	uint64_t epoch;
	struct wire_audit_key *keys, *dead; /* BATCH each */
	struct wire_audit_thread *values;
};

static int fail(char why[AUDIT_WHY_MAX], int err, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, AUDIT_WHY_MAX, format, ap);
	va_end(ap);
	return err;
}

/* libbpf's own words are for developers: what matters is said once, by fail(). */
static int quiet(enum libbpf_print_level level, const char *format, va_list ap)
{
	(void)level;
	return getenv("SPOOR_DEBUG_BPF") ? vfprintf(stderr, format, ap) : 0;
}

/* --- what has been counted ------------------------------------------------------------------- */

static int read_cpu(struct audit *a, __u32 cpu, struct wire_audit_cpu *ret)
{
	return bpf_map_lookup_elem(bpf_map__fd(a->skel->maps.audit_cpus), &cpu, ret) ? -errno : 0;
}

/* Nobody writes to the account of a CPU that is offline; it begins anew when it comes back. */
static int cut_offline(struct audit *a, __u32 cpu)
{
	struct wire_audit_cpu c;
	int err = read_cpu(a, cpu, &c);

	if (err || !c.seen)
		return err;
	c.seen = 0;
	return bpf_map_update_elem(bpf_map__fd(a->skel->maps.audit_cpus), &cpu, &c, BPF_ANY)
		       ? -errno
		       : 0;
}

/* Ends the CPU's epoch. 1: it has been cut; 0: it is offline; or negative errno. */
static int cut_cpu(struct audit *a, __u32 cpu)
{
	__u64 args[1] = {a->epoch + 1};
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = args, .ctx_size_in = sizeof(args),
		    .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);

	if (!bpf_prog_test_run_opts(bpf_program__fd(a->skel->progs.audit_cut), &o))
		return 1;
	return errno == ENXIO ? cut_offline(a, cpu) : -errno;
}

static void push_cpu(struct audit *a, __u32 cpu, const struct wire_audit_sums *s)
{
	uint64_t left[WIRE_AUDIT_WHOSE];

	for (int i = 0; i < WIRE_AUDIT_WHOSE; i++)
		left[i] = s->time_ns[i] - s->stolen_ns[i];
	steal_push_cpu(a->sink, &(struct steal_cpu){.cpu = cpu,
						    .steal_ns = s->clock_ns,
						    .idle_ns = left[WIRE_AUDIT_IDLE],
						    .busy_ns = left[WIRE_AUDIT_THREADS] +
							       left[WIRE_AUDIT_UNSEEN]});
}

/* What no thread could be charged with, as that of a thread of its own, with tid 0. */
static void push_unseen(struct audit *a, uint64_t time_ns, uint64_t stolen_ns)
{
	struct steal_thread t = {
		.cpu_ns = time_ns, .stolen_ns = stolen_ns, .fresh = true, .comm = "(unseen)"};

	if (time_ns && !a->pid)
		steal_push_thread(a->sink, &t);
}

/* Ends the epoch on all CPUs, and reports what each of them has counted. */
static int collect_cpus(struct audit *a)
{
	uint64_t histogram[STEAL_SLOTS] = {0}, idle = 0, unseen = 0, unseen_stolen = 0;
	uint64_t thefts_lost = 0, threads_lost = 0;
	struct wire_audit_cpu c;

	_Static_assert(STEAL_SLOTS == WIRE_AUDIT_SLOTS, "the same histogram");
	a->skel->bss->newest_epoch = a->epoch + 1;
	for (__u32 cpu = 0; cpu < a->cpus; cpu++) {
		int on = cut_cpu(a, cpu);
		int err = on < 0 ? on : read_cpu(a, cpu, &c);

		if (err)
			return err;
		if (on)
			push_cpu(a, cpu, &c.cut);
		idle += c.cut.stolen_ns[WIRE_AUDIT_IDLE];
		unseen += c.cut.time_ns[WIRE_AUDIT_UNSEEN] + c.cut.late_ns;
		unseen_stolen += c.cut.stolen_ns[WIRE_AUDIT_UNSEEN] + c.cut.late_ns;
		thefts_lost += c.cut.thefts_lost;
		threads_lost += c.cut.threads_lost;
		for (unsigned i = 0; i < STEAL_SLOTS; i++)
			histogram[i] += c.histogram[i];
	}
	push_unseen(a, unseen, unseen_stolen);
	steal_push_idle_stolen(a->sink, idle);
	steal_push_histogram(a->sink, histogram);
	steal_push_lost(a->sink, thefts_lost, threads_lost);
	return 0;
}

/* A thread of another pid namespace has no number in ours. */
static int32_t number(uint32_t own, uint32_t initial)
{
	return own ? (int32_t)own : -(int32_t)initial;
}

static int push_thread(void *ctx, const struct audit_account *account)
{
	const struct wire_audit_thread *v = account->value;
	struct audit *a = ctx;
	struct steal_thread t = {.tid = number(v->ns_tid, account->key->tid),
				 .pid = number(v->ns_tgid, v->tgid),
				 .cpu_ns = account->time_ns,
				 .stolen_ns = account->stolen_ns,
				 .fresh = account->fresh,
				 .ended = account->ended};

	if (a->pid && t.pid != a->pid)
		return 0;
	t.start_ticks = account->key->begin_ns / (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
	memcpy(t.comm, v->comm, sizeof(t.comm) - 1);
	steal_push_thread(a->sink, &t);
	return 0;
}

/* Reads all accounts of the epoch that has been ended; those of threads that ended in it go. */
static int collect_threads(struct audit *a)
{
	int map = bpf_map__fd(a->skel->maps.audit_threads), err = 0;
	struct wire_audit_key at, next;
	bool first = true, more = true;

	while (more) {
		__u32 count = BATCH, dead = 0;

		if (bpf_map_lookup_batch(map, first ? NULL : &at, &next, a->keys, a->values, &count,
					 NULL)) {
			if (errno != ENOENT)
				return -errno;
			more = false;
		}
		for (__u32 i = 0; i < count && !err; i++) {
			bool ended = a->values[i].ended && a->values[i].ended - 1 <= a->epoch;

			err = audit_accounts_add(a->accounts, a->epoch, &a->keys[i], &a->values[i],
						 push_thread, a);
			if (ended)
				a->dead[dead++] = a->keys[i];
		}
		if (err)
			return err;
		for (__u32 i = 0; i < dead; i++)
			bpf_map_delete_elem(map, &a->dead[i]);
		at = next;
		first = false;
	}
	return 0;
}

static int take_theft(void *ctx, void *data, size_t size)
{
	const struct wire_audit_theft *w = data;
	struct audit *a = ctx;
	struct steal_theft t = {.time_ns = w->time_ns, .ns = w->taken_ns, .cpu = w->cpu};

	(void)size;
	if (!a->sink)
		return 0;
	if (w->tid) {
		t.tid = number(w->ns_tid, w->tid);
		t.pid = number(w->ns_tgid, w->tgid);
	}
	if (a->pid && t.pid != a->pid)
		return 0;
	memcpy(t.comm, w->comm, sizeof(t.comm) - 1);
	steal_push_theft(a->sink, &t);
	return 0;
}

static bool has_ended(int pidfd)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	return pidfd >= 0 && poll(&p, 1, 0) == 1;
}

static int collect(void *ctx, struct steal_sink *to)
{
	struct audit *a = ctx;
	bool ended = has_ended(a->pidfd);
	int err;

	if (a->ended)
		return 0;
	a->sink = to;
	err = collect_cpus(a);
	if (!err)
		err = collect_threads(a);
	if (!err) {
		err = ring_buffer__consume(a->ring);
		err = err < 0 ? err : 0;
	}
	a->sink = NULL;
	a->epoch++;
	a->ended = ended;
	return err ? err : 1;
}

/* --- the programs ---------------------------------------------------------------------------- */

/* Twice as many as there are threads now, which /proc/loadavg has ("0.1 0.2 0.3 2/345 678"). */
static unsigned thread_capacity(const struct audit_options *o)
{
	unsigned threads = 0;
	FILE *f;

	if (o->threads_max)
		return o->threads_max;
	f = fopen("/proc/loadavg", "re");
	if (f) {
		if (fscanf(f, "%*s %*s %*s %*u/%u", &threads) != 1)
			threads = 0;
		fclose(f);
	}
	threads = threads > THREADS_MAX / 2 ? THREADS_MAX : threads * 2;
	return threads > THREADS_MIN ? threads : THREADS_MIN;
}

static int choose_clock(struct audit *a, const char *name, struct steal_clock *ret,
			char why[AUDIT_WHY_MAX])
{
	struct btf *btf = btf__load_vmlinux_btf();
	int err;

	if (!btf)
		return fail(why, -ENOTSUP,
			    "the kernel's types cannot be read (/sys/kernel/btf/vmlinux): use a "
			    "kernel with CONFIG_DEBUG_INFO_BTF=y");
	err = steal_clock_find(btf, hypervisor_name(), name, ret);
	a->skel->rodata->kernel_reads = kernel_reads_of(btf);
	btf__free(btf);
	if (a->skel->rodata->kernel_reads == WIRE_READS_NONE)
		return fail(why, -ENOTSUP,
			    "the kernel is locked down for confidentiality: BPF may not read its "
			    "steal clocks (before Linux 6.2)");
	if (err)
		return fail(why, -EINVAL, "there is no steal clock called %s", name);
	if (!ret->clock && name)
		return fail(why, -ENOTSUP, "this kernel has no steal clock %s here", name);
	if (!ret->clock)
		return fail(why, -ENOTSUP, "%s", ret->why);
	a->skel->rodata->steal_clock = ret->clock;
	a->skel->rodata->steal_offset = ret->offset;
	return 0;
}

static int load(struct audit *a, const struct audit_options *o, struct steal_clock *clock,
		char why[AUDIT_WHY_MAX])
{
	struct stat st;
	int err;

	libbpf_set_print(quiet);
	a->skel = audit_bpf__open();
	if (!a->skel)
		return fail(why, -errno, "the BPF programs cannot be opened: %s", strerror(errno));
	err = choose_clock(a, o->clock, clock, why);
	if (err)
		return err;
	if (stat("/proc/self/ns/pid", &st))
		return fail(why, -errno, "/proc/self/ns/pid cannot be read: %s", strerror(errno));
	a->skel->rodata->own_pidns = kernel_pidns(st.st_ino);
	a->skel->rodata->theft_ns = o->theft_ns;
	err = bpf_map__set_max_entries(a->skel->maps.audit_cpus, a->cpus);
	if (!err)
		err = bpf_map__set_max_entries(a->skel->maps.audit_threads, thread_capacity(o));
	if (!err)
		err = audit_bpf__load(a->skel);
	/* Where libbpf's own try of a map that can be mapped fails, it loads all the same. */
	if (!err && !a->skel->bss)
		err = -ENOTSUP;
	if (err)
		refusal_of_load(err, why, AUDIT_WHY_MAX);
	return err;
}

/* The switches last: what belongs to them is then there. */
static int attach(struct audit *a, char why[AUDIT_WHY_MAX])
{
	struct {
		struct bpf_program *program;
		bool needed;
	} all[] = {{a->skel->progs.audit_rename, true},
		   {a->skel->progs.audit_free, true},
		   {a->skel->progs.audit_timer, false},
		   {a->skel->progs.audit_switch, true}};

	_Static_assert(sizeof(all) / sizeof(*all) <= sizeof(a->links) / sizeof(*a->links), "all");
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		a->links[i] = bpf_program__attach(all[i].program);
		if (!a->links[i] && all[i].needed)
			return fail(why, -errno, "%s cannot be attached to the scheduler: %s",
				    bpf_program__name(all[i].program), strerror(errno));
	}
	/* Every CPU's account begins now, not when it first switches. */
	for (__u32 cpu = 0; cpu < a->cpus; cpu++) {
		__u64 args[1] = {0};
		LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = args, .ctx_size_in = sizeof(args),
			    .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);

		if (bpf_prog_test_run_opts(bpf_program__fd(a->skel->progs.audit_cut), &o) &&
		    errno != ENXIO)
			return fail(why, -errno, "no program can be run on CPU %u: %s", cpu,
				    strerror(errno));
	}
	return 0;
}

static void audit_free(void *ctx)
{
	struct audit *a = ctx;

	if (!a)
		return;
	for (size_t i = sizeof(a->links) / sizeof(*a->links); i-- > 0;)
		bpf_link__destroy(a->links[i]);
	ring_buffer__free(a->ring);
	audit_bpf__destroy(a->skel);
	audit_accounts_free(a->accounts);
	if (a->pidfd >= 0)
		close(a->pidfd);
	free(a->keys);
	free(a->dead);
	free(a->values);
	free(a);
}

static int prepare(struct audit *a, const struct audit_options *o, char why[AUDIT_WHY_MAX])
{
	int err;

	a->pid = o->pid;
	a->pidfd = o->pid ? (int)syscall(SYS_pidfd_open, o->pid, 0) : -1;
	if (o->pid && a->pidfd < 0)
		return fail(why, -errno,
			    errno == ESRCH ? "there is no process %d"
					   : "process %d cannot be followed",
			    o->pid);
	err = cpus_possible(WIRE_AUDIT_CPUS_MAX, &a->cpus, why, AUDIT_WHY_MAX);
	if (err)
		return err;
	a->keys = calloc(BATCH, sizeof(*a->keys));
	a->dead = calloc(BATCH, sizeof(*a->dead));
	a->values = calloc(BATCH, sizeof(*a->values));
	a->accounts = audit_accounts_new();
	if (!a->keys || !a->dead || !a->values || !a->accounts)
		return fail(why, -ENOMEM, "out of memory");
	return 0;
}

int audit_open(const struct audit_options *o, struct steal_source **ret, char why[AUDIT_WHY_MAX])
{
	struct audit *a = calloc(1, sizeof(*a));
	struct steal_clock clock = {0};
	struct steal_source what = {.name = "sched", .cpu_resolution_ns = 1, .cpu_has_steal = true};
	struct steal_feed feed = {.collect = collect, .free = audit_free, .ctx = a};
	int err;

	if (!a)
		return fail(why, -ENOMEM, "out of memory");
	a->pidfd = -1;
	err = prepare(a, o, why);
	if (!err)
		err = load(a, o, &clock, why);
	if (err)
		goto fail;
	a->ring = ring_buffer__new(bpf_map__fd(a->skel->maps.thefts), take_theft, a, NULL);
	if (!a->ring) {
		err = fail(why, -errno, "the ring buffer cannot be mapped: %s", strerror(errno));
		goto fail;
	}
	err = attach(a, why);
	if (err)
		goto fail;
	what.clock = clock.name;
	what.exact = !clock.ticks;
	what.resolution_ns = clock.ticks ? 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK) : 1;
	err = steal_source_sched(&what, &feed, ret);
	if (!err)
		return 0;
	err = fail(why, err, "out of memory");
fail:
	audit_free(a);
	return err;
}
