#include "report/text/table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "base/text/print.h"

#define GAP 2

struct table {
	const struct table_column *columns;
	unsigned column_count;
	char **cells;
	uint32_t cell_count, cell_capacity;
	bool failed;
};

struct table *table_new(const struct table_column *columns, unsigned count)
{
	struct table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->columns = columns;
	t->column_count = count;
	return t;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	for (unsigned i = 0; i < t->cell_count; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t);
}

unsigned text_width(const char *text)
{
	unsigned width = 0;

	for (; *text; text++)
		width += (*text & 0xc0) != 0x80;
	return width;
}

/* Bytes of the first width characters. */
static int text_bytes(const char *text, unsigned width)
{
	const char *end = text;

	for (; *end; end++) {
		if ((*end & 0xc0) == 0x80)
			continue;
		if (!width--)
			break;
	}
	return (int)(end - text);
}

void table_add(struct table *t, const char *format, ...)
{
	char buf[1024];
	va_list args;

	if (!t || t->failed)
		return;
	if (array_grow(&t->cells, &t->cell_capacity, t->cell_count, sizeof(char *))) {
		t->failed = true;
		return;
	}
	va_start(args, format);
	print_bufferv(buf, sizeof(buf), format, args);
	va_end(args);
	t->cells[t->cell_count] = strdup(buf);
	if (!t->cells[t->cell_count])
		t->failed = true;
	else
		t->cell_count++;
}

void table_end_row(struct table *t)
{
	while (t && !t->failed && t->cell_count % t->column_count)
		table_add(t, "%s", "");
}

/* How many cells of the row there are up to the last that is not empty. */
static unsigned row_count(const struct table *t, char *const *cells)
{
	unsigned count = t->column_count;

	while (count && !*cells[count - 1])
		count--;
	return count;
}

static unsigned column_width(const struct table *t, unsigned column)
{
	const struct table_column *c = &t->columns[column];
	unsigned width = text_width(c->title);

	if (width < c->least)
		width = c->least;
	for (unsigned i = 0; i + t->column_count <= t->cell_count; i += t->column_count) {
		unsigned w = text_width(t->cells[i + column]);

		if (!column && row_count(t, &t->cells[i]) == 1)
			continue;
		if (c->most && w > c->most)
			w = c->most;
		width = w > width ? w : width;
	}
	return width;
}

static void cell_print(const struct table_column *c, unsigned width, const char *text, bool last,
		       FILE *out)
{
	unsigned w = text_width(text);
	bool cut = w > width;
	int pad = cut ? 0 : (int)(width - w);

	if (!c->left)
		print_text(out, "%*s", pad, "");
	if (!cut)
		print_text(out, "%s", text);
	else if (c->tail)
		print_text(out, "...%s", text + text_bytes(text, w - (width - 3)));
	else
		print_text(out, "%.*s...", text_bytes(text, width - 3), text);
	if (c->left && !last)
		print_text(out, "%*s", pad, "");
	if (!last)
		print_text(out, "%*s", GAP, "");
}

/* Empty cells at the end of a row print nothing: no blanks at the end of a line. */
static void row_print(const struct table *t, const unsigned *width, char *const *cells, FILE *out)
{
	unsigned count = row_count(t, cells);

	if (count == 1)
		print_text(out, "%s", cells[0]);
	for (unsigned i = 0; i < count && count > 1; i++)
		cell_print(&t->columns[i], width[i], cells[i], i + 1 == count, out);
}

int table_print(const struct table *t, unsigned indent, FILE *out)
{
	unsigned *width = t && !t->failed ? calloc(t->column_count, sizeof(*width)) : NULL;

	if (!width)
		return -ENOMEM;
	for (unsigned i = 0; i < t->column_count; i++)
		width[i] = column_width(t, i);
	print_text(out, "%*s", (int)indent, "");
	for (unsigned i = 0; i < t->column_count; i++)
		cell_print(&t->columns[i], width[i], t->columns[i].title, i + 1 == t->column_count,
			   out);
	for (unsigned i = 0; i + t->column_count <= t->cell_count; i += t->column_count) {
		print_text(out, "\n%*s", (int)indent, "");
		row_print(t, width, &t->cells[i], out);
	}
	fputc('\n', out);
	free(width);
	return 0;
}
