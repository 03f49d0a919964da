/*
 * One thread, no waiting: a client has a buffer for its request's head, a position in its answer
 * and a time by which all of it is over. A client that sends slowly, or nothing, or takes nothing,
 * or sends too much, is given up then; while all slots are taken others are turned away at once, so
 * that what a hostile client can do is to keep others out for HTTP_CLIENT_NS. Each connection is
 * for one request. What a client sends after its head is not read.
 */
#include "base/http_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define HEAD_MAX 256
#define BACKLOG 16
#define ACCEPTS_MAX 64 /* in a row */
#define NAME_MAX_BYTES 160

struct client {
	int fd; /* -1: the slot is free */
	uint64_t until_ns;
	char request[HTTP_REQUEST_MAX];
	size_t got;
	bool answering;
	char head[HEAD_MAX];
	size_t head_length, sent; /* sent: of head and body */
	struct http_body *body;
};

struct http_server {
	struct http_options o;
	int fd;
	char name[NAME_MAX_BYTES];
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* "": none was made */
	struct client clients[HTTP_CLIENTS_MAX];
};

struct http_body *http_body_new(char *text, size_t length)
{
	struct http_body *b = malloc(sizeof(*b));

	if (b)
		*b = (struct http_body){text, length, 1};
	else
		free(text);
	return b;
}

void http_body_free(struct http_body *b)
{
	if (!b || --b->users)
		return;
	free(b->text);
	free(b);
}

/* --- listening -------------------------------------------------------------------------------- */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un path;
};

static int parse_port(const char *text, uint16_t *ret)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || port > UINT16_MAX)
		return -EINVAL;
	*ret = htons((uint16_t)port);
	return 0;
}

static int parse_internet(const char *where, union address *a, socklen_t *length)
{
	const char *colon = strrchr(where, ':');
	char host[64];
	size_t n = colon ? (size_t)(colon - where) : sizeof(host);
	bool v6 = *where == '[' && n && n < sizeof(host) && where[n - 1] == ']';

	if (n >= sizeof(host))
		return -EINVAL;
	if (v6)
		snprintf(host, sizeof(host), "%.*s", (int)n - 2, where + 1);
	else
		snprintf(host, sizeof(host), "%.*s", (int)n, where);
	if (v6) {
		a->v6.sin6_family = AF_INET6;
		*length = sizeof(a->v6);
		return inet_pton(AF_INET6, host, &a->v6.sin6_addr) == 1
			       ? parse_port(colon + 1, &a->v6.sin6_port)
			       : -EINVAL;
	}
	a->v4.sin_family = AF_INET;
	*length = sizeof(a->v4);
	return inet_pton(AF_INET, host, &a->v4.sin_addr) == 1
		       ? parse_port(colon + 1, &a->v4.sin_port)
		       : -EINVAL;
}

static int parse_where(const char *where, union address *a, socklen_t *length)
{
	static const char mark[] = "unix:";
	size_t n;

	memset(a, 0, sizeof(*a));
	if (strncmp(where, mark, strlen(mark)))
		return parse_internet(where, a, length);
	n = strlen(where += strlen(mark));
	if (!n || n >= sizeof(a->path.sun_path))
		return -EINVAL;
	a->path.sun_family = AF_UNIX;
	memcpy(a->path.sun_path, where, n);
	*length = sizeof(a->path);
	return 0;
}

/* A socket that nobody listens at any more is in the way. */
static void remove_dead(const union address *a, socklen_t length)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat st;

	if (fd < 0)
		return;
	if (connect(fd, &a->any, length) && errno == ECONNREFUSED &&
	    !lstat(a->path.sun_path, &st) && S_ISSOCK(st.st_mode))
		unlink(a->path.sun_path);
	close(fd);
}

static int open_socket(struct http_server *s, union address *a, socklen_t length)
{
	int yes = 1;

	s->fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd < 0)
		return -errno;
	if (a->any.sa_family == AF_UNIX)
		remove_dead(a, length);
	else
		setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(s->fd, &a->any, length))
		return -errno;
	if (a->any.sa_family == AF_UNIX)
		snprintf(s->path, sizeof(s->path), "%s", a->path.sun_path);
	return listen(s->fd, BACKLOG) || getsockname(s->fd, &a->any, &length) ? -errno : 0;
}

static void set_name(struct http_server *s, const union address *a)
{
	char host[INET6_ADDRSTRLEN];

	if (a->any.sa_family == AF_UNIX)
		snprintf(s->name, sizeof(s->name), "unix:%s", s->path);
	else if (a->any.sa_family == AF_INET6)
		snprintf(s->name, sizeof(s->name), "[%s]:%u",
			 inet_ntop(AF_INET6, &a->v6.sin6_addr, host, sizeof(host)),
			 ntohs(a->v6.sin6_port));
	else
		snprintf(s->name, sizeof(s->name), "%s:%u",
			 inet_ntop(AF_INET, &a->v4.sin_addr, host, sizeof(host)),
			 ntohs(a->v4.sin_port));
}

