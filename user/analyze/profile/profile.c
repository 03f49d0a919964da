/*
 * A sample stands for the CPU time since the thread's sample before, by the thread's own counter.
 * So the weights of a thread, and what it ran after the last one, add up to the time that it ran. A
 * clock that is late, or a hit that is lost, makes one weight larger, and no sum wrong. What is
 * stolen is in no counter of CPU time.
 *
 * If all states are wanted, the rows of the wall clock have the last word: they are the thread's
 * counters between the same two moments for every state, and what has a chain is a part of them.
 */
#include "analyze/profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/profile/profile_cells.h"
#include "analyze/profile/profile_step.h"
#include "analyze/threads/wall.h"
#include "base/tables/array.h"
#include "log/read/names.h"

static bool walk_has_failed(uint64_t result)
{
	return result != WALK_RESULT_COMPLETE && result != WALK_RESULT_IN_HEAP &&
	       result != WALK_RESULT_NO_JAVA_THREAD && result != WALK_RESULT_NO_JAVA_FRAMES;
}

static bool is_gc_worker(const struct profile *p, uint64_t thread)
{
	const struct log_thread *t =
		p->options.names ? log_names_thread(p->options.names, thread) : NULL;

	return t && vm_work_is_gc_worker(t->name);
}

/* All but the lock. */
static struct profile_aspect aspect_of(const struct profile *p, const struct event *e)
{
	struct profile_aspect a = {.symbol = e->v[RUN_SAMPLE_SYMBOL].u,
				   .callers = e->v[RUN_SAMPLE_CALLERS].u};
	uint64_t compiling = e->v[RUN_SAMPLE_COMPILING].u;

	if (compiling) {
		a.work = VM_WORK_COMPILING;
		a.work_id = compiling;
	} else if (!e->v[RUN_SAMPLE_STACK].u) {
		a.work = vm_work_of(&p->work, e->thread, is_gc_worker(p, e->thread), &a.work_id);
	}
	return a;
}

static struct held_sample sample_of(const struct profile *p, const struct event *e, uint64_t weight)
{
	return (struct held_sample){
		.aspect = aspect_of(p, e),
		.time_ns = e->time_ns,
		.thread = e->thread,
		.stack = e->v[RUN_SAMPLE_STACK].u,
		.mode = e->v[RUN_SAMPLE_MODE].u,
		.via = e->v[RUN_SAMPLE_VIA].u,
		.result = e->v[RUN_SAMPLE_RESULT].u,
		.weight = weight,
	};
}

static uint64_t mode_of(const struct held_sample *s)
{
	return s->mode < SAMPLE_MODE_COUNT ? s->mode : (uint64_t)SAMPLE_MODE_UNKNOWN;
}

/* *ret: the index of its cell. */
static int add_sample(struct profile *p, struct profile_thread *t, const struct held_sample *s,
		      uint32_t *ret)
{
	uint64_t mode = mode_of(s), unit = s->weight / PROFILE_UNIT_NS;
	struct profile_aspect aspect = s->aspect;
	struct profile_cell *c, like = {
					.thread = t->thread,
					.stack = s->stack,
					.mode = s->stack ? 0 : mode,
					.failed = !s->stack && walk_has_failed(s->result),
				};
	int err;

	if (p->options.locks)
		aspect.lock = lock_holds_at(&p->holds, t->thread, s->time_ns);
	err = profile_aspect_get(p, &aspect, &like.aspect);
	if (!err)
		err = profile_cell_get(p, &like, &c);
	if (err)
		return err;
	*ret = (uint32_t)(c - p->cells);
	c->samples++;
	c->ns += s->weight;
	c->squares += unit * unit;
	t->samples++;
	t->ns += s->weight;
	t->mode_ns[mode] += s->weight;
	p->samples++;
	if (s->via < WALK_BEGIN_COUNT)
		t->via[s->via]++;
	if (s->result < WALK_RESULT_COUNT)
		t->result[s->result]++;
	if (p->options.sampled)
		p->options.sampled(p->options.sampled_ctx, s);
	return 0;
}

/* Dropped if spans are wanted, and its thread is in none. */
static int hold_sample(struct profile *p, struct held_sample s)
{
	int err = p->options.locks ? lock_holds_sample(&p->holds, s.thread, s.time_ns) : 0;

	if (err || (p->spans.options.pattern && !in_spans_now(&p->spans, s.thread, &s.span)))
		return err;
	err = array_grow(&p->held, &p->held_capacity, p->held_count, sizeof(*p->held));
	if (!err)
		p->held[p->held_count++] = s;
	return err;
}

