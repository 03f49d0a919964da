/*
 * A tree's nodes are written once, and time by cell: a thread's with one chain. The page sums cells
 * to nodes, of any threads; and those of slots of time to cells, of any range.
 */
#include "report/web/parts/page_profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "analyze/registry/analysis.h"
#include "analyze/threads/wall.h"
#include "base/text/print.h"
#include "log/format/event.h"
#include "log/format/header_fields.h"
#include "log/read/names.h"
#include "report/model/label.h"
#include "report/model/report.h"
#include "report/model/sections/commands/profile_basis.h"
#include "report/model/sections/commands/profile_report.h"
#include "report/model/sections/commands/profile_window.h"
#include "report/model/sections/sections.h"
#include "report/model/sections/wall_rows.h"
#include "report/web/page.h"
#include "report/web/parts/page_put.h"
#include "session/time_range.h"

#define MS 1000000ull
#define SECOND (1000 * MS)

void page_profile_begin(struct page_profile *p, const struct log_names *names, const json_t *header,
			const struct range *range)
{
	struct profile_options o;

	profile_window_set(&o, header, range);
	o.names = names;
	p->period_ns = header_number(json_object_get(header, "sources"), "sample", "period_ns");
	p->running.options = p->all.options = o;
	p->running.options.observe = profile_course_add;
	p->running.options.context = &p->course;
	p->all.options.waiting = true;
}

int page_profile_event(struct page_profile *p, const struct event *e)
{
	int err = p->period_ns ? profile_add(&p->running, e) : 0;

	return err || !p->period_ns ? err : profile_add(&p->all, e);
}

void page_profile_hole(struct page_profile *p)
{
	profile_hole(&p->running);
	profile_hole(&p->all);
}

int page_profile_finish(struct page_profile *p, const struct wall *w)
{
	int err = p->period_ns ? profile_finish(&p->running, w) : 0;

	return err || !p->period_ns ? err : profile_finish(&p->all, w);
}

void page_profile_free(struct page_profile *p)
{
	profile_free(&p->running);
	profile_free(&p->all);
	profile_course_free(&p->course);
}

/* --- trees --- */

enum cell_flag { CELL_FAILED = 1, CELL_REST = 2, CELL_INFERRED = 4 };

struct row {
	uint32_t node, thread, state, flags;
};

struct writer {
	const struct section_input *s;
	const struct page_axis *axis;
	const struct keymap *threads; /* by number, as the page has them */
	FILE *out;
};

static uint32_t cell_flags(const struct writer *w, const struct profile_cell *c)
{
	const struct log_stack *s = c->stack ? log_names_stack(w->s->names, c->stack) : NULL;

	return (c->failed ? CELL_FAILED : 0) | (c->rest ? CELL_REST : 0) |
	       (s && s->inferred ? CELL_INFERRED : 0);
}

static void nodes_write(const struct writer *w, const struct profile_tree *t)
{
	const struct page_rows nodes = {t->nodes, sizeof(*t->nodes), t->node_map.count};
	char label[LABEL_MAX];

	print_json(w->out, "%s:[", "frames");
	for (uint32_t i = 0; i < t->frame_map.count; i++) {
		if (i)
			putc(',', w->out);
		print_json_string(w->out, label_clean(t->frames[i].name, label));
	}
	putc(']', w->out);
	page_put_u32(w->out, "node_parent", &nodes, offsetof(struct profile_node, parent));
	page_put_u32(w->out, "node_frame", &nodes, offsetof(struct profile_node, frame));
}

static void cells_write(const struct writer *w, const struct profile *p,
			const struct profile_tree *t, struct row *rows)
{
	const struct page_rows of = {rows, sizeof(*rows), p->cell_map.count},
			       cells = {p->cells, sizeof(*p->cells), p->cell_map.count};

	for (uint32_t i = 0; i < of.count; i++)
		rows[i] = (struct row){t->cell_nodes[i],
				       keymap_find_number(w->threads, p->cells[i].thread),
				       p->cells[i].state, cell_flags(w, &p->cells[i])};
	page_put_u32(w->out, "cell_node", &of, offsetof(struct row, node));
	page_put_u32(w->out, "cell_thread", &of, offsetof(struct row, thread));
	page_put_u32(w->out, "cell_state", &of, offsetof(struct row, state));
	page_put_u32(w->out, "cell_flags", &of, offsetof(struct row, flags));
	page_put_u64(w->out, "cell_ns", &cells, offsetof(struct profile_cell, ns));
	page_put_u64(w->out, "cell_samples", &cells, offsetof(struct profile_cell, samples));
	page_put_u64(w->out, "cell_squares", &cells, offsetof(struct profile_cell, squares));
}

