#include "jvm/target/redact.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/*
 * The text is a target's choice, and may have megabytes. So what is looked for ahead of a position
 * is not looked for again from the next one, and nothing at all when there is no room for it.
 */
struct text {
	char *buf;
	size_t size, used;
};

static bool is_full(const struct text *t)
{
	return t->used == t->size - 1;
}

static void put(struct text *t, const char *bytes, size_t count)
{
	size_t room = t->size - 1 - t->used;

	count = count < room ? count : room;
	memcpy(t->buf + t->used, bytes, count);
	t->used += count;
	t->buf[t->used] = '\0';
}

/* What has no room for the mark must not look as if it were all. */
static void put_mark(struct text *t)
{
	put(t, REDACTED, strlen(REDACTED));
}

/* --- keys ------------------------------------------------------------------------------------- */

static bool begins(const char *text, size_t length, const char *with)
{
	return length >= strlen(with) && !strncasecmp(text, with, strlen(with));
}

/* "key" but not keystore=FILE, keyspace; "auth" but not author; "pass" but not bypass, passive. */
static bool is_secret_word(const char *text, size_t length, const char *key)
{
	static const char *const words[] = {"password",   "passwd", "passphrase",
					    "pwd",        "secret", "token",
					    "credential", "bearer", "cookie"};
	static const char *const no_keys[] = {"keystore", "keyspace", "keyboard", "keyword"};
	bool inside = text > key && isalpha((unsigned char)text[-1]);

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (begins(text, length, words[i]))
			return true;
	if (begins(text, length, "key")) {
		for (size_t i = 0; i < sizeof(no_keys) / sizeof(*no_keys); i++)
			if (begins(text, length, no_keys[i]))
				return false;
		return true;
	}
	if (begins(text, length, "auth"))
		return !begins(text, length, "author") || begins(text, length, "authori");
	if (begins(text, length, "pass"))
		return (length == 4 || !isalpha((unsigned char)text[4])) &&
		       !(inside && (text - key >= 2 && begins(text - 2, length + 2, "bypass"))) &&
		       !(inside && (text - key >= 3 && begins(text - 3, length + 3, "compass")));
	return false;
}

static bool is_secret_key(const char *key, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (is_secret_word(key + i, length - i, key))
			return true;
	return false;
}

/* Of keys, class names, hexadecimal numbers. */
static bool is_word(unsigned char c)
{
	return isalnum(c) || c == '_' || c == '.' || c == '-' || c >= 0x80;
}

/* --- values ----------------------------------------------------------------------------------- */

static bool is_quote(char c)
{
	return c == '"' || c == '\'';
}

/* Where the value begins, if what is at after belongs to a key: k=v, k: v, "k":"v"; 0: it does not.
 */
static size_t value_of(const char *text, size_t after, bool *ret_rest)
{
	bool quoted = is_quote(text[after]) || (text[after] == '\\' && is_quote(text[after + 1]));
	size_t at = after + (quoted ? text[after] == '\\' ? 2 : 1 : 0);

	at += strspn(text + at, " \t");
	if (text[at] != '=' && text[at] != ':')
		return 0;
	/* The colon is also that of paths and of URLs. */
	if (text[at] == ':' && !quoted && !isspace((unsigned char)text[at + 1]))
		return 0;
	*ret_rest = text[at] == ':' && !quoted;
	at++;
	return at + strspn(text + at, " \t");
}

/* "--key value", in the script of a shell. 0: there is none. */
static size_t next_word(const char *text, size_t after)
{
	size_t at = after + strspn(text + after, " \t");

	return at > after && text[at] != '-' ? at : 0;
}

/* To the quote that closes the value; rest: all that follows; else to what ends an option. */
static size_t value_end(const char *text, size_t at, bool rest)
{
	size_t from = at;
	char quote;

	if (text[at] == '\\' && is_quote(text[at + 1]))
		at++;
	if (is_quote(text[at]) && !rest) {
		quote = text[at++];
		while (text[at] && text[at] != quote)
			at += text[at] == '\\' && text[at + 1] && text[at + 1] != quote ? 2 : 1;
		return text[at] ? at + 1 : at;
	}
	return rest ? from + strlen(text + from) : from + strcspn(text + from, "&;, \t\r\n\"'");
}

