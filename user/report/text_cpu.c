#include "report/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "report/format.h"
#include "report/table.h"

struct thread_row {
	uint64_t thread;
	struct sched_times times;
};

static int compare_cpus(const void *a, const void *b)
{
	const struct sched_cpu *x = *(const struct sched_cpu *const *)a,
			       *y = *(const struct sched_cpu *const *)b;

	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static void add_cpu(struct text *t, struct table *table,
		    const uint64_t growth[SCHED_CPU_FIELD_COUNT])
{
	uint64_t hz = header_number(t->in->header, "host", "user_hz");
	char buf[FORMAT_MAX];
	uint64_t ticks = 0;

	for (int i = SCHED_CPU_CLOCK_NS; i <= SCHED_CPU_IDLE_NS; i++)
		table_add(table, "%s", time_format(growth[i], buf));
	for (int i = SCHED_CPU_USER_TICKS; i < SCHED_CPU_FIELD_COUNT; i++)
		ticks += growth[i];
	table_add(table, "%s",
		  time_format(growth[SCHED_CPU_STEAL_TICKS] * (NS_PER_S / (hz ? hz : 100)), buf));
	for (int i = SCHED_CPU_USER_TICKS; i < SCHED_CPU_FIELD_COUNT; i++)
		table_add(table, "%s", share_format(growth[i], ticks, buf));
}

static int print_cpus(struct text *t, const struct sched_cpu *const *cpus, uint32_t count)
{
	static const struct table_column columns[] = {
		{"vCPU", false, 5, 0, false},          {"stolen", false, 8, 0, false},
		{"from this JVM", false, 8, 0, false}, {"from others", false, 8, 0, false},
		{"while idle", false, 8, 0, false},    {"by /proc/stat", false, 8, 0, false},
		{"user", false, 6, 0, false},          {"system", false, 6, 0, false},
		{"idle", false, 6, 0, false},          {"steal", false, 6, 0, false}};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(*columns));
	uint64_t growth[SCHED_CPU_FIELD_COUNT], sum[SCHED_CPU_FIELD_COUNT] = {0};
	int err;

	for (uint32_t i = 0; i < count; i++) {
		for (int k = 0; k < SCHED_CPU_FIELD_COUNT; k++) {
			growth[k] = sched_cpu_growth(cpus[i], k);
			sum[k] += growth[k];
		}
		table_add(table, "%" PRIu64, cpus[i]->cpu);
		add_cpu(t, table, growth);
	}
	if (count > 1) {
		table_add(table, "all");
		add_cpu(t, table, sum);
	}
	err = table_print(table, 2, t->out);
	table_free(table);
	return err;
}

int text_cpus(struct text *t)
{
	const struct sched *s = analysis_sched(t->in->analysis);
	const struct sched_cpu **cpus = malloc((s->cpu_places.count + 1) * sizeof(*cpus));
	const char *steal = header_text(t->in->header, "sources", "steal");
	uint32_t count = 0;
	int err = 0;

	if (!cpus)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->cpu_places.count; i++) {
		if (s->cpus[i].samples > 1)
			cpus[count++] = &s->cpus[i];
	}
	if (count) {
		qsort(cpus, count, sizeof(*cpus), compare_cpus);
		text_heading(t, "VIRTUAL CPUS: what the hypervisor took%s",
			     !*steal || !strcmp(steal, "none")
				     ? "; the scheduler's steal clock cannot be read here, see "
				       "/proc/stat's column"
				     : "");
		err = print_cpus(t, cpus, count);
	}
	free(cpus);
	return err;
}

static uint64_t times_whole(const struct sched_times *t)
{
	return t->running_ns + t->stolen_ns + t->runnable_ns + t->blocked_ns;
}

static int compare_threads(const void *a, const void *b)
{
	const struct thread_row *x = a, *y = b;
	uint64_t cpu_x = x->times.running_ns + x->times.stolen_ns,
		 cpu_y = y->times.running_ns + y->times.stolen_ns;

	return cpu_x != cpu_y ? (cpu_x < cpu_y ? 1 : -1)
			      : (x->thread > y->thread) - (x->thread < y->thread);
}

static void add_thread(struct table *table, const struct sched_times *times, uint64_t running_ns)
{
	const uint64_t parts[] = {times->running_ns, times->stolen_ns, times->runnable_ns,
				  times->blocked_ns};
	char buf[FORMAT_MAX];

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		table_add(table, "%s", time_format(parts[i], buf));
	table_add(table, "%s", share_format(times->running_ns, running_ns, buf));
	table_add(table, "%s", share_format(times->running_ns, times_whole(times), buf));
}

static int print_threads(struct text *t, const struct thread_row *rows, uint32_t count)
{
	static const struct table_column columns[] = {
		{"thread", true, 28, 44, false}, {"running", false, 8, 0, false},
		{"stolen", false, 8, 0, false},  {"runnable", false, 8, 0, false},
		{"blocked", false, 8, 0, false}, {"share", false, 7, 0, false},
		{"on CPU", false, 7, 0, false}};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(*columns));
	struct sched_times sum = {0}, rest = {0};
	uint32_t shown = count < t->in->top ? count : t->in->top;
	char name[LABEL_MAX];
	int err;

	for (uint32_t i = 0; i < count; i++) {
		struct sched_times *to[] = {&sum, i < shown ? NULL : &rest};

		for (int k = 0; k < 2 && to[k]; k++) {
			to[k]->running_ns += rows[i].times.running_ns;
			to[k]->stolen_ns += rows[i].times.stolen_ns;
			to[k]->runnable_ns += rows[i].times.runnable_ns;
			to[k]->blocked_ns += rows[i].times.blocked_ns;
		}
	}
	for (uint32_t i = 0; i < shown; i++) {
		table_add(table, "%s", label_thread(t->labels, rows[i].thread, name));
		add_thread(table, &rows[i].times, sum.running_ns);
	}
	if (shown < count) {
		table_add(table, "(%u more)", count - shown);
		add_thread(table, &rest, sum.running_ns);
	}
	table_add(table, "all %u threads", count);
	add_thread(table, &sum, sum.running_ns);
	err = table_print(table, 2, t->out);
	table_free(table);
	return err;
}

int text_threads(struct text *t)
{
	const struct sched *s = analysis_sched(t->in->analysis);
	uint32_t count = s->thread_places.count;
	struct thread_row *rows = malloc((count + 1) * sizeof(*rows));
	int err = 0;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		rows[i] = (struct thread_row){s->threads[i].thread,
					      sched_thread_times(&s->threads[i])};
	if (count) {
		qsort(rows, count, sizeof(*rows), compare_threads);
		text_heading(
			t,
			"THREADS by CPU time (runnable: waiting for a CPU; share: of all running)");
		err = print_threads(t, rows, count);
	}
	free(rows);
	return err;
}
