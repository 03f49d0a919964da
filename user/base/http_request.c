#include "base/http_request.h"

#include <string.h>
#include <strings.h>

struct piece {
	const char *at;
	size_t length;
};

static bool is(const struct piece *p, const char *text)
{
	return p->length == strlen(text) && !memcmp(p->at, text, p->length);
}

/* What is before the next separator, which is taken too; false: there is none. */
static bool next(struct piece *rest, const char *separator, struct piece *ret)
{
	size_t length = strlen(separator);
	const char *end = memmem(rest->at, rest->length, separator, length);

	if (!end)
		return false;
	*ret = (struct piece){rest->at, (size_t)(end - rest->at)};
	rest->length -= ret->length + length;
	rest->at = end + length;
	return true;
}

static int parse_line(struct piece line, struct http_request *ret)
{
	struct piece method, target;

	if (memchr(line.at, 0, line.length) || !next(&line, " ", &method) ||
	    !next(&line, " ", &target) || !target.length || target.at[0] != '/')
		return 400;
	if (!is(&line, "HTTP/1.1") && !is(&line, "HTTP/1.0"))
		return line.length > 5 && !memcmp(line.at, "HTTP/", 5) ? 505 : 400;
	ret->head = is(&method, "HEAD");
	if (!ret->head && !is(&method, "GET"))
		return 405;
	for (size_t i = 0; i < target.length; i++)
		if (target.at[i] == '?' || target.at[i] == '#')
			target.length = i;
	if (target.length < sizeof(ret->path))
		memcpy(ret->path, target.at, target.length);
	return 1;
}

/* A quality of 0 is a refusal, which nobody sends of this: not looked for. */
static void parse_field(const struct piece *line, struct http_request *ret)
{
	static const char name[] = "accept:", type[] = "application/openmetrics-text";

	if (line->length < strlen(name) || strncasecmp(line->at, name, strlen(name)))
		return;
	if (memmem(line->at, line->length, type, strlen(type)))
		ret->open_metrics = true;
}

int http_request_parse(const char *bytes, size_t count, struct http_request *ret)
{
	const char *end = memmem(bytes, count, "\r\n\r\n", 4);
	struct http_request r = {.path = ""};
	struct piece rest, line = {bytes, 0};
	int status;

	if (count > HTTP_REQUEST_MAX || (!end && count == HTTP_REQUEST_MAX))
		return 431;
	if (!end)
		return 0;
	rest = (struct piece){bytes, (size_t)(end + 2 - bytes)};
	next(&rest, "\r\n", &line);
	status = parse_line(line, &r);
	while (status == 1 && next(&rest, "\r\n", &line))
		parse_field(&line, &r);
	if (status == 1)
		*ret = r;
	return status;
}
