/*
 * Three things can make a sample due.
 *
 * Timers. A perf event of a CPU wakes an idle machine at its period, and counts the time of
 * everybody else. A timer of BPF's can be started where a thread of the target comes to the CPU,
 * and needs nothing at most switches: see bpf/lib/cpu_timer.bpf.h.
 *
 * Clocks of threads. A perf event of a thread is started and stopped by the scheduler with its
 * thread (Linux 6.1 to 6.18, cpu_clock_event_add in kernel/events/core.c), and what is left of its
 * period is kept meanwhile. It is inherited by the threads that its thread starts, with the BPF
 * program; `inherit_thread` (5.13) keeps it from child processes.
 *
 * Threads that exist are listed until a list has none that is new: whoever started a thread between
 * two lists had no clock yet, so that the thread has none, or had one, so that it has one by now; a
 * second one does no harm, as a sample's weight is the time since the one before.
 *
 * What a clock of a thread costs is mostly the kernel's timer, which is armed and taken off
 * whenever the thread comes and goes: on a virtual machine some us a switch, at any period. But the
 * kernel's code that was interrupted is known with it only.
 *
 * Cycles. A thread's clock may be the PMU's, where there is one, as on machines and some virtual
 * ones: it interrupts where the CPU allows nothing else to, and its event is not a timer's.
 *
 * Ticks. The kernel's own tick is there anyhow, on each CPU that has something to run; it comes
 * each 1 to 10 ms.
 */
#include "record/kernel/thread_clocks.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/tables/array.h"
#include "base/text/units.h"

#define ROUNDS_MAX 64
#define TIMER_TRIES 100
#define CPUS_MAX 8192 /* that a set of CPUs has room for */

const char *const sample_event_names[] = {"auto", "timer", "cpu-clock", "tick", "cycles"};

struct thread_clock {
	pid_t tid;
	int fd;
};

struct thread_clocks {
	struct thread_clocks_options options;
	int program;
	struct bpf_link *tick;
	uint32_t *timers_on;
	struct thread_clock *list;
	uint32_t count, capacity;
	uint64_t random;
};

/*
 * A fixed period beats against a program that repeats itself in the same time. So the clock's is
 * longer than that of --sample by 1.0942, the number 1 + 1 / (10 + 1 / (1 + 1 / (1 + ...))), which
 * has no simple ratio near it. The clock's interrupts are half of what sampling costs on a virtual
 * machine, so that each of them is a sample.
 */
uint64_t thread_clocks_period_ns(const struct thread_clocks_options *o)
{
	return o->jitter ? o->period_ns * 1094179 / 1000000 : o->period_ns;
}

/* With jitter up to 4 % more or less, by chance for each thread, which keeps it: in a program that
 * repeats itself in the period of --sample each hit is 5 to 14 % later than the one before. */
static uint64_t period_next(struct thread_clocks *c)
{
	uint64_t period = thread_clocks_period_ns(&c->options), spread = period * 2 / 25 + 1;

	if (!c->options.jitter)
		return period;
	c->random = c->random * 6364136223846793005u + 1442695040888963407u;
	return period - spread / 2 + (c->random >> 33) % spread;
}

/* A software clock, as most virtual machines lack a PMU; or the PMU's, whose period the kernel
 * fits to the CPU's frequency. */
static int clock_open(const struct thread_clocks *c, uint64_t period_ns, pid_t tid,
		      bool threads_only)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .sample_period = period_ns,
				       .inherit = 1,
				       .inherit_thread = threads_only,
				       .disabled = 1};
	long fd;

	if (c->options.event == SAMPLE_CYCLES) {
		attr.type = PERF_TYPE_HARDWARE;
		attr.config = PERF_COUNT_HW_CPU_CYCLES;
		attr.freq = 1;
		attr.sample_freq = period_ns < NS_PER_S ? NS_PER_S / period_ns : 1;
	}
	fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* 0, also if the thread has ended. */
static int clock_start(struct thread_clocks *c, pid_t tid)
{
	uint64_t period = period_next(c);
	int fd = clock_open(c, period, tid, true), err = 0;

	if (fd == -EINVAL || fd == -E2BIG) /* before 5.13 */
		fd = clock_open(c, period, tid, false);
	if (fd == -ESRCH)
		return 0;
	if (fd < 0)
		return fd;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, c->program) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	c->list[c->count++] = (struct thread_clock){tid, fd};
	return 0;
}

