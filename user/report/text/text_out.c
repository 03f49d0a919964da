#include <stdarg.h>
#include <string.h>

#include "base/text/print.h"
#include "report/text/text_report.h"

#define WIDTH 100
#define INDENT 13

void text_heading(struct text *t, const char *format, ...)
{
	va_list args;

	if (t->sections++)
		fputc('\n', t->out);
	va_start(args, format);
	print_textv(t->out, format, args);
	va_end(args);
	fputc('\n', t->out);
}

/* Goes on in the next line, below where it began, when the line is full. */
void text_words(FILE *out, size_t indent, const char *text)
{
	size_t column = indent, length;

	for (; *text; text += length) {
		text += *text == ' ';
		length = strcspn(text, " ");
		if (column > indent && column + 1 + length > WIDTH) {
			print_text(out, "\n%*s", (int)indent - 1, "");
			column = indent;
		}
		print_text(out, " %.*s", (int)length, text);
		column += length + 1;
	}
	fputc('\n', out);
}

void text_line_whole(struct text *t, const char *name, const char *text)
{
	if (!*text)
		return;
	print_text(t->out, "  %-10s", name);
	text_words(t->out, INDENT, text);
}

void text_line(struct text *t, const char *name, const char *format, ...)
{
	char buf[LABEL_MAX];
	va_list args;

	va_start(args, format);
	print_bufferv(buf, sizeof(buf), format, args);
	va_end(args);
	text_line_whole(t, name, buf);
}

static int plain(struct text *t, section_make *make)
{
	struct findings *f = make(&t->section);
	struct findings_view view = {.indent = 2};
	int err;

	if (f && f->title && findings_has_rows(f, FINDINGS_PEOPLE))
		text_heading(t, "%s", f->title);
	view.all = f ? f->all : NULL;
	err = findings_to_text(f, &view, t->out);
	findings_free(f);
	return err;
}

int text_plain(struct text *t)
{
	const char *name;
	section_make *make;
	unsigned at = 0;
	int err = 0;

	while (!err && (make = section_plain(&at, &name)))
		err = plain(t, make);
	return err;
}

int text_section(struct text *t, section_make *make, const struct findings_view *view)
{
	struct findings *f = make(&t->section);
	int err = findings_to_text(f, view, t->out);

	findings_free(f);
	return err;
}
