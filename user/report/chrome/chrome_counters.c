/*
 * Counter tracks. What is measured from one sample to the next is shown from the first on: a
 * counter keeps its value up to its next one. Threads by what they do: means over a window, by the
 * counters of all of them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/units.h"
#include "report/chrome/chrome_internal.h"

#include "log/format/header_fields.h"

enum {
	CLOCK = CPU_SAMPLE_CLOCK_NS - 1,
	JVM = CPU_SAMPLE_JVM_STOLEN_NS - 1,
	OTHER = CPU_SAMPLE_OTHER_STOLEN_NS - 1,
	IDLE = CPU_SAMPLE_IDLE_STOLEN_NS - 1,
	STAT_USER = CPU_SAMPLE_STAT_USER - 1,
	STAT_SYSTEM = CPU_SAMPLE_STAT_SYSTEM - 1,
	STAT_IDLE = CPU_SAMPLE_STAT_IDLE - 1,
	STAT_STEAL = CPU_SAMPLE_STAT_STEAL - 1,
};

_Static_assert(!CPU_SAMPLE_CPU && CPU_SAMPLE_FIELD_COUNT == CHROME_CPU_FIELDS + 1, "behind cpu");

static void begin(struct chrome *c, uint64_t time_ns, const char *name)
{
	uint64_t from_ns = c->options.from_ns;

	chrome_event(&c->out, 'C', 0, time_ns > from_ns ? time_ns : from_ns);
	chrome_text(&c->out, "name", name);
	chrome_args(&c->out);
}

/* Whether a value from one time to another is to be seen. */
static bool is_in_range(const struct chrome *c, uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns && to_ns > c->options.from_ns && from_ns <= c->options.until_ns;
}