static bool has_clock(const struct thread_clocks *c, pid_t tid, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (c->list[i].tid == tid)
			return true;
	return false;
}

static int room_for_one(struct thread_clocks *c)
{
	return array_grow(&c->list, &c->capacity, c->count, sizeof(*c->list));
}

/* 1: there were new ones; 0: none. */
static int start_round(struct thread_clocks *c)
{
	size_t before = c->count;
	struct dirent *entry;
	char path[32];
	int err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)c->options.pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0 || has_clock(c, tid, before))
			continue;
		err = room_for_one(c);
		if (!err)
			err = clock_start(c, tid);
	}
	closedir(dir);
	return err ? err : c->count > before;
}

static int clocks_start(struct thread_clocks *c, const struct bpf_program *program)
{
	int more = 1;

	c->program = bpf_program__fd(program);
	c->random = clock_mono_ns();
	for (int i = 0; more > 0 && i < ROUNDS_MAX; i++)
		more = start_round(c);
	return more < 0 ? more : 0;
}

/* Where a thread of the target keeps its CPU, nobody would start the timer for long. */
static void visit_cpus(unsigned cpus)
{
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	cpu_set_t *own = CPU_ALLOC(CPUS_MAX), *one = CPU_ALLOC(CPUS_MAX);

	if (own && one && !sched_getaffinity(0, size, own)) {
		for (unsigned cpu = 0; cpu < cpus && cpu < CPUS_MAX; cpu++) {
			CPU_ZERO_S(size, one);
			CPU_SET_S(cpu, size, one);
			sched_setaffinity(0, size, one); /* there is none, or it is not for us */
		}
		sched_setaffinity(0, size, own);
	}
	CPU_FREE(own);
	CPU_FREE(one);
}

/* Since Linux 6.18 the kernel takes a timer's memory without waiting for a lock: if somebody else
 * has it, as on a busy machine, there is none for a moment. */
static int timer_make(const struct bpf_program *program, uint32_t cpu)
{
	const struct timespec moment = {0, NS_PER_MS};

	for (int tries = TIMER_TRIES;; tries--) {
		LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = &cpu, .ctx_size_in = sizeof(cpu), );

		if (bpf_prog_test_run_opts(bpf_program__fd(program), &o))
			return -errno;
		if (o.retval != ENOMEM || !tries)
			return -(int)o.retval;
		nanosleep(&moment, NULL);
	}
}

static int timers_start(struct thread_clocks *c, const struct thread_clock_programs *programs)
{
	int err = 0;

	for (uint32_t cpu = 0; cpu < c->options.cpus && !err; cpu++)
		err = timer_make(programs->timer, cpu);
	if (err)
		return err;
	c->timers_on = programs->timers_on;
	*c->timers_on = 1;
	visit_cpus(c->options.cpus);
	return 0;
}

static int start(struct thread_clocks *c, const struct thread_clock_programs *programs)
{
	if (c->options.event == SAMPLE_TIMER)
		return timers_start(c, programs);
	if (c->options.event == SAMPLE_CPU_CLOCK || c->options.event == SAMPLE_CYCLES)
		return clocks_start(c, programs->clock);
	c->tick = bpf_program__attach(programs->tick);
	return c->tick ? 0 : -errno;
}

int thread_clocks_open(const struct thread_clock_programs *programs,
		       const struct thread_clocks_options *o, struct thread_clocks **ret)
{
	struct thread_clocks *c = o->period_ns ? calloc(1, sizeof(*c)) : NULL;
	int err;

	*ret = NULL;
	if (!o->period_ns)
		return 0;
	if (!c)
		return -ENOMEM;
	c->options = *o;
	err = start(c, programs);
	if (err) {
		thread_clocks_close(c);
		return err;
	}
	*ret = c;
	return 0;
}

void thread_clocks_close(struct thread_clocks *c)
{
	if (!c)
		return;
	if (c->timers_on)
		*c->timers_on = 0;
	bpf_link__destroy(c->tick);
	for (size_t i = 0; i < c->count; i++)
		close(c->list[i].fd);
	free(c->list);
	free(c);
}
