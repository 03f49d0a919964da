#include <stdlib.h>
#include <string.h>

#include "analyze/registry/analysis.h"
#include "analyze/threads/sched.h"
#include "base/text/units.h"
#include "log/format/header_fields.h"
#include "report/model/sections/sections.h"

#define HZ_USUAL 100
/* Of all ticks of the row; the column with these is `all` columns further on. */
#define TICKS(key_, title_, all)                                                                   \
	{                                                                                          \
		.key = (key_), .title = (title_), .meaning = "By /proc/stat, in ticks.",           \
		.unit = FINDINGS_COUNT, .show = FINDINGS_SHARE, .per = (all), .least = 6           \
	}

static int by_number(const void *a, const void *b, void *cpus)
{
	const struct sched_cpu *x = (const struct sched_cpu *)cpus + *(const uint32_t *)a;
	const struct sched_cpu *y = (const struct sched_cpu *)cpus + *(const uint32_t *)b;

	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

/* The indexes of s->cpus, by their numbers; NULL: no memory. */
static uint32_t *sorted(const struct sched *s)
{
	uint32_t *ret = calloc(s->cpu_map.count + 1, sizeof(*ret));

	for (uint32_t i = 0; ret && i < s->cpu_map.count; i++)
		ret[i] = i;
	if (ret)
		qsort_r(ret, s->cpu_map.count, sizeof(*ret), by_number, s->cpus);
	return ret;
}

static void title(struct findings *f, const struct report_input *in)
{
	const char *steal = header_text(in->log->header, "sources", "steal");

	findings_title(f, *steal && strcmp(steal, "none")
				  ? "VIRTUAL CPUS: what the hypervisor took"
				  : "VIRTUAL CPUS: what the hypervisor took; the scheduler's steal "
				    "clock cannot be read here, see /proc/stat's column");
}

struct findings *section_cpus(const struct section_input *in)
{
	static const struct findings_column columns[] = {
		{.key = "cpu", .title = "vCPU", .unit = FINDINGS_NUMBER, .least = 5},
		{.key = "stolen_ns", .title = "stolen", .unit = FINDINGS_NS},
		{.key = "jvm_stolen_ns", .title = "from this JVM", .unit = FINDINGS_NS},
		{.key = "other_stolen_ns", .title = "from others", .unit = FINDINGS_NS},
		{.key = "idle_stolen_ns", .title = "while idle", .unit = FINDINGS_NS},
		{.title = "by /proc/stat", .unit = FINDINGS_NS},
		TICKS("stat_user", "user", 4),
		TICKS("stat_system", "system", 3),
		TICKS("stat_idle", "idle", 2),
		TICKS("stat_steal", "steal", 1),
		{.unit = FINDINGS_COUNT},
	};
	const struct sched *s = analysis_sched(in->analysis);
	uint64_t hz = header_number(in->in->log->header, "host", "user_hz");
	struct findings *f = FINDINGS_NEW(columns);
	uint32_t *order = sorted(s);

	if (!f || !order) {
		findings_free(f);
		free(order);
		return NULL;
	}
	title(f, in->in);
	f->all = "all";
	for (uint32_t i = 0; i < s->cpu_map.count; i++) {
		const struct sched_cpu *cpu = &s->cpus[order[i]];
		uint64_t growth[SCHED_CPU_FIELD_COUNT], ticks = 0;

		for (int k = 0; k < SCHED_CPU_FIELD_COUNT; k++)
			growth[k] = sched_cpu_growth(cpu, k);
		for (int k = SCHED_CPU_USER_TICKS; k < SCHED_CPU_FIELD_COUNT; k++)
			ticks += growth[k];
		findings_row(f, cpu->samples > 1 ? FINDINGS_ALL : FINDINGS_PROGRAMS);
		findings_number(f, cpu->cpu);
		findings_numbers(f, growth, SCHED_CPU_USER_TICKS);
		findings_number(f,
				growth[SCHED_CPU_STEAL_TICKS] * (NS_PER_S / (hz ? hz : HZ_USUAL)));
		findings_numbers(f, growth + SCHED_CPU_USER_TICKS,
				 SCHED_CPU_FIELD_COUNT - SCHED_CPU_USER_TICKS);
		findings_number(f, ticks);
	}
	free(order);
	return f;
}
