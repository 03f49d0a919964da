/* steal/sources: a /proc of our own, the machine's, a source that is fed, a recorded one. */
#include <ftw.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "steal/sources/kernel.h"
#include "steal/sources/recording.h"
#include "steal_samples.h"
#include "tests/unit/alloc_fail.h"

static char *root;

__attribute__((format(printf, 2, 3))) static void write_file(const char *name, const char *format, ...)
{
	char path[512], *slash;
	va_list args;
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (slash = strchr(path + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(path, 0700);
		*slash = '/';
	}
	out = fopen(path, "w");
	assert_non_null(out);
	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
	assert_int_equal(fclose(out), 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void remove_below(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int set_up(void **state)
{
	static char path[64];

	(void)state;
	snprintf(path, sizeof(path), "/tmp/steal-test-XXXXXX");
	root = mkdtemp(path);
	return root ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	remove_below("");
	return 0;
}

#define STAT "%d (%s) S 1 2 2 0 -1 4194304 104 0 0 0 %d 0 0 0 20 0 %d 0 %llu 3133440 390\n"

/* A process or a thread of it (name: "100" or "100/task/101"). */
static void write_stat(const char *name, int pid, int ticks, int threads, uint64_t start)
{
	char file[128];

	snprintf(file, sizeof(file), "%s/stat", name);
	write_file(file, STAT, pid, strchr(name, '/') ? "thread" : "process", ticks, threads,
		   (unsigned long long)start);
}

static const struct steal_sample *sample_of(struct steal_source *s)
{
	const struct steal_sample *m = NULL;

	assert_int_equal(steal_source_sample(s, &m), 1);
	return m;
}

static const struct steal_thread *find_thread(const struct steal_sample *m, int tid)
{
	for (size_t i = 0; i < m->thread_count; i++)
		if (m->threads[i].tid == tid)
			return &m->threads[i];
	return NULL;
}

static void a_folder_like_proc(void **state)
{
	struct steal_source *s;
	const struct steal_sample *m;

	(void)state;
	write_file("stat", "cpu 1 1 1 1\ncpu0 10 1 5 100 2 1 1 3 0 0\ncpu2 20 2 15 300 3 0 1 4 0 0\nintr 4\n");
	write_stat("100", 100, 50, 2, 7);
	write_stat("100/task/100", 100, 20, 2, 7);
	write_stat("100/task/101", 101, 30, 2, 9);
	assert_int_equal(steal_source_proc_at(root, 0, &s), 0);
	assert_false(s->exact);
	assert_int_equal(s->cpu_resolution_ns, TICK);
	m = sample_of(s);
	assert_int_equal(m->cpu_count, 2);
	assert_int_equal(m->cpus[1].cpu, 2);
	assert_int_equal(m->cpus[1].steal_ns, 4 * TICK);
	assert_int_equal(m->cpus[1].busy_ns, 38 * TICK);
	assert_int_equal(m->cpus[1].idle_ns, 303 * TICK);
	assert_int_equal(m->process_count, 1);
	assert_int_equal(m->processes[0].cpu_ns, 50 * TICK);
	assert_string_equal(m->processes[0].comm, "process");
	assert_int_equal(m->thread_count, 2);
	assert_int_equal(find_thread(m, 101)->cpu_ns, 30 * TICK);
	assert_int_equal(find_thread(m, 101)->pid, 100);
	assert_false(find_thread(m, 101)->fresh);
	steal_source_free(s);
}

/* Threads that come, go, and whose number is used again; a process that begins. */
static void what_is_fresh(void **state)
{
	uint64_t now = (uint64_t)time(NULL) * 1000000; /* later than this boot's start */
	const struct steal_sample *m;
	struct steal_source *s;

	(void)state;
	write_file("stat", "cpu 1 1 1 1\ncpu0 10 1 5 100 2 1 1 3 0 0\n");
	write_stat("100", 100, 50, 2, 7);
	write_stat("100/task/100", 100, 20, 2, 7);
	write_stat("100/task/101", 101, 30, 2, 9);
	assert_int_equal(steal_source_proc_at(root, 0, &s), 0);
	sample_of(s);
	write_stat("100", 100, 60, 3, 7);
	write_stat("100/task/101", 101, 2, 3, now); /* another one */
	write_stat("100/task/102", 102, 3, 3, now);
	write_stat("100/task/103", 103, 3, 3, 8); /* missed before */
	write_stat("200", 200, 4, 1, now);
	write_stat("200/task/200", 200, 4, 1, now);
	m = sample_of(s);
	assert_false(find_thread(m, 100)->fresh);
	assert_true(find_thread(m, 101)->fresh);
	assert_true(find_thread(m, 102)->fresh);
	assert_false(find_thread(m, 103)->fresh);
	assert_true(find_thread(m, 200)->fresh);
	assert_int_equal(m->process_count, 2);
	/* Nothing has run: nobody is fresh any more, and all are there. */
	m = sample_of(s);
	assert_int_equal(m->thread_count, 5);
	for (size_t i = 0; i < m->thread_count; i++)
		assert_false(m->threads[i].fresh);
	/* A process that stood still is not looked into; what its threads had is told again. */
	write_stat("100/task/100", 100, 99, 3, 7);
	m = sample_of(s);
	assert_int_equal(find_thread(m, 100)->cpu_ns, 20 * TICK);
	remove_below("200");
	m = sample_of(s);
	assert_int_equal(m->process_count, 1);
	steal_source_free(s);
}

static void schedstat_is_finer(void **state)
{
	struct steal_source *s;

	(void)state;
	write_file("stat", "cpu 1 1 1 1\ncpu0 10 1 5 100 2 1 1 3 0 0\n");
	write_file("self/schedstat", "1 2 3\n");
	write_stat("100", 100, 50, 1, 7);
	write_stat("100/task/100", 100, 20, 1, 7);
	write_file("100/task/100/schedstat", "200000017 2 3\n");
	assert_int_equal(steal_source_proc_at(root, 100, &s), 0);
	assert_int_equal(s->cpu_resolution_ns, 1);
	assert_int_equal(find_thread(sample_of(s), 100)->cpu_ns, 200000017);
	steal_source_free(s);
}

static void one_process_to_its_end(void **state)
{
	const struct steal_sample *m;
	struct steal_source *s;

	(void)state;
	write_file("stat", "cpu 1 1 1 1\ncpu0 10 1 5 100 2 1 1 3 0 0\n");
	assert_int_equal(steal_source_proc_at(root, 100, &s), -ESRCH);
	write_stat("100", 100, 50, 1, 7);
	write_stat("100/task/100", 100, 20, 1, 7);
	write_stat("200", 200, 50, 1, 7);
	write_stat("200/task/200", 200, 20, 1, 7);
	assert_int_equal(steal_source_proc_at(root, 100, &s), 0);
	m = sample_of(s);
	assert_int_equal(m->thread_count, 1);
	assert_int_equal(m->process_count, 1);
	/* Its first thread has ended, another goes on; then that one, too. */
	write_file("100/stat", "100 (process) Z 1 2 2 0 -1 4 1 0 0 0 50 0 0 0 20 0 2 0 7 31 39\n");
	sample_of(s);
	write_file("100/stat", "100 (process) Z 1 2 2 0 -1 4 1 0 0 0 50 0 0 0 20 0 1 0 7 31 39\n");
	assert_int_equal(steal_source_sample(s, &m), 0);
	write_stat("100", 100, 50, 1, 7);
	sample_of(s);
	write_stat("100", 100, 1, 1, 99); /* its number is another process's now */
	assert_int_equal(steal_source_sample(s, &m), 0);
	steal_source_free(s);
}

static void what_is_no_proc(void **state)
{
	const struct steal_sample *m;
	struct steal_source *s;

	(void)state;
	assert_int_equal(steal_source_proc_at(root, 0, &s), 0);
	assert_int_equal(steal_source_sample(s, &m), -ENOENT);
	write_file("stat", "hello\n");
	assert_int_equal(steal_source_sample(s, &m), -EPROTO);
	write_file("stat", "cpu 1 1 1 1\ncpu0 1 1\n");
	assert_int_equal(steal_source_sample(s, &m), -EPROTO);
	steal_source_free(s);
}

static void this_machine(void **state)
{
	const struct steal_thread *own;
	struct steal_source *s;
	const struct steal_sample *m;
	uint64_t before;

	(void)state;
	assert_int_equal(steal_source_proc(getpid(), &s), 0);
	m = sample_of(s);
	own = find_thread(m, getpid());
	assert_non_null(own);
	assert_int_equal(own->pid, getpid());
	before = m->time_ns;
	m = sample_of(s);
	assert_true(m->time_ns > before);
	assert_true(m->boot_ns >= m->time_ns);
	assert_true(m->cpu_count > 0);
	steal_source_free(s);
}

static void proc_without_memory(void **state)
{
	unsigned long n = 0;
	bool failed = true;

	(void)state;
	write_file("stat", "cpu 1 1 1 1\ncpu0 10 1 5 100 2 1 1 3 0 0\n");
	for (int pid = 100; pid < 120; pid++) {
		char name[64];

		snprintf(name, sizeof(name), "%d", pid);
		write_stat(name, pid, 50, 1, 7);
		snprintf(name, sizeof(name), "%d/task/%d", pid, pid);
		write_stat(name, pid, 50, 1, 7);
	}
	for (; failed; n++) {
		const struct steal_sample *m;
		struct steal_source *s = NULL;
		int err;

		alloc_fail_at(n);
		err = steal_source_proc_at(root, 0, &s);
		if (!err)
			err = steal_source_sample(s, &m);
		failed = alloc_fail_off();
		if (err == 1)
			assert_int_equal(m->thread_count, 20);
		else
			assert_true(failed && err == -ENOMEM);
		if (s)
			steal_source_free(s);
	}
	assert_true(n > 25);
}

/* --- fed ------------------------------------------------------------------------------------- */

struct feeder {
	int left, err;
	bool freed;
};

static int collect(void *ctx, struct steal_sink *to)
{
	struct feeder *f = ctx;
	uint64_t histogram[STEAL_SLOTS] = {[20] = 3};
	struct steal_thread t = {.tid = 7, .pid = 7, .stolen_ns = 5 * MS};

	if (f->left-- <= 0)
		return f->err;
	memset(t.comm, 'x', sizeof(t.comm));
	for (uint32_t i = 0; i < 40; i++) {
		steal_push_cpu(to, &(struct steal_cpu){.cpu = i, .steal_ns = i});
		steal_push_thread(to, &t);
		steal_push_theft(to, &(struct steal_theft){.ns = i});
		steal_push_process(to, &(struct steal_process){.pid = (int32_t)i + 1});
	}
	steal_push_idle_stolen(to, 77);
	steal_push_histogram(to, histogram);
	steal_push_lost(to, 4, 5);
	return 1;
}

static void freed(void *ctx)
{
	((struct feeder *)ctx)->freed = true;
}

static void a_source_that_is_fed(void **state)
{
	struct feeder f = {.left = 2, .err = -EIO};
	struct steal_feed feed = {collect, freed, &f};
	const struct steal_sample *m;
	struct steal_source *s;

	(void)state;
	assert_int_equal(steal_source_sched(&exact_source, &feed, &s), 0);
	assert_string_equal(s->clock, "rq_clock");
	assert_true(s->exact);
	for (int i = 0; i < 2; i++) {
		m = sample_of(s);
		assert_int_equal(m->cpu_count, 40);
		assert_int_equal(m->cpus[39].steal_ns, 39);
		assert_int_equal(m->thread_count, 40);
		assert_int_equal(strlen(m->threads[39].comm), STEAL_COMM_MAX - 1);
		assert_int_equal(m->theft_count, 40);
		assert_int_equal(m->process_count, 40);
		assert_int_equal(m->idle_stolen_ns, 77);
		assert_int_equal(m->histogram[20], 3);
		assert_int_equal(m->thefts_lost, 4);
		assert_int_equal(m->threads_lost, 5);
		assert_true(m->time_ns && m->boot_ns && m->end_ns >= m->time_ns);
	}
	assert_int_equal(steal_source_sample(s, &m), -EIO);
	f.err = 0;
	assert_int_equal(steal_source_sample(s, &m), 0);
	assert_string_equal(steal_source_why(s), "");
	steal_source_free(s);
	assert_true(f.freed);
}

static void a_fed_source_without_memory(void **state)
{
	struct feeder f = {.left = 1000};
	struct steal_feed feed = {collect, freed, &f};
	bool failed = true;

	(void)state;
	for (unsigned long n = 0; failed; n++) {
		const struct steal_sample *m;
		struct steal_source *s = NULL;
		int err;

		alloc_fail_at(n);
		err = steal_source_sched(&exact_source, &feed, &s);
		if (!err)
			err = steal_source_sample(s, &m);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 1);
		if (s)
			steal_source_free(s);
	}
}

/* --- recorded -------------------------------------------------------------------------------- */

static void make_sample(struct sample *m, uint64_t n)
{
	static const char odd[] = "a b\n\\\x7f%d \xc3\xa4";

	at(m, (10 + n) * S + 1)->end_ns += 7;
	cpu(m, 0, 3 + n, 2, 1);
	cpu(m, 4000000000u, UINT64_MAX, 0, 5);
	process(m, 100, 5 * S)->fresh = true;
	thread(m, 7, 3 * S + n, n)->ended = true;
	thread(m, INT32_MIN, 1, 2)->fresh = true;
	memcpy(m->threads[1].comm, odd, sizeof(odd));
	m->threads[0].comm[0] = 0;
	m->s.idle_stolen_ns = 9;
	m->s.histogram[0] = 1;
	m->s.histogram[63] = n;
	m->s.thefts_lost = 2;
	m->s.threads_lost = 3;
	m->thefts[0] = (struct steal_theft){.time_ns = n, .ns = 4, .cpu = 5, .tid = 6, .pid = 7, .comm = "w"};
	m->s.theft_count = 1;
}

static void assert_same(const struct steal_sample *a, const struct steal_sample *b)
{
	assert_int_equal(a->time_ns, b->time_ns);
	assert_int_equal(a->end_ns, b->end_ns);
	assert_int_equal(a->boot_ns, b->boot_ns);
	assert_int_equal(a->cpu_count, b->cpu_count);
	for (size_t i = 0; i < a->cpu_count; i++) {
		assert_int_equal(a->cpus[i].cpu, b->cpus[i].cpu);
		assert_int_equal(a->cpus[i].steal_ns, b->cpus[i].steal_ns);
		assert_int_equal(a->cpus[i].busy_ns, b->cpus[i].busy_ns);
		assert_int_equal(a->cpus[i].idle_ns, b->cpus[i].idle_ns);
	}
	assert_int_equal(a->thread_count, b->thread_count);
	for (size_t i = 0; i < a->thread_count; i++) {
		assert_int_equal(a->threads[i].tid, b->threads[i].tid);
		assert_int_equal(a->threads[i].start_ticks, b->threads[i].start_ticks);
		assert_int_equal(a->threads[i].cpu_ns, b->threads[i].cpu_ns);
		assert_int_equal(a->threads[i].stolen_ns, b->threads[i].stolen_ns);
		assert_int_equal(a->threads[i].fresh, b->threads[i].fresh);
		assert_int_equal(a->threads[i].ended, b->threads[i].ended);
		assert_string_equal(a->threads[i].comm, b->threads[i].comm);
	}
	assert_int_equal(a->process_count, b->process_count);
	assert_int_equal(a->processes[0].cpu_ns, b->processes[0].cpu_ns);
	assert_int_equal(a->processes[0].fresh, b->processes[0].fresh);
	assert_int_equal(a->theft_count, b->theft_count);
	assert_int_equal(a->thefts[0].time_ns, b->thefts[0].time_ns);
	assert_int_equal(a->thefts[0].ns, b->thefts[0].ns);
	assert_int_equal(a->thefts[0].cpu, b->thefts[0].cpu);
	assert_int_equal(a->thefts[0].tid, b->thefts[0].tid);
	assert_int_equal(a->thefts[0].pid, b->thefts[0].pid);
	assert_string_equal(a->thefts[0].comm, b->thefts[0].comm);
	assert_memory_equal(a->histogram, b->histogram, sizeof(a->histogram));
	assert_int_equal(a->idle_stolen_ns, b->idle_stolen_ns);
	assert_int_equal(a->thefts_lost, b->thefts_lost);
	assert_int_equal(a->threads_lost, b->threads_lost);
}

static void write_recording(const char *path, uint64_t samples)
{
	const struct steal_source *sources[] = {&exact_source, &tick_source};
	struct recording *r;
	struct sample m;
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_int_equal(recording_begin(out, sources, 2, &r), 0);
	for (uint64_t i = 0; i < samples; i++) {
		make_sample(&m, i);
		recording_add(r, 0, &m.s);
		make_sample(&m, 100 + i);
		recording_add(r, 1, &m.s);
	}
	assert_int_equal(recording_end(r), 0);
	assert_int_equal(fclose(out), 0);
}

static void what_is_written_is_read(void **state)
{
	const struct steal_sample *got;
	struct steal_source *s;
	struct sample m;
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/recorded", root);
	write_recording(path, 3);
	for (unsigned source = 0; source < 2; source++) {
		assert_int_equal(steal_source_recorded(path, source, 0, &s), 0);
		assert_string_equal(s->name, source ? "proc" : "sched");
		assert_int_equal(s->exact, !source);
		assert_int_equal(s->cpu_has_steal, source);
		assert_int_equal(s->resolution_ns, source ? TICK : 1);
		for (uint64_t i = 0; i < 3; i++) {
			make_sample(&m, i + source * 100);
			assert_same(sample_of(s), &m.s);
		}
		assert_int_equal(steal_source_sample(s, &got), 0);
		steal_source_free(s);
	}
	assert_int_equal(steal_source_recorded(path, 2, 0, &s), -ENODEV);
	assert_int_equal(steal_source_recorded(path, 0, 5, &s), 0); /* of another process */
	got = sample_of(s);
	assert_int_equal(got->thread_count, 0);
	assert_int_equal(got->process_count, 0);
	assert_int_equal(got->cpu_count, 2);
	steal_source_free(s);
	remove_below("recorded");
	assert_int_equal(steal_source_recorded(path, 0, 0, &s), -ENOENT);
}

#define BEGIN "spoor-steal 1\nsource 0 sched rq_clock 1 1 1 0 0\n"

static void damaged_recordings(void **state)
{
	static const char *const no_recording[] = {
		"", "hello\n", "spoor-steal 2\n", "spoor-steal 1\nsource 0 sched\n",
		"spoor-steal 1\nsource 0 sched rq_clock 0 1 1 0 0\n",
		"spoor-steal 1\nsource 0 s c 1 9999999999 1 0 0\n",
	};
	static const struct {
		const char *text, *why;
	} damaged[] = {
		{BEGIN "sample\n", "line 3: a sample begins with: sample SOURCE TIME END BOOT-TIME"},
		{BEGIN "sample 0 1 1 1\ncpu 0 1 2\nend\n", "line 4: not a line of a sample"},
		{BEGIN "sample 0 1 1 1\ncpu 0 1 2 3 4\nend\n", "line 4: not a line of a sample"},
		{BEGIN "sample 0 1 1 1\nhello\nend\n", "line 4: not a line of a sample"},
		{BEGIN "sample 0 1 1 1\nthread 1 1 1 1 1 0 0\nend\n", "line 4: not a line of a sample"},
		{BEGIN "sample 0 1 1 1\nthread 1 1 1 1 1 0 0 x\\x1\nend\n", "line 4: not a line of a sample"},
		{BEGIN "sample 0 1 1 1\nthread 1 1 1 1 1 0 0 x\\\nend\n", "line 4: not a line of a sample"},
		{BEGIN "sample 0 1 1 1\nthread 1 1 1 1 1 0 0 1234567890123456\nend\n",
		 "line 4: not a line of a sample"},
		{BEGIN "sample 0 1 1 1\nslot 64 1\nend\n", "line 4: not a line of a sample"},
		{BEGIN "sample 0 1 1 1\ncpu 0 1 2 3\n",
		 "line 4: the file is cut short: the last sample has no end"},
	};
	const struct steal_sample *m;
	struct steal_source *s;
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/recorded", root);
	for (size_t i = 0; i < sizeof(no_recording) / sizeof(*no_recording); i++) {
		write_file("recorded", "%s", no_recording[i]);
		assert_int_equal(steal_source_recorded(path, 0, 0, &s), -EPROTO);
	}
	write_file("recorded", "spoor-steal 1\n");
	assert_int_equal(steal_source_recorded(path, 0, 0, &s), -ENODEV);
	for (size_t i = 0; i < sizeof(damaged) / sizeof(*damaged); i++) {
		write_file("recorded", "%s", damaged[i].text);
		assert_int_equal(steal_source_recorded(path, 0, 0, &s), 0);
		assert_int_equal(steal_source_sample(s, &m), -EBADMSG);
		assert_string_equal(steal_source_why(s), damaged[i].why);
		steal_source_free(s);
	}
	write_file("recorded", "%s", BEGIN "# by hand\n\nsample 0 5 5 6\n# of it\ncpu 0 1 2 3\nend\n");
	assert_int_equal(steal_source_recorded(path, 0, 0, &s), 0);
	assert_int_equal(sample_of(s)->cpus[0].idle_ns, 3);
	steal_source_free(s);
}

static void a_full_disk_is_told(void **state)
{
	const struct steal_source *sources[] = {&exact_source};
	FILE *out = fopen("/dev/full", "w");
	struct recording *r;
	struct sample m;

	(void)state;
	assert_non_null(out);
	assert_int_equal(recording_begin(out, sources, 1, &r), 0);
	make_sample(&m, 1);
	recording_add(r, 0, &m.s);
	assert_int_equal(recording_end(r), -ENOSPC);
	assert_int_equal(recording_end(NULL), 0);
	fclose(out);
	alloc_fail_at(0);
	assert_int_equal(recording_begin(stdout, sources, 0, &r), -ENOMEM);
	assert_true(alloc_fail_off());
}

/* --- the kernel's accounting ----------------------------------------------------------------- */

static void the_kernel_tells_where_stolen_time_is(void **state)
{
	char long_text[70000];
	const char *how;
	FILE *out;
	char path[128];

	(void)state;
	assert_true(steal_kernel_cpu_has_steal_at(root, &how));
	assert_string_equal(how, "assumed");
	write_file("sys/kernel/btf/vmlinux", "prev_steal_time");
	assert_true(steal_kernel_cpu_has_steal_at(root, &how));
	assert_string_equal(how, "the kernel's type information");
	/* The name, across the end of what is read at once. */
	memset(long_text, 'x', sizeof(long_text));
	memcpy(long_text + 65536 - 7, "\0prev_steal_time_rq", 20);
	snprintf(path, sizeof(path), "%s/sys/kernel/btf/vmlinux", root);
	out = fopen(path, "w");
	assert_int_equal(fwrite(long_text, 1, sizeof(long_text), out), sizeof(long_text));
	fclose(out);
	assert_false(steal_kernel_cpu_has_steal_at(root, &how));
	write_file("proc/cmdline", "console=ttyS0 no-steal-acc quiet\n");
	assert_true(steal_kernel_cpu_has_steal_at(root, &how));
	assert_string_equal(how, "the boot parameter no-steal-acc");
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(a_folder_like_proc),	    IN_FOLDER(what_is_fresh),
		IN_FOLDER(schedstat_is_finer),	    IN_FOLDER(one_process_to_its_end),
		IN_FOLDER(what_is_no_proc),	    cmocka_unit_test(this_machine),
		IN_FOLDER(proc_without_memory),	    cmocka_unit_test(a_source_that_is_fed),
		cmocka_unit_test(a_fed_source_without_memory),
		IN_FOLDER(what_is_written_is_read), IN_FOLDER(damaged_recordings),
		cmocka_unit_test(a_full_disk_is_told),
		IN_FOLDER(the_kernel_tells_where_stolen_time_is),
	};

	return cmocka_run_group_tests_name("steal_source", tests, NULL, NULL);
}