static int step_taken(const struct profile *p, const struct profile_step *step)
{
	return p->options.observe ? p->options.observe(p->options.context, step) : 0;
}

static int add_running(struct profile *p, const struct event *e)
{
	uint64_t cpu_ns = event_counter(e, COUNTERS_OF_THREAD, COUNTER_CPU_NS), weight;
	bool sample = e->id == EVENT_RUN_SAMPLE, begun = false;
	bool span =
		p->spans.options.pattern && (e->id == EVENT_SPAN_BEGIN || e->id == EVENT_SPAN_END);
	struct profile_step step = {.thread = e->thread, .time_ns = e->time_ns, .sample = sample};
	struct held_sample sample_now;
	struct profile_thread *t;
	int err;

	if (!sample && !span && e->id != EVENT_THREAD_SAMPLE && e->id != EVENT_THREAD_END)
		return 0;
	err = profile_thread_get(p, e->thread, &t);
	if (err)
		return err;
	if (t->carried && e->time_ns < p->options.from_ns)
		return 0;
	t->ended |= e->id == EVENT_THREAD_END;
	if (!t->known || e->time_ns < p->options.from_ns) {
		p->unweighted += sample && e->time_ns >= p->options.from_ns;
		t->known = true;
		t->cpu_ns = t->sampled_ns = cpu_ns;
		return 0;
	}
	/* What turns out to be stolen later is taken back. */
	if (cpu_ns > t->cpu_ns) {
		step.run_ns = cpu_ns - t->cpu_ns;
		t->run_ns += step.run_ns;
		t->cpu_ns = cpu_ns;
	}
	if (span)
		err = in_spans_add(&p->spans, e, t->cpu_ns, &begun);
	if (begun)
		t->sampled_ns = t->cpu_ns;
	if (err || !sample)
		return err ? err : step_taken(p, &step);
	weight = t->cpu_ns - t->sampled_ns;
	t->sampled_ns = t->cpu_ns;
	sample_now = sample_of(p, e, weight);
	if (p->spans.options.pattern || p->options.locks)
		return hold_sample(p, sample_now);
	if (p->options.gaps)
		sample_now.weight = 0; /* not known yet */
	step.weight = weight;
	step.mode = sample_now.mode;
	step.via = sample_now.via;
	step.result = sample_now.result;
	err = add_sample(p, t, &sample_now, &step.cell);
	if (!err && p->options.gaps)
		gaps_sample(p, t,
			    (struct gap){.open = true,
					 .cell = step.cell,
					 .since_ns = e->time_ns,
					 .mode = mode_of(&sample_now)});
	return err ? err : step_taken(p, &step);
}

int profile_add(struct profile *p, const struct event *e)
{
	int err;

	if (e->time_ns > p->options.to_ns)
		return 0;
	err = vm_work_add(&p->work, e);
	if (!err && p->options.gaps)
		err = gaps_add(p, e);
	else if (!err && p->options.waiting)
		err = waiting_add(p, e);
	return err ? err : add_running(p, e);
}

static uint64_t in_ratio(uint64_t ns, uint64_t part, uint64_t whole)
{
	return (uint64_t)((unsigned __int128)ns * part / whole);
}

/* charged: by thread, as in the table. */
static void trim(struct profile *p, const struct wall *w, struct states *charged)
{
	for (uint32_t i = 0; i < p->cell_map.count; i++) {
		struct profile_cell *c = &p->cells[i];
		uint32_t thread = keymap_find(&p->thread_map, (struct keymap_key){.a = c->thread});

		charged[thread].ns[c->state] += c->ns;
	}
	for (uint32_t i = 0; i < p->cell_map.count; i++) {
		struct profile_cell *c = &p->cells[i];
		uint32_t thread = keymap_find(&p->thread_map, (struct keymap_key){.a = c->thread});
		uint32_t row = keymap_find(&w->map, (struct keymap_key){.a = c->thread});
		struct states s = {0};
		uint64_t all = charged[thread].ns[c->state], was = c->ns;

		if (row != INDEX_NONE)
			s = wall_thread_states(&w->threads[row]);
		if (all <= s.ns[c->state])
			continue;
		c->ns = in_ratio(c->ns, s.ns[c->state], all);
		p->trimmed_ns += was - c->ns;
	}
}

/* What has no chain of each state of a thread. */
static int add_rest(struct profile *p, uint64_t thread, const struct states *all,
		    const struct states *charged)
{
	int err = 0;

	for (int i = 0; i < STATE_COUNT && !err; i++) {
		const struct profile_cell like = {
			.thread = thread, .state = (enum state)i, .rest = true};
		struct profile_cell *c;

		if (all->ns[i] <= charged->ns[i])
			continue;
		err = profile_cell_get(p, &like, &c);
		if (!err)
			c->ns = all->ns[i] - charged->ns[i];
	}
	return err;
}

