/*
 * What lasts too long is told while it lasts: a deadlock has no end. So begins are kept in the
 * order of their times, and only the oldest is looked at. Names are as many as the target wants:
 * none is kept here, what fires asks for them.
 */
#include "record/flight/trigger.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/hash_table.h"
#include "base/text/units.h"
#include "log/format/event.h"

#define MILLION 1000000ull

/* A thread that is blocked, or a pause of the thread that makes it. */
struct begin {
	struct {
		uint32_t thread;
		uint32_t what; /* the event that began it */
	} key;
	uint64_t since_ns;
	uint64_t lock;
	UT_hash_handle hh;
};

struct cpu {
	uint64_t time_ns, stolen_ns;
};

/* What has come true, and has not been told. */
struct fired {
	enum trigger_kind kind;
	uint64_t lasted_ns, stolen_ns;
	uint32_t thread, what;
	uint64_t lock;
};

struct triggers {
	uint64_t limit[TRIGGER_KIND_COUNT]; /* 0: none; the least of those that are given */
	struct begin *open[TRIGGER_STEAL];  /* the oldest first */
	struct cpu *cpus;
	unsigned cpu_count;
	uint64_t moment_ns, elapsed_ns, stolen_ns; /* of the samples of one moment */
	bool has_fired;
	struct fired fired;
};

static int parse_percent(const char *text, uint64_t *ret)
{
	char *end;
	double pct = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%")) || !(pct > 0 && pct <= 100))
		return -EINVAL;
	*ret = (uint64_t)llround(pct * (double)MILLION / 100);
	return *ret ? 0 : -EINVAL;
}

int trigger_parse(const char *text, struct trigger *ret)
{
	static const char *const names[TRIGGER_KIND_COUNT] = {"blocked:", "pause:", "steal:"};
	struct trigger t;

	for (unsigned i = 0; i < TRIGGER_KIND_COUNT; i++) {
		size_t length = strlen(names[i]);

		if (strncmp(text, names[i], length))
			continue;
		t.kind = (enum trigger_kind)i;
		if (i == TRIGGER_STEAL ? parse_percent(text + length, &t.limit)
				       : duration_parse(text + length, &t.limit) || !t.limit)
			return -EINVAL;
		*ret = t;
		return 0;
	}
	return -EINVAL;
}

struct triggers *triggers_new(const struct trigger *list, unsigned count)
{
	struct triggers *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	for (unsigned i = 0; i < count; i++)
		if (!t->limit[list[i].kind] || list[i].limit < t->limit[list[i].kind])
			t->limit[list[i].kind] = list[i].limit;
	return t;
}

void triggers_free(struct triggers *t)
{
	struct begin *b, *next;

	if (!t)
		return;
	for (unsigned i = 0; i < TRIGGER_STEAL; i++) {
		HASH_ITER (hh, t->open[i], b, next) {
			HASH_DEL(t->open[i], b);
			free(b);
		}
	}
	free(t->cpus);
	free(t);
}

/* One is enough for a file. */
static void fire(struct triggers *t, const struct fired *f)
{
	if (!t->has_fired)
		t->fired = *f;
	t->has_fired = true;
}

static void fire_begin(struct triggers *t, enum trigger_kind kind, const struct begin *b,
		       uint64_t to_ns)
{
	fire(t, &(struct fired){.kind = kind,
				.lasted_ns = to_ns - b->since_ns,
				.thread = b->key.thread,
				.what = b->key.what,
				.lock = b->lock});
}

static struct begin *find(const struct triggers *t, enum trigger_kind kind, uint32_t thread,
			  uint32_t what)
{
	struct begin key = {.key = {thread, what}}, *b;

	HASH_FIND(hh, t->open[kind], &key.key, sizeof(key.key), b);
	return b;
}

static int begin(struct triggers *t, enum trigger_kind kind, const struct event *e, uint64_t lock)
{
	struct begin *b;

	if (!t->limit[kind])
		return 0;
	b = find(t, kind, e->thread, e->id);
	if (b) /* its end is lost; it goes to the end of the list */
		HASH_DEL(t->open[kind], b);
	else
		b = calloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	b->key.thread = e->thread;
	b->key.what = e->id;
	b->since_ns = e->time_ns;
	b->lock = lock;
	HASH_ADD(hh, t->open[kind], key, sizeof(b->key), b);
	if (b->hh.tbl)
		return 0;
	free(b);
	return -ENOMEM;
}

static void end(struct triggers *t, enum trigger_kind kind, const struct event *e, uint32_t what)
{
	struct begin *b = find(t, kind, e->thread, what);

	if (!b)
		return;
	if (e->time_ns > b->since_ns && e->time_ns - b->since_ns >= t->limit[kind])
		fire_begin(t, kind, b, e->time_ns);
	HASH_DEL(t->open[kind], b);
	free(b);
}

/* All samples of one moment are in: how much was stolen from the machine since the last one? */
static void check_steal(struct triggers *t)
{
	if (t->elapsed_ns && (double)t->stolen_ns * (double)MILLION >=
				     (double)t->limit[TRIGGER_STEAL] * (double)t->elapsed_ns)
		fire(t, &(struct fired){.kind = TRIGGER_STEAL,
					.lasted_ns = t->elapsed_ns,
					.stolen_ns = t->stolen_ns});
	t->elapsed_ns = 0;
	t->stolen_ns = 0;
}

