/* What the figures of collections come to, in sentences. */
#include <inttypes.h>
#include <string.h>

#include "analyze/registry/analysis.h"
#include "base/tables/saturate.h"
#include "base/text/format.h"
#include "base/text/strbuf.h"
#include "log/format/event.h"
#include "report/model/findings.h"
#include "report/model/report.h"
#include "report/model/sections/commands/gc_report.h"
#include "session/holes.h"

#include "log/format/header_fields.h"

#define FREED_LITTLE 10 /* a tenth of what there was, or less */

const char *gc_basis_name(enum gc_trend_basis basis)
{
	static const char *const names[] = {"none", "after_old", "after_young"};

	return names[basis];
}

const char *gc_course_name(enum gc_trend_course course)
{
	static const char *const names[GC_COURSE_COUNT] = {"unclear", "steady", "grows", "falls"};

	return names[course];
}

void gc_sentence_pauses(const struct gc_model *m, struct strbuf *o)
{
	const struct pause_times *p = &m->sums.pauses;
	char count[FORMAT_MAX], total[FORMAT_MAX], share[FORMAT_MAX], max[FORMAT_MAX];

	if (!p->count) {
		strbuf_add(o,
			   m->row_count ? "No pause was recorded." : "No collection was recorded.");
		return;
	}
	strbuf_add(o, "%s pause%s of collections took %s, %s of the time; the longest %s.",
		   count_format(p->count, count), p->count == 1 ? "" : "s",
		   time_format(p->total_ns, total),
		   share_format(p->total_ns, m->duration_ns, share), time_format(p->max_ns, max));
}

/* The collections of one kind and cause that took at least half of the time; NULL: there are none
 * of which it is known what they left. */
static const struct gc_group *costly_group(const struct gc_sums *s)
{
	for (uint32_t i = 0; i < s->group_count; i++) {
		const struct gc_group *g = &s->groups[i];

		if (g->heaps && g->times.count > 1 && g->times.total_ns >= s->pauses.total_ns / 2)
			return g;
	}
	return NULL;
}

/* What a collection keeps is copied or marked, and takes its time; what it frees costs next to
 * nothing. */
void gc_sentence_kept(const struct gc_model *m, struct strbuf *o)
{
	const struct gc_group *g = costly_group(&m->sums);
	char total[FORMAT_MAX], count[FORMAT_MAX], before[FORMAT_MAX], after[FORMAT_MAX];

	if (!g || g->before_bytes < g->after_bytes ||
	    g->before_bytes - g->after_bytes > g->before_bytes / FREED_LITTLE)
		return;
	strbuf_add(o,
		   "%s of that went into %s collections that freed little: of %s they left %s, on "
		   "average. What survives takes their time.",
		   time_format(g->times.total_ns, total), count_format(g->times.count, count),
		   size_format(g->before_bytes / g->heaps, before),
		   size_format(g->after_bytes / g->heaps, after));
	if (g->promoted_bytes)
		strbuf_add(o, " The old generation grew by %s in them.",
			   size_format(g->promoted_bytes, after));
}

/* "+1.2 MB/min" */
static const char *rate(int64_t bytes_per_min, char buf[FORMAT_MAX])
{
	uint64_t bytes = bytes_per_min < 0 ? 0 - (uint64_t)bytes_per_min : (uint64_t)bytes_per_min;
	char size[FORMAT_MAX];

	buf[0] = '\0';
	buffer_add(buf, FORMAT_MAX, "%s%s/min", bytes_per_min < 0 ? "-" : "+",
		   size_format(bytes, size));
	return buf;
}

/* From the end of what was recorded to the moment when it is full. */
static uint64_t full_after_end(const struct gc_model *m)
{
	uint64_t full = sum_saturated(m->trend.to_ns, m->trend.full_ns);

	return full > m->end_ns ? full - m->end_ns : 0;
}

static void add_course(const struct gc_model *m, const char *what, struct strbuf *o)
{
	static const char *const courses[GC_COURSE_COUNT] = {"has no clear course", "is steady",
							     "grows", "falls"};
	const struct gc_trend *t = &m->trend;
	char first[FORMAT_MAX], last[FORMAT_MAX], span[FORMAT_MAX], by[FORMAT_MAX];

	strbuf_add(o, "%s %s: %s -> %s in %s (%s", what, courses[t->course],
		   size_format(t->first_bytes, first), size_format(t->last_bytes, last),
		   time_format(t->to_ns - t->from_ns, span), rate(t->bytes_per_min, by));
	if (t->limit_bytes)
		strbuf_add(o, ", limit %s", size_format(t->limit_bytes, first));
	strbuf_add(o, ").");
}

