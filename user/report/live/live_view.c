#include "report/live/live_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyze/registry/analysis.h"
#include "base/text/format.h"
#include "base/text/print.h"
#include "base/text/units.h"
#include "log/format/header_fields.h"
#include "report/json/by_json.h"
#include "report/json/findings_json.h"
#include "report/json/json_out.h"
#include "report/live/live_cells.h"
#include "report/live/live_rows.h"
#include "report/model/label.h"
#include "report/model/report.h"
#include "report/model/sections/by_section.h"
#include "report/model/sections/sections.h"
#include "report/model/where.h"
#include "report/text/findings_text.h"

static const char *const titles[LIVE_PANE_COUNT] = {
	[LIVE_LOCKS] = "LOCKS",   [LIVE_HOLDERS] = "HOLDERS", [LIVE_THREADS] = "THREADS",
	[LIVE_PAUSES] = "PAUSES", [LIVE_CPUS] = "CPUS",       [LIVE_BY] = "BY",
};

const char *live_pane_title(enum live_pane pane)
{
	return titles[pane];
}

/* --- what is seen of the log --- */

struct seen {
	struct report_input in;
	struct section_input section;
	struct cell *cells;
	struct cell *chosen; /* by --where */
};

static int seen_open(const struct live_view *v, struct seen *ret)
{
	const struct analysis *a = v->log->analysis;
	uint32_t count;
	int err;

	*ret = (struct seen){.in = {.log = v->log,
				    .top = v->top ? v->top : UINT32_MAX,
				    .order = v->order,
				    .facets = v->facets,
				    .where = v->where_text}};
	err = live_cells_make(v, &ret->cells, &count);
	ret->in.cells = ret->cells;
	ret->in.cell_count = count;
	if (!err && v->where) {
		const struct where_input where = {
			.stacks = analysis_stacks(a),
			.facets = v->facets,
			.cells = ret->cells,
			.count = count};

		err = where_cells(v->where, &where, &ret->chosen, &ret->in.cell_count);
		ret->in.cells = ret->chosen;
	}
	if (!err)
		err = section_open(&ret->in, &ret->section);
	if (err) {
		free(ret->chosen);
		free(ret->cells);
	}
	return err;
}

static void seen_close(struct seen *s)
{
	section_close(&s->section);
	free(s->chosen);
	free(s->cells);
}

/* --- tables --- */

static int text_of(struct findings *f, const struct live_view *v, unsigned top, FILE *out)
{
	const struct findings_view view = {
		.top = top, .noun = "rows", .view = live_rows_view(v->width)};
	int err = f ? findings_to_text(f, &view, out) : -ENOMEM;

	findings_free(f);
	return err;
}

static int pauses_text(const struct live_view *v, const struct seen *s, FILE *out)
{
	static const char *const names[] = {"gc", "vm_operations", "safepoint_times"};
	int err = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !err; i++)
		err = text_of(section_by_name(names[i])(&s->section), v, v->top, out);
	return err;
}

/* Aspects that were chosen on the screen, and by which nothing of this interval is cut. */
static bool is_to_come(const struct live_view *v, enum live_pane pane)
{
	unsigned wanted = where_facets(v->where);

	if (pane == LIVE_BY)
		wanted |= aspects_facets(v->by, v->depth);
	return wanted & ~v->cut;
}

static int pane_text(const struct live_view *v, const struct seen *s, enum live_pane pane,
		     FILE *out)
{
	switch (pane) {
	case LIVE_LOCKS:
	case LIVE_HOLDERS:
		return text_of(live_rows_table(&s->section, pane, v->width), v, v->top, out);
	case LIVE_THREADS:
		return text_of(section_wall(&s->section), v, 0, out);
	case LIVE_PAUSES:
		return pauses_text(v, s, out);
	case LIVE_BY:
		return v->depth ? report_by_text(&s->in, v->by, v->depth, out) : 0;
	default:
		return text_of(section_cpus(&s->section), v, v->top, out);
	}
}

int live_pane_text(const struct live_view *v, enum live_pane pane, FILE *out)
{
	struct seen s;
	int err;

	if (is_to_come(v, pane)) {
		fputs("from the next interval on\n", out);
		return 0;
	}
	err = seen_open(v, &s);
	if (err)
		return err;
	err = pane_text(v, &s, pane, out);
	seen_close(&s);
	return err;
}

