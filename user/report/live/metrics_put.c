/* The sums as text: OpenMetrics 1.0, and the format that Prometheus had before it. */
#include <inttypes.h>

#include "base/text/print.h"
#include "base/version.h"
#include "report/live/metrics.h"
#include "report/live/metrics_internal.h"

static const char *const held_names[HELD_COUNT] = {"running",   "stolen",  "runnable",
						   "throttled", "blocked", "unknown"};

enum metric_type { TYPE_COUNTER, TYPE_GAUGE, TYPE_HISTOGRAM };

static const char *const les[TIME_BUCKETS] = {"0.0001", "0.001", "0.01", "0.1",
					      "1",      "3",     "10"};

struct metric {
	const char *name; /* of a counter, without _total */
	enum metric_type type;
	const char *unit; /* NULL: none */
	const char *help;
};

struct put {
	const struct metrics *m;
	bool open;
	FILE *out;
};

/* In OpenMetrics a counter's family has no _total, its samples do; before, both had. */
static void family(const struct put *p, const struct metric *f)
{
	static const char *const types[] = {"counter", "gauge", "histogram"};
	const char *end = f->type == TYPE_COUNTER && !p->open ? "_total" : "";

	print_text(p->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", f->name, end, f->help, f->name, end,
		   types[f->type]);
	if (p->open && f->unit)
		print_text(p->out, "# UNIT %s %s\n", f->name, f->unit);
}

static void put_name(const struct put *p, const struct metric *f, const char *end)
{
	print_text(p->out, "%s%s", f->name, f->type == TYPE_COUNTER ? "_total" : end);
}

static void put_value(const struct put *p, const struct metric *f, uint64_t value)
{
	putc(' ', p->out);
	if (f->unit && f->type != TYPE_HISTOGRAM)
		metrics_put_seconds(value, p->out);
	else
		fprintf(p->out, "%" PRIu64, value);
	putc('\n', p->out);
}

static void put_one(const struct put *p, const struct metric *f, uint64_t value)
{
	family(p, f);
	put_name(p, f, "");
	put_value(p, f, value);
}

static void put_row_labels(const struct put *p, const struct metrics_table *t, uint32_t row,
			   const char *const names[METRICS_LABELS])
{
	for (int i = 0; i < METRICS_LABELS && names[i]; i++) {
		if (i)
			putc(',', p->out);
		metrics_put_label(names[i], row < t->count ? t->labels[row][i] : "other", p->out);
	}
}

/* The others' row is there as soon as there may be some; it is the last one. */
static uint32_t row_count(const struct metrics_table *t)
{
	return t->count + (t->count == t->max || t->others);
}

static const uint64_t *row_values(const struct metrics_table *t, uint32_t row)
{
	return metrics_table_values(t, row < t->count ? row : t->max);
}

/* One value of each row; of others than the first of a group, with a further label. */
struct values {
	const struct metrics_table *table;
	const char *const *names; /* of its labels */
	unsigned first, count;    /* values of a row */
	const char *further; /* the name of the label that tells them apart; NULL: there is one */
	const char *(*value_name)(unsigned i);
};

static void put_values(const struct put *p, const struct metric *f, const struct values *v)
{
	family(p, f);
	for (uint32_t row = 0; row < row_count(v->table); row++) {
		const uint64_t *values = row_values(v->table, row) + v->first;

		for (unsigned i = 0; i < v->count; i++) {
			put_name(p, f, "");
			putc('{', p->out);
			put_row_labels(p, v->table, row, v->names);
			if (v->further) {
				putc(',', p->out);
				metrics_put_label(v->further, v->value_name(i), p->out);
			}
			putc('}', p->out);
			put_value(p, f, values[i]);
		}
	}
}

