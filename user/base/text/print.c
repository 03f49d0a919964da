/*
 * A walk through a printf format. Literal text goes out as it is, numbers go through the C
 * library's printf, and each text is encoded by the kind of output. So a caller cannot forget to
 * encode one: there is no way to print it without.
 */
#include "base/text/print.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NUMBER_MAX 512 /* bytes of a number with its padding */
#define WIDTH_MAX 256
#define LABEL_BYTES_MAX 1024

enum kind { KIND_TEXT, KIND_JSON, KIND_CSV };

struct sink {
	FILE *out; /* NULL: buf */
	char *buf;
	size_t size;
	size_t used; /* bytes so far, also those that had no room */
	bool full;
	enum kind kind;
	unsigned csv;
};

size_t utf8_character(const char *text, size_t length, uint32_t *ret)
{
	static const struct {
		unsigned char mask, lead;
		uint32_t least;
	} form[] = {{0x80, 0, 1}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
	const unsigned char *bytes = (const unsigned char *)text;
	uint32_t code;
	size_t n, i;

	for (n = 0; n < sizeof(form) / sizeof(*form); n++)
		if ((bytes[0] & form[n].mask) == form[n].lead)
			break;
	if (n == sizeof(form) / sizeof(*form) || n >= length)
		return 0;
	code = bytes[0] & (unsigned char)~form[n].mask;
	for (i = 1; i <= n; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (bytes[i] & 0x3f);
	}
	if (code < form[n].least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	*ret = code;
	return n + 1;
}

/* By Unicode 15: the categories Cc, Zl, Zp, and of Cf all but what joins letters (U+200C, U+200D),
 * without which some scripts and emoji cannot be written, and number signs, which are visible. */
bool print_is_hidden(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0, 0x1f},          {0x7f, 0x9f},       {0xad, 0xad},     {0x61c, 0x61c},
		{0x180e, 0x180e},   {0x200b, 0x200b},   {0x200e, 0x200f}, {0x2028, 0x202e},
		{0x2060, 0x206f},   {0xfeff, 0xfeff},   {0xfff9, 0xfffb}, {0x1bca0, 0x1bca3},
		{0x1d173, 0x1d17a}, {0xe0000, 0xe007f},
	};

	if (code >= 0x20 && code < 0x7f)
		return false;
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

/* All of it, or nothing: a buffer is cut between characters. */
static void put(struct sink *s, const char *bytes, size_t count)
{
	if (s->out) {
		if (fwrite_unlocked(bytes, 1, count, s->out) != count)
			s->full = true; /* the file remembers */
	} else if (!s->full && count < s->size - s->used) {
		memcpy(s->buf + s->used, bytes, count);
		s->buf[s->used + count] = '\0';
	} else {
		s->full = true;
	}
	s->used += count;
}

static void put_literal(struct sink *s, const char *text, size_t count)
{
	uint32_t code;
	size_t n;

	for (size_t at = 0; s->buf && at < count; at += n) {
		n = utf8_character(text + at, count - at, &code);
		n = n ? n : 1;
		put(s, text + at, n);
	}
	if (s->out)
		put(s, text, count);
}

/* --- what stands for one character ------------------------------------------------------------ */

static size_t text_escape(uint32_t code, char buf[16])
{
	static const char letters[] = "\t\n\r", forms[] = "tnr";
	const char *at = code && code < 0x80 ? strchr(letters, (int)code) : NULL;

	if (at)
		return (size_t)snprintf(buf, 16, "\\%c", forms[at - letters]);
	if (code < 0x80)
		return (size_t)snprintf(buf, 16, "\\x%02x", code);
	return (size_t)snprintf(buf, 16, code < 0x10000 ? "\\u%04x" : "\\U%08x", code);
}

static size_t json_escape(uint32_t code, char buf[16])
{
	static const char letters[] = "\"\\\b\f\n\r\t", forms[] = "\"\\bfnrt";
	const char *at = code && code < 0x80 ? strchr(letters, (int)code) : NULL;

	if (at)
		return (size_t)snprintf(buf, 16, "\\%c", forms[at - letters]);
	if (code < 0x10000)
		return (size_t)snprintf(buf, 16, "\\u%04x", code);
	code -= 0x10000;
	return (size_t)snprintf(buf, 16, "\\u%04x\\u%04x", 0xd800 + (code >> 10),
				0xdc00 + (code & 0x3ff));
}

/* Is the character itself what goes out? */
static bool is_plain(const struct sink *s, uint32_t code)
{
	if (s->kind == KIND_JSON && (code == '"' || code == '\\'))
		return false;
	if (s->kind == KIND_CSV && code == '"')
		return false;
	if (s->kind == KIND_CSV && !(s->csv & PRINT_CSV_TERMINAL))
		return true;
	return !print_is_hidden(code);
}

static void put_character(struct sink *s, uint32_t code)
{
	char form[16];

	if (s->kind == KIND_CSV && code == '"')
		put(s, "\"\"", 2);
	else if (s->kind == KIND_JSON)
		put(s, form, json_escape(code, form));
	else
		put(s, form, text_escape(code, form));
}

static void put_byte(struct sink *s, unsigned char byte)
{
	char form[16];

	if (s->kind == KIND_JSON)
		put(s, "\xef\xbf\xbd", 3);
	else if (s->kind == KIND_CSV && !(s->csv & PRINT_CSV_TERMINAL))
		put(s, (const char *)&byte, 1);
	else
		put(s, form, (size_t)snprintf(form, sizeof(form), "\\x%02x", byte));
}

/* How many of the bytes need nothing done to them: most names are all of that kind. */
static size_t plain_ascii(const struct sink *s, const char *text, size_t length)
{
	size_t n = 0;

	if (!s->out)
		return 0;
	while (n < length && (unsigned char)text[n] >= 0x20 && (unsigned char)text[n] < 0x7f &&
	       text[n] != '"' && text[n] != '\\')
		n++;
	return n;
}

static void put_foreign(struct sink *s, const char *text, size_t length)
{
	const char *end = text + length;
	uint32_t code;
	size_t n;

	while (text < end) {
		n = plain_ascii(s, text, (size_t)(end - text));
		if (n) {
			put(s, text, n);
			text += n;
			continue;
		}
		n = utf8_character(text, (size_t)(end - text), &code);
		if (!n)
			put_byte(s, (unsigned char)*text);
		else if (is_plain(s, code))
			put(s, text, n);
		else
			put_character(s, code);
		text += n ? n : 1;
	}
}

/* --- CSV -------------------------------------------------------------------------------------- */

static bool looks_like_formula(const char *text)
{
	/* The last four are the wide forms of the first ones. */
	static const char *const begins[] = {"=",
					     "+",
					     "-",
					     "@",
					     "\t",
					     "\r",
					     "\n",
					     "'",
					     "\xef\xbc\x9d",
					     "\xef\xbc\x8b",
					     "\xef\xbc\x8d",
					     "\xef\xbc\xa0"};

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (!strncmp(text, begins[i], strlen(begins[i])))
			return true;
	return false;
}

static void put_csv_open(struct sink *s, const char *first)
{
	put(s, "\"", 1);
	if (!(s->csv & PRINT_CSV_RAW) && looks_like_formula(first))
		put(s, "'", 1);
}

static void put_csv_field(struct sink *s, const char *text)
{
	bool quoted = text[strcspn(text, ",\"\r\n;\t")] ||
		      (!(s->csv & PRINT_CSV_RAW) && looks_like_formula(text));

	if (quoted)
		put_csv_open(s, text);
	put_foreign(s, text, strlen(text));
	if (quoted)
		put(s, "\"", 1);
}

/* --- formats ---------------------------------------------------------------------------------- */

struct directive {
	char flags[8];
	int width, precision; /* -1: there is none */
	char length;          /* 0, l (and h, which is promoted: 0), q for ll, z, j */
	char conversion;
	const char *end;
};

static int number(const char **at, va_list *args)
{
	int n = 0;

	if (**at == '*') {
		(*at)++;
		return va_arg(*args, int);
	}
	for (; isdigit((unsigned char)**at); (*at)++)
		n = n < WIDTH_MAX ? n * 10 + (**at - '0') : n;
	return n;
}

/* at: what is after the %. */
static void directive_parse(const char *at, va_list *args, struct directive *ret)
{
	size_t flags = 0;

	*ret = (struct directive){.precision = -1};
	for (; *at && strchr("-+ #0'", *at); at++)
		if (flags < sizeof(ret->flags) - 1)
			ret->flags[flags++] = *at;
	ret->width = number(&at, args);
	if (ret->width < 0) {
		ret->width = -ret->width;
		ret->flags[flags < sizeof(ret->flags) - 1 ? flags : flags - 1] = '-';
	}
	if (*at == '.') {
		at++;
		ret->precision = number(&at, args);
	}
	for (; *at && strchr("hlzjt", *at); at++)
		ret->length = *at == 'l' ? ret->length == 'l' ? 'q' : 'l' : *at;
	ret->conversion = *at;
	ret->end = *at ? at + 1 : at;
}

static intmax_t signed_argument(const struct directive *d, va_list *args)
{
	return d->length == 'l'   ? va_arg(*args, long)
	       : d->length == 'q' ? va_arg(*args, long long)
	       : d->length == 'j' ? va_arg(*args, intmax_t)
	       : d->length == 'z' ? va_arg(*args, ssize_t)
	       : d->length == 't' ? va_arg(*args, ptrdiff_t)
				  : va_arg(*args, int);
}

static uintmax_t unsigned_argument(const struct directive *d, va_list *args)
{
	return d->length == 'l'   ? va_arg(*args, unsigned long)
	       : d->length == 'q' ? va_arg(*args, unsigned long long)
	       : d->length == 'j' ? va_arg(*args, uintmax_t)
	       : d->length == 'z' ? va_arg(*args, size_t)
	       : d->length == 't' ? (uintmax_t)va_arg(*args, ptrdiff_t)
				  : va_arg(*args, unsigned);
}

static void put_number(struct sink *s, const struct directive *d, va_list *args)
{
	bool real = strchr("fFeEgGaA", d->conversion), is_signed = strchr("di", d->conversion);
	int width = d->width < WIDTH_MAX ? d->width : WIDTH_MAX;
	int precision = d->precision < WIDTH_MAX / 4 ? d->precision : WIDTH_MAX / 4;
	char format[32], text[NUMBER_MAX];
	int n;

	/* A negative precision is as if there were none. */
	snprintf(format, sizeof(format), "%%%s*.*%s%c", d->flags, real ? "" : "j", d->conversion);
	if (real)
		n = snprintf(text, sizeof(text), format, width, precision, va_arg(*args, double));
	else if (is_signed)
		n = snprintf(text, sizeof(text), format, width, precision,
			     signed_argument(d, args));
	else
		n = snprintf(text, sizeof(text), format, width, precision,
			     unsigned_argument(d, args));
	put_literal(s, text, n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

static void put_spaces(struct sink *s, size_t count)
{
	while (count--)
		put(s, " ", 1);
}

/* Bytes that the text becomes. */
static size_t text_bytes(const struct sink *like, const char *text, size_t length)
{
	struct sink none = {.buf = (char[1]){0}, .size = 1, .kind = like->kind};

	put_foreign(&none, text, length);
	return none.used;
}

/* At most so many bytes of the text, without half a character at their end. */
static size_t cut(const char *text, int most)
{
	size_t length = most < 0 ? strlen(text) : strnlen(text, (size_t)most), lead = length;
	uint32_t code;

	if (most < 0 || length < (size_t)most || (text[length] & 0xc0) != 0x80)
		return length;
	while (lead && length - lead < 4 && (text[lead] & 0xc0) == 0x80)
		lead--;
	return lead + utf8_character(text + lead, strnlen(text + lead, 4), &code) > length ? lead
											   : length;
}

static void put_string(struct sink *s, const struct directive *d, const char *text)
{
	bool left = strchr(d->flags, '-');
	size_t width = (size_t)d->width, length, used;

	text = text ? text : "(null)";
	if (s->kind == KIND_JSON) {
		put(s, "\"", 1);
		put_foreign(s, text, strlen(text));
		put(s, "\"", 1);
		return;
	}
	if (s->kind == KIND_CSV) {
		put_csv_field(s, text);
		return;
	}
	length = cut(text, d->precision);
	used = width ? text_bytes(s, text, length) : 0;
	if (!left && used < width)
		put_spaces(s, width - used);
	put_foreign(s, text, length);
	if (left && used < width)
		put_spaces(s, width - used);
}

static void put_directive(struct sink *s, const struct directive *d, va_list *args)
{
	char letter[2] = "";

	switch (d->conversion) {
	case '%':
		put(s, "%", 1);
		break;
	case 's':
		put_string(s, d, va_arg(*args, const char *));
		break;
	case 'c':
		letter[0] = (char)va_arg(*args, int);
		put_foreign(s, letter, 1);
		break;
	default:
		put_number(s, d, args);
	}
}

static void put_format(struct sink *s, const char *format, va_list from)
{
	struct directive d;
	va_list args;
	size_t n;

	va_copy(args, from);
	while (*format) {
		n = strcspn(format, "%");
		put_literal(s, format, n);
		format += n;
		if (!*format)
			break;
		directive_parse(format + 1, &args, &d);
		put_directive(s, &d, &args);
		format = d.end;
	}
	va_end(args);
}

/* --- the outputs ------------------------------------------------------------------------------ */

int print_textv(FILE *out, const char *format, va_list args)
{
	struct sink s = {.out = out};

	put_format(&s, format, args);
	return (int)s.used;
}

int print_text(FILE *out, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = print_textv(out, format, args);
	va_end(args);
	return n;
}

int print_bufferv(char *buf, size_t size, const char *format, va_list args)
{
	char none[1];
	struct sink s = {.buf = size ? buf : none, .size = size ? size : 1};

	s.buf[0] = '\0';
	put_format(&s, format, args);
	return (int)s.used;
}

int print_buffer(char *buf, size_t size, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = print_bufferv(buf, size, format, args);
	va_end(args);
	return n;
}

void print_json(FILE *out, const char *format, ...)
{
	struct sink s = {.out = out, .kind = KIND_JSON};
	va_list args;

	va_start(args, format);
	put_format(&s, format, args);
	va_end(args);
}

void print_json_piece(FILE *out, const char *text)
{
	struct sink s = {.out = out, .kind = KIND_JSON};

	put_foreign(&s, text, strlen(text));
}

void print_json_string(FILE *out, const char *text)
{
	putc_unlocked('"', out);
	print_json_piece(out, text);
	putc_unlocked('"', out);
}

void print_metric_label(FILE *out, const char *text)
{
	char clean[LABEL_BYTES_MAX], piece[3] = "\\";

	print_buffer(clean, sizeof(clean), "%s", text);
	/* A character of more than one byte has neither of the two in it. */
	for (const char *c = clean; *c; c++) {
		piece[1] = *c;
		print_own(out, *c == '"' || *c == '\\' ? piece : piece + 1);
	}
}

/* jansson escapes what JSON asks for and leaves the rest as it is, always whole characters of one
 * string at a time. Outside of strings, all is ASCII. */
static int json_dumped(const char *text, size_t length, void *ctx)
{
	struct sink s = {.out = ctx, .kind = KIND_TEXT};
	const char *end = text + length;
	char form[16];
	uint32_t code;
	size_t n;

	for (; text < end; text += n) {
		n = utf8_character(text, (size_t)(end - text), &code);
		/* Line ends are those between the values, with JSON_INDENT. */
		if (n && code != '\n' && print_is_hidden(code))
			put(&s, form, json_escape(code, form));
		else
			put(&s, text, n ? n : 1);
		n = n ? n : 1;
	}
	return ferror_unlocked(s.out) ? -1 : 0;
}

int print_json_value(FILE *out, const json_t *value, size_t flags)
{
	return json_dump_callback(value, json_dumped, out, flags) ? -EIO : 0;
}

unsigned print_csv_of(FILE *out)
{
	int fd = fileno(out);

	return fd >= 0 && isatty(fd) ? PRINT_CSV_TERMINAL : 0;
}

void print_csv(FILE *out, const char *format, ...)
{
	struct sink s = {.out = out, .kind = KIND_CSV, .csv = print_csv_of(out)};
	va_list args;

	va_start(args, format);
	put_format(&s, format, args);
	va_end(args);
}

void print_csv_field(FILE *out, const char *text, unsigned how)
{
	struct sink s = {.out = out, .kind = KIND_CSV, .csv = how};

	put_csv_field(&s, text);
}

void print_csv_open(FILE *out, const char *first, unsigned how)
{
	struct sink s = {.out = out, .kind = KIND_CSV, .csv = how};

	put_csv_open(&s, first);
}

void print_csv_piece(FILE *out, const char *text, unsigned how)
{
	struct sink s = {.out = out, .kind = KIND_CSV, .csv = how};

	put_foreign(&s, text, strlen(text));
}

void print_own(FILE *out, const char *text)
{
	fputs_unlocked(text, out);
}
