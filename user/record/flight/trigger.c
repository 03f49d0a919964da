/*
 * What lasts too long is reported while it lasts: a deadlock has no end. So begins are kept in the
 * order of their times, and only the oldest is looked at. Names are as many as the target wants:
 * none is kept here, what fires asks for them.
 */
#include "record/flight/trigger.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/tables/array.h"
#include "base/tables/store.h"
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
	TAILQ_ENTRY(begin) order;
};

/* Begins without their ends. */
struct begins {
	struct store *all; /* of struct begin; they do not move */
	TAILQ_HEAD(, begin) order; /* the oldest first */
};

struct cpu {
	uint64_t time_ns, stolen_ns;
};

/* What has come true, and is not reported yet. */
struct fired {
	enum trigger_kind kind;
	uint64_t lasted_ns, stolen_ns;
	uint32_t thread, what;
	uint64_t lock;
};

struct triggers {
	uint64_t limit[TRIGGER_KIND_COUNT]; /* 0: none; the least of those that are given */
	struct begins open[TRIGGER_STEAL];
	struct cpu *cpus; /* by number */
	uint32_t cpu_capacity;
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
	const struct store_options options = {.key_bytes = sizeof(((struct begin *)0)->key),
					      .entry_bytes = sizeof(struct begin)};
	struct triggers *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	for (unsigned i = 0; i < TRIGGER_STEAL; i++) {
		TAILQ_INIT(&t->open[i].order);
		if (store_new(&options, &t->open[i].all)) {
			triggers_free(t);
			return NULL;
		}
	}
	for (unsigned i = 0; i < count; i++)
		if (!t->limit[list[i].kind] || list[i].limit < t->limit[list[i].kind])
			t->limit[list[i].kind] = list[i].limit;
	return t;
}

void triggers_free(struct triggers *t)
{
	if (!t)
		return;
	for (unsigned i = 0; i < TRIGGER_STEAL; i++)
		store_free(t->open[i].all);
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

static void begin_remove(struct begins *of, struct begin *b)
{
	TAILQ_REMOVE(&of->order, b, order);
	store_remove(of->all, b);
}

static int begin(struct triggers *t, enum trigger_kind kind, const struct event *e, uint64_t lock)
{
	const struct begin key = {.key = {e->thread, e->id}};
	struct begins *of = &t->open[kind];
	struct begin *b;
	void *added;
	int err;

	if (!t->limit[kind])
		return 0;
	b = store_find(of->all, &key.key);
	if (b) { /* its end is lost; it goes to the end of the list */
		TAILQ_REMOVE(&of->order, b, order);
	} else {
		err = store_add(of->all, &key.key, &added);
		if (err)
			return err;
		b = added;
	}
	b->since_ns = e->time_ns;
	b->lock = lock;
	TAILQ_INSERT_TAIL(&of->order, b, order);
	return 0;
}

static void end(struct triggers *t, enum trigger_kind kind, const struct event *e, uint32_t what)
{
	const struct begin key = {.key = {e->thread, what}};
	struct begin *b = store_find(t->open[kind].all, &key.key);

	if (!b)
		return;
	if (e->time_ns > b->since_ns && e->time_ns - b->since_ns >= t->limit[kind])
		fire_begin(t, kind, b, e->time_ns);
	begin_remove(&t->open[kind], b);
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
	if (array_grow(&t->cpus, &t->cpu_capacity, (uint32_t)cpu, sizeof(*t->cpus)))
		return -ENOMEM;
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
		struct begin *b = TAILQ_FIRST(&t->open[i].order);

		if (!b || now_ns <= b->since_ns || now_ns - b->since_ns < t->limit[i])
			continue;
		fire_begin(t, (enum trigger_kind)i, b, now_ns);
		begin_remove(&t->open[i], b); /* reported once */
	}
	if (t->limit[TRIGGER_STEAL] && now_ns > t->moment_ns)
		check_steal(t);
	fired = t->has_fired;
	if (fired)
		describe(t, names, text);
	t->has_fired = false;
	return fired;
}
