/*
 * The variables are those of "OpenTelemetry Protocol Exporter"
 * (https://opentelemetry.io/docs/specs/otel/protocol/exporter/): the endpoint of all signals is a
 * base to which the signal's path is added, that of one signal is taken as it is. A header's value
 * may be a secret: it comes from a file or from the environment, never from a command line, which
 * every user of the machine can read; and no message repeats it.
 */
#include "ship/send_settings.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/io.h"
#include "base/tables/array.h"
#include "base/text/print.h"
#include "base/text/units.h"

#define PROFILES_PATH "v1development/profiles"
#define PREFIX "OTEL_EXPORTER_OTLP_"
#define TIMEOUT_MS 10000
#define TIMEOUT_MOST_MS 3600000
#define HEADERS_MAX 64
#define FILE_MAX 65536
#define URL_MAX 4096

struct making {
	const struct send_options *o;
	char *(*env)(const char *);
	struct send_settings *s;
	char *why;
	char variable[64]; /* that the last value came from */
};

static int bad(const struct making *m, const char *what, const char *is)
{
	print_buffer(m->why, SEND_WHY_MAX, "%s %s", what, is);
	return -EINVAL;
}

/* NULL: neither is set, or both are empty, which is the same. */
static const char *variable(struct making *m, const char *name)
{
	static const char *const prefixes[] = {PREFIX "PROFILES_", PREFIX};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		const char *value;

		snprintf(m->variable, sizeof(m->variable), "%s%s", prefixes[i], name);
		value = m->env(m->variable);
		if (value && *value)
			return value;
	}
	return NULL;
}

/* --- the URL --- */

static bool is_printable(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text > '~')
			return false;
	return true;
}

/* What follows the host and its port: "", or from a /, ? or # on. NULL: it is no URL of HTTP. */
static const char *path_of(const char *url)
{
	size_t scheme = !strncasecmp(url, "http://", 7)	   ? 7
			: !strncasecmp(url, "https://", 8) ? 8
							   : 0;
	size_t host = scheme ? strcspn(url + scheme, "/?#") : 0;

	return host ? url + scheme + host : NULL;
}

/* A password in it would be shown by ps, and repeated by messages. */
static int check_url(const struct making *m, const char *what, const char *url)
{
	const char *path = path_of(url), *at = strchr(url, '@');

	if (path && at && at < path)
		return bad(m, what, "has a user or a password in it, which everybody could read: "
				    "a header Authorization belongs into the file of --headers");
	if (!path || strlen(url) > URL_MAX || !is_printable(url) || strchr(url, '#'))
		return bad(m, what, "is no URL as http://HOST:4318 or https://HOST/PATH");
	return 0;
}

/* base: the path of profiles is added to whatever is there; else only to a host alone. */
static int set_url(struct making *m, const char *what, const char *url, bool base)
{
	int err = check_url(m, what, url);
	const char *path = path_of(url), *slash;
	bool added;

	if (err || !path) /* a URL without a path is an error */
		return err;
	added = base || !strcmp(path, "") || !strcmp(path, "/");
	slash = added && url[strlen(url) - 1] != '/' ? "/" : "";
	if (asprintf(&m->s->url, "%s%s%s", url, slash, added ? PROFILES_PATH : "") >= 0)
		return 0;
	m->s->url = NULL;
	return -ENOMEM;
}

static int make_url(struct making *m)
{
	const char *url;

	if (strcmp(m->o->endpoint, "env"))
		return set_url(m, "--endpoint", m->o->endpoint, false);
	url = variable(m, "ENDPOINT");
	if (!url)
		return bad(m, "--endpoint env:",
			   "neither " PREFIX "PROFILES_ENDPOINT nor " PREFIX "ENDPOINT is set");
	return set_url(m, m->variable, url, !strcmp(m->variable, PREFIX "ENDPOINT"));
}

/* --- headers --- */

/* A token of RFC 9110. */
static bool is_name(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) &&
		    (!text[i] || !strchr("!#$%&'*+-.^_`|~", text[i])))
			return false;
	return length > 0;
}

/* Of the message itself. */
static bool is_own(const char *name, size_t length)
{
	static const char *const own[] = {"content-type", "content-length", "content-encoding",
					  "transfer-encoding", "host"};

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (strlen(own[i]) == length && !strncasecmp(own[i], name, length))
			return true;
	return false;
}

/* No value can end its line: bytes from space on, and tabs. */
static bool is_value(const char *text)
{
	for (; *text; text++)
		if (((unsigned char)*text < ' ' && *text != '\t') || *text == 0x7f)
			return false;
	return true;
}

static void trim(char **begin, char *end)
{
	while (end > *begin && isspace((unsigned char)end[-1]))
		end--;
	*end = 0;
	while (isspace((unsigned char)**begin))
		(*begin)++;
}