static uint64_t growth(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

/* part / whole * times; the largest value if there is more than fits, as a forged log may have. */
static uint64_t share(uint64_t part, uint64_t whole, uint64_t times)
{
	double value = whole ? (double)part / (double)whole * (double)times + 0.5 : 0;

	return value < 18446744073709549568.0 ? (uint64_t)value : UINT64_MAX;
}

/* --- CPUs --------------------------------------------------------------------------------- */

static void put_stolen(struct chrome *c, uint64_t cpu, const struct chrome_cpu *k,
		       const uint64_t now[CHROME_CPU_FIELDS], uint64_t ns)
{
	static const struct {
		const char *name;
		int field;
	} parts[] = {{"from the JVM", JVM}, {"from others", OTHER}, {"while idle", IDLE}};
	char name[64];

	snprintf(name, sizeof(name), "vCPU %" PRIu64 ": stolen, ms/s", cpu);
	begin(c, k->time_ns, name);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		chrome_milli(&c->out, parts[i].name,
			     share(growth(k->v[parts[i].field], now[parts[i].field]), ns, 1000000));
	chrome_done(&c->out);
}

static void put_stat(struct chrome *c, uint64_t cpu, const struct chrome_cpu *k,
		     const uint64_t now[CHROME_CPU_FIELDS])
{
	static const struct {
		const char *name;
		int field;
	} parts[] = {{"user", STAT_USER}, {"system", STAT_SYSTEM}, {"steal", STAT_STEAL}};
	uint64_t all = 0;
	char name[64];

	for (int i = STAT_USER; i <= STAT_STEAL; i++)
		all += growth(k->v[i], now[i]);
	if (!all)
		return;
	snprintf(name, sizeof(name), "vCPU %" PRIu64 ": by /proc/stat, %%", cpu);
	begin(c, k->time_ns, name);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		chrome_milli(&c->out, parts[i].name,
			     share(growth(k->v[parts[i].field], now[parts[i].field]), all, 100000));
	chrome_done(&c->out);
}

static int on_cpu(struct chrome *c, const struct event *e)
{
	const char *steal = header_text(c->header, "sources", "steal");
	uint64_t cpu = e->v[CPU_SAMPLE_CPU].u, now[CHROME_CPU_FIELDS];
	struct chrome_cpu *k;
	uint32_t index;
	int err = keymap_add_row(&c->cpu_map, (struct keymap_key){.a = cpu}, &c->cpus,
				 &c->cpus_capacity, sizeof(*c->cpus), &index);

	if (err)
		return err;
	k = &c->cpus[index];
	if (k->holes != c->holes)
		*k = (struct chrome_cpu){.holes = c->holes};
	for (int i = 0; i < CHROME_CPU_FIELDS; i++)
		now[i] = e->v[1 + i].u;
	if (k->sampled && is_in_range(c, k->time_ns, c->now_ns)) {
		if (*steal && strcmp(steal, "none"))
			put_stolen(c, cpu, k, now, c->now_ns - k->time_ns);
		put_stat(c, cpu, k, now);
	}
	k->sampled = true;
	k->time_ns = c->now_ns;
	memcpy(k->v, now, sizeof(now));
	return 0;
}

/* --- threads ------------------------------------------------------------------------------ */

static void put_batch(struct chrome *c, uint64_t from_ns, uint64_t to_ns)
{
	if (!is_in_range(c, from_ns, to_ns) || !states_sum(&c->batch))
		return;
	begin(c, from_ns, "threads, by what they do");
	for (int i = 0; i < STATE_COUNT; i++)
		chrome_milli(&c->out, state_name((enum state)i),
			     share(c->batch.ns[i], to_ns - from_ns, 1000));
	chrome_done(&c->out);
}

/* All threads are sampled at one moment: the first sample of the next moment ends the window. */
static int on_states(struct chrome *c, const struct event *e, bool sample)
{
	struct states now, more;
	struct chrome_thread *t;
	uint64_t since_ns;
	int err = chrome_thread(c, e->thread, &t);

	if (err || !states_of(e, &now))
		return err;
	if (sample && (!c->batch_begun || c->now_ns > c->batch_ns)) {
		c->window_ns = c->batch_ns;
		c->closing = c->batch_begun;
		c->batch_ns = c->now_ns;
		c->batch_begun = true;
	}
	more = t->sampled ? states_since(&t->sample, &now) : now;
	/* Of a thread that was there before, the first sample says what is not of the window. */
	since_ns = sample ? c->window_ns : c->batch_ns;
	if (t->sampled || (since_ns && states_sum(&now) <= c->now_ns - since_ns))
		states_add(&c->batch, &more);
	t->sampled = true;
	t->sample = now;
	return 0;
}

void chrome_counters_finish(struct chrome *c)
{
	if (!c->closing)
		return;
	put_batch(c, c->window_ns, c->batch_ns);
	c->closing = false;
	c->batch = (struct states){0};
}

void chrome_counters_hole(struct chrome *c)
{
	chrome_counters_finish(c);
	c->batch = (struct states){0};
	c->batch_ns = c->window_ns = 0;
	c->batch_begun = c->closing = false;
}

/* --- heap --------------------------------------------------------------------------------- */

static void on_pool(struct chrome *c, const struct event *e)
{
	char name[LABEL_MAX + 16], text[LABEL_MAX];

	if (!chrome_in_range(c, c->now_ns))
		return;
	snprintf(name, sizeof(name), "%s, MiB",
		 label_string(c->labels, e->v[GC_POOL_POOL].u, "(unknown pool)", text));
	begin(c, c->now_ns, name);
	chrome_milli(&c->out, "used", share(e->v[GC_POOL_USED_BYTES].u, 1 << 20, 1000));
	chrome_done(&c->out);
}

int chrome_counters_add(struct chrome *c, const struct event *e)
{
	bool sample = e->id == EVENT_THREAD_SAMPLE;

	if (c->now_ns > c->batch_ns)
		chrome_counters_finish(c);
	switch (e->id) {
	case EVENT_CPU_SAMPLE:
		return on_cpu(c, e);
	case EVENT_THREAD_SAMPLE:
	case EVENT_THREAD_END:
		return e->thread ? on_states(c, e, sample) : 0;
	case EVENT_GC_POOL:
		on_pool(c, e);
		return 0;
	default:
		return 0;
	}
}