int http_server_listen(const char *where, const struct http_options *o, struct http_server **ret,
		       char why[HTTP_WHY_MAX])
{
	struct http_server *s = calloc(1, sizeof(*s));
	union address a;
	socklen_t length = 0;
	int err = s ? parse_where(where, &a, &length) : -ENOMEM;

	if (err == -EINVAL)
		snprintf(why, HTTP_WHY_MAX,
			 "it is ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH, with numbers");
	if (!s)
		return err;
	s->o = *o;
	s->fd = -1;
	for (int i = 0; i < HTTP_CLIENTS_MAX; i++)
		s->clients[i].fd = -1;
	if (!err) {
		err = open_socket(s, &a, length);
		if (err)
			snprintf(why, HTTP_WHY_MAX, "%s", strerror(-err));
	}
	if (err) {
		http_server_free(s);
		return err;
	}
	set_name(s, &a);
	*ret = s;
	return 0;
}

const char *http_server_name(const struct http_server *s)
{
	return s->name;
}

/* --- clients ---------------------------------------------------------------------------------- */

static void client_end(struct client *c)
{
	http_body_free(c->body);
	close(c->fd);
	c->fd = -1;
	c->body = NULL;
}

void http_server_free(struct http_server *s)
{
	if (!s)
		return;
	for (int i = 0; i < HTTP_CLIENTS_MAX; i++)
		if (s->clients[i].fd >= 0)
			client_end(&s->clients[i]);
	if (s->fd >= 0)
		close(s->fd);
	if (*s->path)
		unlink(s->path);
	free(s);
}

static const char *reason(int status)
{
	static const struct {
		int status;
		const char *text;
	} reasons[] = {
		{200, "OK"},
		{400, "Bad Request"},
		{404, "Not Found"},
		{405, "Method Not Allowed"},
		{431, "Request Header Fields Too Large"},
		{503, "Service Unavailable"},
		{505, "HTTP Version Not Supported"},
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (reasons[i].status == status)
			return reasons[i].text;
	return "Error";
}

static void answer(struct client *c, const struct http_answer *a, bool head)
{
	size_t length = a->body ? a->body->length : 0;

	c->answering = true;
	c->body = a->body;
	c->head_length = (size_t)snprintf(
		c->head, sizeof(c->head),
		"HTTP/1.1 %d %s\r\n%s%s%sContent-Length: %zu\r\n%sConnection: close\r\n\r\n",
		a->status, reason(a->status), a->type ? "Content-Type: " : "",
		a->type ? a->type : "", a->type ? "\r\n" : "", length,
		a->status == 405 ? "Allow: GET, HEAD\r\n" : "");
	if (head) {
		http_body_free(c->body);
		c->body = NULL;
	}
}

/* True: the client stays. */
static bool client_send(struct client *c)
{
	size_t total = c->head_length + (c->body ? c->body->length : 0);

	while (c->sent < total) {
		bool in_head = c->sent < c->head_length;
		const char *from =
			in_head ? c->head + c->sent : c->body->text + (c->sent - c->head_length);
		size_t most = in_head ? c->head_length - c->sent : total - c->sent;
		ssize_t n = send(c->fd, from, most, MSG_NOSIGNAL);

		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		c->sent += (size_t)n;
	}
	shutdown(c->fd, SHUT_WR);
	return false;
}

static bool client_receive(struct http_server *s, struct client *c)
{
	ssize_t n = recv(c->fd, c->request + c->got, sizeof(c->request) - c->got, 0);
	struct http_request r = {.head = false};
	struct http_answer a = {.status = 0};
	int status;

	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR);
	c->got += (size_t)n;
	status = http_request_parse(c->request, c->got, &r);
	if (!status)
		return true;
	if (status == 1)
		a = s->o.answer(s->o.context, &r);
	else
		a.status = status;
	answer(c, &a, r.head);
	return client_send(c);
}

static struct client *client_free_slot(struct http_server *s)
{
	for (int i = 0; i < HTTP_CLIENTS_MAX; i++)
		if (s->clients[i].fd < 0)
			return &s->clients[i];
	return NULL;
}

static void accept_some(struct http_server *s, uint64_t now_ns)
{
	for (int i = 0; i < ACCEPTS_MAX; i++) {
		int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct client *c = fd < 0 ? NULL : client_free_slot(s);

		if (fd < 0)
			return;
		if (!c) {
			close(fd);
			continue;
		}
		c->fd = fd;
		c->until_ns = now_ns + HTTP_CLIENT_NS;
		c->got = c->sent = c->head_length = 0;
		c->answering = false;
	}
}

void http_server_poll(const struct http_server *s, struct pollfd fds[HTTP_FDS])
{
	fds[0] = (struct pollfd){.fd = s->fd, .events = POLLIN};
	for (int i = 0; i < HTTP_CLIENTS_MAX; i++)
		fds[i + 1] = (struct pollfd){.fd = s->clients[i].fd,
					     .events = s->clients[i].answering ? POLLOUT : POLLIN};
}

uint64_t http_server_due(const struct http_server *s)
{
	uint64_t due = UINT64_MAX;

	for (int i = 0; i < HTTP_CLIENTS_MAX; i++)
		if (s->clients[i].fd >= 0 && s->clients[i].until_ns < due)
			due = s->clients[i].until_ns;
	return due;
}

void http_server_run(struct http_server *s, const struct pollfd fds[HTTP_FDS], uint64_t now_ns)
{
	for (int i = 0; i < HTTP_CLIENTS_MAX; i++) {
		struct client *c = &s->clients[i];
		bool stays = true;

		if (c->fd < 0)
			continue;
		if (fds[i + 1].fd == c->fd && fds[i + 1].revents)
			stays = c->answering ? client_send(c) : client_receive(s, c);
		if (!stays || now_ns >= c->until_ns)
			client_end(c);
	}
	if (fds[0].revents)
		accept_some(s, now_ns);
}
