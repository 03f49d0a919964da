/* steal/sources/procstat.h: the per-CPU lines of /proc/stat. */
#pragma once

#include <stdint.h>

/* Ticks (USER_HZ) since boot; guest time is part of user, as in proc(5). */
struct procstat_cpu {
	uint64_t user;   /* user + nice */
	uint64_t system; /* system + irq + softirq */
	uint64_t idle;   /* idle + iowait */
	uint64_t steal;
};

/*
 * The next line "cpuN ..." of text, which begins as /proc/stat does. 1: it is in *ret_cpu and
 * *ret, and *text is after it; 0: there are no more; -EPROTO: this is no /proc/stat.
 */
int procstat_next(const char **text, unsigned *ret_cpu, struct procstat_cpu *ret);

/*
 * Reads the lines "cpuN ..." of text (the contents of /proc/stat) into cpus[N] for N < count;
 * entries of CPUs that are offline stay as they are. Returns the number of lines taken, or -EPROTO.
 */
int procstat_parse(const char *text, struct procstat_cpu *cpus, unsigned count);
/* The same from the running system; negative errno when it cannot be read. */
int procstat_read(struct procstat_cpu *cpus, unsigned count);
