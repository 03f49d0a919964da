/* steal/sources/pidstat.h: /proc/PID/stat and schedstat of processes and threads. */
#pragma once

#include <stdint.h>

#include "steal/sources/steal.h"

struct pidstat {
	int32_t pid; /* the tid, in task/TID/stat */
	char comm[STEAL_COMM_MAX];
	char state;         /* 'R', 'S', 'D', 'Z', ... */
	uint64_t cpu_ticks; /* utime + stime; of a process with its threads that have ended */
	uint64_t threads;
	uint64_t start_ticks;
};

/* -EPROTO: it is no such file. */
int pidstat_parse(const char *text, struct pidstat *ret);
/* The time on a CPU, of one thread only; -EPROTO. */
int schedstat_parse(const char *text, uint64_t *ret_cpu_ns);
