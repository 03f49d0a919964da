#include "report/text/text_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/registry/analysis.h"
#include "base/format.h"
#include "log/format/header_fields.h"
#include "report/text/table.h"

static int compare_cpus(const void *a, const void *b)
{
	const struct sched_cpu *x = *(const struct sched_cpu *const *)a,
			       *y = *(const struct sched_cpu *const *)b;

	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static void add_cpu(struct text *t, struct table *table,
		    const uint64_t growth[SCHED_CPU_FIELD_COUNT])
{
	uint64_t hz = header_number(t->in->log->header, "host", "user_hz");
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
	const struct sched *s = analysis_sched(t->in->log->analysis);
	const struct sched_cpu **cpus = malloc((s->cpu_places.count + 1) * sizeof(*cpus));
	const char *steal = header_text(t->in->log->header, "sources", "steal");
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
