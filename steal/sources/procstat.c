#include "steal/sources/procstat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "steal/sources/procfile.h"

int procstat_next(const char **text, unsigned *ret_cpu, struct procstat_cpu *ret)
{
	uint64_t user, nice, system, idle, iowait = 0, irq = 0, softirq = 0, steal = 0;
	const char *line = *text, *next;
	unsigned cpu;

	/* The first line, "cpu ", sums all. */
	if (!strncmp(line, "cpu ", 4)) {
		next = strchr(line, '\n');
		line = next ? next + 1 : "";
	}
	if (strncmp(line, "cpu", 3))
		return 0;
	/* Kernels before 2.6.11 have no steal. */
	if (sscanf(line,
		   "cpu%u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64,
		   &cpu, &user, &nice, &system, &idle, &iowait, &irq, &softirq, &steal) < 5)
		return -EPROTO;
	next = strchr(line, '\n');
	*text = next ? next + 1 : "";
	*ret_cpu = cpu;
	*ret = (struct procstat_cpu){.user = user + nice,
				     .system = system + irq + softirq,
				     .idle = idle + iowait,
				     .steal = steal};
	return 1;
}

int procstat_parse(const char *text, struct procstat_cpu *cpus, unsigned count)
{
	struct procstat_cpu one;
	int taken = 0, more;
	unsigned cpu;

	while ((more = procstat_next(&text, &cpu, &one)) == 1) {
		if (cpu >= count)
			continue;
		cpus[cpu] = one;
		taken++;
	}
	return more ? more : taken ? taken : -EPROTO;
}

int procstat_read(struct procstat_cpu *cpus, unsigned count)
{
	struct procfile f = {0};
	int err = procfile_read(&f, "/proc/stat");

	if (err >= 0)
		err = procstat_parse(f.text, cpus, count);
	procfile_free(&f);
	return err;
}
