#include "analyze/threads/sched.h"

#include <stdbool.h>
#include <stdlib.h>

#include "analyze/row.h"

static uint64_t growth(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

static int on_cpu(struct sched *s, const struct event *e)
{
	static const uint8_t field[SCHED_CPU_FIELD_COUNT] = {
		[SCHED_CPU_CLOCK_NS] = CPU_SAMPLE_CLOCK_NS,
		[SCHED_CPU_JVM_NS] = CPU_SAMPLE_JVM_STOLEN_NS,
		[SCHED_CPU_OTHER_NS] = CPU_SAMPLE_OTHER_STOLEN_NS,
		[SCHED_CPU_IDLE_NS] = CPU_SAMPLE_IDLE_STOLEN_NS,
		[SCHED_CPU_USER_TICKS] = CPU_SAMPLE_STAT_USER,
		[SCHED_CPU_SYSTEM_TICKS] = CPU_SAMPLE_STAT_SYSTEM,
		[SCHED_CPU_IDLE_TICKS] = CPU_SAMPLE_STAT_IDLE,
		[SCHED_CPU_STEAL_TICKS] = CPU_SAMPLE_STAT_STEAL,
	};
	struct keymap_key key = {.a = e->v[CPU_SAMPLE_CPU].u};
	struct sched_cpu *c;
	uint32_t index;
	bool hole;
	int err = keymap_add_row(&s->cpu_map, key, &s->cpus, &s->cpus_capacity, sizeof(*s->cpus),
				 &index);

	if (err)
		return err;
	c = &s->cpus[index];
	c->cpu = key.a;
	hole = c->holes < s->holes && e->v[CPU_SAMPLE_CLOCK_NS].u > c->last[SCHED_CPU_CLOCK_NS];
	for (int i = 0; i < SCHED_CPU_FIELD_COUNT; i++) {
		if (hole && c->samples)
			c->first[i] += growth(c->last[i], e->v[field[i]].u);
		c->last[i] = e->v[field[i]].u;
		if (!c->samples)
			c->first[i] = c->last[i];
	}
	if (hole)
		c->holes = s->holes;
	c->samples++;
	return 0;
}

int sched_add(struct sched *s, const struct event *e)
{
	return e->id == EVENT_CPU_SAMPLE ? on_cpu(s, e) : 0;
}

void sched_free(struct sched *s)
{
	keymap_free(&s->cpu_map);
	free(s->cpus);
	*s = (struct sched){0};
}

uint64_t sched_cpu_growth(const struct sched_cpu *c, enum sched_cpu_field field)
{
	return growth(c->first[field], c->last[field]);
}

ROW_ZEROED(sched)

static int sched_row_add(void *self, const struct analysis_input *in)
{
	return sched_add(self, in->event);
}

/* What grows up to the next samples does not count. */
static int sched_row_hole(void *self, uint64_t from_ns, uint64_t to_ns)
{
	struct sched *s = self;

	(void)from_ns;
	(void)to_ns;
	s->holes++;
	return 0;
}

const struct analysis_row sched_analysis = {
	.events = ROW_EVENTS(EVENT_CPU_SAMPLE),
	.new = sched_row_new,
	.add = sched_row_add,
	.hole = sched_row_hole,
	.free = sched_row_free,
};