bool live_row_key(const struct live_view *v, enum live_pane pane, uint32_t row,
		  char ret[LIVE_KEY_MAX])
{
	bool found = false;
	struct seen s;

	if (!live_pane_has_chains(pane) || is_to_come(v, pane) || seen_open(v, &s))
		return false;
	found = live_rows_key(&s.section, pane, row, ret);
	seen_close(&s);
	return found;
}

int live_chains(const struct live_view *v, enum live_pane pane, const char *key, FILE *out)
{
	static const enum aspect_id by[] = {ASPECT_WAITER_STACK, ASPECT_OWNER_STACK};
	struct cell *cells = NULL;
	struct report_input in;
	struct seen s;
	int err = is_to_come(v, pane) ? -ENOENT : seen_open(v, &s);

	if (err)
		return err;
	in = s.in;
	err = live_rows_cells(&s.section, pane, key, &cells, &in.cell_count);
	in.cells = cells;
	if (!err)
		err = report_by_text(&in, by, 2, out);
	free(cells);
	seen_close(&s);
	return err;
}

/* --- the header --- */

static uint64_t lost_here(const struct live_view *v)
{
	struct analysis_facts facts;
	uint64_t lost = 0;

	analysis_facts(v->log->analysis, &facts);
	for (uint32_t i = 0; i < facts.lost_count; i++)
		lost += facts.lost[i].count;
	return lost;
}

static void header_losses(const struct live_view *v, FILE *out)
{
	uint64_t here = lost_here(v);
	char a[FORMAT_MAX], b[FORMAT_MAX];

	if (here || v->lost)
		print_text(
			out,
			"!! events lost: %s in this interval, %s since the beginning; counts and "
			"times are lower bounds\n",
			count_format(here, a), count_format(v->lost, b));
	else
		print_text(out, "no event was lost\n");
	if (v->unseen_ns)
		print_text(out, "!! the %s before this interval are in none: they came too fast\n",
			   duration_format(v->unseen_ns, a));
	if (*v->note)
		print_text(out, "!! %s\n", v->note);
}

/* The whole blocked time, as the tables below have it. */
static int header_sums(const struct live_view *v, const struct seen *s, FILE *out)
{
	uint64_t length_ns = v->to_ns > v->from_ns ? v->to_ns - v->from_ns : 1;
	char blocked[FORMAT_MAX], idle[FORMAT_MAX], count[FORMAT_MAX];
	const struct cell *cells;
	uint32_t cell_count;
	struct group root;
	int err;

	cells = report_cells(&s->in, &cell_count);
	err = groups_make(s->section.stacks, cells, cell_count, NULL, 0, v->order, &root);
	if (err)
		return err;
	print_text(out, "blocked in locks: %s (%.2f threads at a time), %s times; idle of it: %s\n",
		   duration_format(root.blocked_ns, blocked),
		   (double)root.blocked_ns / (double)length_ns, count_format(root.count, count),
		   duration_format(root.idle_ns, idle));
	groups_free(&root);
	return 0;
}

static void header_time(const struct live_view *v, FILE *out)
{
	const json_t *h = v->log->header;
	uint64_t length_ns = v->to_ns - v->from_ns;
	uint64_t wall_ns = header_number(h, NULL, "start_wall_ns") + v->to_ns -
			   header_number(h, NULL, "start_mono_ns");
	char length[FORMAT_MAX], since[FORMAT_MAX], when[32] = "";
	time_t wall = (time_t)(wall_ns / NS_PER_S);
	struct tm tm;

	if (gmtime_r(&wall, &tm))
		strftime(when, sizeof(when), "%H:%M:%S UTC", &tm);
	print_text(out, "the %s before %s%s; recorded for %s; JVM %" PRIu64 ", %s\n",
		   duration_format(length_ns, length), when,
		   v->last ? ", when the recording ended" : "",
		   duration_format(v->to_ns - v->begin_ns, since), header_number(h, "jvm", "pid"),
		   header_text(h, "jvm", "version"));
	if (length_ns && (v->record_cpu_ns || v->view_cpu_ns))
		print_text(out, "spoor itself: %.1f %% of a CPU to record, %.1f %% to show\n",
			   100.0 * (double)v->record_cpu_ns / (double)length_ns,
			   100.0 * (double)v->view_cpu_ns / (double)length_ns);
}

