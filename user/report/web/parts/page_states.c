#include "report/web/parts/page_states.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "analyze/registry/analysis.h"
#include "analyze/threads/wall.h"
#include "base/tables/array.h"
#include "base/text/print.h"
#include "base/text/units.h"
#include "log/format/event.h"
#include "log/format/header_fields.h"
#include "report/model/label.h"
#include "report/model/report.h"
#include "report/model/sections/commands/time_report.h"
#include "report/model/sections/sections.h"
#include "report/web/page.h"
#include "report/web/parts/page_put.h"
#include "session/time_range.h"

/* The counters of a virtual CPU at its last sample; a hole makes them unknown. */
struct page_cpu_last {
	bool known;
	uint64_t clock_ns, jvm_ns, other_ns, idle_ns, ticks;
};

void page_states_begin(struct analysis *a, const json_t *header, const struct range *range)
{
	uint64_t sample_ns = header_number(header, "record", "window_ns");
	uint64_t begin_ns = header_begin_ns(header);
	const struct state_options o = {
		.from_ns = range->from && range->from_ns > begin_ns ? range->from_ns : begin_ns,
		.to_ns = range->to ? range->to_ns : UINT64_MAX,
		.window_ns = sample_ns ? sample_ns : NS_PER_S,
		.sample_ns = sample_ns,
		.from_begin = !range->from || range->from_ns <= begin_ns,
		.most = PAGE_STATES_WINDOWS,
	};

	analysis_set_state_windows(a, &o);
}