static bool has_known_form(const char *text, size_t length)
{
	static const struct {
		const char *begin;
		size_t least;
	} forms[] = {{"AKIA", 20},     {"ASIA", 20},  {"ghp_", 30},        {"gho_", 30},
		     {"ghu_", 30},     {"ghs_", 30},  {"github_pat_", 30}, {"glpat-", 20},
		     {"xoxb-", 20},    {"xoxp-", 20}, {"xoxa-", 20},       {"sk-", 24},
		     {"sk_live_", 20}, {"AIza", 35},  {"eyJ", 20}};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		if (length >= forms[i].least &&
		    !strncmp(text, forms[i].begin, strlen(forms[i].begin)))
			return true;
	return false;
}

/* Characters of base64 that follow each other, and what is after them: from where the argument has
 * been dealt with up to now. */
struct run {
	size_t from, end;
	size_t hex, digits, upper, lower;
};

/* What is known of the rest of an argument; all zero at its start. */
struct ahead {
	struct run run;
	size_t slash, login_end; /* see put_oracle() */
};

static void run_count(struct run *r, unsigned char c, size_t n)
{
	r->hex += isxdigit(c) ? n : 0;
	r->digits += isdigit(c) ? n : 0;
	r->upper += isupper(c) ? n : 0;
	r->lower += islower(c) ? n : 0;
}

/* Each character is counted once, and taken out once. */
static void run_move(struct run *r, const char *argument, size_t at)
{
	unsigned char c;

	while (r->from < at && r->from < r->end)
		run_count(r, (unsigned char)argument[r->from++], (size_t)-1);
	if (r->from < r->end)
		return;
	*r = (struct run){.from = at, .end = at};
	while ((c = (unsigned char)argument[r->end]) && (isalnum(c) || strchr("+/_-", c))) {
		run_count(r, c, 1);
		r->end++;
	}
	r->end += strspn(argument + r->end, "=");
}

/* A word of no language: 32 characters of hex, or 40 of base64 with all kinds of characters. */
static bool has_no_form(const struct run *r)
{
	size_t length = r->end - r->from;

	if (r->hex == length && length >= 32)
		return r->digits && r->digits < length;
	return length >= 40 && r->digits >= length / 16 && r->upper >= length / 8 &&
	       r->lower >= length / 8;
}

/* --- URLs ------------------------------------------------------------------------------------- */

/* After "://": NAME:PASSWORD@, or TOKEN@. Bytes that have been dealt with. */
static size_t put_login(struct text *t, const char *text)
{
	size_t host = strcspn(text, "/?#\"' \t\r\n"), colon = strcspn(text, ":");
	const char *at = memrchr(text, '@', host);
	size_t length = at ? (size_t)(at - text) : 0;

	if (!length)
		return 0;
	if (colon < length) {
		put(t, text, colon + 1);
		put_mark(t);
	} else if (length >= 16) {
		put_mark(t);
	} else {
		put(t, text, length);
	}
	return length;
}

/* The next of these characters. What was found from an earlier offset holds until it is passed. */
static size_t next_of(const char *ends, const char *argument, size_t at, size_t *found)
{
	if (*found < at)
		*found = at + strcspn(argument + at, ends);
	return *found;
}

/* jdbc:oracle:thin:NAME/PASSWORD@... */
static size_t put_oracle(struct text *t, struct ahead *a, const char *argument, size_t at)
{
	static const char thin[] = ":thin:", oci[] = ":oci:";
	size_t head = !strncasecmp(argument + at, thin, strlen(thin)) ? strlen(thin)
		      : !strncasecmp(argument + at, oci, strlen(oci)) ? strlen(oci)
								      : 0;
	size_t slash, end;

	if (!head)
		return 0;
	slash = next_of("/@ \"'", argument, at + head, &a->slash);
	if (argument[slash] != '/')
		return 0;
	end = next_of("@ \"'", argument, slash, &a->login_end);
	if (argument[end] != '@')
		return 0;
	put(t, argument + at, slash + 1 - at);
	put_mark(t);
	return end - at;
}