static int on_cpu(struct triggers *t, const struct event *e)
{
	uint64_t cpu = e->v[CPU_SAMPLE_CPU].u;
	struct cpu now = {e->time_ns, e->v[CPU_SAMPLE_CLOCK_NS].u}, *last;

	if (!t->limit[TRIGGER_STEAL] || cpu > UINT16_MAX)
		return 0;
	if (e->time_ns != t->moment_ns)
		check_steal(t);
	t->moment_ns = e->time_ns;
	if (cpu >= t->cpu_count) {
		struct cpu *cpus = realloc(t->cpus, (cpu + 1) * sizeof(*cpus));

		if (!cpus)
			return -ENOMEM;
		memset(cpus + t->cpu_count, 0, (cpu + 1 - t->cpu_count) * sizeof(*cpus));
		t->cpus = cpus;
		t->cpu_count = (unsigned)cpu + 1;
	}
	last = &t->cpus[cpu];
	if (last->time_ns && now.time_ns > last->time_ns && now.stolen_ns >= last->stolen_ns) {
		t->elapsed_ns += now.time_ns - last->time_ns;
		t->stolen_ns += now.stolen_ns - last->stolen_ns;
	}
	*last = now;
	return 0;
}

int triggers_add(struct triggers *t, const struct event *e)
{
	switch (e->id) {
	case EVENT_MONITOR_CONTENDED_ENTER:
		return begin(t, TRIGGER_BLOCKED, e, e->v[MONITOR_CONTENDED_ENTER_LOCK].u);
	case EVENT_MONITOR_CONTENDED_ENTERED:
		end(t, TRIGGER_BLOCKED, e, EVENT_MONITOR_CONTENDED_ENTER);
		return 0;
	case EVENT_PARK_BEGIN:
		return e->v[PARK_BEGIN_OWNER].u
			       ? begin(t, TRIGGER_BLOCKED, e, e->v[PARK_BEGIN_LOCK].u)
			       : 0;
	case EVENT_PARK_END:
		end(t, TRIGGER_BLOCKED, e, EVENT_PARK_BEGIN);
		return 0;
	case EVENT_SAFEPOINT_BEGIN:
	case EVENT_GC_BEGIN:
		return begin(t, TRIGGER_PAUSE, e, 0);
	case EVENT_SAFEPOINT_END:
		end(t, TRIGGER_PAUSE, e, EVENT_SAFEPOINT_BEGIN);
		return 0;
	case EVENT_GC_END:
		end(t, TRIGGER_PAUSE, e, EVENT_GC_BEGIN);
		return 0;
	case EVENT_THREAD_END:
		end(t, TRIGGER_BLOCKED, e, EVENT_MONITOR_CONTENDED_ENTER);
		end(t, TRIGGER_BLOCKED, e, EVENT_PARK_BEGIN);
		return 0;
	case EVENT_CPU_SAMPLE:
		return on_cpu(t, e);
	default:
		return 0;
	}
}

/* --- what is told ----------------------------------------------------------------------------- */

static void describe_blocked(const struct fired *f, const struct trigger_names *names,
			     const char *lasted, const char *limit, char text[TRIGGER_TEXT_MAX])
{
	char thread[101] = "?", class[201] = "a lock";
	struct event e;

	if (names->find(names->ctx, EVENT_THREAD, f->thread, &e))
		snprintf(thread, sizeof(thread), "%s", e.v[THREAD_NAME].s);
	if (names->find(names->ctx, EVENT_LOCK, f->lock, &e) &&
	    names->find(names->ctx, EVENT_CLASS, e.v[LOCK_CLASS].u, &e))
		snprintf(class, sizeof(class), "%s", e.v[CLASS_NAME].s);
	snprintf(text, TRIGGER_TEXT_MAX, "a thread was blocked for %s (limit %s): %s, on %s",
		 lasted, limit, thread, class);
}

static void describe(const struct triggers *t, const struct trigger_names *names,
		     char text[TRIGGER_TEXT_MAX])
{
	char limit[UNITS_TEXT_MAX], lasted[UNITS_TEXT_MAX];
	const struct fired *f = &t->fired;

	duration_format(t->limit[f->kind], limit);
	duration_format(f->lasted_ns, lasted);
	if (f->kind == TRIGGER_BLOCKED)
		describe_blocked(f, names, lasted, limit, text);
	else if (f->kind == TRIGGER_PAUSE)
		snprintf(text, TRIGGER_TEXT_MAX, "%s lasted %s (limit %s)",
			 f->what == EVENT_GC_BEGIN ? "a collection's pause" : "a safepoint", lasted,
			 limit);
	else
		snprintf(text, TRIGGER_TEXT_MAX,
			 "the hypervisor took %.2f %% of the CPUs' time (limit %.2f %%)",
			 100.0 * (double)f->stolen_ns / (double)f->lasted_ns,
			 (double)t->limit[TRIGGER_STEAL] / 1e4);
}

bool triggers_fired(struct triggers *t, const struct trigger_names *names, uint64_t now_ns,
		    char text[TRIGGER_TEXT_MAX])
{
	bool fired;

	for (unsigned i = 0; i < TRIGGER_STEAL; i++) {
		struct begin *b = t->open[i];

		if (!b || now_ns <= b->since_ns || now_ns - b->since_ns < t->limit[i])
			continue;
		fire_begin(t, (enum trigger_kind)i, b, now_ns);
		HASH_DEL(t->open[i], b); /* it has been told */
		free(b);
	}
	if (t->limit[TRIGGER_STEAL] && now_ns > t->moment_ns)
		check_steal(t);
	fired = t->has_fired;
	if (fired)
		describe(t, names, text);
	t->has_fired = false;
	return fired;
}
