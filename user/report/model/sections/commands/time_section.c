/* The course of threads' states over time, as tables. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/registry/analysis.h"
#include "base/text/format.h"
#include "log/read/names.h"
#include "report/model/label.h"
#include "report/model/sections/commands/time_report.h"
#include "report/model/sections/section_internal.h"
#include "session/holes.h"

#define BAR_WIDTH 40
#define CELLS_STATES 8 /* the first column with a state */

/* Letters for the states, as many of each as its share of the width; what is left over goes to
 * those that came off worst. The sum of the states is exact in 128 bits, so that the shares are at
 * most BAR_WIDTH letters together, whatever the log says the states' times are. */
static void bar_fill(const struct states *s, bool has_reasons, char buf[BAR_WIDTH + 1])
{
	unsigned __int128 whole = 0, rest[STATE_COUNT];
	unsigned letters[STATE_COUNT], used = 0, at = 0;

	for (int i = 0; i < STATE_COUNT; i++)
		whole += s->ns[i];
	for (int i = 0; i < STATE_COUNT && whole; i++) {
		unsigned __int128 product = (unsigned __int128)s->ns[i] * BAR_WIDTH;

		letters[i] = (unsigned)(product / whole);
		rest[i] = product % whole;
		used += letters[i];
	}
	while (used < BAR_WIDTH && whole) {
		int best = 0;

		for (int i = 1; i < STATE_COUNT; i++)
			best = rest[i] > rest[best] ? i : best;
		letters[best]++;
		rest[best] = 0;
		used++;
	}
	for (int i = 0; i < STATE_COUNT && whole; i++) {
		memset(buf + at, state_letter(i, has_reasons), letters[i]);
		at += letters[i];
	}
	buf[at] = '\0';
}

/* What a row is called; tid and java_id if it is one thread that the log knows. */
static void add_name(const struct time_input *in, const struct time_table *t, uint32_t row,
		     struct findings *f)
{
	const struct log_names *names = analysis_names(in->in->log->analysis);
	const struct wall_row *of = row < t->shown ? &t->rows.rows[row] : NULL;
	const struct log_thread *known =
		of && in->by == WALL_BY_THREAD ? log_names_thread(names, of->thread) : NULL;
	char more[FORMAT_MAX];

	snprintf(more, sizeof(more), "(%" PRIu32 " more)", t->more);
	findings_text(f, of ? name_wall_row(names, of, in->by) : more, NULL);
	findings_text(f, of ? thread_group_name(of->group) : NULL, NULL);
	findings_maybe(f, known, known ? known->tid : 0);
}

static void add_cell(const struct time_input *in, const struct time_table *t, uint32_t row,
		     uint32_t window, struct findings *f)
{
	const struct state_window *w = &t->windows[window];
	const struct time_cell cell = time_cell_get(t, row, window);
	bool rough = w->rough_from || w->rough_to;
	char to[FORMAT_MAX + 1], bar[BAR_WIDTH + 1];

	findings_row(f, cell.threads ? FINDINGS_ALL : FINDINGS_PROGRAMS);
	FINDINGS_NUMBERS(f, time_since_start(in, w->from_ns), time_since_start(in, w->to_ns));
	time_format(time_since_start(in, w->to_ns), to);
	if (rough)
		findings_label(f, strcat(to, "~"));
	findings_number(f, !rough);
	add_name(in, t, row, f);
	bar_fill(&cell.states, wall_has_reasons(in->in), bar);
	findings_text(f, bar, NULL);
	findings_number(f, cell.threads);
	findings_numbers(f, cell.states.ns, STATE_COUNT);
	findings_number(f, states_sum(&cell.states));
}

