/* steal/audit.h: from the samples of a source to what was stolen, from which CPU and thread. */
#pragma once

#include "steal/sources/source.h"

enum steal_method {
	STEAL_EXACT,        /* as the source reports it */
	STEAL_PROPORTIONAL, /* by use of CPU (Hofer, 2016, 5.2), for any source */
	STEAL_METHOD_COUNT,
};

/* What was wrong with counters, or makes an interval uneven; counted. */
enum steal_fault {
	STEAL_WRAPPED,
	STEAL_DECREASED,   /* the growth of this one interval is not known: 0 */
	STEAL_JUMPED,      /* so too */
	STEAL_CPU_OFFLINE, /* offline; what it had after the last sample is not known */
	STEAL_CPU_ONLINE,  /* online; so is what it had before the first one */
	STEAL_RESUMED,     /* the machine was suspended in this interval */
	STEAL_LATE,     /* threads seen for the first time that are older than the sample before */
	STEAL_EXCEEDED, /* intervals where per-thread steal sums to more than per-CPU steal */
	STEAL_TWICE,    /* CPUs and threads that a sample has twice; the first counts */
	STEAL_FAULT_COUNT,
};

struct steal_cpu_use {
	uint32_t cpu;
	uint64_t stolen_ns, busy_ns, idle_ns;
};

/* Of a thread. tid 0: threads of pid that ended between two samples, and what rounding to ticks
 * has hidden of the others. STEAL_TID_FOLDED: ended threads of little use, as one. */
#define STEAL_TID_FOLDED INT32_MIN
struct steal_use {
	int32_t tid, pid;
	uint64_t start_ticks;
	uint64_t cpu_ns; /* with or without stolen time: steal_span.cpu_has_steal */
	uint64_t stolen_ns[STEAL_METHOD_COUNT];
	char comm[STEAL_COMM_MAX];
};

struct steal_span {
	uint64_t from_ns, to_ns;
	struct steal_cpu_use *cpus; /* by number */
	struct steal_use *threads;  /* that used CPU, or lost some; the most stolen first */
	size_t cpu_count, thread_count;
	uint64_t stolen_ns, busy_ns, idle_ns; /* of all CPUs */
	uint64_t idle_stolen_ns;              /* of stolen_ns: while a CPU was idle; exact */
	/* stolen_ns is this of threads, idle_stolen_ns and what is nobody's here: of other
	 * processes, of interrupts, of threads that no sample has. */
	uint64_t threads_ns[STEAL_METHOD_COUNT], others_ns[STEAL_METHOD_COUNT];
	uint64_t faults[STEAL_FAULT_COUNT];
	bool exact, cpu_has_steal;
	bool of_process;        /* threads are those of one process */
	uint64_t resolution_ns; /* of stolen_ns of one CPU */
};

struct steal_audit;

/* of is lent for the time of the call; of_process: its samples have the threads of one process
 * only; keep: so many of the worst intervals and longest thefts. */
int steal_audit_new(const struct steal_source *of, bool of_process, size_t keep,
		    struct steal_audit **ret);
void steal_audit_free(struct steal_audit *a);

/*
 * 1: *ret is what has happened since the sample before, lent until the next call. 0: this was the
 * first one. -EINVAL: it is not later than the one before, and not taken. -ENOMEM: the audit is of
 * no more use.
 */
int steal_audit_add(struct steal_audit *a, const struct steal_sample *sample,
		    const struct steal_span **ret);
/* All of it, lent until the next call of any of these. -ENOMEM. */
int steal_audit_total(struct steal_audit *a, const struct steal_span **ret);

/* A thread's CPU time with what was stolen, and without. */
uint64_t steal_apparent_ns(const struct steal_span *s, const struct steal_use *u,
			   enum steal_method m);
uint64_t steal_corrected_ns(const struct steal_span *s, const struct steal_use *u,
			    enum steal_method m);

/*
 * How bad it is: the stolen part of the time in which CPUs were wanted. Of a machine that is the
 * time that its CPUs worked or were stolen; of a process, the apparent CPU time of its threads, and
 * what was stolen from them.
 */
struct steal_measure {
	uint64_t stolen_ns, wanted_ns;
	/* By how much stolen_ns may be too much, as the clocks move in steps: one for each CPU that
	 * was stolen from; 0 if they do not. */
	uint64_t doubt_ns;
};

struct steal_measure steal_measure(const struct steal_span *s, enum steal_method m);
/* More than ppm millionths of the wanted time are stolen, beyond doubt. */
bool steal_passed(const struct steal_measure *m, uint64_t ppm);