static int tree_write(const struct writer *w, const char *key, const struct profile *p,
		      uint32_t states)
{
	const struct profile_input in = {.in = w->s->in, .profile = p, .states = states};
	struct row *rows = calloc(p->cell_map.count + 1ul, sizeof(*rows));
	struct profile_tree t;
	int err = profile_tree_make(&in, &t);

	err = err || rows ? err : -ENOMEM;
	if (!err) {
		print_json(w->out, ",%s:{", key);
		nodes_write(w, &t);
		cells_write(w, p, &t, rows);
		putc('}', w->out);
	}
	profile_tree_free(&t);
	free(rows);
	return err;
}

/* --- threads --- */

/* The pool of each, as the report has them. */
static void pools_write(const struct writer *w, const struct wall *wall, const struct wall_rows *r)
{
	char label[LABEL_MAX];

	fputs(",\"pools\":[", w->out);
	for (uint32_t i = 0; i < w->threads->count; i++) {
		uint32_t at = keymap_find_number(&wall->map, w->threads->keys[i].a),
			 row = at == INDEX_NONE ? INDEX_NONE : r->of[at];

		if (i)
			putc(',', w->out);
		print_json_string(
			w->out,
			row == INDEX_NONE
				? label_thread(w->s->labels, w->threads->keys[i].a, label)
				: label_wall_row(w->s->labels, &r->rows[row], WALL_BY_POOL, label));
	}
	putc(']', w->out);
}

static int threads_write(const struct writer *w)
{
	const struct wall *wall = analysis_wall(w->s->analysis);
	struct states *none = calloc(wall->map.count + 1ul, sizeof(*none));
	struct wall_rows rows;
	char label[LABEL_MAX];
	int err =
		none ? wall_rows_make(wall, w->s->names, none, true, WALL_BY_POOL, &rows) : -ENOMEM;

	free(none);
	if (err)
		return err;
	fputs(",\"threads\":[", w->out);
	for (uint32_t i = 0; i < w->threads->count; i++) {
		if (i)
			putc(',', w->out);
		print_json_string(w->out, label_thread(w->s->labels, w->threads->keys[i].a, label));
	}
	putc(']', w->out);
	pools_write(w, wall, &rows);
	wall_rows_free(&rows);
	return 0;
}

static int threads_add(const struct profile *p, struct keymap *ret)
{
	uint32_t at;
	int err = 0;

	for (uint32_t i = 0; i < p->thread_map.count && !err; i++)
		err = keymap_add_number(ret, p->threads[i].thread, &at);
	return err;
}

/* --- the course of time --- */

/* A column of the map of samples is a second, a minute or an hour; slots are parts of it. */
static const struct {
	uint64_t column_ns, slot_ns;
} steps[] = {
	{SECOND, 20 * MS},
	{SECOND, 100 * MS},
	{60 * SECOND, SECOND},
	{3600 * SECOND, 60 * SECOND},
};

#define COLUMNS_MAX 1800

/* steps[*ret_step] is the finest that fits. -E2BIG: none does. */
static int table_make(const struct page_profile *p, const struct page_axis *axis,
		      struct course_table *ret, size_t *ret_step)
{
	uint64_t last_ns = p->course.count ? p->course.steps[p->course.count - 1].time_ns : 0;
	int err = -E2BIG;

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps) && err == -E2BIG; i++) {
		const struct course_grid grid = {axis->begin_ns, axis->length_ns, steps[i].slot_ns};

		if (last_ns > axis->begin_ns &&
		    (last_ns - axis->begin_ns) / steps[i].column_ns >= COLUMNS_MAX)
			continue;
		*ret_step = i;
		err = course_table_make(&p->course, &grid, PAGE_PROFILE_ROWS_MAX, ret);
	}
	return err;
}

static void rows_write(const struct writer *w, const struct page_profile *p,
		       const struct course_table *t)
{
	const struct page_rows rows = {t->rows, sizeof(*t->rows), t->row_map.count};
	FILE *out = w->out;

	print_json(out, "%s:[", "row_thread");
	for (uint32_t i = 0; i < rows.count; i++) {
		uint64_t thread = p->course.threads.keys[t->rows[i].thread].a;

		if (i)
			putc(',', out);
		fprintf(out, "%" PRIu32, keymap_find_number(w->threads, thread));
	}
	putc(']', out);
	page_put_u32(out, "row_window", &rows, offsetof(struct course_row, window));
	page_put_u32(out, "row_slot", &rows, offsetof(struct course_row, slot));
	page_put_u64(out, "row_run_ns", &rows, offsetof(struct course_row, run_ns));
	page_put_u64(out, "row_first_run_ns", &rows, offsetof(struct course_row, first_run_ns));
	page_put_u64(out, "row_first_weight", &rows, offsetof(struct course_row, first_weight));
	page_put_u32(out, "row_first_entry", &rows, offsetof(struct course_row, first_entry));
	page_put_u32(out, "row_first_mode", &rows, offsetof(struct course_row, first_mode));
}

