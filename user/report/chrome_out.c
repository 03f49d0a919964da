#include "report/chrome_out.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "log/text.h"

#define TEXT_MAX 1024

/* Text of a fixed form goes through as it is. */
static void quote_clean(const char *text, size_t length, FILE *out)
{
	putc_unlocked('"', out);
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20)
			fprintf(out, "\\u%04x", c);
		else
			putc_unlocked(c, out);
	}
	putc_unlocked('"', out);
}

/* Texts that were cut may end amid a character. */
void chrome_quote(const char *text, FILE *out)
{
	char clean[TEXT_MAX];
	size_t length = strlen(text);

	if (text_is_clean(text, length))
		quote_clean(text, length, out);
	else
		quote_clean(clean, text_clean(text, length, clean, sizeof(clean)), out);
}

static void key_put(struct chrome_out *o, const char *key)
{
	if (o->args && !o->in_args) {
		fputs(",\"args\":{", o->out);
		o->first = o->in_args = true;
	}
	fprintf(o->out, "%s\"%s\":", o->first ? "" : ",", key);
	o->first = false;
}

/* n / 10^digits, without zeros at its end. */
static void decimal_put(struct chrome_out *o, uint64_t n, int digits)
{
	uint64_t unit = 1, rest;

	for (int i = 0; i < digits; i++)
		unit *= 10;
	rest = n % unit;
	fprintf(o->out, "%" PRIu64, n / unit);
	if (!rest)
		return;
	for (; rest % 10 == 0; rest /= 10)
		digits--;
	fprintf(o->out, ".%0*" PRIu64, digits, rest);
}

void chrome_begin(struct chrome_out *o)
{
	fputs("{\"traceEvents\":[", o->out);
	o->first = true;
}

void chrome_events_done(struct chrome_out *o)
{
	fputs("\n],\n\"otherData\":{", o->out);
	o->first = true;
	o->args = o->in_args = false;
}

void chrome_end(struct chrome_out *o)
{
	fputs("}}\n", o->out);
}

static void head_put(struct chrome_out *o, char phase, uint64_t track)
{
	fprintf(o->out, "%s\n{\"ph\":\"%c\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64,
		o->events++ ? "," : "", phase, o->pid, track);
	o->first = o->args = o->in_args = false;
}

void chrome_event(struct chrome_out *o, char phase, uint64_t track, uint64_t time_ns)
{
	head_put(o, phase, track);
	fputs(",\"ts\":", o->out);
	decimal_put(o, time_ns > o->base_ns ? time_ns - o->base_ns : 0, 3);
}

void chrome_args(struct chrome_out *o)
{
	o->args = true;
}

void chrome_done(struct chrome_out *o)
{
	fputs(o->in_args ? "}}" : "}", o->out);
}

void chrome_track(struct chrome_out *o, uint64_t track, const char *name, uint64_t sort)
{
	head_put(o, 'M', track);
	chrome_text(o, "name", "thread_name");
	chrome_args(o);
	chrome_text(o, "name", name);
	chrome_done(o);
	head_put(o, 'M', track);
	chrome_text(o, "name", "thread_sort_index");
	chrome_args(o);
	chrome_number(o, "sort_index", sort);
	chrome_done(o);
}

void chrome_text(struct chrome_out *o, const char *key, const char *text)
{
	key_put(o, key);
	chrome_quote(text, o->out);
}

void chrome_format(struct chrome_out *o, const char *key, const char *format, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	chrome_text(o, key, text);
}

void chrome_number(struct chrome_out *o, const char *key, uint64_t number)
{
	key_put(o, key);
	fprintf(o->out, "%" PRIu64, number);
}

void chrome_ms(struct chrome_out *o, const char *key, uint64_t ns)
{
	key_put(o, key);
	decimal_put(o, ns, 6);
}

void chrome_milli(struct chrome_out *o, const char *key, uint64_t thousandths)
{
	key_put(o, key);
	decimal_put(o, thousandths, 3);
}

void chrome_raw(struct chrome_out *o, const char *key, const char *json)
{
	key_put(o, key);
	fputs(json, o->out);
}