static void add_full(const struct gc_model *m, const char *what, struct strbuf *o)
{
	const struct gc_trend *t = &m->trend;
	uint64_t ns = full_after_end(m);
	char time[FORMAT_MAX];

	if (t->fills && ns)
		strbuf_add(o, " %s about %s after the end of the recording, if that goes on.", what,
			   time_format(ns, time));
	else if (t->fills)
		strbuf_add(o, " %s by the end of the recording.", what);
	else if (t->course == GC_COURSE_GROWS && t->limit_bytes && t->last_bytes >= t->limit_bytes)
		strbuf_add(o, " It has reached its limit.");
}

void gc_sentence_heap(const struct gc_model *m, struct strbuf *o)
{
	const struct gc_trend *t = &m->trend;
	char count[FORMAT_MAX];

	count_format(t->count, count);
	if (t->basis == GC_TREND_OLD) {
		add_course(m, "What collections leave in the heap", o);
		add_full(m, "Full", o);
		strbuf_add(o, " Inferred from the %s that freed old objects.", count);
	} else if (t->basis == GC_TREND_YOUNG) {
		add_course(m, "The old generation, garbage and all,", o);
		add_full(m, "A collection of it is due", o);
		strbuf_add(o,
			   " Inferred from %s collections, of which %s freed old objects: "
			   "whether the application needs more is not known.",
			   count, t->old_count ? "too few" : "none");
	} else if (m->row_count) {
		strbuf_add(o,
			   "Where the heap goes is not known: fewer than %d collections have "
			   "figures of it.",
			   GC_TREND_LEAST);
	}
}

void gc_sentence_rate(const struct gc_model *m, struct strbuf *o)
{
	const struct gc_sums *s = &m->sums;
	char rate[FORMAT_MAX], freed[FORMAT_MAX];
	uint64_t per_s;

	if (!s->allocated_ns || !s->allocated_bytes)
		return;
	per_s = (uint64_t)((unsigned __int128)s->allocated_bytes * NS_PER_S / s->allocated_ns);
	strbuf_add(o, "The application allocates %s/s; collections freed %s in all.",
		   size_format(per_s, rate), size_format(s->freed_bytes, freed));
}

static uint64_t lost_events(const struct analysis_facts *f)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < f->lost_count; i++) {
		uint64_t id = f->lost[i].event_id;

		if (id == EVENT_GC_BEGIN || id == EVENT_GC_END || id == EVENT_GC_POOL)
			lost = sum_saturated(lost, f->lost[i].count);
	}
	return lost;
}

static void add_line(struct findings *f, const char *text)
{
	findings_row(f, FINDINGS_ALL);
	findings_text(f, text, NULL);
}

static void add_counted(struct findings *f, const char *what, uint64_t count)
{
	char buf[HOLES_TEXT_MAX] = "", number[FORMAT_MAX];

	if (!count)
		return;
	buffer_add(buf, sizeof(buf), "%s: %s", what, count_format(count, number));
	add_line(f, buf);
}

static uint64_t without_heap(const struct gc_model *m)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < m->row_count; i++)
		n += !m->rows[i].has_heap;
	return n;
}

static bool has_causes(const struct gc_model *m)
{
	for (uint32_t i = 0; i < m->sums.group_count; i++)
		if (m->sums.groups[i].like.cause)
			return true;
	return false;
}

struct findings *gc_section_not_known(const struct gc_model *m)
{
	static const struct findings_column columns[] = {{.unit = FINDINGS_TEXT}};
	struct findings *f = FINDINGS_NEW(columns);
	char missing[HOLES_TEXT_MAX];
	struct analysis_facts facts;

	analysis_facts(m->in->in->log->analysis, &facts);
	add_counted(f, "pauses or cycles without a begin or an end in the log, in no sum",
		    m->facts.incomplete);
	add_counted(f, "events of collections LOST, so that some are missing or lack figures",
		    lost_events(&facts));
	add_counted(f, "later collections, left out as there are too many", m->facts.left_out);
	if (holes_missing_text(m->in->in->log->analysis, missing))
		add_line(f, missing);
	add_counted(f, "pauses of which the log has no figures of the heap", without_heap(m));
	if (m->row_count && !has_causes(m))
		add_line(f,
			 "causes: a stock JVM's probes do not have them, the VM operation stands "
			 "for them (inferred)");
	if (m->trend.basis != GC_TREND_NONE && !m->trend.limit_bytes)
		add_line(f, "the limit of the heap: the log does not have it");
	return f;
}