static int header(const struct live_view *v, const struct seen *s, FILE *out)
{
	header_losses(v, out);
	header_time(v, out);
	if (v->where_text)
		print_text(out, "only contentions where %s\n", v->where_text);
	return header_sums(v, s, out);
}

int live_header(const struct live_view *v, FILE *out)
{
	struct seen s;
	int err = seen_open(v, &s);

	if (err)
		return err;
	err = header(v, &s, out);
	seen_close(&s);
	return err;
}

/* --- all of it --- */

static void print_lines(const char *text, FILE *out)
{
	for (size_t length; *text; text += length + (text[length] == '\n')) {
		length = strcspn(text, "\n");
		print_text(out, "%.*s\n", (int)length, text);
	}
}

/* A section that is empty is left out. */
static int section_text(const struct live_view *v, const struct seen *s, enum live_pane pane,
			FILE *out)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	int err = memory ? pane_text(v, s, pane, memory) : -ENOMEM;

	if (memory && fclose(memory) && !err)
		err = -ENOMEM;
	if (!err && size) {
		print_text(out, "\n%s\n", titles[pane]);
		print_lines(text, out);
	}
	free(text);
	return err;
}

int live_text(const struct live_view *v, FILE *out)
{
	struct seen s;
	int err = seen_open(v, &s);

	if (err)
		return err;
	err = header(v, &s, out);
	for (int pane = 0; pane < LIVE_PANE_COUNT && !err; pane++)
		err = section_text(v, &s, pane, out);
	print_text(out, "\n");
	seen_close(&s);
	return err;
}

static int add(json_t *o, const char *key, struct findings *f)
{
	json_t *rows = findings_take_json(f);

	return !rows || json_object_set_new(o, key, rows) ? -ENOMEM : 0;
}

static json_t *head_json(const struct live_view *v)
{
	uint64_t start_ns = header_number(v->log->header, NULL, "start_mono_ns");

	return json_pack("{s:I, s:I, s:I, s:{s:I, s:I}, s:I, s:I, s:I, s:s, s:b}", "pid",
			 (json_int_t)header_number(v->log->header, "jvm", "pid"), "from_ns",
			 (json_int_t)(v->from_ns - start_ns), "to_ns",
			 (json_int_t)(v->to_ns - start_ns), "lost", "interval",
			 (json_int_t)lost_here(v), "total", (json_int_t)v->lost, "unseen_ns",
			 (json_int_t)v->unseen_ns, "record_cpu_ns", (json_int_t)v->record_cpu_ns,
			 "view_cpu_ns", (json_int_t)v->view_cpu_ns, "note", v->note, "last",
			 v->last);
}

/* The tree of --by, as spoor report writes it. */
static int by_json(const struct live_view *v, const struct seen *s, FILE *out)
{
	struct by_section b;
	int err = by_section_open(&s->in, v->by, v->depth, &b);

	if (err)
		return err;
	fputs(",\"by\":{", out);
	err = by_json_members(&b, out);
	fputc('}', out);
	by_section_close(&b);
	return err;
}

int live_json(const struct live_view *v, FILE *out)
{
	static const char *const names[] = {"threads", "gc", "vm_operations", "cpus"};
	json_t *o = head_json(v);
	struct seen s;
	int err = o ? seen_open(v, &s) : -ENOMEM;

	if (err) {
		json_decref(o);
		return err;
	}
	err = add(o, "locks", live_rows_table(&s.section, LIVE_LOCKS, 0));
	if (!err)
		err = add(o, "holders", live_rows_table(&s.section, LIVE_HOLDERS, 0));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !err; i++)
		err = add(o, names[i], section_by_name(names[i])(&s.section));
	if (!err) {
		fputc('{', out);
		err = json_members_write(o, out);
		o = NULL;
	}
	if (!err && v->depth)
		err = by_json(v, &s, out);
	fputs(err ? "\n" : "}\n", out);
	seen_close(&s);
	json_decref(o);
	return err;
}
