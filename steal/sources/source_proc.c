/*
 * The source that needs no privilege: CPUs from /proc/stat, processes from /proc/PID/stat, threads
 * from /proc/PID/task/TID/stat, and from schedstat where the kernel has it (ns instead of ticks).
 *
 * Most threads of a machine sleep most of the time, and reading one costs about 10 us. A process
 * whose CPU time and number of threads are what they were is not looked into: none of its threads
 * has run for a tick, and their last values are reported again. A thread that is found in a process
 * that has been listed before, and began later than that, is fresh: nothing of its CPU time was
 * there at the sample before.
 */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "base/tables/store.h"
#include "base/text/units.h"
#include "steal/sources/pidstat.h"
#include "steal/sources/procfile.h"
#include "steal/sources/procstat.h"
#include "steal/sources/sink.h"
#include "steal/sources/source.h"

#define PATH_BYTES 512

struct process {
	int32_t pid; /* the key */
	uint32_t thread_count, thread_capacity;
	uint64_t start_ticks, cpu_ticks, thread_number;
	uint64_t listed_ticks; /* when its threads were listed */
	uint64_t sample;       /* the last that it was in */
	struct steal_thread *threads;
};

struct proc {
	struct steal_source source; /* the first member */
	struct steal_sink sink;
	struct procfile file;
	struct store *processes; /* of struct process, by pid */
	char *root;
	int32_t pid;          /* 0: all */
	uint64_t start_ticks; /* of pid */
	uint64_t tick_ns, sample, last_ticks;
	bool schedstat;
};

static void process_remove(struct proc *p, struct process *of)
{
	free(of->threads);
	store_remove(p->processes, of);
}

static void proc_free(struct steal_source *s)
{
	struct proc *p = (struct proc *)s;
	struct process *one = NULL;

	while (p->processes && (one = store_next(p->processes, one)))
		free(one->threads);
	store_free(p->processes);
	steal_sink_free(&p->sink);
	procfile_free(&p->file);
	free(p->root);
	free(p);
}

/* The file below the root, into p->file. */
__attribute__((format(printf, 2, 3))) static int read_file(struct proc *p, const char *format, ...)
{
	char path[PATH_BYTES];
	int length = snprintf(path, sizeof(path), "%s/", p->root);
	va_list args;

	if (length < 0 || (size_t)length >= sizeof(path))
		return -ENAMETOOLONG;
	va_start(args, format);
	vsnprintf(path + length, sizeof(path) - (size_t)length, format, args);
	va_end(args);
	return procfile_read(&p->file, path);
}

static int sample_cpus(struct proc *p)
{
	int err = read_file(p, "stat");
	struct procstat_cpu ticks;
	const char *text;
	unsigned cpu;

	if (err < 0)
		return err;
	text = p->file.text;
	while ((err = procstat_next(&text, &cpu, &ticks)) == 1) {
		struct steal_cpu c = {
			.cpu = cpu,
			.steal_ns = steal_ticks_to_ns(ticks.steal, p->tick_ns),
			.busy_ns = steal_ticks_to_ns(ticks.user + ticks.system, p->tick_ns),
			.idle_ns = steal_ticks_to_ns(ticks.idle, p->tick_ns),
		};

		steal_push_cpu(&p->sink, &c);
	}
	if (!err)
		err = p->sink.err;
	return err ? err : p->sink.sample.cpu_count ? 0 : -EPROTO;
}

/* 1: it is in *ret; 0: it has ended. */
static int read_thread(struct proc *p, int32_t pid, int32_t tid, struct steal_thread *ret)
{
	struct pidstat s;
	uint64_t ns;

	if (read_file(p, "%d/task/%d/stat", pid, tid) < 0 || pidstat_parse(p->file.text, &s))
		return 0;
	*ret = (struct steal_thread){.tid = tid,
				     .pid = pid,
				     .start_ticks = s.start_ticks,
				     .cpu_ns = steal_ticks_to_ns(s.cpu_ticks, p->tick_ns)};
	memcpy(ret->comm, s.comm, sizeof(ret->comm));
	if (p->schedstat && read_file(p, "%d/task/%d/schedstat", pid, tid) >= 0 &&
	    !schedstat_parse(p->file.text, &ns))
		ret->cpu_ns = ns;
	return 1;
}

