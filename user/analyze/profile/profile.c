/*
 * A sample stands for the CPU time since the thread's sample before, by the thread's own counter.
 * So the weights of a thread, and what it ran after the last one, add up to the time that it ran. A
 * clock that is late, or a hit that is lost, makes one weight larger, and no sum wrong. What is
 * stolen is in no counter of CPU time.
 */
#include "analyze/profile/profile.h"

#include <stdlib.h>

#include "base/tables/array.h"

static int thread_get(struct profile *p, uint64_t thread, struct profile_thread **ret)
{
	uint32_t index, before = p->thread_map.count;
	int err = keymap_add_row(&p->thread_map, (struct keymap_key){.a = thread}, &p->threads,
				 &p->threads_capacity, sizeof(*p->threads), &index);

	if (err)
		return err;
	*ret = &p->threads[index];
	if (index == before) {
		(*ret)->thread = thread;
		(*ret)->known = p->options.from_begin;
	}
	return 0;
}

static bool walk_has_failed(uint64_t result)
{
	return result != WALK_RESULT_COMPLETE && result != WALK_RESULT_IN_HEAP &&
	       result != WALK_RESULT_NO_JAVA_THREAD && result != WALK_RESULT_NO_JAVA_FRAMES;
}

static int add_sample(struct profile *p, struct profile_thread *t, const struct event *e,
		      uint64_t weight)
{
	uint64_t stack = e->v[RUN_SAMPLE_STACK].u, mode = e->v[RUN_SAMPLE_MODE].u;
	uint64_t result = e->v[RUN_SAMPLE_RESULT].u, via = e->v[RUN_SAMPLE_VIA].u;
	uint64_t unit = weight / PROFILE_UNIT_NS;
	bool failed = !stack && walk_has_failed(result);
	struct profile_cell *c;
	uint32_t index;
	int err;

	mode = mode < SAMPLE_MODE_COUNT ? mode : (uint64_t)SAMPLE_MODE_UNKNOWN;
	err = keymap_add_row(
		&p->cell_map,
		(struct keymap_key){.a = t->thread, .b = stack, .c = stack ? 0 : mode, .d = failed},
		&p->cells, &p->cells_capacity, sizeof(*p->cells), &index);
	if (err)
		return err;
	c = &p->cells[index];
	c->thread = t->thread;
	c->stack = stack;
	c->mode = stack ? 0 : mode;
	c->failed = failed;
	c->samples++;
	c->ns += weight;
	c->squares += unit * unit;
	t->samples++;
	t->ns += weight;
	t->mode_ns[mode] += weight;
	p->samples++;
	if (via < WALK_BEGIN_COUNT)
		t->via[via]++;
	if (result < WALK_RESULT_COUNT)
		t->result[result]++;
	return 0;
}

int profile_add(struct profile *p, const struct event *e)
{
	uint64_t cpu_ns = event_counter(e, COUNTERS_OF_THREAD, COUNTER_CPU_NS), weight;
	bool sample = e->id == EVENT_RUN_SAMPLE;
	struct profile_thread *t;
	int err;

	if (!sample && e->id != EVENT_THREAD_SAMPLE && e->id != EVENT_THREAD_END)
		return 0;
	if (e->time_ns > p->options.to_ns)
		return 0;
	err = thread_get(p, e->thread, &t);
	if (err)
		return err;
	if (!t->known || e->time_ns < p->options.from_ns) {
		p->unweighted += sample && e->time_ns >= p->options.from_ns;
		t->known = true;
		t->cpu_ns = t->sampled_ns = cpu_ns;
		return 0;
	}
	/* What turns out to be stolen later is taken back. */
	if (cpu_ns > t->cpu_ns) {
		t->run_ns += cpu_ns - t->cpu_ns;
		t->cpu_ns = cpu_ns;
	}
	if (!sample)
		return 0;
	weight = t->cpu_ns - t->sampled_ns;
	t->sampled_ns = t->cpu_ns;
	return add_sample(p, t, e, weight);
}

void profile_hole(struct profile *p)
{
	for (uint32_t i = 0; i < p->thread_map.count; i++)
		p->threads[i].known = false;
	p->options.from_begin = false;
}

bool profile_thread_is_java(const struct profile_thread *t)
{
	return t->result[WALK_RESULT_COMPLETE] || t->result[WALK_RESULT_IN_HEAP];
}

const struct profile_thread *profile_thread_find(const struct profile *p, uint64_t thread)
{
	uint32_t index = keymap_find(&p->thread_map, (struct keymap_key){.a = thread});

	return index == INDEX_NONE ? NULL : &p->threads[index];
}

void profile_free(struct profile *p)
{
	keymap_free(&p->cell_map);
	keymap_free(&p->thread_map);
	free(p->cells);
	free(p->threads);
	*p = (struct profile){0};
}
