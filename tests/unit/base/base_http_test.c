/* Requests, and a server of them: with clients that are slow, silent, many, or want too much. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/http_server.h"
#include "tests/unit/alloc_fail.h"

static int parse(const char *text, struct http_request *r)
{
	*r = (struct http_request){.path = "?"};
	return http_request_parse(text, strlen(text), r);
}

static void requests(void **state)
{
	char *long_one = malloc(2 * HTTP_REQUEST_MAX);
	struct http_request r;

	(void)state;
	assert_int_equal(parse("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", &r), 1);
	assert_string_equal(r.path, "/metrics");
	assert_false(r.head || r.open_metrics);
	assert_int_equal(parse("HEAD /a?b=c HTTP/1.0\r\naCCEPT:text/plain, "
			       "application/openmetrics-text; version=1.0.0\r\n\r\n",
			       &r),
			 1);
	assert_string_equal(r.path, "/a");
	assert_true(r.head && r.open_metrics);
	assert_int_equal(
		parse("GET /a HTTP/1.1\r\nX-Accept: application/openmetrics-text\r\n\r\n", &r), 1);
	assert_false(r.open_metrics);
	assert_int_equal(parse("GET /metrics HTTP/1.1\r\nHost: x\r\n", &r), 0);
	assert_int_equal(parse("", &r), 0);
	assert_int_equal(parse("POST /metrics HTTP/1.1\r\n\r\n", &r), 405);
	assert_int_equal(parse("GET /metrics HTTP/3.1\r\n\r\n", &r), 505);
	assert_int_equal(parse("GET metrics HTTP/1.1\r\n\r\n", &r), 400);
	assert_int_equal(parse("GET  /metrics HTTP/1.1\r\n\r\n", &r), 400);
	assert_int_equal(parse("GET /metrics\r\n\r\n", &r), 400);
	assert_int_equal(parse("\r\n\r\n", &r), 400);
	assert_int_equal(http_request_parse("GET /\0 HTTP/1.1\r\n\r\n", 19, &r), 400);
	assert_string_equal(r.path, "?");
	memset(long_one, 'a', 2 * HTTP_REQUEST_MAX);
	memcpy(long_one, "GET /", 5);
	assert_int_equal(http_request_parse(long_one, HTTP_REQUEST_MAX - 1, &r), 0);
	assert_int_equal(http_request_parse(long_one, HTTP_REQUEST_MAX, &r), 431);
	memcpy(long_one + 100, " HTTP/1.1\r\n\r\n", 13);
	assert_int_equal(http_request_parse(long_one, 113, &r), 1);
	assert_string_equal(r.path, ""); /* longer than a path may be: none that there is */
	free(long_one);
}

/* --- a server --- */

struct site {
	struct http_server *server;
	struct http_body *body;
	char path[64];
	uint64_t now_ns;
	unsigned asked;
};

static struct http_answer answer(void *context, const struct http_request *r)
{
	struct site *s = context;

	s->asked++;
	if (strcmp(r->path, "/metrics"))
		return (struct http_answer){404, NULL, NULL};
	s->body->users++;
	return (struct http_answer){200, "text/plain", s->body};
}

static int site_open(struct site *s, size_t size)
{
	const struct http_options o = {answer, s};
	char where[80], why[HTTP_WHY_MAX], *text = malloc(size);
	int err;

	*s = (struct site){.now_ns = 1};
	if (!text)
		return -ENOMEM;
	memset(text, 'x', size);
	s->body = http_body_new(text, size);
	if (!s->body)
		return -ENOMEM;
	snprintf(s->path, sizeof(s->path), "/tmp/spoor-http-%d.sock", (int)getpid());
	snprintf(where, sizeof(where), "unix:%s", s->path);
	err = http_server_listen(where, &o, &s->server, why);
	if (err)
		http_body_free(s->body);
	return err;
}

static void site_close(struct site *s)
{
	struct stat st;

	assert_int_equal(s->body->users, 1); /* no client has one any more */
	http_body_free(s->body);
	http_server_free(s->server);
	assert_int_equal(stat(s->path, &st), -1);
}