static uint64_t growth(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

static int step_add(struct page_states *p, const struct page_cpu_step *step)
{
	int err;

	p->full |= p->count == PAGE_CPU_STEPS_MAX;
	if (p->full)
		return 0;
	err = array_grow(&p->steps, &p->capacity, p->count, sizeof(*p->steps));
	if (!err)
		p->steps[p->count++] = *step;
	return err;
}

int page_states_event(struct page_states *p, const struct event *e)
{
	const struct page_cpu_last now = {.known = true,
					  .clock_ns = e->v[CPU_SAMPLE_CLOCK_NS].u,
					  .jvm_ns = e->v[CPU_SAMPLE_JVM_STOLEN_NS].u,
					  .other_ns = e->v[CPU_SAMPLE_OTHER_STOLEN_NS].u,
					  .idle_ns = e->v[CPU_SAMPLE_IDLE_STOLEN_NS].u,
					  .ticks = e->v[CPU_SAMPLE_STAT_STEAL].u};
	struct page_cpu_last was;
	uint32_t at;
	int err;

	if (e->id != EVENT_CPU_SAMPLE)
		return 0;
	err = keymap_add_row(&p->cpus, (struct keymap_key){.a = e->v[CPU_SAMPLE_CPU].u}, &p->last,
			     &p->last_capacity, sizeof(*p->last), &at);
	if (err)
		return err;
	was = p->last[at];
	p->last[at] = now;
	if (!was.known)
		return 0;
	return step_add(p, &(struct page_cpu_step){.time_ns = e->time_ns,
						   .stolen_ns = growth(was.clock_ns, now.clock_ns),
						   .jvm_ns = growth(was.jvm_ns, now.jvm_ns),
						   .other_ns = growth(was.other_ns, now.other_ns),
						   .idle_ns = growth(was.idle_ns, now.idle_ns),
						   .ticks = growth(was.ticks, now.ticks)});
}

void page_states_hole(struct page_states *p)
{
	for (uint32_t i = 0; i < p->cpus.count; i++)
		p->last[i].known = false;
}

void page_states_free(struct page_states *p)
{
	keymap_free(&p->cpus);
	free(p->last);
	free(p->steps);
	*p = (struct page_states){0};
}

static void row_write(const struct time_input *in, const struct time_table *t,
		      const struct section_input *s, uint32_t row, FILE *out)
{
	char label[LABEL_MAX];

	print_json(out, "{\"name\":%s,\"states\":[",
		   row < t->shown ? label_wall_row(s->labels, &t->rows.rows[row], in->by, label)
				  : "(all others)");
	for (uint32_t k = 0; k < t->window_count; k++) {
		struct time_cell cell = time_cell_get(t, row, k);

		fputs(k ? ",[" : "[", out);
		for (int i = 0; i < STATE_COUNT; i++) {
			if (i)
				putc(',', out);
			fprintf(out, "%" PRIu64, cell.states.ns[i]);
		}
		putc(']', out);
	}
	fputs("]}", out);
}

static int rows_write(const struct section_input *s, const struct page_axis *axis, const char *key,
		      enum wall_by by, FILE *out)
{
	struct report_input limited = *s->in;
	const struct time_input in = {.in = &limited, .by = by, .start_ns = axis->start_ns};
	struct time_table t;
	int err;

	limited.top = PAGE_STATES_ROWS;
	err = time_table_make(&in, &t);
	if (err)
		return err;
	print_json(out, ",%s:[", key);
	for (uint32_t i = 0; i < time_row_count(&t); i++) {
		if (i)
			putc(',', out);
		row_write(&in, &t, s, i, out);
	}
	putc(']', out);
	time_table_free(&t);
	return 0;
}

static void windows_write(const struct wall *w, const struct page_axis *axis, FILE *out)
{
	fputs("\"windows\":[", out);
	for (uint32_t i = 0; i < w->windows.window_count; i++) {
		const struct state_window *one = &w->windows.windows[i];

		if (i)
			putc(',', out);
		fprintf(out, "[%" PRIu64 ",%" PRIu64 ",%d]", growth(axis->start_ns, one->from_ns),
			growth(axis->start_ns, one->to_ns), one->rough_from || one->rough_to);
	}
	putc(']', out);
}

static void cpus_write(const struct page_states *p, const struct section_input *s,
		       const struct page_axis *axis, FILE *out)
{
	const struct page_rows steps = {p->steps, sizeof(*p->steps), p->count};
	uint64_t hz = header_number(s->in->log->header, "host", "user_hz");

	print_json(out, ",\"source\":%s", header_text(s->in->log->header, "sources", "steal"));
	page_put_number(out, "cpu_steps_full", p->full);
	page_put_number(out, "tick_ns", NS_PER_S / (hz ? hz : 100));
	page_put_number(out, "start_ns", axis->start_ns);
	page_put_u64(out, "cpu_time_ns", &steps, offsetof(struct page_cpu_step, time_ns));
	page_put_u64(out, "cpu_stolen_ns", &steps, offsetof(struct page_cpu_step, stolen_ns));
	page_put_u64(out, "cpu_jvm_ns", &steps, offsetof(struct page_cpu_step, jvm_ns));
	page_put_u64(out, "cpu_other_ns", &steps, offsetof(struct page_cpu_step, other_ns));
	page_put_u64(out, "cpu_idle_ns", &steps, offsetof(struct page_cpu_step, idle_ns));
	page_put_u64(out, "cpu_ticks", &steps, offsetof(struct page_cpu_step, ticks));
}

int page_states_write(const struct page_states *p, const struct section_input *in,
		      const struct page_axis *axis, FILE *out)
{
	const struct wall *w = analysis_wall(in->analysis);
	int err;

	if (!w->windows.window_count || w->windows.crowded) {
		fputs(",\"states\":null", out);
		return 0;
	}
	fputs(",\"states\":{", out);
	windows_write(w, axis, out);
	page_put_number(out, "reasons", wall_has_reasons(in->in));
	cpus_write(p, in, axis, out);
	err = rows_write(in, axis, "pools", WALL_BY_POOL, out);
	err = err ? err : rows_write(in, axis, "threads", WALL_BY_THREAD, out);
	putc('}', out);
	return err;
}
