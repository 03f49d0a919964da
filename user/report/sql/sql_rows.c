#include "report/sql/sql_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "base/text/print.h"
#include "base/text/strbuf.h"

#define WIDTH_MAX 80

static const char *text_of(sqlite3_stmt *s, int column)
{
	const char *text = (const char *)sqlite3_column_text(s, column);

	return text ? text : "";
}

static const char *name_of(sqlite3_stmt *s, int column)
{
	const char *name = sqlite3_column_name(s, column);

	return name ? name : "";
}

static bool is_number(sqlite3_stmt *s, int column)
{
	int type = sqlite3_column_type(s, column);

	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/* 1: a row; 0: the end; -EIO. */
static int step(sqlite3_stmt *s)
{
	int err = sqlite3_step(s);

	if (err == SQLITE_ROW)
		return 1;
	return err == SQLITE_DONE ? 0 : -EIO;
}

static void json_value(sqlite3_stmt *s, int column, FILE *out)
{
	switch (sqlite3_column_type(s, column)) {
	case SQLITE_NULL:
		fputs("null", out);
		break;
	case SQLITE_INTEGER:
		fprintf(out, "%lld", (long long)sqlite3_column_int64(s, column));
		break;
	case SQLITE_FLOAT:
		if (isfinite(sqlite3_column_double(s, column)))
			fprintf(out, "%.17g", sqlite3_column_double(s, column));
		else
			fputs("null", out);
		break;
	default:
		print_json_string(out, text_of(s, column));
	}
}

static int print_json_rows(sqlite3_stmt *s, FILE *out)
{
	int columns = sqlite3_column_count(s), more;
	bool any = false;

	while ((more = step(s)) > 0) {
		fputs(any ? ",\n" : "[\n", out);
		any = true;
		for (int i = 0; i < columns; i++) {
			fputs(i ? ", " : "  {", out);
			print_json_string(out, name_of(s, i));
			fputs(": ", out);
			json_value(s, i, out);
		}
		fputs("}", out);
	}
	fputs(any ? "\n]\n" : "[]\n", out);
	return more;
}

static int print_csv_rows(sqlite3_stmt *s, FILE *out)
{
	int columns = sqlite3_column_count(s), more;
	unsigned how = print_csv_of(out);

	for (int i = 0; i < columns; i++) {
		fputs(i ? "," : "", out);
		print_csv_field(out, name_of(s, i), how);
	}
	fputs("\n", out);
	while ((more = step(s)) > 0) {
		for (int i = 0; i < columns; i++) {
			fputs(i ? "," : "", out);
			print_csv_field(out, text_of(s, i),
					is_number(s, i) ? how | PRINT_CSV_RAW : how);
		}
		fputs("\n", out);
	}
	return more;
}

/* Rows as texts, one after the other, before their widths are known. */
struct cells {
	struct strbuf texts;
	uint8_t *numbers; /* by cell: it is one */
	uint32_t count, capacity;
	int columns;
	size_t *widths; /* by column */
};

static int add_cell(struct cells *c, int column, const char *text, bool number)
{
	size_t width = (size_t)print_buffer(NULL, 0, "%s", text);
	int err = array_grow(&c->numbers, &c->capacity, c->count, sizeof(*c->numbers));

	if (err)
		return err;
	c->numbers[c->count++] = number;
	strbuf_put(&c->texts, text, strlen(text) + 1);
	if (width > WIDTH_MAX)
		width = WIDTH_MAX;
	if (width > c->widths[column])
		c->widths[column] = width;
	return c->texts.err;
}

static int add_row(struct cells *c, sqlite3_stmt *s)
{
	int err = 0;

	for (int i = 0; !err && i < c->columns; i++)
		err = add_cell(c, i, text_of(s, i), is_number(s, i));
	return err;
}

static void print_cells(const struct cells *c, FILE *out)
{
	const char *text = strbuf_text(&c->texts);

	for (uint32_t i = 0; i < c->count; i++, text += strlen(text) + 1) {
		int column = (int)(i % (uint32_t)c->columns), width = (int)c->widths[column];
		bool is_last = column + 1 == c->columns;
		/* A title stands as the value below it does. */
		bool right = c->numbers[i] ||
			     (i < (uint32_t)c->columns && i + (uint32_t)c->columns < c->count &&
			      c->numbers[i + (uint32_t)c->columns]);

		fputs("  ", out);
		if (right)
			print_text(out, "%*s", width, text);
		else if (is_last)
			print_text(out, "%s", text);
		else
			print_text(out, "%-*s", width, text);
		if (is_last)
			fputs("\n", out);
	}
}

static int print_text_rows(sqlite3_stmt *s, unsigned top, FILE *out)
{
	struct cells c = {.columns = sqlite3_column_count(s)};
	int more = 0, err = 0;
	unsigned rows = 0;

	c.widths = calloc((size_t)c.columns, sizeof(*c.widths));
	if (!c.widths)
		return -ENOMEM;
	for (int i = 0; !err && i < c.columns; i++)
		err = add_cell(&c, i, name_of(s, i), false);
	while (!err && (more = step(s)) > 0 && rows++ < top)
		err = add_row(&c, s);
	if (!err && more >= 0) {
		print_cells(&c, out);
		if (more)
			fputs("  and more (--top)\n", out);
	}
	strbuf_free(&c.texts);
	free(c.numbers);
	free(c.widths);
	return err ? err : more < 0 ? more : 0;
}

int sql_rows_print(sqlite3_stmt *statement, enum heap_format format, unsigned top, FILE *out)
{
	if (format == HEAP_JSON)
		return print_json_rows(statement, out);
	if (format == HEAP_CSV)
		return print_csv_rows(statement, out);
	return print_text_rows(statement, top, out);
}