/* --- arguments -------------------------------------------------------------------------------- */

/* A word: a key with its value, a secret that is known by its form, or any other. Bytes. */
static size_t put_word(struct text *t, struct run *run, const char *argument, size_t at)
{
	size_t length = 1, value, end;
	bool secret, rest = false;

	run_move(run, argument, at);
	while (is_word((unsigned char)argument[at + length]))
		length++;
	secret = is_secret_key(argument + at, length);
	value = secret ? value_of(argument, at + length, &rest) : 0;
	rest |= value && !at;
	if (!value && secret && argument[at] == '-')
		value = next_word(argument, at + length);
	if (value && argument[value]) {
		end = value_end(argument, value, rest);
		put(t, argument + at, value - at);
		if (end > value)
			put_mark(t);
		return end - at;
	}
	if (has_known_form(argument + at, length)) {
		put_mark(t);
		return length;
	}
	if (has_no_form(run)) {
		put_mark(t);
		return run->end - at;
	}
	put(t, argument + at, length);
	return length;
}

static void put_argument(struct text *t, const char *argument)
{
	static const char pem[] = "-----BEGIN", url[] = "://";
	struct ahead ahead = {0};
	size_t at = 0, n;

	while (argument[at] && !is_full(t)) {
		if (!strncmp(argument + at, pem, strlen(pem))) {
			put_mark(t);
			return;
		}
		if (!strncmp(argument + at, url, strlen(url))) {
			put(t, url, strlen(url));
			at += strlen(url);
			at += put_login(t, argument + at);
			continue;
		}
		n = argument[at] == ':' ? put_oracle(t, &ahead, argument, at) : 0;
		if (!n && is_word((unsigned char)argument[at]))
			n = put_word(t, &ahead.run, argument, at);
		if (!n)
			put(t, argument + at, n = 1);
		at += n;
	}
}

/* Does the next argument belong to this one? */
static struct redact next(const char *argument)
{
	struct redact r = {0};
	size_t length = strlen(argument);

	if (argument[0] != '-' || strchr(argument, '=') || strpbrk(argument, " \t"))
		return r;
	r.login = !strcmp(argument, "-u") || !strcmp(argument, "--user");
	/* -Dkey and -Xkey are the JVM's, whose values are never arguments of their own. */
	r.value = argument[1] != 'D' && argument[1] != 'X' && is_secret_key(argument, length);
	return r;
}

size_t redact_argument(struct redact *r, const char *argument, char *buf, size_t size)
{
	struct text t = {buf, size, 0};
	const char *colon = strchr(argument, ':');
	struct redact was = *r;

	*buf = '\0';
	*r = next(argument);
	if (was.value && *argument && *argument != '-') {
		put_mark(&t);
	} else if (was.login && colon && colon[1] && *argument != '-') {
		put(&t, argument, (size_t)(colon - argument) + 1);
		put_mark(&t);
	} else {
		put_argument(&t, argument);
	}
	return t.used;
}

size_t redact_command(const char *arguments, size_t length, enum command_line how, char *buf,
		      size_t size)
{
	struct text t = {buf, size, 0};
	struct redact r = {0};
	const char *argument, *end;

	*buf = '\0';
	for (size_t at = 0; at < length && how != COMMAND_LINE_NONE && !is_full(&t);
	     at += (size_t)(end - argument) + 1) {
		argument = arguments + at;
		/* The last one, too, has a NUL after it: the caller sees to that. */
		end = argument + strlen(argument);
		if (at)
			put(&t, " ", 1);
		if (how == COMMAND_LINE_FULL)
			put(&t, argument, (size_t)(end - argument));
		else if (!is_full(&t))
			t.used += redact_argument(&r, argument, buf + t.used, size - t.used);
	}
	return t.used;
}
