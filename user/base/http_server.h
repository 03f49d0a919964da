/* base/http_server.h: answers to GET of a few fixed texts, to few clients at a time, within bounds
 * of memory and time that no client can move. */
#pragma once

#include <poll.h>
#include <stdint.h>

#include "base/http_request.h"

#define HTTP_CLIENTS_MAX 16 /* at a time: who comes when there are so many is turned away */
#define HTTP_CLIENT_NS 10000000000ull /* from its connection to the last byte it has taken */
#define HTTP_FDS (HTTP_CLIENTS_MAX + 1)
#define HTTP_WHY_MAX 256

/* A body that several answers share; whoever has the last one frees it. */
struct http_body {
	char *text; /* malloc'ed */
	size_t length;
	unsigned users;
};

/* NULL: no memory, and text is freed. The caller's is the first use. */
struct http_body *http_body_new(char *text, size_t length);
void http_body_free(struct http_body *b); /* one use of it; accepts NULL */

struct http_answer {
	int status;             /* 200, 404, 503 */
	const char *type;       /* of the body, static */
	struct http_body *body; /* NULL: none; a use of it is the server's */
};

struct http_options {
	struct http_answer (*answer)(void *context, const struct http_request *r);
	void *context;
};

struct http_server;

/* where: "ADDRESS:PORT", "[ADDRESS]:PORT" (numbers) or "unix:PATH". Port 0: any, see
 * http_server_name(). Negative errno, and why is set. */
int http_server_listen(const char *where, const struct http_options *o, struct http_server **ret,
		       char why[HTTP_WHY_MAX]);
/* Removes the path of a socket that it has made. Accepts NULL. */
void http_server_free(struct http_server *s);
/* As `where`, with the port that it has. */
const char *http_server_name(const struct http_server *s);

/* What is to be waited for. */
void http_server_poll(const struct http_server *s, struct pollfd fds[HTTP_FDS]);
/* When a client is to be given up, at the latest; UINT64_MAX: there is none. */
uint64_t http_server_due(const struct http_server *s);
/* After poll(2); now_ns of CLOCK_MONOTONIC. */
void http_server_run(struct http_server *s, const struct pollfd fds[HTTP_FDS], uint64_t now_ns);
