/*
 * A column is a slice of the time: as high as the most that a collection in it found in the heap
 * (before), and filled as high as the least that one left (after). Nothing is known between
 * collections, and nothing is drawn where there was none.
 */
#include "report/text/commands/gc_chart.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/format.h"
#include "base/text/print.h"
#include "report/model/sections/commands/gc_report.h"

#define BLOCK_AFTER "\u2588"
#define BLOCK_BEFORE "\u2591"
#define ROWS 10
#define STEPS 8 /* of a character's height */
#define LABEL 12
#define COLUMNS_LEAST 10
#define COLUMNS_MOST 400

struct column {
	bool known;
	uint64_t before, after;
	unsigned before_steps, after_steps;
};

struct chart {
	struct column *columns;
	unsigned count;
	uint64_t from_ns, span_ns; /* not 0 */
	uint64_t top_bytes;
	bool ascii;
};

static void column_note(struct chart *c, const struct gc_row *r)
{
	uint64_t after_ns = r->end_ns > c->from_ns ? r->end_ns - c->from_ns : 0;
	unsigned __int128 at = (unsigned __int128)after_ns * c->count / c->span_ns;
	struct column *k = &c->columns[at < c->count ? (unsigned)at : c->count - 1];

	if (!k->known || r->before.used_bytes > k->before)
		k->before = r->before.used_bytes;
	if (!k->known || r->after.used_bytes < k->after)
		k->after = r->after.used_bytes;
	k->known = true;
}

static unsigned steps_of(const struct chart *c, uint64_t bytes)
{
	unsigned __int128 steps = (unsigned __int128)bytes * ROWS * STEPS;

	steps = (steps + c->top_bytes / 2) / c->top_bytes;
	return bytes && !steps ? 1 : (unsigned)steps;
}

/* The scale ends at the limit of the heap, unless less than half of it was ever used. */
static uint64_t top_of(const struct gc_model *m, uint64_t most)
{
	uint64_t limit = m->facts.limits.heap_bytes;

	if (limit > most && most >= limit / 2)
		return limit;
	return most ? most : 1;
}

static int chart_make(const struct gc_model *m, struct chart *c)
{
	unsigned width = m->in->width > LABEL ? m->in->width - LABEL : 0;
	uint64_t most = 0;

	c->ascii = m->in->ascii;
	c->count = width < COLUMNS_LEAST  ? COLUMNS_LEAST
		   : width > COLUMNS_MOST ? COLUMNS_MOST
					  : width;
	c->span_ns = m->duration_ns ? m->duration_ns : 1;
	c->from_ns = m->end_ns > c->span_ns ? m->end_ns - c->span_ns : 0;
	c->columns = calloc(c->count, sizeof(*c->columns));
	if (!c->columns)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->row_count; i++) {
		if (m->rows[i].has_heap)
			column_note(c, &m->rows[i]);
	}
	for (unsigned i = 0; i < c->count; i++) {
		const struct column *k = &c->columns[i];

		most = k->before > most ? k->before : most;
		most = k->after > most ? k->after : most;
	}
	c->top_bytes = top_of(m, most);
	for (unsigned i = 0; i < c->count; i++) {
		c->columns[i].before_steps = steps_of(c, c->columns[i].before);
		c->columns[i].after_steps = steps_of(c, c->columns[i].after);
	}
	return 0;
}

/* One character: after from below, before above. */
static const char *cell(const struct chart *c, const struct column *k, unsigned row)
{
	static const char *const blocks[STEPS + 1] = {" ",      "\u2581", "\u2582",
						      "\u2583", "\u2584", "\u2585",
						      "\u2586", "\u2587", BLOCK_AFTER};
	unsigned below = row * STEPS;

	if (k->after_steps >= below + STEPS)
		return c->ascii ? "#" : blocks[STEPS];
	if (k->before_steps >= below + STEPS)
		return c->ascii ? (k->after_steps >= below + STEPS / 2 ? "#" : ":") : BLOCK_BEFORE;
	if (c->ascii)
		return k->after_steps >= below + STEPS / 2    ? "#"
		       : k->before_steps >= below + STEPS / 2 ? ":"
							      : " ";
	if (k->after_steps > below)
		return blocks[k->after_steps - below];
	return k->before_steps >= below + STEPS / 2 ? BLOCK_BEFORE : " ";
}

static void row_print(const struct chart *c, unsigned row, FILE *out)
{
	char label[FORMAT_MAX] = "";
	unsigned last = c->count;

	if (row == ROWS - 1 || row == ROWS / 2 - 1)
		size_format(row == ROWS - 1 ? c->top_bytes : c->top_bytes / 2, label);
	print_text(out, "%*s ", LABEL - 2, label);
	print_text(out, "%s", c->ascii ? "|" : "\u2502");
	while (last && cell(c, &c->columns[last - 1], row)[0] == ' ')
		last--;
	for (unsigned i = 0; i < last; i++)
		print_text(out, "%s", cell(c, &c->columns[i], row));
	fputc('\n', out);
}

static void axis_print(const struct gc_model *m, const struct chart *c, FILE *out)
{
	char from[FORMAT_MAX], to[FORMAT_MAX];

	print_text(out, "%*s ", LABEL - 2, "0");
	print_text(out, "%s", c->ascii ? "+" : "\u2514");
	for (unsigned i = 0; i < c->count; i++)
		print_text(out, "%s", c->ascii ? "-" : "\u2500");
	time_format(gc_since_start(m, c->from_ns), from);
	time_format(gc_since_start(m, m->end_ns), to);
	print_text(out, "\n%*s%s%*s\n", LABEL, "", from,
		   (int)(c->count > strlen(from) ? c->count - strlen(from) : 1), to);
}

static bool has_heaps(const struct gc_model *m)
{
	for (uint32_t i = 0; i < m->row_count; i++)
		if (m->rows[i].has_heap)
			return true;
	return false;
}

int gc_chart_print(const struct gc_model *m, FILE *out)
{
	struct chart c = {0};
	int err;

	if (!has_heaps(m))
		return 0;
	err = chart_make(m, &c);
	if (err)
		return err;
	print_text(out, "\nHEAP over time: %s after, %s before a collection\n",
		   c.ascii ? "#" : BLOCK_AFTER, c.ascii ? ":" : BLOCK_BEFORE);
	for (unsigned row = ROWS; row-- > 0;)
		row_print(&c, row, out);
	axis_print(m, &c, out);
	free(c.columns);
	return 0;
}