struct findings *time_section(const struct time_input *in, const struct time_table *t,
			      const struct time_part *part)
{
	struct findings_column columns[CELLS_STATES + STATE_COUNT + 1] = {
		{.key = "from_ns",
		 .title = "from",
		 .unit = FINDINGS_NS,
		 .least = 7,
		 .flags = FINDINGS_NO_JSON},
		{.key = "to_ns",
		 .title = "to",
		 .unit = FINDINGS_NS,
		 .least = 7,
		 .flags = FINDINGS_NO_JSON},
		{.key = "exact",
		 .meaning = "There are samples at both ends of the window.",
		 .unit = FINDINGS_BOOL,
		 .flags = FINDINGS_NO_JSON},
		{.key = "name", .flags = FINDINGS_NO_JSON},
		{.key = "group", .flags = FINDINGS_NO_JSON},
		{.key = "tid", .unit = FINDINGS_NUMBER, .flags = FINDINGS_NO_JSON},
		{.title = "", .meaning = "A letter for each part of the time.", .least = BAR_WIDTH},
		{.key = "threads", .title = "threads", .unit = FINDINGS_COUNT, .least = 7},
		[CELLS_STATES + STATE_COUNT] = {.unit = FINDINGS_NS},
	};
	const struct findings_column state = {.group = "states",
					      .show = FINDINGS_SHARE,
					      .per = STATE_COUNT,
					      .flags = FINDINGS_IF_ANY | FINDINGS_PLAIN};
	struct findings *f;

	section_states(columns + CELLS_STATES, &state, wall_has_reasons(in->in));
	f = FINDINGS_NEW(columns);
	for (uint32_t w = 0; w < part->window_count; w++) {
		for (uint32_t r = 0; r < part->row_count; r++)
			add_cell(in, t, part->row + r, part->window + w, f);
	}
	return f;
}

struct findings *time_section_windows(const struct time_input *in, const struct time_table *t)
{
	static const struct findings_column columns[] = {
		{.key = "from_ns", .title = "from", .unit = FINDINGS_NS},
		{.key = "to_ns", .title = "to", .unit = FINDINGS_NS},
		{.key = "exact", .title = "exact", .unit = FINDINGS_BOOL},
		{.key = "missing_ns", .title = "missing", .unit = FINDINGS_NS},
	};
	struct findings *f = FINDINGS_NEW(columns);

	for (uint32_t i = 0; i < t->window_count; i++) {
		const struct state_window *w = &t->windows[i];
		uint64_t missing_ns = holes_missing_ns(in->in->log->analysis, w->from_ns, w->to_ns);

		findings_row(f, FINDINGS_ALL);
		FINDINGS_NUMBERS(f, time_since_start(in, w->from_ns),
				 time_since_start(in, w->to_ns), !w->rough_from && !w->rough_to);
		findings_maybe(f, missing_ns, missing_ns);
	}
	return f;
}

struct findings *time_section_row(const struct time_input *in, const struct time_table *t,
				  uint32_t row)
{
	struct findings_column columns[6 + STATE_COUNT + 1] = {
		{.key = "name"},
		{.key = "group"},
		{.key = "tid", .unit = FINDINGS_NUMBER},
		{.key = "java_id", .unit = FINDINGS_NUMBER},
		{.key = "threads", .unit = FINDINGS_COUNT},
		{.key = "more",
		 .meaning = "So many rows are put together in this one.",
		 .unit = FINDINGS_COUNT},
		[6 + STATE_COUNT] = {.key = "windows", .unit = FINDINGS_ROWS},
	};
	const struct log_names *names = analysis_names(in->in->log->analysis);
	const struct wall_row *of = row < t->shown ? &t->rows.rows[row] : NULL;
	const struct log_thread *known = of ? log_names_thread(names, of->thread) : NULL;
	const struct time_part all = {.row = row, .row_count = 1, .window_count = t->window_count};
	bool is_thread = of && in->by == WALL_BY_THREAD;
	struct findings *f;

	section_states(columns + 6, &(struct findings_column){.group = "states"},
		       wall_has_reasons(in->in));
	f = FINDINGS_NEW(columns);
	findings_row(f, FINDINGS_ALL);
	findings_text(f, of ? name_wall_row(names, of, in->by) : NULL, NULL);
	findings_text(f, of ? thread_group_name(of->group) : NULL, NULL);
	findings_maybe(f, is_thread, known ? known->tid : 0);
	findings_maybe(f, is_thread, known ? known->java_id : 0);
	findings_maybe(f, of, of ? of->threads : 0);
	findings_maybe(f, !of, t->more);
	findings_numbers(f, t->sums[row].ns, STATE_COUNT);
	findings_rows(f, time_section(in, t, &all));
	return f;
}
