#include "report/protobuf/perfetto_name.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/text/strbuf.h"
#include "log/read/names.h"

#define DIMENSIONS_MAX 255 /* of an array: JVMS 4.3.2 */

/* None of it is a word of the name's own, or ends one. */
static void put_word(struct strbuf *b, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		char c = text[i];

		c = c == '(' ? '[' : c == ')' ? ']' : c == ' ' || c == '=' || !c ? '_' : c;
		strbuf_put(b, &c, 1);
	}
}

/* Spaces may stay, unless they make it one of the words at which the name is split. */
static void put_owner(struct strbuf *b, const char *name)
{
	bool words = strstr(name, "with owner") || strstr(name, "blocking from");

	for (; *name; name++) {
		char c = *name;

		if (c == ' ' && !words)
			strbuf_put(b, &c, 1);
		else
			put_word(b, &c, 1);
	}
}

static const char *primitive(char c)
{
	static const char letters[] = "BCDFIJSZV";
	static const char *const names[] = {"byte", "char",  "double",  "float", "int",
					    "long", "short", "boolean", "void"};
	const char *at = c ? strchr(letters, c) : NULL;

	return at ? names[at - letters] : NULL;
}

/* One type of a descriptor; where the next one begins, NULL: this is none. */
static const char *put_type(struct strbuf *b, const char *type)
{
	unsigned dimensions = 0;
	const char *end, *name;

	for (; *type == '[' && dimensions < DIMENSIONS_MAX; type++)
		dimensions++;
	name = primitive(*type);
	end = *type == 'L' ? strchr(type, ';') : NULL;
	if (!name && !end)
		return NULL;
	if (name)
		strbuf_add(b, "%s", name);
	for (const char *c = type + 1; end && c < end; c++)
		put_word(b, *c == '/' ? "." : c, 1);
	while (dimensions--)
		strbuf_add(b, "[]");
	return (name ? type : end) + 1;
}

static void put_method(struct strbuf *b, const struct log_method *m)
{
	const char *arguments = strchr(m->signature, '('), *end = strchr(m->signature, ')');
	bool first = true;

	if (!end || !put_type(b, end + 1))
		strbuf_add(b, "?");
	strbuf_add(b, " ");
	put_word(b, m->class_name, strlen(m->class_name));
	strbuf_add(b, ".");
	put_word(b, m->name, strlen(m->name));
	strbuf_add(b, "(");
	for (const char *c = arguments ? arguments + 1 : NULL; end && c && c < end; first = false) {
		if (!first)
			strbuf_add(b, ", ");
		c = put_type(b, c);
	}
	strbuf_add(b, ")");
}

static void put_location(struct strbuf *b, const struct perfetto_location *p)
{
	if (!p->method) {
		strbuf_add(b, "? unknown()(unknown:0)");
		return;
	}
	put_method(b, p->method);
	strbuf_add(b, "(");
	if (*p->method->source)
		put_word(b, p->method->source, strlen(p->method->source));
	else
		strbuf_add(b, "unknown");
	strbuf_add(b, ":%" PRIu64 ")", p->line);
}

void perfetto_contention_name(struct strbuf *b, const struct perfetto_contention *c)
{
	strbuf_add(b, "monitor contention with owner ");
	put_owner(b, c->owner);
	strbuf_add(b, " (%" PRIu64 ") at ", c->tid);
	put_location(b, &c->at);
	strbuf_add(b, " waiters=%" PRIu32 " blocking from ", c->others);
	put_location(b, &c->from);
}