/* Until nothing more happens. */
static void run(struct site *s)
{
	struct pollfd fds[HTTP_FDS];

	for (;;) {
		http_server_poll(s->server, fds);
		if (poll(fds, HTTP_FDS, 20) <= 0)
			break;
		http_server_run(s->server, fds, s->now_ns);
	}
	http_server_run(s->server, fds, s->now_ns);
}

static int client(const struct site *s, const char *text)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", s->path);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	if (*text)
		assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
	return fd;
}

/* What has come by now; -1: nothing yet. *ret_end: no more will. */
static ssize_t receive(int fd, char *buf, size_t size, bool *ret_end)
{
	size_t got = 0;
	ssize_t n;

	while ((n = recv(fd, buf + got, size - 1 - got, 0)) > 0)
		got += (size_t)n;
	buf[got] = 0;
	*ret_end = n == 0 || errno != EAGAIN;
	return got || *ret_end ? (ssize_t)got : -1;
}

static void check_answer(int fd, const char *begin, size_t body)
{
	static char buf[1 << 16];
	bool end;
	ssize_t n = receive(fd, buf, sizeof(buf), &end);
	char *rest = strstr(buf, "\r\n\r\n");

	assert_true(n > 0 && end);
	assert_memory_equal(buf, begin, strlen(begin));
	assert_non_null(rest);
	assert_int_equal(strlen(rest + 4), body);
	close(fd);
}