static const char *const lock_labels[METRICS_LABELS] = {"lock_class", "group"};
static const char *const pool_labels[METRICS_LABELS] = {"pool"};
static const char *const gc_labels[METRICS_LABELS] = {"collector", "kind"};
static const char *const cpu_labels[METRICS_LABELS] = {"cpu"};
static const char *const method_labels[METRICS_LABELS] = {"method"};
static const char *const span_labels[METRICS_LABELS] = {"name"};

/* Labels of one series: those of its row, if there is a table, or its phase, and le, if it is a
 * bucket's. */
struct series {
	const struct put *p;
	const struct metric *f;
	const struct metrics_table *table; /* NULL: there is none */
	const char *const *names;
	uint32_t row;
	const char *phase; /* NULL: there is none */
};

static void put_series(const struct series *s, const char *end, const char *le)
{
	FILE *out = s->p->out;

	bool labels = s->table || s->phase;

	put_name(s->p, s->f, end);
	if (labels || le)
		putc('{', out);
	if (s->table)
		put_row_labels(s->p, s->table, s->row, s->names);
	else if (s->phase)
		metrics_put_label("phase", s->phase, out);
	if (labels && le)
		putc(',', out);
	if (le)
		metrics_put_label("le", le, out);
	if (labels || le)
		putc('}', out);
	putc(' ', out);
}

static void put_histogram(const struct series *s, uint64_t sum_ns, const uint64_t *buckets)
{
	FILE *out = s->p->out;
	uint64_t count = 0;

	for (int i = 0; i <= TIME_BUCKETS; i++) {
		count += buckets[i];
		put_series(s, "_bucket", i < TIME_BUCKETS ? les[i] : "+Inf");
		fprintf(out, "%" PRIu64 "\n", count);
	}
	put_series(s, "_sum", NULL);
	metrics_put_seconds(sum_ns, out);
	putc('\n', out);
	put_series(s, "_count", NULL);
	fprintf(out, "%" PRIu64 "\n", count);
}

/* A histogram of each row: the value sum, and its buckets. */
static void put_histograms(const struct put *p, const struct metric *f, const struct values *v,
			   unsigned sum)
{
	struct series s = {.p = p, .f = f, .table = v->table, .names = v->names};

	family(p, f);
	for (s.row = 0; s.row < row_count(v->table); s.row++) {
		const uint64_t *values = row_values(v->table, s.row);

		put_histogram(&s, values[sum], values + v->first);
	}
}

static const char *held_name(unsigned i)
{
	return held_names[i];
}

static const char *thread_state_name(unsigned i)
{
	return state_name((enum state)i);
}

static void put_locks(const struct put *p)
{
	const struct metrics_table *t = &p->m->locks;

	put_values(p,
		   &(struct metric){"spoor_lock_blocked_seconds", TYPE_COUNTER, "seconds",
				    "Time that threads were blocked on locks."},
		   &(struct values){t, lock_labels, LOCK_BLOCKED_NS, 1, NULL, NULL});
	put_values(p,
		   &(struct metric){"spoor_lock_idle_seconds", TYPE_COUNTER, "seconds",
				    "Of the blocked time: idle turn-taking, while the owner "
				    "waited for new work."},
		   &(struct values){t, lock_labels, LOCK_IDLE_NS, 1, NULL, NULL});
	put_values(p,
		   &(struct metric){"spoor_lock_contentions", TYPE_COUNTER, NULL,
				    "Times that threads were blocked on locks."},
		   &(struct values){t, lock_labels, LOCK_CONTENTIONS, 1, NULL, NULL});
	put_values(p,
		   &(struct metric){"spoor_lock_waiters", TYPE_GAUGE, NULL,
				    "Threads that were blocked at the end of the last interval."},
		   &(struct values){t, lock_labels, LOCK_WAITERS, 1, NULL, NULL});
	put_values(p,
		   &(struct metric){"spoor_lock_holder_seconds", TYPE_COUNTER, "seconds",
				    "The blocked time by what the owner of the lock did."},
		   &(struct values){t, lock_labels, LOCK_HELD_NS, HELD_COUNT, "state", held_name});
	put_histograms(p,
		       &(struct metric){"spoor_lock_contention_seconds", TYPE_HISTOGRAM, "seconds",
					"How long contentions that have ended lasted."},
		       &(struct values){.table = t, .names = lock_labels, .first = LOCK_BUCKETS},
		       LOCK_LENGTHS_NS);
}