/* One of the same name takes the place of what was there. value is cut. */
static int set_header(const struct making *m, const char *what, char *name, char *value)
{
	struct send_settings *s = m->s;
	size_t length;
	uint32_t i = 0;
	char *line;

	trim(&name, name + strlen(name));
	trim(&value, value + strlen(value));
	length = strlen(name);
	if (!is_name(name, length) || !is_value(value))
		return bad(m, what, "has a header that is no NAME and VALUE of HTTP");
	if (is_own(name, length)) {
		print_buffer(m->why, SEND_WHY_MAX, "%s has the header %s, which spoor sets itself",
			     what, name);
		return -EINVAL;
	}
	while (i < s->header_count &&
	       (strncasecmp(s->headers[i], name, length) || s->headers[i][length] != ':'))
		i++;
	if (i == HEADERS_MAX)
		return bad(m, what, "has too many headers");
	/* libcurl: a header without a value is one that is not sent, but with a semicolon. */
	if (asprintf(&line, *value ? "%s: %s" : "%s;%s", name, value) < 0)
		return -ENOMEM;
	if (i < s->header_count)
		free(s->headers[i]);
	else if (array_grow(&s->headers, &s->header_capacity, i, sizeof(*s->headers))) {
		free(line);
		return -ENOMEM;
	} else
		s->header_count++;
	s->headers[i] = line;
	return 0;
}

static int hex(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	return isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

/* %41 is A, as in W3C's baggage, whose form the variable has. In place. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		int high = *text == '%' ? hex(text[1]) : -1, low = high < 0 ? -1 : hex(text[2]);

		if (low >= 0)
			text += 2;
		*to++ = low >= 0 ? (char)(high << 4 | low) : *text;
	}
	*to = 0;
}

/* NAME=VALUE,NAME=VALUE. */
static int headers_of_variable(struct making *m)
{
	const char *value = variable(m, "HEADERS");
	char *copy = value ? strdup(value) : NULL, *rest = copy, *row;
	int err = value && !copy ? -ENOMEM : 0;

	while (!err && (row = strsep(&rest, ","))) {
		char *equals = strchr(row, '=');

		if (!row[strspn(row, " \t")])
			continue;
		if (!equals) {
			err = bad(m, m->variable, "is no NAME=VALUE,NAME=VALUE");
			continue;
		}
		*equals = 0;
		unescape(equals + 1);
		err = set_header(m, m->variable, row, equals + 1);
	}
	free(copy);
	return err;
}

static int headers_of_text(struct making *m, char *text)
{
	char *row;
	int err = 0;

	while (!err && (row = strsep(&text, "\n"))) {
		char *colon = strchr(row, ':'), *first = row + strspn(row, " \t\r");

		if (!*first || *first == '#')
			continue;
		if (!colon)
			return bad(m, m->o->headers, "has a line that is no NAME: VALUE");
		*colon = 0;
		err = set_header(m, m->o->headers, row, colon + 1);
	}
	return err;
}

static int headers_of_file(struct making *m)
{
	char *text;
	size_t count = 0;
	int fd, err;

	if (!m->o->headers)
		return 0;
	text = malloc(FILE_MAX + 1);
	if (!text)
		return -ENOMEM;
	fd = open(m->o->headers, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	err = fd < 0 ? -errno : read_all(fd, text, FILE_MAX + 1, &count);
	if (fd >= 0)
		close(fd);
	if (err)
		err = bad(m, m->o->headers, strerror(-err));
	else if (count > FILE_MAX)
		err = bad(m, m->o->headers, "is too long for headers");
	else if (memchr(text, 0, count))
		err = bad(m, m->o->headers, "is no text");
	if (!err) {
		text[count] = 0;
		err = headers_of_text(m, text);
	}
	explicit_bzero(text, FILE_MAX + 1);
	free(text);
	return err;
}

/* --- all --- */

static int make_timeout(struct making *m)
{
	const char *value = m->o->timeout_ns ? NULL : variable(m, "TIMEOUT");
	char *end = NULL;
	unsigned long ms = TIMEOUT_MS;

	if (m->o->timeout_ns)
		ms = m->o->timeout_ns / (uint64_t)NS_PER_MS;
	else if (value)
		ms = strtoul(value, &end, 10);
	if (!ms || ms > TIMEOUT_MOST_MS || (end && (*end || !isdigit((unsigned char)*value))))
		return bad(m, value ? m->variable : "--timeout",
			   value ? "is no number of milliseconds up to 3600000"
				 : "is a time from 1ms to 1h");
	m->s->timeout_ms = ms;
	return 0;
}

static int make_compression(struct making *m)
{
	const char *value = variable(m, "COMPRESSION");

	m->s->plain = value && !strcmp(value, "none");
	if (value && !m->s->plain && strcmp(value, "gzip"))
		return bad(m, m->variable, "is neither gzip nor none");
	return 0;
}

int send_settings_make(const struct send_options *o, char *(*env)(const char *),
		       struct send_settings *ret, char why[SEND_WHY_MAX])
{
	struct making m = {.o = o, .env = env, .s = ret, .why = why};
	int err;

	*ret = (struct send_settings){0};
	*why = 0;
	err = make_url(&m);
	err = err ? err : headers_of_variable(&m);
	err = err ? err : headers_of_file(&m);
	err = err ? err : make_timeout(&m);
	err = err ? err : make_compression(&m);
	ret->ca = o->ca ? o->ca : variable(&m, "CERTIFICATE");
	ret->certificate = variable(&m, "CLIENT_CERTIFICATE");
	ret->key = variable(&m, "CLIENT_KEY");
	if (err == -ENOMEM)
		print_buffer(why, SEND_WHY_MAX, "out of memory");
	return err;
}

void send_settings_free(struct send_settings *s)
{
	for (uint32_t i = 0; i < s->header_count; i++) {
		explicit_bzero(s->headers[i], strlen(s->headers[i]));
		free(s->headers[i]);
	}
	free(s->headers);
	free(s->url);
	*s = (struct send_settings){0};
}