static void entries_write(const struct writer *w, const struct course_table *t)
{
	const struct page_rows entries = {t->entries, sizeof(*t->entries), t->entry_map.count},
			       sums = {t->sums, sizeof(*t->sums), t->sum_map.count};
	FILE *out = w->out;

	page_put_u32(out, "entry_row", &entries, offsetof(struct course_entry, row));
	page_put_u32(out, "entry_cell", &entries, offsetof(struct course_entry, cell));
	page_put_u64(out, "entry_ns", &entries, offsetof(struct course_entry, ns));
	page_put_u64(out, "entry_samples", &entries, offsetof(struct course_entry, samples));
	page_put_u64(out, "entry_squares", &entries, offsetof(struct course_entry, squares));
	page_put_u32(out, "sum_row", &sums, offsetof(struct course_sum, row));
	page_put_u32(out, "sum_kind", &sums, offsetof(struct course_sum, kind));
	page_put_u32(out, "sum_which", &sums, offsetof(struct course_sum, which));
	page_put_u64(out, "sum_n", &sums, offsetof(struct course_sum, n));
}

/* ,"course":{...}; none if there are too many samples, or no windows of time. */
static int course_write(const struct writer *w, const struct page_profile *p)
{
	struct course_table t = {0};
	size_t step = 0;
	int err =
		w->axis->length_ns && !p->course.full ? table_make(p, w->axis, &t, &step) : -E2BIG;

	if (err)
		return err == -E2BIG ? 0 : err;
	fputs(",\"course\":{", w->out);
	rows_write(w, p, &t);
	entries_write(w, &t);
	page_put_number(w->out, "slot_ns", steps[step].slot_ns);
	page_put_number(w->out, "column_ns", steps[step].column_ns);
	putc('}', w->out);
	course_table_free(&t);
	return 0;
}

/* --- the head --- */

static void enum_write(FILE *out, const char *key, unsigned field)
{
	const struct field_desc *d = &schema_event(EVENT_RUN_SAMPLE)->fields[field];

	print_json(out, ",%s:[", key);
	for (unsigned i = 0; i < d->enum_count; i++) {
		if (i)
			putc(',', out);
		print_json_string(out, d->enum_names[i]);
	}
	putc(']', out);
}

/* By thread what the profile has of each, for a log whose course is not there. */
static int whole_write(const struct writer *w, const struct page_profile *p)
{
	const struct profile_input in = {.in = w->s->in,
					 .profile = &p->running,
					 .states = PROFILE_RUNNING,
					 .view = PROFILE_THREADS};
	struct profile_tree t;
	int err = profile_tree_make(&in, &t);

	if (!err) {
		page_put_number(w->out, "run_ns", t.run_ns);
		page_put_number(w->out, "failed", t.failed);
		err = page_put_table(w->out, "table", profile_section(&in, &t));
	}
	profile_tree_free(&t);
	return err;
}

static int all_write(const struct writer *w, const struct page_profile *p)
{
	const struct profile_input in = {.in = w->s->in, .profile = &p->running};
	int err;

	fprintf(w->out, ",\"profile\":{\"period_ns\":%" PRIu64, p->period_ns);
	page_put_number(w->out, "lost", profile_lost(&in));
	page_put_number(w->out, "unweighted", p->running.unweighted);
	page_put_number(w->out, "trimmed_ns", p->all.trimmed_ns);
	page_put_number(w->out, "reasons", wall_has_reasons(w->s->in));
	enum_write(w->out, "modes", RUN_SAMPLE_MODE);
	enum_write(w->out, "begins", RUN_SAMPLE_VIA);
	enum_write(w->out, "results", RUN_SAMPLE_RESULT);
	err = threads_write(w);
	err = err ? err : whole_write(w, p);
	err = err ? err : tree_write(w, "running", &p->running, PROFILE_RUNNING);
	err = err ? err : tree_write(w, "all", &p->all, PROFILE_ALL_STATES);
	err = err ? err : course_write(w, p);
	putc('}', w->out);
	return err;
}

int page_profile_write(const struct page_profile *p, const struct section_input *in,
		       const struct page_axis *axis, FILE *out)
{
	struct keymap threads = {0};
	const struct writer w = {.s = in, .axis = axis, .threads = &threads, .out = out};
	int err;

	if (!p->period_ns) {
		fputs(",\"profile\":null", out);
		return 0;
	}
	err = threads_add(&p->running, &threads);
	err = err ? err : threads_add(&p->all, &threads);
	err = err ? err : all_write(&w, p);
	keymap_free(&threads);
	return err;
}
