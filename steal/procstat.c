#include "steal/procstat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int procstat_parse(const char *text, struct procstat_cpu *cpus, unsigned count)
{
	int taken = 0;

	for (const char *line = text; line && !strncmp(line, "cpu", 3);) {
		uint64_t user, nice, system, idle, iowait = 0, irq = 0, softirq = 0, steal = 0;
		unsigned cpu;
		const char *next = strchr(line, '\n');

		/* The first line, "cpu ", sums all; kernels before 2.6.11 have no steal. */
		if (line[3] != ' ') {
			if (sscanf(line,
				   "cpu%u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
				   " %" SCNu64 " %" SCNu64 " %" SCNu64,
				   &cpu, &user, &nice, &system, &idle, &iowait, &irq, &softirq,
				   &steal) < 5)
				return -EPROTO;
			if (cpu < count) {
				cpus[cpu] = (struct procstat_cpu){.user = user + nice,
								  .system = system + irq + softirq,
								  .idle = idle + iowait,
								  .steal = steal};
				taken++;
			}
		}
		line = next ? next + 1 : NULL;
	}
	return taken ? taken : -EPROTO;
}

int procstat_read(struct procstat_cpu *cpus, unsigned count)
{
	size_t size = 64 * 1024 + (size_t)count * 256, length = 0;
	char *text = malloc(size);
	int fd, err;

	if (!text)
		return -ENOMEM;
	fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		err = -errno;
		goto out;
	}
	for (;;) {
		ssize_t n = read(fd, text + length, size - 1 - length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			err = -errno;
			goto out;
		}
		length += (size_t)n;
		if (!n || length == size - 1)
			break;
	}
	text[length] = 0;
	err = procstat_parse(text, cpus, count);
out:
	if (fd >= 0)
		close(fd);
	free(text);
	return err;
}
