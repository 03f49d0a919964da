#include "analyze/diff/generated_name.h"

#include <stddef.h>
#include <string.h>

#include "base/text/strbuf.h"

#define DIGITS "0123456789"
#define HEX DIGITS "abcdefABCDEF"
#define SIGNS DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* What is followed by chance, and of what that is made. */
static const struct mark {
	const char *text, *chance;
} marks[] = {
	{"$$Lambda$", DIGITS},
	{"$$Lambda", ""},
	{"LambdaForm$MH", ""},
	{"LambdaForm$DMH", ""},
	{"LambdaForm$BMH", ""},
	{"$Proxy", DIGITS},
	{"jdk.proxy", DIGITS},
	{"GeneratedMethodAccessor", DIGITS},
	{"GeneratedConstructorAccessor", DIGITS},
	{"GeneratedSerializationConstructorAccessor", DIGITS},
	{"$$SpringCGLIB$$", DIGITS},
	{"$$EnhancerBySpringCGLIB$$", HEX},
	{"$$FastClassBySpringCGLIB$$", HEX},
	{"$HibernateProxy$", SIGNS},
};

/* The mark that text begins with; NULL: none. */
static const struct mark *mark_at(const char *text)
{
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (!strncmp(text, marks[i].text, strlen(marks[i].text)))
			return &marks[i];
	return NULL;
}

/* The length of what is chance: "17", "14/0x00007f0012345678", "/0x1f", "/1234". */
static size_t chance_length(const char *text, const char *chance)
{
	size_t n = strspn(text, chance), at = n;

	if (text[at] != '/' && text[at] != '+')
		return n;
	at++;
	if (text[at] == '0' && text[at + 1] == 'x')
		at += 2;
	return strspn(text + at, HEX) ? at + strspn(text + at, HEX) : n;
}

void generated_name_add(struct strbuf *b, const char *name)
{
	const char *from = name;

	while (*name) {
		const struct mark *mark = strchr("$GjL", *name) ? mark_at(name) : NULL;
		size_t length;

		if (!mark) {
			name++;
			continue;
		}
		name += strlen(mark->text);
		length = chance_length(name, mark->chance);
		strbuf_put(b, from, (size_t)(name - from));
		if (length)
			strbuf_put(b, "*", 1);
		name += length;
		from = name;
	}
	strbuf_put(b, from, (size_t)(name - from));
}