static int compare_tids(const void *a, const void *b)
{
	int32_t x = ((const struct steal_thread *)a)->tid,
		y = ((const struct steal_thread *)b)->tid;

	return (x > y) - (x < y);
}

static int add_thread(struct process *of, const struct steal_thread *t)
{
	if (array_grow(&of->threads, &of->thread_capacity, of->thread_count, sizeof(*of->threads)))
		return -ENOMEM;
	of->threads[of->thread_count++] = *t;
	return 0;
}

/* By number; one that begins or ends meanwhile can make the kernel list another one twice. */
static void sort_threads(struct process *of)
{
	uint32_t kept = 0;

	if (of->thread_count)
		qsort(of->threads, of->thread_count, sizeof(*of->threads), compare_tids);
	for (size_t i = 0; i < of->thread_count; i++)
		if (!kept || of->threads[kept - 1].tid != of->threads[i].tid)
			of->threads[kept++] = of->threads[i];
	of->thread_count = kept;
}

static bool is_known(const struct steal_thread *old, size_t count, const struct steal_thread *t)
{
	const struct steal_thread *k =
		count ? bsearch(t, old, count, sizeof(*old), compare_tids) : NULL;

	return k && k->start_ticks == t->start_ticks;
}

/* Lists the process's threads anew; a fresh process has only fresh ones. */
static int list_threads(struct proc *p, struct process *of, bool fresh)
{
	uint64_t since = of->listed_ticks;
	struct process now = {0};
	struct steal_thread t;
	char path[PATH_BYTES];
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%d/task", p->root, of->pid);
	dir = opendir(path);
	if (!dir) /* it has ended, or is not ours to look into (hidepid) */
		return errno == ENOMEM ? -ENOMEM : 0;
	now.listed_ticks = steal_boot_ns() / p->tick_ns;
	while (!err && (entry = readdir(dir))) {
		int32_t tid = atoi(entry->d_name);

		if (tid <= 0 || !read_thread(p, of->pid, tid, &t))
			continue;
		t.fresh = fresh || (since && t.start_ticks >= since &&
				    !is_known(of->threads, of->thread_count, &t));
		err = add_thread(&now, &t);
	}
	closedir(dir);
	if (err) {
		free(now.threads);
		return err;
	}
	sort_threads(&now);
	free(of->threads);
	of->threads = now.threads;
	of->thread_count = now.thread_count;
	of->thread_capacity = now.thread_capacity;
	of->listed_ticks = now.listed_ticks;
	return 0;
}

/* Its account, as of the last sample; NULL: no memory. */
static struct process *find_process(struct proc *p, const struct pidstat *s, bool *ret_new)
{
	struct process *of = store_find(p->processes, &s->pid);
	void *added;

	*ret_new = !of || of->start_ticks != s->start_ticks;
	if (of && *ret_new) { /* the same number, another process */
		process_remove(p, of);
		of = NULL;
	}
	if (of)
		return of;
	if (store_add(p->processes, &s->pid, &added))
		return NULL;
	of = added;
	of->start_ticks = s->start_ticks;
	return of;
}

static void push_process(struct proc *p, const struct pidstat *s, bool fresh)
{
	struct steal_process process = {.pid = s->pid,
					.start_ticks = s->start_ticks,
					.cpu_ns = steal_ticks_to_ns(s->cpu_ticks, p->tick_ns),
					.fresh = fresh};

	memcpy(process.comm, s->comm, sizeof(process.comm));
	steal_push_process(&p->sink, &process);
}