static void put_threads(const struct put *p)
{
	const struct metrics_table *t = &p->m->pools;

	put_values(p,
		   &(struct metric){"spoor_thread_state_seconds", TYPE_COUNTER, "seconds",
				    "Time of threads by state; it adds up to their time."},
		   &(struct values){t, pool_labels, 0, STATE_COUNT, "state", thread_state_name});
	put_values(p,
		   &(struct metric){"spoor_threads", TYPE_GAUGE, NULL,
				    "Threads in the last interval."},
		   &(struct values){t, pool_labels, POOL_THREADS, 1, NULL, NULL});
}

/* A whole, which has no phase, and its parts. */
static void put_safepoints(const struct put *p)
{
	static const char *const phases[PHASE_COUNT] = {"reach", "operation"};
	static const struct metric parts = {"spoor_safepoint_seconds", TYPE_HISTOGRAM, "seconds",
					    "Phases of safepoints: to reach it, and from then on."};
	static const struct metric whole = {"spoor_safepoint_duration_seconds", TYPE_HISTOGRAM,
					    "seconds", "How long safepoints lasted."};
	const struct metrics_times *all = &p->m->safepoint, *phase = p->m->safepoint_phases;

	put_one(p, &(struct metric){"spoor_safepoints", TYPE_COUNTER, NULL, "Safepoints."},
		p->m->safepoints);
	family(p, &whole);
	put_histogram(&(struct series){.p = p, .f = &whole}, all->ns, all->buckets.counts);
	family(p, &parts);
	for (int i = 0; i < PHASE_COUNT; i++)
		put_histogram(&(struct series){.p = p, .f = &parts, .phase = phases[i]},
			      phase[i].ns, phase[i].buckets.counts);
}

static void put_pauses(const struct put *p)
{
	const struct metrics_table *t = &p->m->gcs;

	put_values(p,
		   &(struct metric){"spoor_gc_pause_seconds", TYPE_COUNTER, "seconds",
				    "Time of collections."},
		   &(struct values){t, gc_labels, GC_NS, 1, NULL, NULL});
	put_values(p, &(struct metric){"spoor_gc_pauses", TYPE_COUNTER, NULL, "Collections."},
		   &(struct values){t, gc_labels, GC_PAUSES, 1, NULL, NULL});
	put_histograms(p,
		       &(struct metric){"spoor_gc_pause_duration_seconds", TYPE_HISTOGRAM,
					"seconds", "How long collections lasted."},
		       &(struct values){.table = t, .names = gc_labels, .first = GC_BUCKETS},
		       GC_NS);
	put_safepoints(p);
}

static void put_spans(const struct put *p)
{
	const struct metrics_table *t = &p->m->spans;

	put_histograms(p,
		       &(struct metric){"spoor_span_duration_seconds", TYPE_HISTOGRAM, "seconds",
					"How long the spans lasted that the application marks."},
		       &(struct values){.table = t, .names = span_labels, .first = SPAN_BUCKETS},
		       SPAN_NS);
}

static void put_methods(const struct put *p)
{
	if (!p->m->samples)
		return;
	put_values(p,
		   &(struct metric){"spoor_cpu_seconds", TYPE_COUNTER, "seconds",
				    "CPU time of methods without what they called, by samples."},
		   &(struct values){&p->m->methods, method_labels, METHOD_CPU_NS, 1, NULL, NULL});
}

