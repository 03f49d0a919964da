#include "report/chrome/chrome_out.h"

#include <inttypes.h>
#include <stdarg.h>

#include "base/text/print.h"

#define TEXT_MAX 1024

void chrome_quote(const char *text, FILE *out)
{
	print_json_string(out, text);
}

static void key_put(struct chrome_out *o, const char *key)
{
	if (o->args && !o->in_args) {
		fputs(",\"args\":{", o->out);
		o->first = o->in_args = true;
	}
	fputs(o->first ? "\"" : ",\"", o->out);
	print_own(o->out, key);
	fputs("\":", o->out);
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
	fputs(o->events++ ? ",\n{\"ph\":\"" : "\n{\"ph\":\"", o->out);
	print_own(o->out, (const char[2]){phase});
	fprintf(o->out, "\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64, o->pid, track);
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
	print_own(o->out, json);
}