static int sample_process(struct proc *p, int32_t pid)
{
	bool is_new, fresh;
	struct process *of;
	struct pidstat s;
	int err = read_file(p, "%d/stat", pid);

	if (err == -ENOMEM)
		return err;
	if (err < 0 || pidstat_parse(p->file.text, &s))
		return 0;
	of = find_process(p, &s, &is_new);
	if (!of)
		return -ENOMEM;
	fresh = is_new && p->sample > 1 && s.start_ticks >= p->last_ticks;
	if (is_new || of->cpu_ticks != s.cpu_ticks || of->thread_number != s.threads) {
		err = list_threads(p, of, fresh);
		if (err)
			return err;
	} else {
		for (size_t i = 0; i < of->thread_count; i++)
			of->threads[i].fresh = false;
	}
	of->cpu_ticks = s.cpu_ticks;
	of->thread_number = s.threads;
	of->sample = p->sample;
	for (size_t i = 0; i < of->thread_count; i++)
		steal_push_thread(&p->sink, &of->threads[i]);
	push_process(p, &s, fresh);
	return 0;
}

static int sample_processes(struct proc *p)
{
	struct process *one = NULL;
	struct dirent *entry;
	DIR *dir = opendir(p->root);
	int err = 0;

	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir))) {
		int32_t pid = atoi(entry->d_name);

		if (pid > 0)
			err = sample_process(p, pid);
	}
	closedir(dir);
	while ((one = store_next(p->processes, one)))
		if (one->sample != p->sample)
			process_remove(p, one);
	return err;
}

/* 1: it is still the one of the beginning. */
static int is_there(struct proc *p)
{
	struct pidstat s;
	int err = read_file(p, "%d/stat", p->pid);

	if (err == -ENOMEM)
		return err;
	if (err < 0 || pidstat_parse(p->file.text, &s))
		return 0;
	if (!p->sample)
		p->start_ticks = s.start_ticks;
	/* Of one that has ended, a row is left until its parent has asked for its status. */
	return s.start_ticks == p->start_ticks && (s.state != 'Z' || s.threads > 1);
}

static int proc_sample(struct steal_source *s, const struct steal_sample **ret)
{
	struct proc *p = (struct proc *)s;
	uint64_t now_ticks;
	int err;

	if (p->pid) {
		err = is_there(p);
		if (err != 1)
			return err;
	}
	p->sample++;
	steal_sink_begin(&p->sink);
	now_ticks = p->sink.sample.boot_ns / p->tick_ns;
	err = sample_cpus(p);
	if (!err)
		err = p->pid ? sample_process(p, p->pid) : sample_processes(p);
	p->last_ticks = now_ticks;
	if (!err)
		err = steal_sink_end(&p->sink, ret);
	return err ? err : 1;
}

int steal_source_proc_at(const char *root, pid_t pid, struct steal_source **ret)
{
	static const struct steal_source_ops ops = {.sample = proc_sample, .free = proc_free};
	const struct store_options processes = {.key_bytes = sizeof(int32_t),
						.entry_bytes = sizeof(struct process)};
	struct proc *p = calloc(1, sizeof(*p));
	const char *how;
	int there;

	if (!p)
		return -ENOMEM;
	p->root = strdup(root);
	if (!p->root || store_new(&processes, &p->processes)) {
		proc_free(&p->source);
		return -ENOMEM;
	}
	p->pid = (int32_t)pid;
	p->tick_ns = steal_tick_ns();
	p->schedstat = read_file(p, "self/schedstat") > 0;
	p->source = (struct steal_source){
		.name = "proc",
		.clock = "/proc/stat",
		.resolution_ns = p->tick_ns,
		.cpu_resolution_ns = p->schedstat ? 1 : p->tick_ns,
		.cpu_has_steal = steal_kernel_cpu_has_steal(&how),
		.wall_ns = clock_wall_ns() - clock_mono_ns(),
		.ops = &ops,
	};
	there = pid ? is_there(p) : 1;
	if (there != 1) {
		proc_free(&p->source);
		return there ? there : -ESRCH;
	}
	*ret = &p->source;
	return 0;
}

int steal_source_proc(pid_t pid, struct steal_source **ret)
{
	return steal_source_proc_at("/proc", pid, ret);
}