static void put_loss(const struct put *p, const struct metric *f, unsigned id, unsigned stage)
{
	static const char *const stages[METRICS_LOST_STAGES] = {
		[LOST_PLACE_RING_BUFFER] = "ring_buffer",
		[LOST_PLACE_MAP_FULL] = "map_full",
		[LOST_PLACE_READ_FAILED] = "read_failed",
		[LOST_PLACE_WRITER] = "writer",
		[LOST_PLACE_LOG] = "log",
		[LOST_PLACE_MEMORY] = "memory",
		[LOST_PLACE_RECORDER] = "recorder",
		[LOST_PLACE_REORDER] = "reorder",
	};
	const struct event_desc *d = id == METRICS_LOST_OTHER ? NULL : schema_event(id);

	put_name(p, f, "");
	putc('{', p->out);
	metrics_put_label("event", d ? d->name : "other", p->out);
	putc(',', p->out);
	metrics_put_label("place", stages[stage], p->out);
	putc('}', p->out);
	put_value(p, f, p->m->lost[id][stage]);
}

/* All stages are there from the begin on, so that there is something that grows. */
static void put_lost(const struct put *p)
{
	static const struct metric lost = {"spoor_events_lost", TYPE_COUNTER, NULL,
					   "Events that were lost, and where: if there are any, "
					   "all sums are lower bounds."};

	family(p, &lost);
	for (unsigned id = 0; id <= SCHEMA_ID_MAX; id++)
		for (unsigned stage = 0; stage < METRICS_LOST_STAGES; stage++)
			if (p->m->lost[id][stage] || id == METRICS_LOST_OTHER)
				put_loss(p, &lost, id, stage);
}

/* Of this program. */
static void put_own(const struct put *p)
{
	const struct metrics *m = p->m;

	put_values(p,
		   &(struct metric){"spoor_stolen_seconds", TYPE_COUNTER, "seconds",
				    "Time that the hypervisor took from virtual CPUs."},
		   &(struct values){&m->cpus, cpu_labels, 0, 1, NULL, NULL});
	put_one(p,
		&(struct metric){"spoor_unseen_seconds", TYPE_COUNTER, "seconds",
				 "Time of the recording that is in no interval."},
		m->unseen_ns);
	put_one(p,
		&(struct metric){"spoor_seen_seconds", TYPE_COUNTER, "seconds",
				 "Time of the recording that is in these sums."},
		m->seen_ns);
	put_one(p, &(struct metric){"spoor_intervals", TYPE_COUNTER, NULL, "Intervals."},
		m->intervals);
	put_one(p,
		&(struct metric){"spoor_recorder_cpu_seconds", TYPE_COUNTER, "seconds",
				 "CPU time of the recorder."},
		m->record_cpu_ns);
	put_one(p,
		&(struct metric){"spoor_analysis_cpu_seconds", TYPE_COUNTER, "seconds",
				 "CPU time of the analysis and of these answers."},
		m->view_cpu_ns);
	put_one(p,
		&(struct metric){"spoor_recording", TYPE_GAUGE, NULL,
				 "1 while the JVM is recorded, 0 when the recording has ended."},
		!m->ended);
}

static void put_info(const struct put *p)
{
	const struct metrics *m = p->m;
	const char *name = p->open ? "spoor" : "spoor_info";

	print_text(p->out, "# HELP %s The program that records, and the JVM.\n# TYPE %s %s\n", name,
		   name, p->open ? "info" : "gauge");
	fputs("spoor_info{", p->out);
	metrics_put_label("version", SPOOR_VERSION, p->out);
	putc(',', p->out);
	metrics_put_label("jvm_kind", m->kind, p->out);
	putc(',', p->out);
	metrics_put_label("jvm_version", m->version, p->out);
	fputs("} 1\n", p->out);
}

void metrics_put(const struct metrics *m, bool open, FILE *out)
{
	const struct put p = {m, open, out};

	put_info(&p);
	put_locks(&p);
	put_threads(&p);
	put_pauses(&p);
	put_spans(&p);
	put_methods(&p);
	put_lost(&p);
	put_own(&p);
	if (open)
		fputs("# EOF\n", out);
}