static void answers(void **state)
{
	struct site s;
	int get, head, other, wrong;

	(void)state;
	assert_int_equal(site_open(&s, 100), 0);
	get = client(&s, "GET /metrics HTTP/1.1\r\n\r\n");
	head = client(&s, "HEAD /metrics HTTP/1.1\r\n\r\n");
	other = client(&s, "GET /x HTTP/1.1\r\n\r\n");
	wrong = client(&s, "PUT /metrics HTTP/1.1\r\n\r\n");
	run(&s);
	check_answer(get, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n",
		     100);
	check_answer(head, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n",
		     0);
	check_answer(other, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n", 0);
	check_answer(wrong, "HTTP/1.1 405 Method Not Allowed\r\n", 0);
	assert_int_equal(s.asked, 3);
	site_close(&s);
}

static void bytes_come_one_by_one(void **state)
{
	static const char text[] = "GET /metrics HTTP/1.1\r\nA: b\r\n\r\n";
	struct site s;
	int fd;

	(void)state;
	assert_int_equal(site_open(&s, 10), 0);
	fd = client(&s, "");
	for (const char *c = text; *c; c++) {
		assert_int_equal(s.asked, 0);
		assert_int_equal(send(fd, c, 1, MSG_NOSIGNAL), 1);
		if (c[1])
			run(&s);
	}
	run(&s);
	check_answer(fd, "HTTP/1.1 200 OK\r\n", 10);
	site_close(&s);
}

/* Silent ones hold all slots: others are turned away, until their time is over. */
static void the_silent_and_the_many(void **state)
{
	int silent[HTTP_CLIENTS_MAX], fd;
	struct site s;
	char buf[64];
	bool end;

	(void)state;
	assert_int_equal(site_open(&s, 10), 0);
	for (int i = 0; i < HTTP_CLIENTS_MAX; i++) {
		silent[i] = client(&s, i % 2 ? "GET /metr" : "");
		run(&s);
	}
	for (int i = 0; i < 100; i++) {
		fd = client(&s, "");
		run(&s);
		assert_int_equal(receive(fd, buf, sizeof(buf), &end), 0);
		assert_true(end);
		close(fd);
	}
	assert_int_equal(http_server_due(s.server), 1 + HTTP_CLIENT_NS);
	s.now_ns += HTTP_CLIENT_NS - 1;
	run(&s);
	assert_int_equal(receive(silent[0], buf, sizeof(buf), &end), -1);
	s.now_ns++;
	run(&s);
	assert_true(http_server_due(s.server) == UINT64_MAX);
	for (int i = 0; i < HTTP_CLIENTS_MAX; i++) {
		receive(silent[i], buf, sizeof(buf), &end);
		assert_true(end);
		close(silent[i]);
	}
	fd = client(&s, "GET /metrics HTTP/1.1\r\n\r\n");
	run(&s);
	check_answer(fd, "HTTP/1.1 200 OK\r\n", 10);
	site_close(&s);
}

static void too_much(void **state)
{
	char *text = malloc(HTTP_REQUEST_MAX + 1);
	struct site s;
	int fd;

	(void)state;
	memset(text, 'a', HTTP_REQUEST_MAX);
	text[HTTP_REQUEST_MAX] = 0;
	memcpy(text, "GET /a HTTP/1.1\r\n", 17);
	assert_int_equal(site_open(&s, 10), 0);
	fd = client(&s, text);
	run(&s);
	check_answer(fd, "HTTP/1.1 431 Request Header Fields Too Large\r\n", 0);
	free(text);
	site_close(&s);
}

/* It takes nothing of a large answer: the body stays until its time is over, whatever comes
 * meanwhile. */
static void one_that_does_not_read(void **state)
{
	struct site s;
	int fd, other;

	(void)state;
	assert_int_equal(site_open(&s, 8 << 20), 0);
	fd = client(&s, "GET /metrics HTTP/1.1\r\n\r\n");
	run(&s);
	assert_int_equal(s.body->users, 2);
	other = client(&s, "GET /x HTTP/1.1\r\n\r\n");
	run(&s);
	check_answer(other, "HTTP/1.1 404 Not Found\r\n", 0);
	s.now_ns += HTTP_CLIENT_NS;
	run(&s);
	assert_int_equal(s.body->users, 1);
	close(fd);
	/* And one that is gone. */
	fd = client(&s, "GET /metrics HTTP/1.1\r\n\r\n");
	run(&s);
	close(fd);
	run(&s);
	assert_int_equal(s.body->users, 1);
	site_close(&s);
}

static void addresses(void **state)
{
	static const char *const wrong[] = {"",
					    "9464",
					    "localhost:9464",
					    "127.0.0.1",
					    "127.0.0.1:",
					    "127.0.0.1:65536",
					    "127.0.0.1:1x",
					    "[::1]",
					    "::1:9464",
					    "unix:",
					    "[::1:9464",
					    "1.2.3:80"};
	const struct http_options o = {answer, NULL};
	struct http_server *s = NULL, *again = NULL;
	char why[HTTP_WHY_MAX], name[64];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(http_server_listen(wrong[i], &o, &s, why), -EINVAL);
	assert_int_equal(http_server_listen("127.0.0.1:0", &o, &s, why), 0);
	snprintf(name, sizeof(name), "%s", http_server_name(s));
	assert_memory_equal(name, "127.0.0.1:", 10);
	assert_string_not_equal(name, "127.0.0.1:0");
	assert_int_equal(http_server_listen(name, &o, &again, why), -EADDRINUSE);
	assert_null(again);
	http_server_free(s);
}

/* What a server that was killed has left. */
static void a_dead_socket_is_in_the_way(void **state)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	const struct http_options o = {answer, NULL};
	struct http_server *again;
	char why[HTTP_WHY_MAX], where[80];
	struct site s;

	(void)state;
	snprintf(a.sun_path, sizeof(a.sun_path), "/tmp/spoor-http-%d.sock", (int)getpid());
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	close(fd);
	assert_int_equal(site_open(&s, 10), 0);
	/* One that lives is left alone. */
	snprintf(where, sizeof(where), "unix:%s", s.path);
	assert_int_equal(http_server_listen(where, &o, &again, why), -EADDRINUSE);
	site_close(&s);
}

static void nth_allocation_fails(void **state)
{
	bool failed = true;
	struct site s;
	int err;

	(void)state;
	for (unsigned long i = 0; failed; i++) {
		alloc_fail_at(i);
		err = site_open(&s, 10);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
	}
	site_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests),
		cmocka_unit_test(answers),
		cmocka_unit_test(bytes_come_one_by_one),
		cmocka_unit_test(the_silent_and_the_many),
		cmocka_unit_test(too_much),
		cmocka_unit_test(one_that_does_not_read),
		cmocka_unit_test(addresses),
		cmocka_unit_test(a_dead_socket_is_in_the_way),
		cmocka_unit_test(nth_allocation_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
