#include "analyze/sched.h"

#include <stdlib.h>

static struct sched_times times_at(const struct event *e)
{
	return (struct sched_times){e->v[THREAD_SAMPLE_CPU_NS].u, e->v[THREAD_SAMPLE_STOLEN_NS].u,
				    e->v[THREAD_SAMPLE_RUNNABLE_NS].u,
				    e->v[THREAD_SAMPLE_BLOCKED_NS].u};
}

_Static_assert((int)THREAD_SAMPLE_CPU_NS == THREAD_END_CPU_NS &&
		       (int)THREAD_SAMPLE_STOLEN_NS == THREAD_END_STOLEN_NS &&
		       (int)THREAD_SAMPLE_RUNNABLE_NS == THREAD_END_RUNNABLE_NS &&
		       (int)THREAD_SAMPLE_BLOCKED_NS == THREAD_END_BLOCKED_NS,
	       "a thread's end carries the fields of a sample");

/*
 * The four counts of a thread add up to the time since it was first seen. If that was before the
 * log's first event, the first sample tells what does not belong to the recording; else all of it
 * does.
 */
static int on_thread(struct sched *s, const struct event *e)
{
	struct place_key key = {.a = e->thread};
	struct sched_times now = times_at(e);
	uint64_t age = now.running_ns + now.stolen_ns + now.runnable_ns + now.blocked_ns;
	struct sched_thread *t;
	uint32_t place;
	int err = places_add_row(&s->thread_places, key, &s->threads, &s->threads_capacity,
				 sizeof(*s->threads), &place);

	if (err)
		return err;
	t = &s->threads[place];
	t->thread = e->thread;
	if (!t->sampled && e->id == EVENT_THREAD_SAMPLE && age > e->time_ns - s->first_ns)
		t->base = now;
	t->sampled = true;
	t->ended |= e->id == EVENT_THREAD_END;
	t->last = now;
	return 0;
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
	struct place_key key = {.a = e->v[CPU_SAMPLE_CPU].u};
	struct sched_cpu *c;
	uint32_t place;
	int err = places_add_row(&s->cpu_places, key, &s->cpus, &s->cpus_capacity, sizeof(*s->cpus),
				 &place);

	if (err)
		return err;
	c = &s->cpus[place];
	c->cpu = key.a;
	for (int i = 0; i < SCHED_CPU_FIELD_COUNT; i++) {
		c->last[i] = e->v[field[i]].u;
		if (!c->samples)
			c->first[i] = c->last[i];
	}
	c->samples++;
	return 0;
}

int sched_add(struct sched *s, const struct event *e)
{
	if (!s->started) {
		s->started = true;
		s->first_ns = e->time_ns;
	}
	switch (e->id) {
	case EVENT_THREAD_SAMPLE:
	case EVENT_THREAD_END:
		return on_thread(s, e);
	case EVENT_CPU_SAMPLE:
		return on_cpu(s, e);
	default:
		return 0;
	}
}

void sched_free(struct sched *s)
{
	places_free(&s->thread_places);
	places_free(&s->cpu_places);
	free(s->threads);
	free(s->cpus);
	*s = (struct sched){0};
}

static uint64_t growth(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

struct sched_times sched_thread_times(const struct sched_thread *t)
{
	return (struct sched_times){growth(t->base.running_ns, t->last.running_ns),
				    growth(t->base.stolen_ns, t->last.stolen_ns),
				    growth(t->base.runnable_ns, t->last.runnable_ns),
				    growth(t->base.blocked_ns, t->last.blocked_ns)};
}

uint64_t sched_cpu_growth(const struct sched_cpu *c, enum sched_cpu_field field)
{
	return growth(c->first[field], c->last[field]);
}
