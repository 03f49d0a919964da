#include "record/kernel/sampler.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct sampler {
	bool on;
	unsigned count;
	struct {
		int fd;
		struct bpf_link *link;
	} cpus[];
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

int sampler_open(struct bpf_program *program, uint64_t period_ns, struct sampler **ret)
{
	unsigned cpus = (unsigned)sysconf(_SC_NPROCESSORS_CONF);
	struct sampler *s = calloc(1, sizeof(*s) + cpus * sizeof(*s->cpus));
	int err;

	if (!s)
		return -ENOMEM;
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		int fd = clock_open(cpu, period_ns);

		if (fd == -ENODEV) /* offline */
			continue;
		err = fd;
		if (fd < 0)
			goto fail;
		s->cpus[s->count].link = bpf_program__attach_perf_event(program, fd);
		if (!s->cpus[s->count].link) {
			err = -errno;
			close(fd);
			goto fail;
		}
		s->cpus[s->count++].fd = fd; /* closed with its link */
	}
	s->on = true; /* attaching has enabled them */
	sampler_run(s, false);
	*ret = s;
	return 0;
fail:
	sampler_close(s);
	return err;
}

void sampler_run(struct sampler *s, bool on)
{
	if (!s || s->on == on)
		return;
	for (unsigned i = 0; i < s->count; i++)
		ioctl(s->cpus[i].fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
	s->on = on;
}

void sampler_close(struct sampler *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->count; i++)
		bpf_link__destroy(s->cpus[i].link);
	free(s);
}