static int add_rests(struct profile *p, const struct wall *w, struct states *charged)
{
	int err = 0;

	memset(charged, 0, (p->thread_map.count + 1) * sizeof(*charged));
	for (uint32_t i = 0; i < p->cell_map.count; i++) {
		const struct profile_cell *c = &p->cells[i];

		charged[keymap_find(&p->thread_map, (struct keymap_key){.a = c->thread})]
			.ns[c->state] += c->ns;
	}
	for (uint32_t i = 0; i < w->map.count && !err; i++) {
		const struct wall_thread *t = &w->threads[i];
		uint32_t thread = keymap_find(&p->thread_map, (struct keymap_key){.a = t->thread});
		struct states all = wall_thread_states(t);

		err = add_rest(p, t->thread, &all, &charged[thread]);
	}
	return err;
}

/* Of each thread counts what it ran in the chosen spans. */
static int choose_spans(struct profile *p)
{
	int err = in_spans_finish(&p->spans);

	for (uint32_t i = 0; i < p->thread_map.count; i++)
		p->threads[i].run_ns = 0;
	for (uint32_t i = 0; i < p->spans.span_count && !err; i++) {
		struct profile_thread *t;

		if (!in_spans_is_chosen(&p->spans, i))
			continue;
		err = profile_thread_get(p, p->spans.spans[i].thread, &t);
		if (!err)
			t->run_ns += p->spans.spans[i].cpu_ns;
	}
	return err;
}

static int add_held(struct profile *p)
{
	int err = p->options.locks ? lock_holds_finish(&p->holds) : 0;

	if (!err && p->spans.options.pattern)
		err = choose_spans(p);
	for (uint32_t i = 0; i < p->held_count && !err; i++) {
		const struct held_sample *held = &p->held[i];
		struct profile_thread *t;
		uint32_t cell;

		if (p->spans.options.pattern && !in_spans_is_chosen(&p->spans, held->span))
			continue;
		if (p->options.span_names)
			p->held[i].aspect.span = 1 + p->spans.spans[held->span].name;
		err = profile_thread_get(p, held->thread, &t);
		if (!err)
			err = add_sample(p, t, held, &cell);
	}
	return err;
}

int profile_finish(struct profile *p, const struct wall *w)
{
	struct profile_thread *t;
	struct states *charged;
	int err = 0;

	if (p->spans.options.pattern || p->options.locks)
		return add_held(p);
	if (p->options.gaps)
		gaps_finish(p);
	if (p->options.gaps || !p->options.waiting)
		return 0;
	/* A sum of short waits may be all that is known of a thread. */
	for (uint32_t i = 0; i < p->cell_map.count && !err; i++)
		err = profile_thread_get(p, p->cells[i].thread, &t);
	for (uint32_t i = 0; i < w->map.count && !err; i++)
		err = profile_thread_get(p, w->threads[i].thread, &t);
	charged = err ? NULL : calloc(p->thread_map.count + 1, sizeof(*charged));
	if (!charged)
		return -ENOMEM;
	trim(p, w, charged);
	err = add_rests(p, w, charged);
	free(charged);
	return err;
}

int profile_go_on(struct profile *p, const struct profile *before)
{
	for (uint32_t i = 0; i < before->thread_map.count; i++) {
		const struct profile_thread *from = &before->threads[i];
		struct profile_thread *t;
		int err;

		if (!from->known || from->ended)
			continue;
		err = profile_thread_get(p, from->thread, &t);
		if (err)
			return err;
		t->known = t->carried = true;
		t->cpu_ns = from->cpu_ns;
		t->sampled_ns = from->sampled_ns;
	}
	return 0;
}

void profile_hole(struct profile *p)
{
	for (uint32_t i = 0; i < p->thread_map.count; i++) {
		p->threads[i].known = p->threads[i].carried = false;
		p->threads[i].waiting = (struct waiting){0};
		p->threads[i].gap.open = false;
	}
	p->options.from_begin = false;
	in_spans_hole(&p->spans);
	vm_work_hole(&p->work);
}

struct profile_aspect profile_aspect_of(const struct profile *p, const struct profile_cell *c)
{
	return c->aspect ? p->aspects[c->aspect] : (struct profile_aspect){0};
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
	in_spans_free(&p->spans);
	lock_holds_free(&p->holds);
	vm_work_free(&p->work);
	keymap_free(&p->aspect_map);
	free(p->aspects);
	free(p->held);
	free(p->cells);
	free(p->threads);
	*p = (struct profile){0};
}
