#include "record/kernel/sampler.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <linux/types.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text/units.h"
#include "bpf/wire/wire_layout.h"
#include "bpf/wire/wire_stack.h"
#include "record/kernel/features/load_later.h"
#include "spoor.skel.h"

/*
 * A CPU's clock costs an interrupt each time, on an idle CPU too: 75 us on a virtual machine whose
 * timers are the hypervisor's, which is 7 % of a CPU at 1 ms. Ticks come anyhow. Most Linuxes have
 * one each 1 or 4 ms.
 */
#define PERIOD_NS 4000000

static const struct load_later_kind by_clock = {
	.program = "look_by_clock", .section = "perf_event", .type = BPF_PROG_TYPE_PERF_EVENT};
static const struct load_later_kind by_tick = {.program = "look_by_tick",
					       .section = "later+",
					       .type = BPF_PROG_TYPE_TRACING,
					       .attach = BPF_TRACE_RAW_TP};

struct sampler {
	struct load_later *clock, *tick;
	struct load_later *program; /* that of the two that runs; NULL: none */
	uint64_t period_ns;
	int *looks_on;
	bool on;
	bool tried, joined; /* the program was loaded, and is where it belongs */
	int link;           /* of the tick; negative: none */
	unsigned count;
	int *fds; /* of the CPUs' clocks: perf events */
};

/* A software clock: there is no need for a PMU, which most virtual machines lack. */
static int clock_open(unsigned cpu, uint64_t period_ns)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .sample_period = period_ns,
				       .disabled = 1};
	long fd = syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int clocks_open(struct sampler *s)
{
	unsigned cpus = (unsigned)sysconf(_SC_NPROCESSORS_CONF);

	s->fds = calloc(cpus, sizeof(*s->fds));
	if (!s->fds)
		return -ENOMEM;
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		int fd = clock_open(cpu, s->period_ns);

		if (fd == -ENODEV) /* offline */
			continue;
		if (fd < 0)
			return fd;
		s->fds[s->count++] = fd;
	}
	return 0;
}

int sampler_new(struct sampler **ret)
{
	struct sampler *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->link = -1;
	err = load_later_new(&by_clock, &s->clock);
	if (!err)
		err = load_later_new(&by_tick, &s->tick);
	if (err) {
		sampler_free(s);
		return err;
	}
	*ret = s;
	return 0;
}

bool sampler_needs_clock(void)
{
	uint64_t tick_ns = clock_tick_ns();

	return !tick_ns || tick_ns > PERIOD_NS ||
	       getenv("SPOOR_NO_TICK_LOOK"); /* to try what others have */
}

void sampler_choose(struct sampler *s, struct spoor_bpf *skel)
{
	bool tick = !sampler_needs_clock() &&
		    !bpf_program__set_attach_target(skel->progs.look_by_tick, 0,
						    "hrtimer_expire_entry");

	bpf_program__set_autoload(skel->progs.look_by_tick, tick);
	bpf_program__set_autoload(skel->progs.look_by_clock, !tick);
	s->program = tick ? s->tick : s->clock;
	s->period_ns = tick ? clock_tick_ns() : PERIOD_NS;
}

void sampler_prepared(struct sampler *s)
{
	load_later_prepared(s->tick);
	load_later_prepared(s->clock);
}

int sampler_open(struct sampler *s, int *looks_on)
{
	int err = s->program == s->clock ? clocks_open(s) : 0;

	s->looks_on = looks_on;
	if (err)
		sampler_close(s);
	return err;
}

const char *sampler_name(const struct sampler *s)
{
	return !s->program ? "none" : s->program == s->tick ? "tick" : "cpu-clock";
}

uint64_t sampler_period_ns(const struct sampler *s)
{
	return s->program ? s->period_ns : 0;
}

static int join(struct sampler *s)
{
	int fd = load_later_fd(s->program);

	s->tried = true;
	if (fd >= 0 && s->program == s->tick)
		fd = s->link = bpf_raw_tracepoint_open(NULL, fd);
	for (unsigned i = 0; i < s->count && fd >= 0; i++)
		if (ioctl(s->fds[i], PERF_EVENT_IOC_SET_BPF, fd))
			fd = -errno;
	s->joined = fd >= 0;
	return fd < 0 ? fd : 0;
}

int sampler_run(struct sampler *s, bool on)
{
	int err = 0;

	if (!s->program || s->on == on)
		return 0;
	if (!s->tried) {
		load_later_begin(s->program);
		if (!load_later_is_done(s->program))
			return 1;
		err = join(s);
	}
	s->on = on;
	*s->looks_on = on;
	for (unsigned i = 0; i < s->count && s->joined; i++)
		ioctl(s->fds[i], on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
	return err;
}

void sampler_close(struct sampler *s)
{
	if (!s)
		return;
	if (s->link >= 0)
		close(s->link);
	for (unsigned i = 0; i < s->count; i++)
		close(s->fds[i]);
	free(s->fds);
	s->fds = NULL;
	s->count = 0;
	s->link = -1;
	s->program = NULL;
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	sampler_close(s);
	load_later_free(s->tick);
	load_later_free(s->clock);
	free(s);
}
