#include "record/kernel/sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/kernel/features/load_later.h"

struct sampler {
	struct load_later *program;
	bool on;
	bool tried, joined; /* the CPUs' clocks were given the program, and have it */
	unsigned count;
	int fds[]; /* of perf events */
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

int sampler_open(struct load_later *program, uint64_t period_ns, struct sampler **ret)
{
	unsigned cpus = (unsigned)sysconf(_SC_NPROCESSORS_CONF);
	struct sampler *s = calloc(1, sizeof(*s) + cpus * sizeof(*s->fds));

	if (!s)
		return -ENOMEM;
	s->program = program;
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		int fd = clock_open(cpu, period_ns);

		if (fd == -ENODEV) /* offline */
			continue;
		if (fd < 0) {
			sampler_close(s);
			return fd;
		}
		s->fds[s->count++] = fd;
	}
	*ret = s;
	return 0;
}

static int join(struct sampler *s)
{
	int fd = load_later_fd(s->program);

	s->tried = true;
	for (unsigned i = 0; i < s->count && fd >= 0; i++)
		if (ioctl(s->fds[i], PERF_EVENT_IOC_SET_BPF, fd))
			fd = -errno;
	s->joined = fd >= 0;
	return fd < 0 ? fd : 0;
}

int sampler_run(struct sampler *s, bool on)
{
	int err = 0;

	if (!s || s->on == on)
		return 0;
	if (!s->tried)
		err = join(s);
	s->on = on;
	for (unsigned i = 0; i < s->count && s->joined; i++)
		ioctl(s->fds[i], on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
	return err;
}

void sampler_close(struct sampler *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->count; i++)
		close(s->fds[i]);
	free(s);
}
